"""Gradient boosted trees from sums over cells: what is public of them, and how a level becomes cuts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.errors import InvalidInput
from mahrem.federated.sums import from_fixed
from mahrem.federated.weights._schema import SharedSchema
from mahrem.learning.classifiers import DeclaredWords
from mahrem.types import Floats, Integers

Bins = NDArray[np.uint8]  # (n, numbers) the bin of each row
NUMBER_BINS = 64  # of a column of numbers, equal on its agreed scale
SHARE_CUTS = (0.25, 0.5, 0.75)  # of the share of a value in a cell
STEADY = 1.0  # added to every sum of curvatures: a leaf of few rows stays near zero
STEEPEST = 0.25  # curvature of one row: so a sum of them tells how many rows there are at least
BENDS = 2.0  # curvatures travel times this: under noise they are told as well as gradients
SURE = 3.0  # deviations of noise that a side of a cut must stand out from
AT_ONCE = 1 << 16  # rows that are encoded at once


@dataclass(frozen=True)
class SharedBins:
    """The public binning: which encoded numbers trees may ask about, where they are cut, what is summed.

    Most shares and flags are 0. Their first bin is not summed: it is the whole of a node less the others.
    """

    schema: SharedSchema = field(repr=False)
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
        return cls(schema, np.array(chosen), tuple(cuts))

    @cached_property
    def starts(self) -> Integers:
        """Where the bins of each number begin; the last entry is how many bins there are."""
        return np.concatenate([[0], np.cumsum([len(cuts) + 1 for cuts in self.cuts])]).astype(np.int64)

    @cached_property
    def cell(self) -> Integers:
        """Give the cell of each bin, ``(numbers, 64)``; -1 for one that is not summed."""
        table, at = np.full((len(self.cuts), NUMBER_BINS), -1, np.int64), 0
        for number, cuts in enumerate(self.cuts):
            first = 0 if len(cuts) == NUMBER_BINS - 1 else 1
            many = len(cuts) + 1 - first
            table[number, first : first + many] = np.arange(at, at + many)
            at += many
        return table

    @property
    def cells(self) -> int:
        """How many cells are summed, besides the whole of a node."""
        return int(self.cell.max()) + 1

    def __call__(self, rows: Floats) -> Bins:
        """Give ``(n, numbers)`` bins of encoded rows."""
        bins = np.empty((len(rows), len(self.cuts)), np.uint8)
        for number, (place, cuts) in enumerate(zip(self.chosen, self.cuts, strict=True)):
            bins[:, number] = np.searchsorted(cuts, rows[:, place], side="right")
        return bins

    def read(self, frame: pl.DataFrame, cells: Sequence[str] = ()) -> tuple[Bins, Integers]:
        """Give bins and classes of rows that have one, a part of the table at a time."""
        labels = self.schema.labels(frame)
        known = frame.filter(pl.Series(labels >= 0))
        bins = np.empty((known.height, len(self.cuts)), np.uint8)
        for at in range(0, known.height, AT_ONCE):
            bins[at : at + AT_ONCE] = self(self.schema.encoder(known[at : at + AT_ONCE], cells))
        return bins, labels[labels >= 0]

    def whole_sums(self, total: Integers, outputs: int, level: int) -> Floats:
        """Give gradients and curvatures of all bins from the sum over clients.

        Args:
            total: What :meth:`Booster.numbers` of all clients add up to.
            outputs: How many scores a row has.
            level: Of the tree.

        Returns:
            ``(outputs, nodes, bins + 1, 2)``, the whole of each node last.

        Raises:
            InvalidInput: If it has another length.
        """
        shape = (outputs, 2**level, self.cells + 1, 2)
        if total.shape != (int(np.prod(shape)),):
            raise InvalidInput(f"numbers={total.size}: sums of a level of another shape")
        held = total.reshape(shape)  # whole numbers until the end: all sides get the same to the last bit
        bins = np.zeros((*shape[:2], int(self.starts[-1]) + 1, 2), np.int64)
        bins[:, :, -1] = held[:, :, -1]
        number, place = np.nonzero(self.cell >= 0)
        bins[:, :, self.starts[number] + place] = held[:, :, self.cell[number, place]]
        rest = self.starts[:-1][self.cell[:, 0] < 0]
        others = np.add.reduceat(bins[:, :, :-1], self.starts[:-1], axis=2)[:, :, self.cell[:, 0] < 0]
        bins[:, :, rest] = bins[:, :, -1:] - others
        return np.asarray(from_fixed(bins) / np.array([1.0, BENDS]))


@dataclass(frozen=True)
class SharedForest:
    """Trees as arrays: ``(trees, places)``, the children of place ``i`` are ``2i + 1`` and ``2i + 2``."""

    feature: Integers = field(repr=False)  # -1 at a leaf
    cut: Integers = field(repr=False)  # bins above it go to the second child
    value: Floats = field(repr=False)  # added to the score of rows that end here

    @classmethod
    def empty(cls, trees: int, depth: int) -> SharedForest:
        """Make trees that are one leaf of value 0."""
        shape = (trees, 2 ** (depth + 1) - 1)
        return cls(np.full(shape, -1, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.float32))

    def __len__(self) -> int:
        return len(self.feature)

    def joined(self, other: SharedForest) -> SharedForest:
        """Put trees of another behind these."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return SharedForest(*(np.concatenate(pair) for pair in pairs))

    def last(self, start: int) -> SharedForest:
        """Give the trees from a number on."""
        return SharedForest(self.feature[start:], self.cut[start:], self.value[start:])

    def places(self, tree: int, bins: Bins, levels: int) -> Integers:
        """Say at which place of a tree each row is after so many levels."""
        at = np.zeros(len(bins), np.int64)
        for _ in range(levels):
            asked = self.feature[tree][at]
            above = bins[np.arange(len(bins)), np.maximum(asked, 0)] > self.cut[tree][at]
            at = np.where(asked >= 0, 2 * at + 1 + above, at)
        return at

    def scores(self, bins: Bins, outputs: int) -> Floats:
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
    def of_body(cls, body: Mapping[str, object], prefix: str) -> SharedForest:
        """Read it from a message."""
        return cls(*(np.asarray(body[f"{prefix}-{name}"]) for name in ("feature", "cut", "value")))

    def digest(self) -> bytes:
        """Give what two sides compare to know that they have grown the same."""
        return hashlib.sha256(
            b"".join(np.ascontiguousarray(part).tobytes() for part in vars(self).values())
        ).digest()

    def refuse_wrong(self, bins: SharedBins, depth: int, most: int) -> None:
        """Refuse trees that no federation of such a schema and depth grows.

        Raises:
            InvalidInput: If they are.
        """
        feature, cut, value = vars(self).values()
        shape = (len(feature), 2 ** (depth + 1) - 1)
        good = len(feature) <= most and all(part.shape == shape for part in (feature, cut, value))
        good = good and feature.dtype.kind == cut.dtype.kind == "i" and bool(np.isfinite(value).all())
        if not good or not (((feature >= -1) & (feature < len(bins.cuts))).all() and (cut >= 0).all()):
            raise InvalidInput(
                f"trees={len(feature)}: trees of another shape, depth or schema than was agreed"
            )


