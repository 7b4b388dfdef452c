"""Run on a Spark cluster: cut there until a part fits a worker, then finish it there with our own kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Self

import numpy as np

from mahrem import check
from mahrem.engines._spark_finish import Finish
from mahrem.engines._spark_frame import LEAF, Placed, column, labelled_schema, leaf_of
from mahrem.engines._spark_judge import Coded, Judge
from mahrem.engines._spark_plan import Plan, plan
from mahrem.engines._spark_points import Packed, Scatter, shipped_columns
from mahrem.engines._spark_session import start, stop
from mahrem.errors import Infeasible
from mahrem.models import PrivacyModel
from mahrem.partition import ManagedRounds, Mondrian, Partitioner, UtilityAware, merge_patterns
from mahrem.recode import Recoding
from mahrem.types import Floats, Integers

__all__ = ["Labelled", "Spark", "Task"]

_LEAST_PART = 500_000  # rows that one worker finishes before a pass over the table would be done
_LARGEST_PART = 160 << 20  # bytes, eight a cell, that one worker takes at a time


@dataclass(frozen=True)
class Task:
    """What is to be done to a distributed table."""

    quasi: tuple[Placed, ...]
    promises: tuple[tuple[PrivacyModel, Coded | None], ...]
    method: Partitioner = field(default_factory=Mondrian)
    recodings: tuple[Recoding, ...] = ()  # one for each quasi-identifier; none = only classes are made
    carried: tuple[str, ...] | None = None  # other columns to take along; None = all of them
    shuffled: bool = False  # bring rows into an order that says nothing of where they came from

    def taken_along(self, frame: Any) -> list[str]:
        """Name the columns of a table that go to workers besides quasi-identifiers."""
        cells = {quasi.name for quasi in self.quasi} if self.recodings else set()
        return [
            name for name in (frame.columns if self.carried is None else self.carried) if name not in cells
        ]

    def columns(self, frame: Any) -> int:
        """Say how many columns a worker gets of a table."""
        return len(self.quasi) + len(self.taken_along(frame))


@dataclass(frozen=True)
class Labelled:
    """A distributed table whose rows know their class, and how it came about."""

    frame: Any = field(repr=False)  # column ``__class``, cells or quasi-identifiers, everything else
    plans: tuple[Plan, ...]  # one; with rounds one for each
    rounds: ManagedRounds | None = None  # what every round of a u-model did
    kept: tuple[Any, ...] = field(repr=False, default=())  # frames that were kept; let go of them at the end

    def let_go(self) -> None:
        """Let go of what was kept on the cluster; the frame must have been used by then."""
        for frame in self.kept:
            frame.unpersist()


@dataclass(frozen=True)
class Spark:
    """A cluster, or the cores of this machine as one.

    Args:
        master: As Spark writes it; ``sc://host:port`` for Spark Connect. Not used with ``session``.
        session: A session that somebody else has started and will stop.
        memory: Of the driver and of every executor that we start; None for what ``spark-defaults.conf`` says,
            or 2 GB.
        part: Rows that one worker finishes at a time; None to choose by the number of cores.
        settings: Spark's own settings, as pairs.
        wait: Seconds until a master or its workers must have answered.

    Guarantees:
        - Strict Mondrian that cuts at medians gives the same classes as on one machine, whatever the layout
          of the rows; above one part other cuts, and hierarchies, keep the promises with other classes.
        - Other methods keep the same promises; their classes do not cross the parts of the table.
        - Class numbers are unique over the table and come from the cuts, so that work done twice gives the
          same numbers.
        - No row is collected to the driver.
    """

    master: str = "local[*]"
    session: Any = field(default=None, repr=False, compare=False)
    memory: str | None = None
    part: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    wait: float = 60.0

    def __post_init__(self) -> None:
        if self.part is not None:
            check.at_least(1, part=check.whole(part=self.part))

    def __enter__(self) -> Self:
        if self.session is None:
            object.__setattr__(
                self,
                "session",
                start(self.master, memory=self.memory, settings=dict(self.settings), wait=self.wait),
            )
            object.__setattr__(self, "_ours", True)
        return self

    def __exit__(self, *_: object) -> None:
        if getattr(self, "_ours", False):
            stop(self.session)
            object.__setattr__(self, "session", None)
            object.__setattr__(self, "_ours", False)

    def partition(self, frame: Any, task: Task) -> Labelled:
        """Sort the rows of a Spark DataFrame into classes, and rewrite their cells if the task says so.

        The frame must give the same rows each time it is read; persist it if it is costly to compute.

        Raises:
            Infeasible: If the table may not stand as one class.
            InvalidParameter: If a method does not run on a cluster.
        """
        if isinstance(task.method, UtilityAware):
            from mahrem.engines._spark_publish import recoded
            from mahrem.engines._spark_rounds import in_rounds

            made = in_rounds(self, frame, task, task.method)
            if not task.recodings:
                return made
            rows, largest = int(made.plans[0].sizes.sum()), self.target(0, task.columns(frame))
            return replace(made, frame=recoded(made.frame, task, rows, largest))
        points = self.packed(frame, task)
        try:
            judge, sizes, roots = self.strata(points, task)
            plan_ = self.plan(points, judge, sizes, roots, task.columns(frame))
        except BaseException:
            points.let_go()
            raise
        return Labelled(finished(frame, task, judge, plan_, points), (plan_,), kept=(points.frame,))

    @staticmethod
    def packed(frame: Any, task: Task) -> Packed:
        """Pack what the cuts depend on; let go of it at the end."""
        return Packed.of(frame, task.quasi, Judge(task.promises).columns)

    @staticmethod
    def strata(
        points: Packed, task: Task, shares: tuple[Floats, ...] = ()
    ) -> tuple[Judge, list[int], dict[bytes, int]]:
        """Count rows by their pattern of missing values and merge patterns that may not stand.

        ``shares`` of sensitive values are those of the table, unless it is only a part of another one.
        """
        judge = Judge(task.promises)
        sizes, triplets, bits = points.glance.sizes, points.glance.triplets, points.glance.patterns
        judge = replace(judge, shares=shares or tuple(map(_shares, judge.columns, triplets)))
        accepted = _accepts(judge, sizes, triplets, np.zeros(len(sizes), np.int64), np.zeros(1, np.int64))
        if not len(sizes) or not accepted.all():
            raise _infeasible(int(sizes.sum()), judge.minimum)
        target = merge_patterns(
            bits,
            sizes.copy(),
            lambda strata, which: _accepts(judge, sizes, triplets, strata, which),
        )
        alive = np.unique(target)
        of_pattern = np.searchsorted(alive, target)
        together = np.bincount(of_pattern, weights=sizes).astype(np.int64).tolist()
        if len(alive) == 1:
            return judge, together, {}
        return judge, together, {one.tobytes(): int(root) for one, root in zip(bits, of_pattern, strict=True)}

    def plan(
        self, points: Packed, judge: Judge, sizes: list[int], roots: dict[bytes, int], columns: int
    ) -> Plan:
        """Cut the table until every part fits a worker, with all of its columns."""
        target, cores = self.target(sum(sizes), columns), self.cores
        edges = points.glance.edges()
        return plan(
            lambda survey: points.ask(survey, cores), edges, judge, target=target, sizes=sizes, roots=roots
        )

    def target(self, rows: int, columns: int) -> int:
        """Give how many rows one worker takes: fewer of a wide table."""
        if self.part is not None:
            return self.part
        most = max(_LEAST_PART, _LARGEST_PART // (8 * max(1, columns)))
        return int(np.clip(-(-rows // self.cores), _LEAST_PART, most))

    @property
    def cores(self) -> int:
        """How many tasks run at a time, as far as is known."""
        if type(self.session).__module__.startswith("pyspark.sql.connect"):
            return int(self.session.conf.get("spark.default.parallelism", "8"))
        return int(self.session.sparkContext.defaultParallelism)


def finished(
    frame: Any, task: Task, judge: Judge, made: Plan, points: Packed, worker: Finish | None = None
) -> Any:
    """Send every part to a worker that finishes it; leaves that are one class stay where they are."""
    from pyspark.sql import functions

    carried = task.taken_along(frame)
    ordered = not (isinstance(task.method, Mondrian) and task.method.strict)
    finish = worker or Finish(task.quasi, judge, task.method, ordered, task.recodings, task.shuffled)
    kinds = {one.name: one for one in frame.schema.fields}
    cells = [quasi.name for quasi in task.quasi] if task.recodings else []
    schema = labelled_schema(cells, [kinds[name] for name in carried])
    shipped = shipped_columns(task.quasi, judge.columns)
    results = []
    if not made.whole.all():
        # Names of our own: mapInArrow takes a dot in a name for a field of a struct.
        named = [column(name).alias(f"__x{place}") for place, name in enumerate(carried)]
        pieces = frame.select(*shipped, *named) if carried else points.frame
        if len(made.sizes) == 1 and not carried:
            parts = pieces.select(functions.lit(0).alias("leaf"), "blob")
        else:
            scatter = Scatter(points.axes, made, packed=not carried)
            parts = pieces.mapInArrow(scatter, "leaf int, blob binary")
        parts = parts.repartitionById(len(made.sizes), functions.col("leaf"))
        results.append(parts.mapInArrow(finish, schema))
    if made.whole.any():
        from mahrem.engines._spark_publish import scattered
        from mahrem.engines._spark_whole import whole_classes

        leaf = leaf_of(made, task.quasi).alias(LEAF)
        rows = frame.select(*shipped, *(column(name) for name in carried), leaf)
        alone = rows.where(functions.col(LEAF).isin(np.flatnonzero(made.whole).tolist()))
        classes = whole_classes(alone, task, carried)
        results.append(scattered(classes) if task.shuffled else classes)
    return reduce(lambda one, other: one.unionByName(other), results)


def _accepts(
    judge: Judge, sizes: Integers, triplets: Sequence[Integers], strata: Integers, which: Integers
) -> Any:
    """Judge some strata from the counts of their patterns."""
    together = np.bincount(strata, weights=sizes, minlength=int(which.max(initial=0)) + 1).astype(np.int64)
    added = []
    for coded, found in zip(judge.columns, triplets, strict=True):
        keys = strata[found[:, 0]] * coded.size + found[:, 1]
        distinct, inverse = np.unique(keys, return_inverse=True)
        times = np.bincount(inverse, weights=found[:, 2]).astype(np.int64)
        added.append(np.column_stack([*np.divmod(distinct, max(coded.size, 1)), times]))
    return judge.accepts(together, added)[which]


def _shares(coded: Coded, triplets: Integers) -> Floats:
    """Give the share of each value of a column in all rows."""
    times = np.bincount(triplets[:, 1], weights=triplets[:, 2], minlength=coded.size)
    shares: Floats = times / max(1.0, times.sum())
    return shares


def _infeasible(rows: int, minimum: int) -> Exception:
    if rows < minimum:
        return Infeasible(f"rows={rows} must be at least {minimum} for one class; ask for less", reached=rows)
    return Infeasible(f"the table of rows={rows} does not keep the promise even as one class; ask for less")
