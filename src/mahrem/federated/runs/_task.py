"""A task: all that differs between learning rules and learning weights or trees, behind one face."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl

from mahrem.federated.rules import AnsweredQuestions
from mahrem.federated.runs._check import TableCheck
from mahrem.federated.runs._folder import RunFolder
from mahrem.federated.runs._settings import ClientSettings, RunSettings
from mahrem.federated.sums import ClientKeys, SumPlan
from mahrem.federated.wire import Answerer, CountedGrid, Described
from mahrem.table import Reading, open_source


class TaskRun(Protocol):
    """One run of a task, in its folder."""

    folder: RunFolder

    def learn(self, grid: CountedGrid, public: bytes | None = None) -> Any:
        """Learn over a grid; ``public`` is the server's key of homomorphic sums."""

    def finish(self, result: Any, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Write model, files and summary; gives the summary."""


class TaskInFolder(Protocol):
    """What can be run in a folder."""

    def begin(self, path: Path, settings: RunSettings) -> TaskRun:
        """Begin a run in a folder, or go on with one; what does not fit is refused now."""


class AgreedSchema(Protocol):
    """What was agreed of the columns."""

    @property
    def columns(self) -> Iterable[str]:
        """The columns to learn from."""

    @property
    def target(self) -> str:
        """The column to predict."""

    def as_table(self) -> dict[str, Any]:
        """Give it as a table of a federation file."""


class AgreedPlan(SumPlan, Described, Protocol):
    """A plan: settings of sums, and all it says as plain data."""

    @property
    def least(self) -> int:
        """The least clients of a run."""

    @property
    def hides(self) -> bool:
        """Whether the server sees sums only."""

    @property
    def private(self) -> bool:
        """Whether all that leaves a client is differentially private."""


@dataclass(frozen=True, kw_only=True)
class TableOwner:
    """Who takes part in a federation: a name, a table that never leaves, keys, and what its rows answered."""

    name: str
    source: object = field(repr=False)
    reading: Reading = field(default_factory=Reading)
    keys: ClientKeys = field(default_factory=ClientKeys)
    federation: str = ""
    answered: AnsweredQuestions | None = field(default=None, repr=False)


def read_agreed(owner: TableOwner, schema: AgreedSchema) -> pl.DataFrame:
    """Read the columns that were agreed on, as far as the table has them."""
    opened = open_source(owner.source, owner.reading)
    wanted = (*schema.columns, schema.target)
    return opened.take([name for name in wanted if name in opened.columns])


class FederatedTask(TaskInFolder, Protocol):
    """What a federation learns: its schema and plan, its clients, its runs.

    Simulations, run folders and real processes know tasks and nothing of what is learnt.
    """

    goes_on: ClassVar[bool]  # a run that was stopped goes on after its last round

    @property
    def schema(self) -> AgreedSchema:
        """What was agreed of the columns."""

    @property
    def plan(self) -> AgreedPlan:
        """What was agreed to learn, and how."""

    @property
    def tells_rows(self) -> bool:
        """Whether the server may know about how many rows a client has: nothing hides what it sends."""

    def check(self, owner: TableOwner, settings: ClientSettings) -> TableCheck:
        """Look at a table beside what was agreed; its owner reads what is found, the server does not."""

    def join(self, owner: TableOwner, settings: ClientSettings) -> tuple[Answerer, str]:
        """Make the client of a table, and say what it has; what is wrong with the table is said now."""
