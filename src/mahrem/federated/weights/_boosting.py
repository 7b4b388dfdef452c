"""Gradient boosted trees from sums of histograms: clients add up gradients in public bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.sums import LARGEST_ROWS, to_fixed
from mahrem.federated.weights._schema import SharedSchema
from mahrem.learning.classifiers import DeclaredWords
from mahrem.types import Floats, Integers

NUMBER_BINS = 64  # of a column of numbers, equal on its agreed scale
SHARE_CUTS = (0.25, 0.5, 0.75)  # of the share of a value in a cell
STEADY = 1.0  # added to every sum of curvatures: a leaf of few rows stays near zero
LEAST = 1.0  # curvature on each side of a split: about four rows that are still unsure


@dataclass(frozen=True)
class SharedBins:
    """The public binning: which encoded numbers trees may ask about, and where they are cut."""

    chosen: Integers = field(repr=False)  # of the encoded numbers
    cuts: tuple[tuple[float, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, schema: SharedSchema) -> SharedBins:
        """Make it from the schema alone."""
        chosen: list[int] = []
        cuts: list[tuple[float, ...]] = []
        at = 0
        equal = tuple(float(cut) for cut in np.linspace(-1, 1, NUMBER_BINS + 1)[1:-1])
        for column in schema.columns.values():
            words = isinstance(column, DeclaredWords)
            asked = range(column.width) if words else range(2)
            chosen += [at + place for place in asked]
            cuts += [SHARE_CUTS] * column.width if words else [equal, (0.5,)]
            at += column.width
        return cls(np.array(chosen), tuple(cuts))

    @property
    def starts(self) -> Integers:
        """Where the bins of each number begin; the last entry is how many bins there are."""
        return np.concatenate([[0], np.cumsum([len(cuts) + 1 for cuts in self.cuts])]).astype(np.int64)

    def __call__(self, rows: Floats) -> Integers:
        """Give ``(n, numbers)`` bins of encoded rows."""
        columns = [
            np.searchsorted(cuts, rows[:, place], side="right")
            for place, cuts in zip(self.chosen, self.cuts, strict=True)
        ]
        return np.ascontiguousarray(np.column_stack(columns).astype(np.uint8))


@dataclass(frozen=True)
class BoostedTrees:
    """Trees as arrays: ``(trees, places)``, the children of place ``i`` are ``2i + 1`` and ``2i + 2``."""

    feature: Integers = field(repr=False)  # -1 at a leaf
    cut: Integers = field(repr=False)  # bins above it go to the second child
    value: Floats = field(repr=False)  # added to the score of rows that end here

    @classmethod
    def empty(cls, trees: int, depth: int) -> BoostedTrees:
        """Make trees that are one leaf of value 0."""
        shape = (trees, 2 ** (depth + 1) - 1)
        return cls(np.full(shape, -1, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.float32))

    def __len__(self) -> int:
        return len(self.feature)

    def joined(self, other: BoostedTrees) -> BoostedTrees:
        """Put trees of another behind these."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return BoostedTrees(*(np.concatenate(pair) for pair in pairs))

    def last(self, start: int) -> BoostedTrees:
        """Give the trees from a number on."""
        return BoostedTrees(self.feature[start:], self.cut[start:], self.value[start:])

    def places(self, tree: int, bins: Integers, levels: int) -> Integers:
        """Say at which place of a tree each row is after so many levels."""
        at = np.zeros(len(bins), np.int64)
        for _ in range(levels):
            asked = self.feature[tree][at]
            above = bins[np.arange(len(bins)), np.maximum(asked, 0)] > self.cut[tree][at]
            at = np.where(asked >= 0, 2 * at + 1 + above, at)
        return at

    def scores(self, bins: Integers, outputs: int) -> Floats:
        """Add up the trees: ``(n, outputs)``; tree ``t`` speaks of output ``t % outputs``."""
        total = np.zeros((len(bins), outputs))
        levels = int(self.feature.shape[1]).bit_length() - 1
        for tree in range(len(self)):
            total[:, tree % outputs] += self.value[tree][self.places(tree, bins, levels)]
        return total

    def as_body(self, prefix: str) -> dict[str, Any]:
        """Give it as parts of a message."""
        return {f"{prefix}-{name}": part for name, part in vars(self).items()}

    @classmethod
    def of_body(cls, body: Mapping[str, Any], prefix: str) -> BoostedTrees:
        """Read it from a message."""
        return cls(*(np.asarray(body[f"{prefix}-{name}"]) for name in ("feature", "cut", "value")))


