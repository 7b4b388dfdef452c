"""Objectives that are put together column by column: from cells, levels and the entropy of columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from typing import ClassVar, Self

import numpy as np

from mahrem.arrays import counting
from mahrem.errors import InvalidParameter
from mahrem.partition.lattice._lattice import Grouped, Lattice, Tree, codes_at
from mahrem.partition.lattice._objective import JudgedNode, Objective, ObjectiveSettings, RankedLoss
from mahrem.types import Floats, Integers, Mask

_ROUNDED = 1e-11  # ranked losses are rounded: a floor must lie below
Costs = Callable[[Tree, int], Floats]  # of a missing value and of each leaf, shown at a level


@dataclass(frozen=True)
class Penalties:
    """What cells cost: per column and level over all rows, and for each code a field may hold."""

    totals: tuple[list[float], ...] = field(repr=False)  # per column and level: added up over all rows
    codes: Floats = field(repr=False)
    first: Mapping[tuple[int, int], int] = field(repr=False)  # of (column, level) in ``codes``

    def of_node(self, levels: tuple[int, ...]) -> float:
        """Add up the penalty of all cells of a node."""
        return sum(map(getitem, self.totals, levels))

    def of_classes(self, lattice: Lattice, grouped: Grouped, chosen: Mask) -> float:
        """Add up the penalty of the cells of some classes of a node."""
        if not chosen.any():
            return 0.0
        first = [self.first[column, level] for column, level in enumerate(grouped.levels)]
        lift = counting.Lift(
            lattice.word, lattice.shift, lattice.mask, np.array(first, np.uint64), lattice.delta
        )
        return float(counting.cell_penalties(grouped.keys, grouped.sizes, chosen, lift, self.codes))

    def by_class(self, lattice: Lattice, grouped: Grouped, column: int, chosen: Mask | slice) -> Floats:
        """Give the penalty of one cell of a column in some classes."""
        codes = lattice.codes(grouped, column, chosen)
        first = np.uint64(self.first[column, grouped.levels[column]])
        return self.codes[(first + codes).astype(np.int64)]


def penalties_of(lattice: Lattice, costs: Costs, weights: Floats | None = None) -> Penalties:
    """Prepare what cells cost."""
    totals, blocks, first, length = [], [], {}, 0
    for column, tree in enumerate(lattice.trees):
        times = leaf_counts(lattice, tree)
        added = np.empty(tree.levels)
        for level in range(tree.levels):
            held = codes_at(tree, level)
            cost = costs(tree, level) * (1.0 if weights is None else weights[column])
            added[level] = times @ cost
            block = np.zeros(int(held.max()) + 1)
            block[held] = cost
            first[column, level] = length
            blocks.append(block)
            length += len(block)
        totals.append(added.tolist())
    return Penalties(tuple(totals), np.concatenate(blocks) if blocks else np.zeros(1), first)


def leaf_counts(lattice: Lattice, tree: Tree) -> Integers:
    """Count the rows of a table that miss a value, then those of each leaf."""
    leaf = tree.leaf if lattice.members is None else tree.leaf[lattice.members]
    return np.bincount(leaf + 1, minlength=tree.nodes.shape[1] + 1)


def covered_share(tree: Tree, level: int) -> Floats:
    """Give the share of the domain that a cell covers: 0 for one value, 1 at the root.

    A missing value that is shown as missing covers nothing.
    """
    return np.concatenate([[float(level == tree.levels - 1)], tree.shares[level]])


def domain_share(tree: Tree, level: int) -> Floats:
    """Give the leaves under a node over all leaves, as ARX does: one value has a share too."""
    leaves = tree.nodes.shape[1]
    under = np.bincount(tree.nodes[level])[tree.nodes[level]]
    missing = leaves if level == tree.levels - 1 else 1
    shares: Floats = np.concatenate([[missing], under]) / leaves
    return shares


@dataclass(frozen=True)
class CellLoss(Objective):
    """GCP: the mean share of the domain that a cell covers; every cell of a refused row costs 1.

    Columns count by their weights over the sum of the weights, as in reports. In [0, 1].
    """

    lattice: Lattice = field(repr=False)
    penalties: Penalties
    columns: float  # weights, added up

    @classmethod
    def of(cls, lattice: Lattice, settings: ObjectiveSettings) -> Self:
        """Prepare shares of domains."""
        weights = settings.weights_of(lattice)
        return cls(lattice, penalties_of(lattice, covered_share, weights), float(weights.sum()))

    @property
    def grows(self) -> bool:
        """A refused cell costs as much as the root."""
        return True

    def value(self, node: JudgedNode) -> float:
        """Give the mean penalty of a cell."""
        figures = node.figures
        lost = self.penalties.of_classes(self.lattice, node.grouped, node.refused) if figures.refused else 0.0
        shown = self.penalties.of_node(node.grouped.levels) - lost + self.columns * figures.refused
        return shown / max(1e-300, figures.rows * self.columns)

    def bound(self, node: JudgedNode) -> float:
        """Give the mean penalty if nothing were refused."""
        return self.penalties.of_node(node.grouped.levels) / max(1e-300, node.figures.rows * self.columns)

    def floors(self) -> Floats | None:
        """Give the bound of every node."""
        totals = [np.array(total) for total in self.penalties.totals]
        cells = max(1e-300, self.lattice.rows * self.columns)
        return reduce(np.add.outer, totals) / cells if totals else np.zeros(())


@dataclass(frozen=True)
class ColumnObjective(Objective):
    """A figure for each column, put together by weights.

    ``arithmetic``: ``Σ w v / d``; ``geometric``: ``Π (w (v + 1))^(1/d) - 1``; ``sum``: ``Σ w v``;
    ``maximum``: the largest ``w v``; ``rank``: all ``w v``, compared one after the other, the largest first
    (:class:`RankedLoss`), all as in ARX.
    """

    lattice: Lattice = field(repr=False)
    settings: ObjectiveSettings
    weights: Floats = field(repr=False)
    lowest: tuple[Floats, ...] = field(repr=False)  # per column and level: what the column loses at least
    usual: ClassVar[str] = "arithmetic"

    @abstractmethod
    def _columns(self, node: JudgedNode) -> Sequence[float]:
        """Say what each column loses."""

    def value(self, node: JudgedNode) -> float:
        """Put the columns of a node together."""
        return self._together(self._columns(node))

    def bound(self, node: JudgedNode) -> float:
        """Put together what the columns lose at least."""
        return self._together(self._at_least(node))

    def _at_least(self, node: JudgedNode) -> list[float]:
        """Say what each column loses at least."""
        return [float(low[level]) for low, level in zip(self.lowest, node.grouped.levels, strict=True)]

    @property
    def tie(self) -> float:
        """Where columns are ranked, nodes whose largest losses are equal differ in the next."""
        return -super().tie if self._aggregate == "rank" else super().tie

    def _together(self, values: Sequence[float]) -> float:
        parts = self._parts([np.asarray(value) for value in values])
        if self._aggregate == "rank":
            return RankedLoss(map(float, parts))
        return float(self._ended(reduce(self._joined, parts))) if parts else 0.0

    def floors(self) -> Floats | None:
        """Give the bound of every node."""
        parts = self._parts(self.lowest)
        return self._ended(reduce(self._joined.outer, parts)) if parts else np.zeros(())

    @property
    def _aggregate(self) -> str:
        return self.settings.aggregate or self.usual

    @property
    def _joined(self) -> np.ufunc:
        joins = {"geometric": np.multiply, "maximum": np.maximum, "rank": np.maximum}
        return joins.get(self._aggregate, np.add)

    def _parts(self, values: Sequence[Floats]) -> list[Floats]:
        """Weigh each column."""
        columns = max(1, len(values))
        if self._aggregate == "geometric":
            return [((value + 1) * w) ** (1 / columns) for value, w in zip(values, self.weights, strict=True)]
        shared = columns if self._aggregate == "arithmetic" else 1
        return [value / shared * w for value, w in zip(values, self.weights, strict=True)]

    def _ended(self, joined: Floats) -> Floats:
        if self._aggregate == "rank":
            return joined * (1 - _ROUNDED)
        return joined - 1 if self._aggregate == "geometric" else joined


@dataclass(frozen=True)
class DerivedCosts(ColumnObjective):
    """A figure for each column that follows from its tree and from how often its values occur."""

    @classmethod
    def of(cls, lattice: Lattice, settings: ObjectiveSettings) -> Self:
        """Prepare what each column loses at least at each level."""
        lowest = tuple(cls._lowest(lattice, tree, settings) for tree in lattice.trees)
        return cls(lattice, settings, settings.weights_of(lattice), lowest)

    @classmethod
    @abstractmethod
    def _lowest(cls, lattice: Lattice, tree: Tree, settings: ObjectiveSettings) -> Floats:
        """Say for each level what a column loses at least there and above."""


@dataclass(frozen=True)
class Height(DerivedCosts):
    """The levels of a node, added up."""

    monotone: ClassVar[bool] = True
    usual: ClassVar[str] = "sum"

    @classmethod
    def _lowest(cls, lattice: Lattice, tree: Tree, settings: ObjectiveSettings) -> Floats:  # noqa: ARG003
        return np.arange(tree.levels, dtype=np.float64)

    @property
    def grows(self) -> bool:
        """What is refused does not matter."""
        return True

    def _columns(self, node: JudgedNode) -> Sequence[float]:
        return [float(level) for level in node.grouped.levels]


@dataclass(frozen=True)
class Precision(DerivedCosts):
    """Level over height, one minus Sweeney's precision; a refused row counts as the root."""

    @classmethod
    def _lowest(cls, lattice: Lattice, tree: Tree, settings: ObjectiveSettings) -> Floats:  # noqa: ARG003
        # Where suppression counts less than generalisation, refusing may be the cheaper of the two.
        return np.minimum(settings.generalisation * _height_shares(tree), settings.suppression)

    @property
    def grows(self) -> bool:
        """A refused row costs as much as the root, where suppression counts no less."""
        return self.settings.generalisation <= self.settings.suppression

    def _columns(self, node: JudgedNode) -> Sequence[float]:
        hidden = node.figures.refused / max(1, node.figures.rows)
        shown = (1 - hidden) * self.settings.generalisation
        return [
            shown * float(_height_shares(tree)[level]) + hidden * self.settings.suppression
            for tree, level in zip(self.lattice.trees, node.grouped.levels, strict=True)
        ]


