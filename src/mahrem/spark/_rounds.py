"""Su-Mondrian and its like: rounds over the cluster, the outliers of all parts in one table again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from mahrem import check
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.partition import Admits, Partition, Partitioner, UtilityAware
from mahrem.partition.cutting import ManagedRounds, managed_round
from mahrem.partition.judging import merge_refused, place_leftovers
from mahrem.spark._finish import CLASS_BITS, PartFinisher
from mahrem.spark._frame import CLASS, PlacedColumn, scaled
from mahrem.spark._parts import finish_parts
from mahrem.spark._plan import CutPlan
from mahrem.spark._publish import ClassFigures, class_figures
from mahrem.spark._task import LabelledTable, Task
from mahrem.types import Floats, Points

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    _Round = tuple[DataFrame, DataFrame]  # what a round did, and the same without it

    from mahrem.spark._cluster import Spark

_ROUND_BITS = 24  # leaves below, rounds above: numbers of classes stay unique over all rounds


@dataclass(frozen=True)
class _ManagedRound:
    """One round as a method: outliers get no class."""

    wish: UtilityAware

    def __call__(self, points: Points, admits: Admits) -> Partition:
        wish = self.wish
        return managed_round(
            points, admits, wish.partitioner, reference=wish.reference, neighbours=wish.neighbours
        )


@dataclass(frozen=True)
class _Leftovers:
    """What no round took forms classes of its own."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        labels = np.full(len(points), -1, np.int64)
        classes = place_leftovers(points, labels, 0, max(1, admits.minimum))
        if not admits.plain:
            labels, classes = merge_refused(points, labels, classes, admits)
        return Partition(labels=labels, classes=classes)


def in_rounds(engine: Spark, frame: DataFrame, task: Task, method: UtilityAware) -> LabelledTable:
    """Partition, keep the densest of every part, and partition the outliers of all parts again.

    A round whose outliers could not stand on their own is done again without outliers, except under plain
    k-anonymity: there fewer than ``k`` rows join the classes that grow least. A leaf that needs no worker is
    one class with all its rows.

    Guarantees:
        - Every class keeps the promises; no row is lost.
        - Class numbers are unique over all rounds.
    """
    if method.stop != "rounds" or method.manage_normals:
        raise InvalidParameter("stop and manage_normals of the u-models must be left as they are on Spark")
    check.between(0, 2 ** (63 - CLASS_BITS - _ROUND_BITS) - 2, rounds=method.rounds)
    held: list[DataFrame] = []
    try:
        return _rounds(engine, frame, task, method, held)
    except BaseException:
        for kept_frame in held:  # they hold rows as they came in
            kept_frame.unpersist()
        raise


def _rounds(
    engine: Spark, frame: DataFrame, task: Task, method: UtilityAware, held: list[DataFrame]
) -> LabelledTable:
    """Do the rounds; ``held`` takes every frame that the cluster keeps."""
    bare = replace(task, recodings=(), carried=None, shuffled=False)
    rest = frame
    kept: list[_Round] = []
    plans: list[CutPlan] = []
    log = _RoundLog()
    shares: tuple[Floats, ...] = ()
    for turn in range(method.rounds + 1):
        last = turn == method.rounds
        points = engine.packed(rest, task)
        held.append(points.frame)
        try:
            judge, sizes, roots = engine.strata(points, task, shares)
            shares = judge.shares
        except Infeasible:
            points.let_go()
            if not kept:
                raise
            frames = tuple(done for done, _ in kept)
            kept, joined = _settle(kept, rest, bare, plain=_plain(task))
            return LabelledTable(_together(kept, joined), tuple(plans), log.rounds(), frames)
        step: Partitioner = _Leftovers() if last else _ManagedRound(method)
        plan = engine.plan(points, judge, sizes, roots, bare.columns(rest))
        plans.append(plan)
        worker = PartFinisher(task.quasi, judge, step, ordered=True)
        done = _numbered(finish_parts(rest, bare, judge, plan, points, worker), turn).persist()
        again = PartFinisher(task.quasi, judge, method.partitioner, ordered=True)
        spare = _numbered(finish_parts(rest, bare, judge, plan, points, again), turn)
        kept.append((done, spare))
        held.append(done)
        rest = done.where(f"{CLASS} < 0").drop(CLASS)
        log.add(class_figures(done.where(f"{CLASS} >= 0"), task.quasi), sum(sizes), last=last)
        points.let_go()
        if last or not log.outliers[-1]:
            break
    return LabelledTable(_together(kept, None), tuple(plans), log.rounds(), tuple(done for done, _ in kept))


