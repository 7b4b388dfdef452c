"""Cuts by passes over numbers on disk, until every part fits; then parts in the order of their classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from mahrem.models import Promise
from mahrem.spark import CutPlan, GlanceTaker, Judge, PassCount, Survey, TableGlance, plan_cuts, strata_of
from mahrem.spilled._bound import MemoryBound
from mahrem.spilled._encode import SpilledTable
from mahrem.spilled._pace import Pace
from mahrem.types import Integers, Points

_PIECES = 16  # of which a glance is taken at once


@dataclass(frozen=True)
class PartPlan:
    """Which part every row belongs to: some leaves of the tree of cuts, in the order of their classes."""

    judge: Judge
    cuts: CutPlan
    part_of_leaf: Integers = field(repr=False)  # (leaves,)
    rank_of_leaf: Integers = field(repr=False)  # (leaves,) from left to right

    @property
    def parts(self) -> int:
        """How many there are."""
        return int(self.part_of_leaf.max(initial=-1)) + 1

    def leaves(self, points: Points) -> Integers:
        """Give the leaf of every row."""
        return self.cuts.number[self.cuts.survey().stand(points)]


def plan_parts(
    table: SpilledTable, promises: tuple[Promise, ...], bound: MemoryBound, pace: Pace
) -> PartPlan:
    """Cut a table as strict Mondrian does in memory, as far as it takes for every part to fit.

    Raises:
        Infeasible: If the table may not stand as one class.

    Guarantees:
        - Parts hold whole classes of strict Mondrian on the whole table.
        - A part has at most as many rows as the bound allows, but for one that nothing can cut.
    """
    judge = Judge(table.promised(promises))
    sizes = tuple(coded.size for coded in judge.columns)
    order = [table.coded.index(coded) for coded in judge.columns]

    def pieces() -> Iterator[tuple[Points, list[Integers]]]:
        for points, codes in table.pieces(bound.batch):
            yield points, [codes[place] for place in order]
            pace.add(len(points))

    taker = GlanceTaker(len(table.axes), sizes)
    glance = taker.nothing()
    stream = pieces()
    while some := list(islice(stream, _PIECES)):
        glance = TableGlance.merged([glance, taker.seen(iter(some))])
    judge, rows, roots = strata_of(glance, judge)

    def ask(survey: Survey) -> PassCount:
        return PassCount.unpack(survey(pieces()))

    cuts = plan_cuts(ask, glance.edges(), judge, target=bound.part_rows, sizes=rows, roots=roots)
    ranks = _left_to_right(cuts, len(rows))
    return PartPlan(judge, cuts, _grouped(cuts, ranks, bound.part_rows), ranks)


def _left_to_right(cuts: CutPlan, roots: int) -> Integers:
    """Number leaves in the order in which a run in memory numbers their classes."""
    ranks, next_rank = np.zeros(len(cuts.sizes), np.int64), 0
    open_ = list(range(roots))[::-1]
    while open_:
        node = open_.pop()
        if cuts.number[node] >= 0:
            ranks[cuts.number[node]], next_rank = next_rank, next_rank + 1
        else:
            open_ += [int(cuts.tree.right[node]), int(cuts.tree.left[node])]
    return ranks


def _grouped(cuts: CutPlan, ranks: Integers, most: int) -> Integers:
    """Put neighbouring leaves together while they fit; one that does not fit stays alone."""
    parts, part, held = np.zeros(len(ranks), np.int64), -1, most + 1
    for leaf in np.argsort(ranks).tolist():
        size = int(cuts.sizes[leaf])
        if held + size > most:
            part, held = part + 1, 0
        held += size
        parts[leaf] = part
    return parts