@dataclass(frozen=True)
class PlainPrecision(DerivedCosts):
    """Level over height, whatever is refused."""

    monotone: ClassVar[bool] = True

    @classmethod
    def _lowest(cls, lattice: Lattice, tree: Tree, settings: ObjectiveSettings) -> Floats:  # noqa: ARG003
        return _height_shares(tree)

    @property
    def grows(self) -> bool:
        """What is refused does not matter."""
        return True

    def _columns(self, node: JudgedNode) -> Sequence[float]:
        levels = zip(self.lattice.trees, node.grouped.levels, strict=True)
        return [float(_height_shares(tree)[level]) for tree, level in levels]


@dataclass(frozen=True)
class StatedCosts(ColumnObjective):
    """What somebody says that each level of each column costs, whatever is refused; ARX's static metric."""

    monotone: ClassVar[bool] = True
    usual: ClassVar[str] = "sum"

    @classmethod
    def of(cls, lattice: Lattice, settings: ObjectiveSettings) -> Self:
        """Take the costs of all columns.

        Raises:
            InvalidParameter: If there is not one for each level of each column.
        """
        heights = tuple(len(costs) for costs in settings.costs)
        if heights != lattice.heights:
            raise InvalidParameter(
                f"costs must be one for each level of each column: {lattice.heights}, not {heights}"
            )
        lowest = tuple(np.array(costs, np.float64) for costs in settings.costs)
        return cls(lattice, settings, settings.weights_of(lattice), lowest)

    @property
    def grows(self) -> bool:
        """What is refused does not matter."""
        return True

    def _columns(self, node: JudgedNode) -> Sequence[float]:
        return self._at_least(node)