def shares_of(scores: Floats) -> Floats:
    """Turn scores into probabilities of the classes; one score alone is that of the second of two classes."""
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores[:, 0]])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How cuts are chosen from the sums of a level; the same on the server and at each client.

    Args:
        bins: The public binning.
        rate: What a leaf counts.
        least_leaf: Rows on each side of a cut, as far as curvatures tell: one row has at most 1/4.
        noise: Standard deviation of the noise in each sum of gradients; that of curvatures is half of it.
    """

    bins: SharedBins
    rate: float
    least_leaf: int = 1
    noise: float = 0.0

    def grown(self, growing: SharedForest, level: int, total: Integers) -> SharedForest:
        """Take one step down: sums of a level become its cuts and their leaves."""
        feature, cut, value = (np.array(part) for part in vars(growing).values())
        here = np.arange(2**level - 1, 2 ** (level + 1) - 1)
        sums = self.bins.whole_sums(total, len(feature), level)
        for output in range(len(feature)):
            chosen, place, whole, left = self.best_splits(sums[output])
            feature[output, here], cut[output, here] = chosen, place
            value[output, here] = self.leaf_values(whole)
            value[output, 2 * here + 1] = self.leaf_values(left)
            value[output, 2 * here + 2] = self.leaf_values(whole - left)
        return SharedForest(feature, cut, value)

    def best_splits(self, sums: Floats) -> tuple[Integers, Integers, Floats, Floats]:
        """Choose for every node the number and the cut that gain most.

        Args:
            sums: ``(nodes, bins + 1, 2)`` gradients and curvatures, the whole of each node last.

        Returns:
            ``(nodes,)`` the number (-1 where no cut gains), the last bin of the first side, and
            ``(nodes, 2)`` gradient and curvature of the node and of the first side.
        """
        starts, whole = self.bins.starts, sums[:, -1]
        left = np.concatenate([np.cumsum(sums[:, a:b], axis=1) for a, b in pairwise(starts)], axis=1)
        right = whole[:, None] - left
        gain = self._worth(left) + self._worth(right) - self._worth(whole)[:, None]
        deviation = self.noise / BENDS * np.sqrt(self._added)
        least = max(STEADY, self.least_leaf * STEEPEST) + SURE * deviation
        gain[(left[..., 1] < least) | (right[..., 1] < least)] = -np.inf
        best = gain.argmax(axis=1)
        feature = np.searchsorted(starts, best, side="right") - 1
        nodes = np.arange(len(best))
        good = gain[nodes, best] > 1e-6
        return (
            np.where(good, feature, -1),
            np.where(good, best - starts[feature], 0),
            whole,
            left[nodes, best],
        )

    @cached_property
    def _added(self) -> Integers:
        """How many noisy sums the first side of a cut at each bin is made of, or the second."""
        parts = []
        for summed, cuts in zip(self.bins.cell[:, 0] >= 0, self.bins.cuts, strict=True):
            at = np.arange(1, len(cuts) + 2)
            parts.append(at + 1 if summed else len(cuts) + 2 - at)
        return np.concatenate(parts)

    def _worth(self, sums: Floats) -> Floats:
        steady = STEADY + self.noise / BENDS
        return np.square(sums[..., 0]) / (np.maximum(sums[..., 1], 0.0) + steady)

    def leaf_values(self, sums: Floats) -> Floats:
        """Give what a node adds to the score of its rows."""
        steady = STEADY + self.noise / BENDS
        return -self.rate * sums[..., 0] / (np.maximum(sums[..., 1], 0.0) + steady)
