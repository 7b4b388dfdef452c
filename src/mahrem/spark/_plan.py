"""The top of a strict Mondrian tree from counts alone: what the driver decides, pass by pass.

Every pass asks about all open parts at once. It counts rows, extremes and bins of both sides of a narrow
bracket around each part's median, and lists the different values inside the bracket. That is enough to cut
every part exactly where a single machine would, and to place the brackets of the next level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem.arrays import cutting
from mahrem.spark._cut import PartAnswer, PartBins, PartNode, bracket_of
from mahrem.spark._judge import Judge
from mahrem.spark._tally import PassCount, Survey
from mahrem.types import Floats, Integers, Mask

Ask = Callable[[Survey], PassCount]  # runs one pass over the table

_COUNTERS = 32_768  # bins per column that a pass counts for all parts together
_FEWEST, _MOST = 512, 4_096  # bins of one part
_UNSURE = 64  # a bracket with more than this part of the rows is placed anew if it is wide for want of counts
_FEW = 4_096  # rows in a bracket that are never too many


@dataclass(frozen=True)
class CutPlan:
    """Where rows go: a tree whose leaves are parts for workers, or classes that need no further work."""

    tree: cutting.CutTree = field(repr=False)
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
        asked = cutting.Asked(
            np.full(len(self.number), -1),
            nothing,
            np.zeros(0),
            np.zeros(0),
            np.zeros(0, np.bool_),
            nothing.reshape(0, 1),
            nothing.reshape(0, 1),
        )
        return Survey(self.tree, self.roots, asked, np.zeros((self.low.shape[1], 1)), 1, ())


def plan_cuts(
    ask: Ask,
    edges: Floats,
    judge: Judge,
    *,
    target: int,
    sizes: Sequence[int],
    roots: Mapping[bytes, int] | None = None,
) -> CutPlan:
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
        - The cuts are those of :class:`mahrem.partition.Mondrian` on the whole table.
        - At most two passes for each level of the tree and column that is tried on it.
    """
    planner = _Planner(ask, edges, judge, target, dict(roots or {}))
    return planner.run([PartNode(number, 0, size) for number, size in enumerate(sizes)])


class _Planner:
    """The tree as it grows."""

    def __init__(self, ask: Ask, edges: Floats, judge: Judge, target: int, roots: dict[bytes, int]) -> None:
        self.ask, self.edges, self.judge, self.target, self.roots = ask, edges, judge, target, roots
        self.nodes: list[PartNode] = []
        self.cuts: dict[int, tuple[int, float, bool, int, int]] = {}
        self.whole: dict[int, bool] = {}
        self.passes = 0

    def run(self, roots: list[PartNode]) -> CutPlan:
        """Ask until no part is open."""
        self.nodes += roots
        waiting = [node for node in roots if not self._closed(node)]
        while waiting:
            survey = self._survey(waiting)
            count = self.ask(survey)
            self.passes += 1
            following: list[PartNode] = []
            for place, node in enumerate(waiting):
                following += self._learn(node, place, survey, count)
            waiting = following
        return self._plan()

    def _learn(self, node: PartNode, place: int, survey: Survey, count: PassCount) -> list[PartNode]:
        """Take in what a pass found about a part; gives what is to be asked next."""
        if node.bracket is None:
            node.low, node.high = count.least[place, 0], count.most[place, 0]
            bins = count.bins[place, 0].astype(np.int64)
            node.bins = PartBins(bins, survey.asked.first[place], survey.asked.width[place], 0)
            return self._next(node)
        node.bracket = None
        sides = PartAnswer(node, place, survey, count).cut(self.judge)
        if sides is None:
            return self._next(node)
        value, below, *children = sides
        nodes = [
            PartNode(len(self.nodes) + i, node.depth + 1, side.size, side.low, side.high, side.bins)
            for i, side in enumerate(children)
        ]
        self.nodes += nodes
        self.cuts[node.number] = (node.column, value, below, nodes[0].number, nodes[1].number)
        node.bins = None
        return [following for child in nodes for following in self._next(child)]

    def _next(self, node: PartNode) -> list[PartNode]:
        """Close a part, or say what to ask about it."""
        if self._closed(node):
            return []
        column = next_widest(node.high - node.low, node.column)
        if column < 0:
            self.whole[node.number] = True
            return []
        if node.bins is not None:
            low, high, loose = bracket_of(node.bins, column, (node.size - 1) // 2, self.edges)
            if node.bins.unsure == 0 or loose <= max(_FEW, node.size // _UNSURE):
                node.column, node.bracket = column, (low, high)
        return [node]  # without a bracket its bins are counted anew

    def _closed(self, node: PartNode) -> bool:
        """Close a part that a worker can take, or that nobody could cut."""
        alone = node.size < 2 * self.judge.minimum
        if alone or node.size <= self.target:
            self.whole[node.number] = alone
        return alone or node.size <= self.target

    def _survey(self, waiting: list[PartNode]) -> Survey:
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
        asked = cutting.Asked(
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

    def _tree(self) -> cutting.CutTree:
        count = len(self.nodes)
        tree = cutting.CutTree(
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

    def _plan(self) -> CutPlan:
        leaves = [node for node in self.nodes if node.number in self.whole]
        number = np.full(len(self.nodes), -1)
        number[[leaf.number for leaf in leaves]] = np.arange(len(leaves))
        unknown = np.full(len(self.edges), np.nan)
        return CutPlan(
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


def next_widest(widths: Floats, previous: int) -> int:
    """Give the column after ``previous`` from wide to narrow, the first on ties; -1 = only constants left."""
    bound = np.inf if previous < 0 else widths[previous]
    later = (widths > 0) & ((widths < bound) | ((widths == bound) & (np.arange(len(widths)) > previous)))
    return int(np.where(later, widths, -1.0).argmax()) if later.any() else -1