def _height_shares(tree: Tree) -> Floats:
    return np.arange(tree.levels) / max(1, tree.levels - 1)


@dataclass(frozen=True)
class Loss(DerivedCosts):
    """ARX's Loss: shares of domains from 0, all values apart, to 1, nothing shown, column by column.

    With share ``s`` of a cell, generalisation ``g`` and suppression ``f``, a shown cell counts ``g s`` and a
    refused one ``s + f (1 - s)``; the mean is put on a scale that begins at ``g`` over the domain's size.

    References:
        Iyengar: Transforming data to satisfy privacy constraints, 2002; ARX.
    """

    @classmethod
    def _lowest(cls, lattice: Lattice, tree: Tree, settings: ObjectiveSettings) -> Floats:
        times, shown = leaf_counts(lattice, tree), max(1, lattice.rows)
        shares = np.array([times @ domain_share(tree, level) / shown for level in range(tree.levels)])
        return np.array([_scaled(settings.generalisation * share, tree, settings) for share in shares])

    @property
    def grows(self) -> bool:
        """A refused cell costs more than a shown one, whatever the factor."""
        return True

    def _columns(self, node: JudgedNode) -> Sequence[float]:
        levels, rows = node.grouped.levels, max(1, node.figures.rows)
        if not node.figures.refused:
            return self._at_least(node)
        refused, settings, losses = node.refused, self.settings, []
        sizes = node.grouped.sizes[refused]
        for column, tree in enumerate(self.lattice.trees):
            held = codes_at(tree, levels[column])
            by_code = np.zeros(int(held.max()) + 1)
            by_code[held] = domain_share(tree, levels[column])
            codes = self.lattice.codes(node.grouped, column, refused).astype(np.int64)
            hidden = float(sizes @ by_code[codes])
            shown = float(leaf_counts(self.lattice, tree) @ domain_share(tree, levels[column])) - hidden
            lost = hidden + settings.suppression * (node.figures.refused - hidden)
            losses.append(_scaled((settings.generalisation * shown + lost) / rows, tree, settings))
        return losses


def _scaled(share: float, tree: Tree, settings: ObjectiveSettings) -> float:
    least = settings.generalisation / tree.nodes.shape[1]
    return max(0.0, (share - least) / (1 - least)) if least < 1 else 0.0
