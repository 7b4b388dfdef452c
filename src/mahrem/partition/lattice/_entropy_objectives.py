"""Objectives that count bits: what a reader misses of each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from mahrem.partition.lattice._column_objectives import DerivedCosts, leaf_counts
from mahrem.partition.lattice._lattice import Lattice, Tree, codes_at
from mahrem.partition.lattice._objective import JudgedNode, ObjectiveSettings
from mahrem.types import Floats


@dataclass(frozen=True)
class ColumnEntropy(DerivedCosts):
    """Non-uniform entropy: bits that a reader misses of each column, added up over all rows.

    A cell with value ``a`` that is shown as node ``b`` counts ``log2 n(b) / n(a)``. Refused rows count in
    addition what tells their cells apart, as in ARX.

    References:
        De Waal, Willenborg: Information loss through global recoding and local suppression, 1999.
        Gionis, Tassa: k-anonymization with minimal loss of information, 2009.
    """

    usual: ClassVar[str] = "sum"

    @classmethod
    def _lowest(cls, lattice: Lattice, tree: Tree, settings: ObjectiveSettings) -> Floats:
        return settings.generalisation * _entropies(lattice, tree)

    @property
    def grows(self) -> bool:
        """Bits of more refused rows are never fewer."""
        return True

    def _columns(self, node: JudgedNode) -> Sequence[float]:
        return [low + more for low, more in zip(self._at_least(node), self._hidden(node), strict=True)]

    def _hidden(self, node: JudgedNode) -> Sequence[float]:
        """Give the bits of each column that tell the cells of refused rows apart."""
        columns = range(len(self.lattice.trees))
        if not node.figures.refused:
            return [0.0 for _ in columns]
        refused, sizes = node.refused, node.grouped.sizes[node.refused]
        losses = []
        for column in columns:
            codes = self.lattice.codes(node.grouped, column, refused).astype(np.int64)
            times = np.bincount(codes, weights=sizes)
            times = times[times > 0]
            bits = -float(times @ np.log2(times / node.figures.refused))
            losses.append(self.settings.suppression * bits)
        return losses


@dataclass(frozen=True)
class ScaledEntropy(ColumnEntropy):
    """Non-uniform entropy of each column over what it is at the root: 0 as it is, 1 with nothing shown.

    Refused rows may take a column past 1, as in ARX. A column of one value misses nothing.
    """

    usual: ClassVar[str] = "arithmetic"

    @classmethod
    def _lowest(cls, lattice: Lattice, tree: Tree, settings: ObjectiveSettings) -> Floats:
        bits = super()._lowest(lattice, tree, settings)
        return bits / (bits[-1] or 1.0)

    def _columns(self, node: JudgedNode) -> Sequence[float]:
        hidden = zip(self._at_least(node), self._hidden(node), self._tops, strict=True)
        return [low + more / top for low, more, top in hidden]

    @cached_property
    def _tops(self) -> list[float]:
        """The bits of each column at the root: the same at every node."""
        return [float(_entropies(self.lattice, tree)[-1]) or 1.0 for tree in self.lattice.trees]


@dataclass(frozen=True)
class PlainEntropy(DerivedCosts):
    """Non-uniform entropy of all rows, whatever is refused."""

    monotone: ClassVar[bool] = True
    usual: ClassVar[str] = "sum"

    @classmethod
    def _lowest(cls, lattice: Lattice, tree: Tree, settings: ObjectiveSettings) -> Floats:
        return settings.generalisation * _entropies(lattice, tree)

    @property
    def grows(self) -> bool:
        """What is refused does not matter."""
        return True

    def _columns(self, node: JudgedNode) -> Sequence[float]:
        return self._at_least(node)


def _entropies(lattice: Lattice, tree: Tree) -> Floats:
    """Give for each level the bits that are missing of a column's values."""
    times = leaf_counts(lattice, tree)
    met = times > 0
    entropies = []
    for level in range(tree.levels):
        held = codes_at(tree, level)
        of_node = np.bincount(held, weights=times)[held]
        entropies.append(float(times[met] @ np.log2(of_node[met] / times[met])))
    return np.array(entropies)
