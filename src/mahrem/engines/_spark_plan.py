"""The top of a strict Mondrian tree from counts alone: what the driver decides, pass by pass.

Every pass asks about all open parts at once. It counts rows, extremes and bins of both sides of a narrow
bracket around each part's median, and lists the different values inside the bracket. That is enough to cut
every part exactly where a single machine would, and to place the brackets of the next level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem import arrays
from mahrem.engines._spark_judge import Judge
from mahrem.engines._spark_tally import Count, Survey
from mahrem.types import Floats, Integers, Mask

__all__ = ["Ask", "Plan", "plan"]

Ask = Callable[[Survey], Count]  # runs one pass over the table

_COUNTERS = 32_768  # bins per column that a pass counts for all parts together
_FEWEST, _MOST = 512, 4_096  # bins of one part
_UNSURE = 64  # a bracket with more than this part of the rows is placed anew if it is wide for want of counts
_FEW = 4_096  # rows in a bracket that are never too many


@dataclass(frozen=True)
class Plan:
    """Where rows go: a tree whose leaves are parts for workers, or classes that need no further work."""

    tree: arrays.CutTree = field(repr=False)
    roots: Mapping[bytes, int] = field(repr=False)  # pattern of missing values to its root; empty = root 0
    number: Integers = field(repr=False)  # (m,) number of each leaf, -1 for inner nodes
    sizes: Integers = field(repr=False)  # (leaves,)
    whole: Mask = field(repr=False)  # (leaves,) True: the leaf is one class
    low: Floats = field(repr=False)  # (leaves, d) NaN where nobody had to know
    high: Floats = field(repr=False)  # (leaves, d)
    passes: int
    levels: int

    def survey(self) -> Survey:
        """Give something that can say where rows stand."""
        nothing = np.zeros(0, np.int64)
        asked = arrays.Asked(
            np.full(len(self.number), -1),
            nothing,
            np.zeros(0),
            np.zeros(0),
            np.zeros(0, np.bool_),
            nothing.reshape(0, 1),
            nothing.reshape(0, 1),
        )
        return Survey(self.tree, self.roots, asked, np.zeros((self.low.shape[1], 1)), 1, ())


@dataclass
class _Bins:
    """How the rows of a part spread over bins, all but a few of them."""

    counts: Integers  # (d, b)
    first: Integers  # (d,) edge where the first bin begins
    width: Integers  # (d,) edges that the bins cover
    unsure: int  # rows that lie in no bin


@dataclass
class _Node:
    """A part of the table, as far as the driver knows it."""

    number: int
    depth: int
    size: int
    low: Floats = field(default_factory=lambda: np.zeros(0))
    high: Floats = field(default_factory=lambda: np.zeros(0))
    bins: _Bins | None = None
    column: int = -1  # tried last
    bracket: tuple[float, float] | None = None


@dataclass
class _Side:
    """One side of a cut that may be made."""

    size: int
    low: Floats
    high: Floats
    bins: _Bins | None


def plan(
    ask: Ask,
    edges: Floats,
    judge: Judge,
    *,
    target: int,
    sizes: Sequence[int],
    roots: Mapping[bytes, int] | None = None,
) -> Plan:
    """Cut a distributed table as strict Mondrian does, until every part has at most ``target`` rows.

    Args:
        ask: Runs one pass over the table.
        edges: ``(d, e)`` ascending numbers per column that bins may begin at, the last one infinity; good
            ones make passes cheap, and any give the same cuts.
        judge: Says which sides may stand.
        target: Rows that one worker takes; a part with more that cannot be cut is a class.
        sizes: Rows of each tree.
        roots: Patterns of missing values whose rows stay apart, each with the number of its tree.

    Guarantees:
        - The cuts are those of :func:`mahrem.partition.mondrian` on the whole table.
        - At most two passes for each level of the tree and column that is tried on it.
    """
    planner = _Planner(ask, edges, judge, target, dict(roots or {}))
    return planner.run([_Node(number, 0, size) for number, size in enumerate(sizes)])


class _Planner:
    """The tree as it grows."""

    def __init__(self, ask: Ask, edges: Floats, judge: Judge, target: int, roots: dict[bytes, int]) -> None:
        self.ask, self.edges, self.judge, self.target, self.roots = ask, edges, judge, target, roots
        self.nodes: list[_Node] = []
        self.cuts: dict[int, tuple[int, float, bool, int, int]] = {}
        self.whole: dict[int, bool] = {}
        self.passes = 0

    def run(self, roots: list[_Node]) -> Plan:
        """Ask until no part is open."""
        self.nodes += roots
        waiting = [node for node in roots if not self._closed(node)]
        while waiting:
            survey = self._survey(waiting)
            found = self.ask(survey)
            self.passes += 1
            following: list[_Node] = []
            for place, node in enumerate(waiting):
                following += self._learn(node, place, survey, found)
            waiting = following
        return self._plan()

    def _learn(self, node: _Node, place: int, survey: Survey, found: Count) -> list[_Node]:
        """Take in what a pass found about a part; gives what is to be asked next."""
        if node.bracket is None:
            node.low, node.high = found.least[place, 0], found.most[place, 0]
            bins = found.bins[place, 0].astype(np.int64)
            node.bins = _Bins(bins, survey.asked.first[place], survey.asked.width[place], 0)
            return self._next(node)
        node.bracket = None
        sides = _Answer(node, place, survey, found).cut(self.judge)
        if sides is None:
            return self._next(node)
        value, below, *children = sides
        made = [
            _Node(len(self.nodes) + i, node.depth + 1, side.size, side.low, side.high, side.bins)
            for i, side in enumerate(children)
        ]
        self.nodes += made
        self.cuts[node.number] = (node.column, value, below, made[0].number, made[1].number)
        node.bins = None
        return [following for child in made for following in self._next(child)]

    def _next(self, node: _Node) -> list[_Node]:
        """Close a part, or say what to ask about it."""
        if self._closed(node):
            return []
        column = next_widest(node.high - node.low, node.column)
        if column < 0:
            self.whole[node.number] = True
            return []
        if node.bins is not None:
            low, high, inside = _bracket(node.bins, column, (node.size - 1) // 2, self.edges)
            if node.bins.unsure == 0 or inside <= max(_FEW, node.size // _UNSURE):
                node.column, node.bracket = column, (low, high)
        return [node]  # without a bracket its bins are counted anew

    def _closed(self, node: _Node) -> bool:
        """Close a part that a worker can take, or that nobody could cut."""
        alone = node.size < 2 * self.judge.minimum
        if alone or node.size <= self.target:
            self.whole[node.number] = alone
        return alone or node.size <= self.target

    def _survey(self, waiting: list[_Node]) -> Survey:
        of_node = np.full(len(self.nodes), -1)
        of_node[[node.number for node in waiting]] = np.arange(len(waiting))
        questions, columns = len(waiting), len(self.edges)
        bracket = [node.bracket or (np.inf, np.inf) for node in waiting]
        first = np.zeros((questions, columns), np.int64)
        last = np.tile(np.isfinite(self.edges).sum(axis=1), (questions, 1))
        for place, node in enumerate(waiting):
            if len(node.low):
                for column, edges in enumerate(self.edges):
                    ends = np.searchsorted(edges, [node.low[column], node.high[column]])
                    first[place, column], last[place, column] = ends
        asked = arrays.Asked(
            of_node=of_node,
            column=np.array([-1 if node.bracket is None else node.column for node in waiting], np.int64),
            low=np.array([low for low, _ in bracket]),
            high=np.array([high for _, high in bracket]),
            spread=np.array([node.bracket is None or node.size > 2 * self.target for node in waiting]),
            first=first,
            width=last - first + 1,
        )
        bins = int(min(np.clip(_COUNTERS // questions, _FEWEST, _MOST), asked.width.max()))
        sizes = tuple(coded.size for coded in self.judge.columns)
        return Survey(self._tree(), self.roots, asked, self.edges, bins, sizes)

    def _tree(self) -> arrays.CutTree:
        count = len(self.nodes)
        tree = arrays.CutTree(
            np.full(count, -1),
            np.zeros(count),
            np.zeros(count, np.bool_),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
        )
        for node, cut in self.cuts.items():
            for array, entry in zip(tree, cut, strict=True):
                array[node] = entry
        return tree

    def _plan(self) -> Plan:
        leaves = [node for node in self.nodes if node.number in self.whole]
        number = np.full(len(self.nodes), -1)
        number[[leaf.number for leaf in leaves]] = np.arange(len(leaves))
        unknown = np.full(len(self.edges), np.nan)
        return Plan(
            tree=self._tree(),
            roots=self.roots,
            number=number,
            sizes=np.array([leaf.size for leaf in leaves], np.int64),
            whole=np.array([self.whole[leaf.number] for leaf in leaves]),
            low=np.array([leaf.low if len(leaf.low) else unknown for leaf in leaves]),
            high=np.array([leaf.high if len(leaf.high) else unknown for leaf in leaves]),
            passes=self.passes,
            levels=max(leaf.depth for leaf in leaves),
        )


class _Answer:
    """What a pass found about one part: its two sides, and the values between them in order."""

    def __init__(self, node: _Node, place: int, survey: Survey, found: Count) -> None:
        self.node, self.place, self.survey, self.found = node, place, survey, found
        begin, end = np.searchsorted(found.question, [place, place + 1])
        self.inside = slice(begin, end)
        equal = int(found.count[place, 1])
        ends = slice(place, place + 1) if equal else slice(0, 0)
        self.value = np.append(found.value[self.inside], survey.asked.high[ends])
        self.times = np.append(found.times[self.inside], found.count[ends, 1])
        self.low = np.concatenate([found.least_inside[self.inside], found.least[ends, 1]])
        self.high = np.concatenate([found.most_inside[self.inside], found.most[ends, 1]])

    def cut(self, judge: Judge) -> tuple[float, bool, _Side, _Side] | None:
        """Cut at the lower median if both sides may stand: ``<= v | > v``, else ``< v | >= v``."""
        ranks = int(self.found.count[self.place, 0]) + np.cumsum(self.times)
        at = int(np.searchsorted(ranks, (self.node.size - 1) // 2, side="right"))
        for below in (False, True):
            left = self._side(0, slice(0, at + (not below)))
            right = self._side(2, slice(at + (not below), len(self.value)))
            sizes = np.array([left.size, right.size])
            if sizes.min() >= judge.minimum and judge.accepts(sizes, self._triplets(at + (not below))).all():
                return float(self.value[at]), below, left, right
        return None

    def _side(self, sure: int, values: slice) -> _Side:
        place, found = self.place, self.found
        unsure = int(self.times[values].sum())
        equal = int(found.count[place, 1])
        with_equal = equal > 0 and values.stop == len(self.value) and values.stop > values.start
        bins = None
        if self.survey.asked.spread[place]:
            counts = found.bins[place, sure].astype(np.int64)
            if with_equal:
                counts = counts + found.bins[place, 1]
            asked = self.survey.asked
            bins = _Bins(counts, asked.first[place], asked.width[place], unsure - equal * with_equal)
        return _Side(
            size=int(found.count[place, sure]) + unsure,
            low=np.minimum(found.least[place, sure], self.low[values].min(axis=0, initial=np.inf)),
            high=np.maximum(found.most[place, sure], self.high[values].max(axis=0, initial=-np.inf)),
            bins=bins,
        )

    def _triplets(self, border: int) -> list[Integers]:
        """Give group (0 left, 1 right), code and times of both sides, for each sensitive column."""
        base = arrays.SIDES * len(self.survey.asked.column)
        listed = self.inside.stop - self.inside.start
        right = np.arange(len(self.value)) >= border
        slots = np.concatenate(
            [
                arrays.SIDES * self.place + np.array([0, 2]),
                base + np.arange(self.inside.start, self.inside.stop),
                arrays.SIDES * self.place + np.ones(len(self.value) - listed, np.int64),
            ]
        )
        groups = np.concatenate([[0, 1], right.astype(np.int64)])
        order = np.argsort(slots)
        slots, groups = slots[order], groups[order]
        sides = []
        for (all_of_them), size in zip(self.found.triplets, self.survey.sizes, strict=True):
            places = np.minimum(np.searchsorted(slots, all_of_them[:, 0]), len(slots) - 1)
            ours = slots[places] == all_of_them[:, 0]
            keys = groups[places[ours]] * size + all_of_them[ours, 1]
            distinct, inverse = np.unique(keys, return_inverse=True)
            times = np.zeros(len(distinct), np.int64)
            np.add.at(times, inverse, all_of_them[ours, 2])
            sides.append(np.column_stack([*np.divmod(distinct, max(size, 1)), times]))
        return sides


def next_widest(widths: Floats, previous: int) -> int:
    """Give the column after ``previous`` from wide to narrow, the first on ties; -1 = only constants left."""
    bound = np.inf if previous < 0 else widths[previous]
    later = (widths > 0) & ((widths < bound) | ((widths == bound) & (np.arange(len(widths)) > previous)))
    return int(np.where(later, widths, -1.0).argmax()) if later.any() else -1


def _bracket(bins: _Bins, column: int, rank: int, edges: Floats) -> tuple[float, float, int]:
    """Give two edges that the value of a rank lies between, and how many rows may lie there too."""
    counts = bins.counts[column]
    running = np.cumsum(counts)
    begin = int(np.argmax(running + bins.unsure > rank))
    end = int(np.argmax(running > rank)) if running[-1] > rank else len(counts) - 1
    first, width = int(bins.first[column]), int(bins.width[column])
    lowest = first - (-begin * width // len(counts))
    highest = first - (-(end + 1) * width // len(counts)) - 1
    low = -np.inf if lowest == 0 else float(edges[column, lowest - 1])
    return low, float(edges[column, highest]), int(counts[begin : end + 1].sum()) + bins.unsure
