"""One part of a distributed table: what passes told the driver of it, and where that cuts it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mahrem.arrays import cutting
from mahrem.spark._judge import Judge
from mahrem.spark._tally import PassCount, Survey, add_up
from mahrem.types import Floats, Integers


@dataclass
class PartBins:
    """How the rows of a part spread over bins, all but a few of them."""

    counts: Integers  # (d, b)
    first: Integers  # (d,) edge where the first bin begins
    width: Integers  # (d,) edges that the bins cover
    unsure: int  # rows that lie in no bin


@dataclass
class PartNode:
    """A part of the table, as far as the driver knows it."""

    number: int
    depth: int
    size: int
    low: Floats = field(default_factory=lambda: np.zeros(0))
    high: Floats = field(default_factory=lambda: np.zeros(0))
    bins: PartBins | None = None
    column: int = -1  # tried last
    bracket: tuple[float, float] | None = None


@dataclass
class CutSide:
    """One side of a cut that may be made."""

    size: int
    low: Floats
    high: Floats
    bins: PartBins | None


class PartAnswer:
    """What a pass found about one part: its two sides, and the values between them in order."""

    def __init__(self, node: PartNode, place: int, survey: Survey, count: PassCount) -> None:
        self.node, self.place, self.survey, self.count = node, place, survey, count
        begin, end = np.searchsorted(count.question, [place, place + 1])
        self.inside = slice(begin, end)
        equal = int(count.count[place, 1])
        ends = slice(place, place + 1) if equal else slice(0, 0)
        self.value = np.append(count.value[self.inside], survey.asked.high[ends])
        self.times = np.append(count.times[self.inside], count.count[ends, 1])
        self.low = np.concatenate([count.least_inside[self.inside], count.least[ends, 1]])
        self.high = np.concatenate([count.most_inside[self.inside], count.most[ends, 1]])

    def cut(self, judge: Judge) -> tuple[float, bool, CutSide, CutSide] | None:
        """Cut at the lower median if both sides may stand: ``<= v | > v``, else ``< v | >= v``."""
        ranks = int(self.count.count[self.place, 0]) + np.cumsum(self.times)
        at = int(np.searchsorted(ranks, (self.node.size - 1) // 2, side="right"))
        for below in (False, True):
            left = self._side(0, slice(0, at + (not below)))
            right = self._side(2, slice(at + (not below), len(self.value)))
            sizes = np.array([left.size, right.size])
            if sizes.min() >= judge.minimum and judge.accepts(sizes, self._triplets(at + (not below))).all():
                return float(self.value[at]), below, left, right
        return None

    def _side(self, sure: int, values: slice) -> CutSide:
        place, count = self.place, self.count
        unsure = int(self.times[values].sum())
        equal = int(count.count[place, 1])
        with_equal = equal > 0 and values.stop == len(self.value) and values.stop > values.start
        bins = None
        if self.survey.asked.spread[place]:
            counts = count.bins[place, sure].astype(np.int64)
            if with_equal:
                counts = counts + count.bins[place, 1]
            asked = self.survey.asked
            bins = PartBins(counts, asked.first[place], asked.width[place], unsure - equal * with_equal)
        return CutSide(
            size=int(count.count[place, sure]) + unsure,
            low=np.minimum(count.least[place, sure], self.low[values].min(axis=0, initial=np.inf)),
            high=np.maximum(count.most[place, sure], self.high[values].max(axis=0, initial=-np.inf)),
            bins=bins,
        )

    def _triplets(self, border: int) -> list[Integers]:
        """Give group (0 left, 1 right), code and times of both sides, for each sensitive column."""
        base = cutting.SIDES * len(self.survey.asked.column)
        listed = self.inside.stop - self.inside.start
        right = np.arange(len(self.value)) >= border
        slots = np.concatenate(
            [
                cutting.SIDES * self.place + np.array([0, 2]),
                base + np.arange(self.inside.start, self.inside.stop),
                cutting.SIDES * self.place + np.ones(len(self.value) - listed, np.int64),
            ]
        )
        groups = np.concatenate([[0, 1], right.astype(np.int64)])
        order = np.argsort(slots)
        slots, groups = slots[order], groups[order]
        sides = []
        for all_of_them in self.count.triplets:
            places = np.minimum(np.searchsorted(slots, all_of_them[:, 0]), len(slots) - 1)
            ours = slots[places] == all_of_them[:, 0]
            sides.append(add_up(np.column_stack([groups[places[ours]], all_of_them[ours, 1:]])))
        return sides


def bracket_of(bins: PartBins, column: int, rank: int, edges: Floats) -> tuple[float, float, int]:
    """Give two edges that the value of a rank lies between, and how many rows finer counts might keep out.

    Of a single bin that is none: what fills it are rows of one value, or too few to matter.
    """
    counts = bins.counts[column]
    running = np.cumsum(counts)
    begin = int(np.argmax(running + bins.unsure > rank))
    end = int(np.argmax(running > rank)) if running[-1] > rank else len(counts) - 1
    first, width = int(bins.first[column]), int(bins.width[column])
    lowest = first - (-begin * width // len(counts))
    highest = first - (-(end + 1) * width // len(counts)) - 1
    low = -np.inf if lowest == 0 else float(edges[column, lowest - 1])
    loose = 0 if begin == end else int(counts[begin : end + 1].sum()) + bins.unsure
    return low, float(edges[column, highest]), loose
