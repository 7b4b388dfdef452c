"""Full-domain search in plain Python, from the definitions: what the methods are compared with."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from mahrem.models import (
    DeltaPresence,
    KAnonymity,
    PrivacyModel,
    ShownPresence,
    counts_of,
)
from mahrem.models.populations import PopulationKMap
from mahrem.partition import Admission
from mahrem.table import Hierarchy, Values
from mahrem.types import Integers, Mask, Points
from slow_objectives import SlowNode, shown, slow_loss

Class = list[int]  # rows


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """A tree of one to six leaves: every level joins some nodes of the one below."""
    leaves = draw(st.integers(1, 6))
    levels = [list(range(leaves))]
    for _ in range(draw(st.integers(0, 2))):
        below = sorted(set(levels[-1]))
        joined = {node: draw(st.integers(0, max(0, len(below) - 1))) for node in below}
        levels.append([joined[node] for node in levels[-1]])
    rows = [[f"{height}.{level[leaf]}" for height, level in enumerate(levels)] for leaf in range(leaves)]
    return Hierarchy.from_rows(rows)


@dataclass(frozen=True)
class Table:
    """Leaves of rows, a sensitive value each, and who of them is in the table; all, where nobody says."""

    trees: tuple[Hierarchy, ...]
    leaves: Integers  # (n, d), -1 = missing
    disease: Integers
    members: Mask | None = None

    @property
    def points(self) -> Points:
        width = np.array([max(1, tree.leaves - 1) for tree in self.trees])
        return np.where(self.leaves < 0, -1.0, self.leaves / width)

    @property
    def inside(self) -> Mask:
        return np.ones(len(self.leaves), np.bool_) if self.members is None else self.members

    @property
    def values(self) -> Values:
        return Values("disease", np.where(self.inside, self.disease, -1).astype(np.int32), 3)

    def admits(self, *models: PrivacyModel, keeps_sensitive: bool = False) -> Admission:
        presence = Values("membership", self.inside.astype(np.int32), 2)
        said: list[tuple[PrivacyModel, Values | None]] = []
        for model in models:
            if isinstance(model, KAnonymity):
                said.append((model, None))
            else:
                said.append((model, presence if model.of_members else self.values))
        return Admission(
            tuple(said), rows=len(self.leaves), members=self.members, keeps_sensitive=keeps_sensitive
        )


@st.composite
def tables(draw: st.DrawFn, *, population: bool = False) -> Table:
    trees = tuple(draw(st.lists(hierarchies(), min_size=1, max_size=3)))
    rows = draw(st.integers(1, 30))
    cells = [draw(st.lists(st.integers(-1, tree.leaves - 1), min_size=rows, max_size=rows)) for tree in trees]
    disease = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    members = None
    if population:
        members = np.array([True, *draw(st.lists(st.booleans(), min_size=rows - 1, max_size=rows - 1))])
    return Table(trees, np.array(cells, np.int64).T, np.array(disease, np.int64), members)


def slow_classes(table: Table, node: tuple[int, ...]) -> list[Class]:
    found = defaultdict(list)
    for row, leaves in enumerate(table.leaves.tolist()):
        cells = zip(table.trees, leaves, node, strict=True)
        found[tuple(shown(*cell) for cell in cells)].append(row)
    return list(found.values())


@dataclass(frozen=True)
class SlowSearch:
    """Every node of a table's lattice under some promises."""

    table: Table
    said: tuple[PrivacyModel, ...]
    limit: float = 0.0
    loss: str = "ncp"
    keeps: bool = False
    told: dict[str, object] = field(default_factory=dict)  # what the objective is told
    found: dict[tuple[int, ...], list[Class] | None] = field(default_factory=dict, repr=False)

    @property
    def budget(self) -> int:
        return math.floor(self.limit * int(self.table.inside.sum()) + 1e-9)

    @property
    def minimum(self) -> int:
        return max(1, *(model.least_rows for model in self.said))

    def size(self, rows: Class) -> int:
        return int(self.table.inside[rows].sum())

    def stands(self, classes: Sequence[Class], compared: Sequence[Class]) -> list[bool]:
        """Judge classes by every model, in the table that some classes make."""
        inside, disease = self.table.inside, self.table.disease
        labels = np.full(len(inside), -1)
        for label, rows in enumerate(classes):
            labels[rows] = label
        whole = np.zeros(len(inside), np.int64) - 1
        for rows in compared:
            whole[rows] = 0
        answers = [np.ones(len(classes), np.bool_)]
        for model in self.said:
            if model.of_members:
                answers.append(model.holds(counts_of(labels, inside.astype(int), len(classes), 2)))
                continue
            codes = np.where(inside, disease, -1)
            counts = counts_of(np.where(inside, labels, -1), codes, len(classes), 3)
            share = counts_of(np.where(inside, whole, -1), codes, 1, 3).table
            answers.append(model.holds(type(counts)(**{**vars(counts), "table": share})))
        return np.all(answers, axis=0).tolist()

    def left(self, classes: Sequence[Class], *, by_halves: bool = False) -> list[Class]:
        """Take classes away until all that are left stand in the table that they make."""
        kept = list(classes)
        while kept and not self.hopeless(kept):
            refused = [rows for rows, may in zip(kept, self.stands(kept, kept), strict=True) if not may]
            if not refused:
                return kept
            if by_halves:
                refused = sorted(refused, key=self.size)[: (len(refused) + 1) // 2]
            kept = [rows for rows in kept if rows not in refused]
        return kept

    def hopeless(self, kept: list[Class]) -> bool:
        """More than four times the limit is left out: no refused class will change that."""
        return self.budget > 0 and self._refused(kept, []) > 4 * self.budget

    def reconsidered(self, wanted: list[Class]) -> list[Class]:
        """Let refused classes in again as long as that shows more rows."""
        starts = self.left(wanted), self.left(wanted, by_halves=True)
        kept = max(starts, key=lambda classes: sum(map(self.size, classes)))
        while not self.hopeless(kept):
            others = [rows for rows in wanted if rows not in kept]
            back = [rows for rows, may in zip(others, self.stands(others, kept), strict=True) if may]
            back.sort(key=self.size, reverse=True)
            grown = self._more(wanted, kept, back)
            if grown is None:
                break
            kept = grown
        return kept

    def _more(self, wanted: list[Class], kept: list[Class], back: list[Class]) -> list[Class] | None:
        while back:
            grown = self.left([rows for rows in wanted if rows in kept or rows in back])
            if sum(map(self.size, grown)) > sum(map(self.size, kept)):
                return grown
            back = back[: len(back) // 2]
        return None

    def kept(self, node: tuple[int, ...]) -> list[Class] | None:
        """Give the classes that a node shows; None when it does not hold."""
        if node not in self.found:
            self.found[node] = self._kept(slow_classes(self.table, node))
        return self.found[node]

    def _kept(self, classes: list[Class]) -> list[Class] | None:
        empty = [rows for rows in classes if self.size(rows) == 0]
        if not self._absent(empty):
            return None
        wanted = [rows for rows in classes if self.size(rows) >= self.minimum]
        if self.keeps or self.budget == 0:
            stands = self.stands(wanted, classes)
            kept = [rows for rows, may in zip(wanted, stands, strict=True) if may]
        else:
            kept = self.reconsidered(wanted)
        while True:
            again = self._with_rest(classes, kept)
            if again is None or self.keeps or self.budget == 0:
                return again
            left = self.left(again)
            if len(left) == len(again):
                return left
            kept = left

    def _absent(self, empty: list[Class]) -> bool:
        for model in self.said:
            if isinstance(model, DeltaPresence) and not isinstance(model, ShownPresence):
                return not empty or model.low == 0
        return True

    def _with_rest(self, classes: list[Class], kept: list[Class]) -> list[Class] | None:
        """Let small classes join the rest until it may be left out."""
        joining = sorted(kept, key=lambda rows: (self.size(rows), -len(rows)))
        steps = {0, *(1 << step for step in range(len(joining).bit_length()))}
        most = max(
            (j for j in range(len(joining)) if self._refused(kept, joining[:j]) <= self.budget), default=-1
        )
        for step in sorted({*(j for j in steps if j <= most), most} - {-1}):
            shown_now = [rows for rows in kept if rows not in joining[:step]]
            rest = [row for rows in classes if rows not in shown_now for row in rows]
            if self._rest_stands(rest, classes):
                return shown_now
        return None

    def _refused(self, kept: list[Class], joining: list[Class]) -> int:
        return int(self.table.inside.sum()) - sum(map(self.size, kept)) + sum(map(self.size, joining))

    def _rest_stands(self, rest: Class, classes: list[Class]) -> bool:
        if self.size(rest) == 0:
            return True
        if self.keeps:
            unshown = tuple(m.unshown if m.of_members else m for m in self.said)
            return SlowSearch(self.table, unshown).stands([rest], classes)[0]
        share = self.size(rest) / len(rest)
        for model in self.said:
            if isinstance(model, DeltaPresence):
                low = 0 if isinstance(model, ShownPresence) else model.low
                return low <= share <= model.high
            if isinstance(model, PopulationKMap):
                return len(rest) >= model.k
        return True

    def lost(self, node: tuple[int, ...], kept: list[Class]) -> float:
        """The loss of a node, on rows of the table alone."""
        table = self.table
        shown = [[row for row in members if table.inside[row]] for members in kept]
        inside = [row for row in range(len(table.leaves)) if table.inside[row]]
        told = set(itertools.chain(*shown))
        hidden = [
            rows
            for members in slow_classes(table, node)
            if (rows := [row for row in members if table.inside[row] and row not in told])
        ]
        slow = SlowNode(table.trees, table.leaves[:, :], node, shown, hidden, inside)
        return slow_loss(slow, self.loss, minimum=self.minimum, **self.told)

    def nodes(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*(range(tree.levels) for tree in self.table.trees))

    def best(self) -> float:
        """The least loss over all nodes that hold, infinite when none does."""
        least = math.inf
        for node in self.nodes():
            kept = self.kept(node)
            if kept and self._refused(kept, []) <= self.budget:
                least = min(least, self.lost(node, kept))
        return least
