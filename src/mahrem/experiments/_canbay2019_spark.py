"""SMondrian and Su-Mondrian of Canbay (2019): ten copies of Adult on Spark."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Self

import polars as pl

from mahrem.datasets import find
from mahrem.errors import MahremError
from mahrem.experiments._measure import PartitionFigures
from mahrem.experiments._sets import ADULT
from mahrem.files import StageFolder
from mahrem.models import KAnonymity
from mahrem.partition import Partitioner
from mahrem.partition.cutting import ManagedRounds

COPIES = 10
PART = 100_000  # rows of a part: the cluster must cut, though one worker could take all


class AdultOnSpark:
    """A session with the copies, for as long as the block runs; starts when the first figure is wanted."""

    def __init__(self, master: str = "local[*]") -> None:
        self.master = master
        self._stack = ExitStack()
        self._ready: tuple[Any, Any, Any] | None = None
        self._known: dict[tuple[str, int], tuple[PartitionFigures, ManagedRounds | None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._ready = None

    def missing(self) -> str | None:
        """Say why it cannot run; None when it can."""
        try:
            self._start()
        except MahremError as error:
            return str(error)
        return None

    def figures(self, method: Partitioner, k: int) -> tuple[PartitionFigures, ManagedRounds | None]:
        """Run a method."""
        from mahrem.spark import Task, class_figures

        key = repr(method), k  # the repr of a method holds all its settings
        if key not in self._known:
            engine, frame, quasi = self._start()
            labelled = engine.partition(frame, Task(quasi, ((KAnonymity(k), None),), method))
            try:
                counted = class_figures(labelled.frame, quasi)
            finally:
                labelled.let_go()
            size = counted.rows / counted.classes
            figures = PartitionFigures(counted.classes, counted.dm, counted.gcp_sum, size)
            self._known[key] = figures, labelled.rounds
        return self._known[key]

    def _start(self) -> tuple[Any, Any, Any]:
        from mahrem.spark import Spark, number_domains

        if self._ready is None:
            folder = self._stack.enter_context(StageFolder(Path(tempfile.gettempdir()), "spark")).path
            path = folder / "adult.parquet"
            table = pl.read_csv(find("adult_train"), null_values="?").drop_nulls().select(ADULT)
            table.cast(pl.Float64).write_parquet(path)
            engine = self._stack.enter_context(Spark(master=self.master, part=PART))
            frame = engine.session.read.parquet(*[str(path)] * COPIES).persist()
            self._ready = engine, frame, number_domains(frame, ADULT)
        return self._ready


@cache
def open_cluster(stack: ExitStack) -> AdultOnSpark:
    """Give the session that lives as long as ``stack``; the same one to whoever asks with it."""
    return stack.enter_context(AdultOnSpark())
