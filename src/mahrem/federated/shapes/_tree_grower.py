"""Trees over everybody's columns, grown by the party with the labels from sums over cells it does not see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.federated.shapes._aligned_party import Columns
from mahrem.federated.shapes._hidden_products import MatrixHolder, VectorHolder
from mahrem.federated.shapes._vertical_plan import VerticalTreesPlan
from mahrem.federated.sums import to_fixed
from mahrem.federated.weights import (
    BENDS,
    Growth,
    SharedBins,
    SharedForest,
    SharedModel,
    SharedSchema,
    shares_of,
)
from mahrem.federated.wire import Words
from mahrem.learning.classifiers import DeclaredEncoder
from mahrem.types import Integers


@dataclass
class TreeCells:
    """A party's own columns: which cells its rows are in."""

    bins: SharedBins = field(repr=False)
    rows: Any = field(repr=False)  # (n, numbers) the bin of each row
    holder: MatrixHolder = field(repr=False)

    @classmethod
    def of(cls, columns: Columns, classes: Sequence[str], frame: pl.DataFrame) -> TreeCells:
        bins = SharedBins.of(_schema(columns, "", classes))
        rows = bins(DeclaredEncoder(columns=columns)(frame, ()))
        matrix = np.zeros((bins.cells, frame.height), np.uint8)
        cell = bins.cell[np.arange(rows.shape[1])[None, :], rows]
        row, number = np.nonzero(cell >= 0)
        matrix[cell[row, number], row] = 1
        return cls(bins, rows, MatrixHolder(matrix))

    def known(self, cuts: Sequence[tuple[int, int]]) -> bool:
        return all(0 <= number < len(self.bins.cuts) and cut >= 0 for number, cut in cuts)

    def above(self, cuts: Sequence[tuple[int, int]]) -> Any:
        """Give ``(cuts, n)`` whether rows are above cuts."""
        numbers, places = np.array(cuts, np.int64).reshape(-1, 2).T
        return places[:, None] < self.rows[:, numbers].T


def _schema(columns: Columns, target: str, classes: Sequence[str]) -> SharedSchema:
    return SharedSchema(columns=columns, target=target, classes=tuple(classes))


