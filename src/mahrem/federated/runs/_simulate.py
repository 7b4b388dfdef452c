"""A federation on one machine, in one process: a table is shared out, all else is as over a wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.federated.runs._settings import RunSettings, Tell
from mahrem.federated.runs._sharing import TableSharing
from mahrem.federated.runs._task import TaskInFolder
from mahrem.federated.weights import words_of
from mahrem.federated.wire import LocalGrid
from mahrem.table import Reading, open_source


@dataclass(frozen=True)
class SimulatedTable:
    """A table that a simulation shares out, parted into rows to learn from and rows to judge by.

    Args:
        target: The column to predict.
        whole: All rows that have a class.
        sharing: How they are shared out.
    """

    target: str
    whole: pl.DataFrame = field(repr=False)
    sharing: TableSharing

    def __post_init__(self) -> None:
        if not self.columns:
            raise InvalidParameter("columns=0: a table needs at least one besides the target")

    @classmethod
    def read(
        cls,
        source: object,
        target: str,
        sharing: TableSharing,
        columns: tuple[str, ...] | None = None,
        reading: Reading | None = None,
    ) -> SimulatedTable:
        """Read a source: some of its columns, and the rows that have a class.

        Raises:
            ColumnNotFound: If a column is missing.
            InvalidInput: If no row has a class.
        """
        opened = open_source(source, reading)
        besides = (target, *(() if sharing.by is None else (sharing.by,)))
        wanted = opened.columns if columns is None else (*columns, *besides)
        for name in (*wanted, *besides):
            if name not in opened.columns:
                raise ColumnNotFound(name, opened.columns)
        whole = opened.take(list(dict.fromkeys(wanted)))
        whole = whole.filter(pl.col(target).is_not_null())
        if whole.height == 0:
            raise InvalidInput("rows=0: no row of this table has a class")
        return cls(target, whole, sharing)

    @cached_property
    def _parted(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        return self.sharing.part(self.whole)

    @property
    def learning(self) -> pl.DataFrame:
        """Rows to learn from."""
        return self._parted[0]

    @property
    def judged(self) -> pl.DataFrame:
        """Rows to judge by."""
        return self._parted[1]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to learn from."""
        return tuple(name for name in self.whole.columns if name not in {self.target, self.sharing.by})

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes there are: their names are public."""
        return tuple(words_of(self.whole[self.target]))

    def facts(self) -> dict[str, Any]:
        """Say what was drawn, so that it can be drawn again."""
        return {
            "clients": self.sharing.clients,
            "split": self.sharing.by or self.sharing.split,
            "seed": self.sharing.seed,
            "target": self.target,
            "rows": self.whole.height,
            "test_rows": self.judged.height,
        }


@dataclass(frozen=True)
class SimulatedFederation:
    """A task with its clients in this process.

    Args:
        task: What is learnt.
        grid: Makes the clients of a run; gives them with the server's key of homomorphic sums.
        compare: Says, of the result, what only a simulation can, and what must be known to draw it again
            (None where it cannot be).
        settings: How its run is carried out.
    """

    task: TaskInFolder
    grid: Callable[[Any], tuple[LocalGrid, bytes | None]]
    compare: Callable[[Any], tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    settings: RunSettings = field(default_factory=RunSettings)


class Simulation(Protocol):
    """What is simulated: :class:`RulesSimulation`, :class:`WeightsSimulation`, :class:`ShapeSimulation`."""

    @property
    def sharing(self) -> TableSharing:
        """How the table is shared out."""

    def arrange(self, table: SimulatedTable) -> SimulatedFederation:
        """Agree on a schema and make the federation; what cannot be is refused before there is a folder."""


def simulate(
    source: object,
    target: str,
    folder: Path,
    simulation: Simulation,
    *,
    columns: tuple[str, ...] | None = None,
    force: bool = False,
    reading: Reading | None = None,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """Run a federation of one table on this machine and write a run folder.

    A run of weights or trees that did not finish goes on after its last round, if nothing about it was
    changed.

    Args:
        source: The table.
        target: The column to predict.
        folder: Where the run is written.
        simulation: What is learnt, and how the table is shared out.
        columns: The columns to learn from; all others by default.
        force: Replace a finished run.
        reading: How to read the source.
        tell: Told about progress.

    Guarantees:
        - Rows to judge by are never learnt from, and no choice depends on them.

    Returns:
        The summary that also lies in the folder.
    """
    table = SimulatedTable.read(source, target, simulation.sharing, columns, reading)
    federation = simulation.arrange(table)
    run = federation.task.begin(folder, replace(federation.settings, force=force, tell=tell))
    with run.folder.recording():
        grid, public = federation.grid(run)
        result = run.learn(grid, public)
        more, drawn = federation.compare(result)
        again = {} if drawn is None else {"simulated": {**table.facts(), **drawn}}
        return run.finish(result, {**more, **again})
