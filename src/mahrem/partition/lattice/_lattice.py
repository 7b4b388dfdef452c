"""The lattice of full-domain generalisation: a level for every column, and the classes each node makes.

Rows are put together once; the classes of a node are then made from the classes of the coarsest finer node
that is still in the store, never from the rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays import counting
from mahrem.errors import InvalidParameter
from mahrem.partition.cutting import leaves_of
from mahrem.table import Hierarchy
from mahrem.types import Floats, Integers, Labels, Mask, Points, Sizes

Numbers = NDArray[np.uint64]

_PLACES = 2048  # nodes whose classes are kept at most
_BYTES = 256_000_000  # and what they may take
_WORTH = 0.9  # share of the distinct rows above which classes are not worth keeping
_BITS = 64
_ALL = slice(None)


@dataclass(frozen=True)
class Tree:
    """One column: the node over each leaf at each level, and what a cell that shows it loses."""

    leaf: Integers = field(repr=False)  # (n,) -1 = missing
    nodes: Integers = field(repr=False)  # (levels, leaves)
    shares: Floats = field(repr=False)  # (levels, leaves) share of the column that the node covers; root = 1

    @property
    def levels(self) -> int:
        """How many levels there are, values and root included."""
        return len(self.nodes)


@dataclass(frozen=True)
class Grouped:
    """The classes of one node, in the order in which the rows first meet them."""

    levels: tuple[int, ...]
    keys: counting.Keys = field(repr=False)  # (c, words)
    sizes: Sizes = field(repr=False)  # (c,) rows that count; 0 for people of a population alone
    of_base: NDArray[np.int32] | None = field(repr=False)  # (g,) class of every distinct row


@dataclass(frozen=True)
class Lattice:
    """Distinct rows as packed keys, and what takes them from level to level.

    A field holds node + 1; 0 is a missing value, and everything at the root.
    """

    trees: tuple[Tree, ...] = field(repr=False)
    word: Integers = field(repr=False)  # (d,) where a column's field lies
    shift: Numbers = field(repr=False)
    mask: Numbers = field(repr=False)
    delta: Numbers = field(repr=False)  # what lifting a field adds to its word
    delta_first: dict[tuple[int, int, int], int] = field(repr=False)  # of (column, from level, to level)
    base_of_row: NDArray[np.int32] = field(repr=False)  # (n,) distinct row of each row
    base: Grouped
    with_rows: bool  # rows of classes are wanted, not only how many
    members: Mask | None = field(repr=False)  # (n,) rows that will be published and count; None = all
    _store: _Store = field(repr=False)

    @property
    def heights(self) -> tuple[int, ...]:
        """How many levels each column has."""
        return tuple(tree.levels for tree in self.trees)

    @property
    def top(self) -> tuple[int, ...]:
        """The node at which every cell is the root."""
        return tuple(tree.levels - 1 for tree in self.trees)

    @property
    def rows(self) -> int:
        """How many rows count: those of the table, not the people beside it."""
        return int(self.base.sizes.sum())

    def classes(self, levels: tuple[int, ...]) -> Grouped:
        """Group the rows at a node."""
        finer = self._store.nearest(levels)
        if finer.levels == levels:
            return finer
        keys, sizes, into = counting.regroup(finer.keys, finer.sizes, self.lift(finer.levels, levels))
        of_base = None if finer.of_base is None else into[finer.of_base]
        grouped = Grouped(levels, keys, sizes, of_base)
        self._store.add(grouped)
        return grouped

    def labels(self, grouped: Grouped) -> Labels:
        """Give the class of every row."""
        of_base = grouped.of_base
        if of_base is None:  # not kept on the way: made once, from the distinct rows
            lift = self.lift(self.base.levels, grouped.levels)
            _, _, of_base = counting.regroup(self.base.keys, self.base.sizes, lift)
        return of_base[self.base_of_row].astype(np.int64)

    def codes(self, grouped: Grouped, column: int, chosen: Mask | slice = _ALL) -> Numbers:
        """Give what the field of a column holds in some classes: node + 1, 0 at the root or for nothing."""
        held = grouped.keys[chosen, self.word[column]]
        codes: Numbers = (held >> self.shift[column]) & self.mask[column]
        return codes

    def lift(self, low: tuple[int, ...], high: tuple[int, ...]) -> counting.Lift:
        """Say what changes in keys from one node to another above it."""
        moved = [column for column in range(len(self.trees)) if low[column] != high[column]]
        first = [self.delta_first[column, low[column], high[column]] for column in moved]
        return counting.Lift(
            self.word[moved], self.shift[moved], self.mask[moved], np.array(first, np.uint64), self.delta
        )


class _Store:
    """Classes of nodes that were made, the oldest forgotten first; the distinct rows stay."""

    def __init__(self, base: Grouped) -> None:
        self._base = base
        self._kept: dict[int, Grouped] = {}  # by place
        self._order: deque[int] = deque()  # places, the oldest first
        self._free = list(range(_PLACES - 1, -1, -1))
        self._levels = np.zeros((_PLACES, len(base.levels)), np.int64)
        self._sizes = np.zeros(_PLACES, np.int64)
        self._bytes = self._used = 0

    def nearest(self, levels: tuple[int, ...]) -> Grouped:
        """Give the kept node with the fewest classes from which this one can be made."""
        wanted = np.array(levels, np.int64)
        place = counting.nearest_finer(self._levels, self._sizes, self._used, wanted)
        return self._base if place < 0 else self._kept[place]

    def add(self, grouped: Grouped) -> None:
        """Keep a node, unless it has hardly fewer classes than there are distinct rows."""
        if len(grouped.sizes) > _WORTH * len(self._base.sizes) or _weight(grouped) > _BYTES:
            return
        self._bytes += _weight(grouped)
        while not self._free or self._bytes > _BYTES:
            oldest = self._order.popleft()
            self._bytes -= _weight(self._kept.pop(oldest))
            self._sizes[oldest] = 0
            self._free.append(oldest)
        place = self._free.pop()
        self._used = max(self._used, place + 1)
        self._kept[place] = grouped
        self._order.append(place)
        self._levels[place], self._sizes[place] = grouped.levels, len(grouped.sizes)


def _weight(grouped: Grouped) -> int:
    return (
        grouped.keys.nbytes
        + grouped.sizes.nbytes
        + (0 if grouped.of_base is None else grouped.of_base.nbytes)
    )


def lattice_of(
    points: Points,
    hierarchies: Sequence[Hierarchy | None] = (),
    *,
    with_rows: bool = False,
    members: Mask | None = None,
) -> Lattice:
    """Put equal rows together and prepare all levels of all columns.

    Args:
        points: ``(n, d)`` quasi-identifiers; -1 is a missing value.
        hierarchies: One for each column; a column without one gets a grid over its scaled axis.
        with_rows: Keep for every node which distinct rows its classes hold.
        members: ``(n,)`` rows of the table; the others are people of a population, who have classes too but
            count in no size and in no loss. None: all are of the table.

    Example:
        >>> points = np.array([[0.0, 1.0], [0.5, 1.0], [1.0, 0.0], [0.0, 1.0]])
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> lattice = lattice_of(points, [tree, None])
        >>> lattice.heights, lattice.classes((0, 0)).sizes, lattice.classes((1, 0)).sizes
        ((3, 2), array([2, 1, 1]), array([3, 1]))
    """
    by_column = list(hierarchies) or [None] * points.shape[1]
    if len(by_column) != points.shape[1]:
        raise InvalidParameter(
            f"hierarchies={len(by_column)} must be one for each of the {points.shape[1]} columns"
        )
    trees = tuple(
        _grid(points[:, column]) if tree is None else _tree(points, column, tree)
        for column, tree in enumerate(by_column)
    )
    return lattice_of_trees(trees, len(points), with_rows=with_rows, members=members)


def lattice_of_trees(
    trees: tuple[Tree, ...], rows: int, *, with_rows: bool = False, members: Mask | None = None
) -> Lattice:
    """Put equal rows together by columns whose trees are there already."""
    word, shift, mask = _fields(trees)
    delta, delta_first = _deltas(trees, shift)
    keys = np.zeros((rows, int(word.max(initial=0)) + 1), np.uint64)
    for column, tree in enumerate(trees):
        keys[:, word[column]] |= (tree.leaf + 1).astype(np.uint64) << shift[column]
    nothing = counting.Lift(word[:0], shift[:0], mask[:0], shift[:0], delta)
    counted = np.ones(rows, np.int64) if members is None else members.astype(np.int64)
    keys, sizes, base_of_row = counting.regroup(keys, counted, nothing)
    of_base = np.arange(len(sizes), dtype=np.int32) if with_rows else None
    base = Grouped((0,) * len(trees), keys, sizes, of_base)
    return Lattice(
        trees, word, shift, mask, delta, delta_first, base_of_row, base, with_rows, members, _Store(base)
    )


def _tree(points: Points, column: int, hierarchy: Hierarchy) -> Tree:
    counts = [count[nodes] for count, nodes in zip(hierarchy.leaf_counts, hierarchy.nodes, strict=True)]
    covered = np.stack(counts)
    shares = np.where(covered > 1, covered / hierarchy.leaves, 0.0)
    shares[-1] = 1.0  # the root says nothing, even over one leaf
    return Tree(leaves_of(points, column, hierarchy), hierarchy.nodes, shares)


def _grid(places: Floats) -> Tree:
    """Give a column without a hierarchy the values, sixteenths, quarters and the root, where they differ."""
    known, leaf = np.unique(places[places >= 0], return_inverse=True)
    known = known if len(known) else np.zeros(1)
    codes = np.full(len(places), -1, np.int64)
    codes[places >= 0] = leaf
    levels, shares = [np.arange(len(known))], [np.zeros(len(known))]
    for parts in (16, 4):
        if len(known) > parts:
            cells = np.minimum(np.floor(known * parts), parts - 1).astype(np.int64)
            levels.append(np.unique(cells, return_inverse=True)[1].astype(np.int64))
            shares.append(np.full(len(known), 1 / parts))
    levels.append(np.zeros(len(known), np.int64))
    shares.append(np.ones(len(known)))
    return Tree(codes, np.stack(levels), np.stack(shares))


def _fields(trees: Sequence[Tree]) -> tuple[Integers, Numbers, Numbers]:
    """Lay the columns' fields side by side, as many into a word of 64 bits as there is room for."""
    word, shift, mask = [], [], []
    at, used = 0, 0
    for tree in trees:
        width = int(tree.nodes.shape[1]).bit_length()
        if used + width > _BITS:
            at, used = at + 1, 0
        word.append(at)
        shift.append(used)
        mask.append((1 << width) - 1)
        used += width
    return np.array(word, np.int64), np.array(shift, np.uint64), np.array(mask, np.uint64)


def codes_at(tree: Tree, level: int) -> Integers:
    """Give what the field of a column holds at a level for missing and for each leaf."""
    if level == tree.levels - 1:
        return np.zeros(tree.nodes.shape[1] + 1, np.int64)
    return np.concatenate([[0], tree.nodes[level] + 1])


def _deltas(trees: Sequence[Tree], shift: Numbers) -> tuple[Numbers, dict[tuple[int, int, int], int]]:
    blocks: list[Numbers] = []
    first: dict[tuple[int, int, int], int] = {}
    length = 0
    for column, tree in enumerate(trees):
        held = [codes_at(tree, level) for level in range(tree.levels)]
        for low in range(tree.levels):
            for high in range(low + 1, tree.levels):
                step = np.zeros(int(held[low].max()) + 1, np.int64)
                step[held[low]] = held[high] - held[low]
                first[column, low, high] = length
                blocks.append(step.astype(np.uint64) << shift[column])  # a step down wraps around, as it must
                length += len(step)
    return np.concatenate(blocks) if blocks else np.zeros(1, np.uint64), first