@dataclass
class TreeGrower:
    """Grows trees from sums over everybody's cells; knows the labels of the common rows."""

    name: str
    target: str
    classes: Sequence[str]
    held: Mapping[str, Columns] = field(repr=False)
    plan: VerticalTreesPlan
    cells: TreeCells | None = field(repr=False)
    labels: Integers = field(repr=False)
    shifted: dict[str, Words] = field(default_factory=dict, repr=False)
    asked: VectorHolder = field(init=False, repr=False)

    def __post_init__(self) -> None:
        joined = {name: column for party in sorted(self.held) for name, column in self.held[party].items()}
        self.schema = _schema(joined, self.target, self.classes)
        self.bins = {
            party: SharedBins.of(_schema(columns, self.target, self.classes))
            for party, columns in sorted(self.held.items())
            if columns
        }
        numbers = [len(bins.cuts) for bins in self.bins.values()]
        self.first = dict(zip(self.bins, accumulate([0, *numbers]), strict=False))
        spread = max(
            (self.plan.deviation(self.held[name], len(self.classes)) for name in self.others), default=0.0
        )
        self.growth = Growth(
            bins=SharedBins.of(self.schema),
            rate=self.plan.rate,
            least_leaf=self.plan.least_leaf,
            noise=spread,
        )
        self.outputs = 1 if len(self.classes) == 2 else len(self.classes)
        self.forest = SharedForest.empty(0, self.plan.depth)
        self.scores = np.zeros((len(self.labels), self.outputs))
        self._new_tree()

    @property
    def others(self) -> list[str]:
        """The parties whose cells are summed without being seen."""
        return [name for name in sorted(self.held) if name != self.name]

    def cells_of(self, name: str) -> int:
        return self.bins[name].cells

    def _new_tree(self) -> None:
        self.growing = SharedForest.empty(self.outputs, self.plan.depth)
        self.at = np.zeros((self.outputs, len(self.labels)), np.int64)
        share = shares_of(self.scores)[:, -self.outputs :]
        right = self.labels[:, None] == np.arange(len(self.classes))[None, -self.outputs :]
        slopes = np.stack([share - right, BENDS * share * (1 - share)], axis=2)
        self.slopes = to_fixed(slopes, 4.0)  # (n, outputs, 2)

    def gradients(self, level: int) -> VectorHolder:
        """Give a vector for each output, node, and kind of derivative: 0 for rows that are elsewhere."""
        first, many, rows = 2**level - 1, 2**level, len(self.labels)
        vectors = np.zeros((rows, self.outputs, many, 2), np.int64)
        for output in range(self.outputs):
            node = self.at[output] - first
            here = np.flatnonzero(node >= 0)  # others ended at a leaf above
            vectors[here, output, node[here]] = self.slopes[here, output]
        self.asked = VectorHolder(vectors.reshape(rows, -1))
        return self.asked

    def grow(self, level: int, products: Mapping[str, Integers]) -> dict[str, list[tuple[int, int]]]:
        """Choose cuts by sums over all cells; gives those of each party."""
        shape = (self.outputs, 2**level, -1, 2)
        vectors = self.asked.vectors
        sums = dict(products)
        if self.cells is not None:
            sums[self.name] = self.cells.holder.matrix.astype(np.int64) @ vectors
        parts = [sums[party] for party in self.bins] + [vectors.sum(axis=0, keepdims=True)]
        total = np.concatenate(parts).reshape(-1, self.outputs, 2**level, 2).transpose(1, 2, 0, 3)
        self.growing = self.growth.grown(
            self.growing, level, np.ascontiguousarray(total.reshape(shape)).ravel()
        )
        here = slice(2**level - 1, 2 ** (level + 1) - 1)
        chosen = np.stack([self.growing.feature[:, here], self.growing.cut[:, here]], axis=2).reshape(-1, 2)
        self.cuts: dict[str, list[tuple[int, int]]] = {party: [] for party in self.held}
        for number, cut in np.unique(chosen[chosen[:, 0] >= 0], axis=0).tolist():
            party = max(
                (name for name in self.first if self.first[name] <= number), key=self.first.__getitem__
            )
            self.cuts[party].append((number - self.first[party], cut))
        return self.cuts

    def place(self, level: int, above: Mapping[str, Any]) -> None:
        """Let rows go to their side of the cuts; ends the tree at its last level."""
        sides = dict(above)
        if self.cells is not None:
            sides[self.name] = self.cells.above(self.cuts[self.name])
        for output in range(self.outputs):
            place = self.at[output].copy()
            for party, cuts in self.cuts.items():
                if len(sides.get(party, ())) < len(cuts):
                    raise InvalidInput(f"party={party!r} gave sides of fewer cuts than were asked for")
                for (number, cut), side in zip(cuts, sides.get(party, ()), strict=False):
                    feature = self.growing.feature[output][place] == number + self.first[party]
                    asked = feature & (self.growing.cut[output][place] == cut) & (place >= 2**level - 1)
                    self.at[output] = np.where(asked, 2 * place + 1 + side, self.at[output])
        if level + 1 == self.plan.depth:
            for output in range(self.outputs):
                self.scores[:, output] += self.growing.value[output][self.at[output]]
            self.forest = self.forest.joined(self.growing)
            self._new_tree()

    def model(self) -> SharedModel:
        """Give the trees so far."""
        rounds = len(self.forest) // self.outputs
        arrays = self.forest.as_body("forest")
        return SharedModel(schema=self.schema, plan=self.plan.learning(), arrays=arrays, rounds=rounds)