@dataclass
class _RoundLog:
    """What rounds did, as they go by."""

    figures: list[ClassFigures] = field(default_factory=list)
    outliers: list[int] = field(default_factory=list)
    leftovers: ClassFigures | None = None

    def add(self, figures: ClassFigures, rows: int, *, last: bool) -> None:
        """Take note of a round; the last one has made classes of what no round took."""
        if last:
            self.leftovers = figures
        else:
            self.figures.append(figures)
            self.outliers.append(rows - figures.rows)

    def rounds(self) -> ManagedRounds:
        """Give the log in the form that one machine gives."""
        return ManagedRounds(
            normal=np.array([figures.rows for figures in self.figures], np.int64),
            outliers=np.array(self.outliers, np.int64),
            classes=np.array([figures.classes for figures in self.figures], np.int64),
            gcp_sum=np.array([figures.gcp_sum for figures in self.figures], np.float64),
            leftovers=self.outliers[-1] if self.outliers else 0,
            leftover_classes=0 if self.leftovers is None else self.leftovers.classes,
        )


def _plain(task: Task) -> bool:
    """Say whether k-anonymity in rows is all that is promised."""
    return all(coded is None for _, coded in task.promises)


def _numbered(frame: DataFrame, turn: int) -> DataFrame:
    """Tell classes of different rounds apart."""
    from pyspark.sql import functions

    label = functions.col(CLASS)
    base = turn << (CLASS_BITS + _ROUND_BITS)
    return frame.withColumn(CLASS, functions.when(label < 0, label).otherwise(label + functions.lit(base)))


def _settle(
    kept: list[_Round], rest: DataFrame, task: Task, *, plain: bool
) -> tuple[list[_Round], DataFrame | None]:
    """Find a place for outliers that may not stand on their own."""
    if plain:
        normals = reduce(
            lambda frame, more: frame.unionByName(more), [done.where(f"{CLASS} >= 0") for done, _ in kept]
        )
        return kept, _joined(rest, normals, task.quasi)
    *earlier, (_, spare) = kept
    return [*earlier, (spare, spare)], None


def _together(kept: Sequence[_Round], joined: DataFrame | None) -> DataFrame:
    frames = [done.where(f"{CLASS} >= 0") for done, _ in kept] + ([] if joined is None else [joined])
    return reduce(lambda frame, more: frame.unionByName(more), frames)


def _joined(rest: DataFrame, normals: DataFrame, quasi: Sequence[PlacedColumn]) -> DataFrame:
    """Give a few rows to the classes whose widths grow least; only where they lie goes to all workers."""
    from pyspark.sql import functions

    names = [f"__place{place}" for place in range(len(quasi))]
    places = [scaled(placed_column) for placed_column in quasi]
    ends = [
        end
        for name, place in zip(names, places, strict=True)
        for end in (functions.min(place).alias(f"{name}_low"), functions.max(place).alias(f"{name}_high"))
    ]
    boxes = normals.groupBy(CLASS).agg(*ends)
    few = rest.select(*(place.alias(name) for name, place in zip(names, places, strict=True))).distinct()
    growth = reduce(
        lambda growth, more: growth + more,
        [
            functions.greatest(functions.col(f"{name}_low") - functions.col(name), functions.lit(0.0))
            + functions.greatest(functions.col(name) - functions.col(f"{name}_high"), functions.lit(0.0))
            for name in names
        ],
    )
    best = functions.min(functions.struct(growth.alias("growth"), functions.col(CLASS).alias("label")))
    chosen = boxes.crossJoin(functions.broadcast(few)).groupBy(*names).agg(best.alias("__best"))
    placed = rest.select("*", *(place.alias(name) for name, place in zip(names, places, strict=True)))
    joined = placed.join(functions.broadcast(chosen), names).withColumn(CLASS, functions.col("__best.label"))
    return joined.drop(*names, "__best")
