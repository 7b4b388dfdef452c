"""SMondrian and Su-Mondrian of Canbay (2019): ten copies of Adult on Spark."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import polars as pl

from mahrem.datasets import find
from mahrem.errors import MahremError
from mahrem.experiments._measure import Figures
from mahrem.experiments._sets import ADULT
from mahrem.models import KAnonymity
from mahrem.partition import ManagedRounds, Partitioner

__all__ = ["COPIES", "PART", "OnSpark"]

COPIES = 10
PART = 100_000  # rows of a part: the cluster must cut, though one worker could take all


class OnSpark:
    """A session with the copies, for as long as the block runs; starts when the first figure is wanted."""

    def __init__(self, master: str = "local[*]") -> None:
        self.master = master
        self.missing: str | None = None  # why it cannot run
        self._stack = ExitStack()
        self._ready: tuple[Any, Any, Any] | None = None
        self._known: dict[tuple[str, int], tuple[Figures, ManagedRounds | None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._ready = None

    def figures(self, method: Partitioner, k: int) -> tuple[Figures, ManagedRounds | None] | None:
        """Run a method; None where Spark cannot run, and ``missing`` says why."""
        from mahrem.engines import Task, class_figures

        key = repr(method), k  # the repr of a method holds all its settings
        if key in self._known:
            return self._known[key]
        try:
            engine, frame, quasi = self._ready or self._start()
        except MahremError as error:
            self.missing = str(error)
            return None
        made = engine.partition(frame, Task(quasi, ((KAnonymity(k), None),), method))
        try:
            found = class_figures(made.frame, quasi)
        finally:
            made.let_go()
        figures = Figures(found.classes, found.dm, found.gcp_sum, found.rows / found.classes)
        self._known[key] = figures, made.rounds
        return self._known[key]

    def _start(self) -> tuple[Any, Any, Any]:
        from mahrem.engines import Spark, number_domains

        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="mahrem-"))
        path = Path(folder) / "adult.parquet"
        table = pl.read_csv(find("adult_train"), null_values="?").drop_nulls().select(ADULT)
        table.cast(pl.Float64).write_parquet(path)
        engine = self._stack.enter_context(Spark(master=self.master, part=PART))
        frame = engine.session.read.parquet(*[str(path)] * COPIES).persist()
        self._ready = engine, frame, number_domains(frame, ADULT)
        return self._ready