@dataclass
class Booster:
    """A client's side: where its rows stand, and the sums of their gradients."""

    bins: Integers = field(repr=False)
    labels: Integers = field(repr=False)
    classes: int
    starts: Integers = field(repr=False)
    _above: tuple[Integers, Integers] = field(init=False, repr=False)
    _scores: Floats | None = field(default=None, repr=False)
    _trees: int = 0

    def __post_init__(self) -> None:
        row, column = np.nonzero(self.bins)  # most shares are 0: only the others are counted
        self._above = row, self.starts[column] + self.bins[row, column]

    def numbers(self, body: Mapping[str, Any]) -> Integers:
        """Give the histogram of one level: gradients and curvatures, by output, node and bin.

        Raises:
            InvalidInput: If trees are asked about that this client has not seen the fellows of.
        """
        outputs = 1 if self.classes == 2 else self.classes
        begun, new = int(body["start"]), BoostedTrees.of_body(body, "new")
        self._advance(begun, new, outputs)
        growing, level = BoostedTrees.of_body(body, "growing"), int(body["level"])
        first, many = 2**level - 1, 2**level
        slopes, bends = self._derivatives(outputs)
        width = int(self.starts[-1])
        histogram = np.zeros((outputs, many, width, 2))
        row, place = self._above
        for output in range(outputs):
            node = growing.places(output, self.bins, level) - first
            here, there = node >= 0, node[row] >= 0
            at = node[row[there]] * width + place[there]
            for kind, amounts in enumerate((slopes[:, output], bends[:, output])):
                sums = np.bincount(at, amounts[row[there]], many * width).reshape(many, width)
                whole = np.bincount(node[here], amounts[here], many)
                sums[:, self.starts[:-1]] = whole[:, None] - np.add.reduceat(sums, self.starts[:-1], axis=1)
                histogram[output, :, :, kind] = sums
        return to_fixed(histogram.ravel(), LARGEST_ROWS)

    def _advance(self, begun: int, new: BoostedTrees, outputs: int) -> None:
        if self._scores is None or begun == 0:
            self._scores, self._trees = np.zeros((len(self.bins), outputs)), 0
        if begun + len(new) == self._trees and begun > 0:
            return  # another level of the tree that is growing
        if begun != self._trees:
            raise InvalidInput(f"trees={self._trees}: this client missed some and cannot go on in this run")
        self._scores += new.scores(self.bins, outputs)
        self._trees += len(new)

    def _derivatives(self, outputs: int) -> tuple[Floats, Floats]:
        share = shares_of(np.asarray(self._scores))[:, -outputs:]
        right = self.labels[:, None] == np.arange(self.classes)[None, -outputs:]
        return share - right, share * (1 - share)


def shares_of(scores: Floats) -> Floats:
    """Turn scores into probabilities of the classes; one score alone is that of the second of two classes."""
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores[:, 0]])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def best_splits(sums: Floats, starts: Integers) -> tuple[Integers, Integers, Floats, Floats]:
    """Choose for every node the number and the cut that gain most.

    Args:
        sums: ``(nodes, bins, 2)`` gradients and curvatures.
        starts: Where the bins of each number begin.

    Returns:
        ``(nodes,)`` the number (-1 where no cut gains), the last bin of the first side, and ``(nodes, 2)``
        gradient and curvature of the node and of the first side.

    Example:
        >>> sums = np.array([[[-4.0, 3.0], [4.0, 3.0]]])
        >>> feature, cut, _, _ = best_splits(sums, np.array([0, 2]))
        >>> feature.tolist(), cut.tolist()
        ([0], [0])
    """
    whole = sums[:, starts[0] : starts[1]].sum(axis=1)  # each number's bins hold every row once
    left = np.concatenate([np.cumsum(sums[:, a:b], axis=1) for a, b in pairwise(starts)], axis=1)
    right = whole[:, None] - left
    gain = _worth(left) + _worth(right) - _worth(whole)[:, None]
    gain[(left[..., 1] < LEAST) | (right[..., 1] < LEAST)] = -np.inf
    best = gain.argmax(axis=1)
    feature = np.searchsorted(starts, best, side="right") - 1
    nodes = np.arange(len(best))
    good = gain[nodes, best] > 1e-6
    return np.where(good, feature, -1), np.where(good, best - starts[feature], 0), whole, left[nodes, best]


def _worth(sums: Floats) -> Floats:
    return np.square(sums[..., 0]) / (np.maximum(sums[..., 1], 0.0) + STEADY)


def leaf_values(sums: Floats, rate: float) -> Floats:
    """Give what a node adds to the score of its rows."""
    return -rate * sums[..., 0] / (np.maximum(sums[..., 1], 0.0) + STEADY)


def grown(growing: BoostedTrees, level: int, sums: Floats, starts: Integers, rate: float) -> BoostedTrees:
    """Take one step down: ``(outputs, nodes, bins, 2)`` sums of a level become its cuts and their leaves."""
    feature, cut, value = (np.array(part) for part in vars(growing).values())
    here = np.arange(2**level - 1, 2 ** (level + 1) - 1)
    for output in range(len(feature)):
        chosen, place, whole, left = best_splits(sums[output], starts)
        feature[output, here], cut[output, here] = chosen, place
        value[output, here] = leaf_values(whole, rate)
        value[output, 2 * here + 1] = leaf_values(left, rate)
        value[output, 2 * here + 2] = leaf_values(whole - left, rate)
    return BoostedTrees(feature, cut, value)
