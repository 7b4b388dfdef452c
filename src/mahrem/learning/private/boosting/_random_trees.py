"""Trees whose cuts nobody had to look for: drawn at random from what is public of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np

from mahrem.learning.private.inputs import given_numbers
from mahrem.types import Floats, Integers

CUTS = (12, 6)  # of a number, in a tree of one column and of two
GROUPS = 4  # so many groups of values has a column in a tree of two; alone, each value is a leaf
SCALES = 10  # cuts near a bound are drawn from so many halvings of the way to it
NONE = -1  # no column


@dataclass(frozen=True)
class ColumnCodes:
    """Rows as trees see them: shares of the way between bounds, and places of declared values.

    Args:
        widths: How many numbers each column has in a row: one number between 0 and 1, or a place for each
            declared value.

    Guarantees:
        - Each row depends on itself alone. A number that is missing counts as the middle; a value that is
          none of the declared ones is a value of its own.
    """

    widths: tuple[int, ...]

    def __call__(self, rows: object) -> list[Any]:
        """Give a ``(n,)`` array per column: numbers, or whole numbers for values."""
        numbers = given_numbers(rows, "X")
        edges = np.cumsum([0, *self.widths])
        return [self._column(numbers[:, low:high]) for low, high in pairwise(edges)]

    def _column(self, block: Floats) -> object:
        with np.errstate(invalid="ignore"):
            if block.shape[1] == 1:
                return np.clip(np.where(np.isnan(block[:, 0]), 0.5, block[:, 0]), 0.0, 1.0)
            present = block > 0.5
        return np.where(present.any(axis=1), present.argmax(axis=1), block.shape[1])


@dataclass(frozen=True, kw_only=True)
class RandomTrees:
    """Trees of none, one or two columns each, with the values of their leaves.

    Attributes:
        widths: As in :class:`ColumnCodes`.
        columns: ``(trees, 2)``; -1 for none. The first tree has none: all rows are its one leaf.
        cuts: ``(trees, 2, most)`` ascending cuts of numbers, infinity behind the last.
        groups: ``(trees, 2, most)`` group of each declared value, and of what is none of them.
        sizes: ``(trees, 2)`` parts of each column.
        values: ``(trees, leaves, outputs)`` what a leaf adds to the scores.
    """

    widths: tuple[int, ...]
    columns: Integers = field(repr=False)
    cuts: Floats = field(repr=False)
    groups: Integers = field(repr=False)
    sizes: Integers = field(repr=False)
    values: Floats = field(repr=False)

    @classmethod
    def draw(cls, rng: np.random.Generator, widths: Sequence[int], trees: int, outputs: int) -> Self:
        """Draw trees; columns of trees of one take turns, so that all come equally often."""
        count, most = len(widths), max(widths) + 1
        columns = np.full((trees, 2), NONE)
        ones = np.arange(1, trees, 2)
        turns = np.concatenate([rng.permutation(count) for _ in range(1 + len(ones) // count)])
        columns[ones, 0] = turns[: len(ones)]
        for tree in range(2, trees, 2):
            pair = rng.permutation(count)[:2]
            columns[tree, : len(pair)] = pair
        shape = (trees, 2)
        cuts, groups = np.full((*shape, CUTS[0]), np.inf), np.zeros((*shape, most), dtype=np.int64)
        sizes = np.ones(shape, dtype=np.int64)
        for tree, pair in enumerate(columns):
            alone = pair[1] == NONE
            for place, column in enumerate(pair):
                if column == NONE:
                    continue
                width = widths[column]
                if width == 1:
                    wanted = CUTS[0] if alone else CUTS[1]
                    cuts[tree, place, :wanted] = random_cuts(rng, wanted)
                    sizes[tree, place] = wanted + 1
                    continue
                split = alone or width < GROUPS
                value_groups = np.arange(width + 1) if split else rng.integers(0, GROUPS, width + 1)
                groups[tree, place, : width + 1] = value_groups
                sizes[tree, place] = width + 1 if split else GROUPS
        leaves = int(sizes.prod(axis=1).max())
        values = np.zeros((trees, leaves, outputs))
        return cls(
            widths=tuple(widths), columns=columns, cuts=cuts, groups=groups, sizes=sizes, values=values
        )

    def __len__(self) -> int:
        return len(self.columns)

    def leaves(self, codes: Sequence[Any], tree: int, rows: int) -> Integers:
        """Give the leaf of each row in one tree."""
        leaf = np.zeros(rows, dtype=np.int64)
        for place, column in enumerate(self.columns[tree]):
            if column == NONE:
                continue
            if self.widths[column] == 1:
                part = np.searchsorted(self.cuts[tree, place], codes[column], side="right")
            else:
                part = self.groups[tree, place][codes[column]]
            leaf = leaf * self.sizes[tree, place] + part
        return leaf

    def scores(self, rows: object) -> Floats:
        """Add up what the leaves of rows say: ``(n, outputs)``."""
        codes = ColumnCodes(self.widths)(rows)
        count = len(codes[0])
        total = np.zeros((count, self.values.shape[2]))
        for tree in range(len(self)):
            total += self.values[tree][self.leaves(codes, tree, count)]
        return total

    def arrays(self) -> dict[str, Any]:
        """Give everything as arrays by name."""
        own = {name: getattr(self, name) for name in ("columns", "cuts", "groups", "sizes", "values")}
        return {"widths": np.asarray(self.widths), **own}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Read what :meth:`arrays` gave."""
        return cls(**{**arrays, "widths": tuple(int(width) for width in arrays["widths"])})


def random_cuts(rng: np.random.Generator, count: int) -> Floats:
    """Draw ascending cuts between 0 and 1: half of them evenly, the others ever closer to one of the bounds.

    Bounds are often generous on one side (an income, a length of stay): cuts at every scale find the rows.
    """
    even = rng.random(count)
    near = 2.0 ** -(SCALES * even)
    kind = rng.choice(3, count, p=(0.5, 0.35, 0.15))
    return np.sort(np.choose(kind, (even, near, 1.0 - near)))
