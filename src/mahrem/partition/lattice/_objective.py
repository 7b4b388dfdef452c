"""What an objective of a full-domain search is: what a node loses, and what all above it lose at least."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

import numpy as np

from mahrem import check
from mahrem.arrays import counting
from mahrem.errors import InvalidParameter
from mahrem.partition.lattice._lattice import Grouped, Lattice
from mahrem.table import Values
from mahrem.types import Floats, Mask, Sizes

AGGREGATES = ("arithmetic", "geometric", "sum", "maximum", "rank")
_TIE = 1e-12  # losses that differ by less are the same
ATTACKERS = ("prosecutor", "journalist")


class RankedLoss(float):
    """Losses of columns, compared one after the other: the largest first, then the next, as ARX's rank does.

    As a number it is the largest of them. Twelve digits count: the last ones tell how a sum was added up.

    Example:
        >>> RankedLoss([0.2, 0.9]) < RankedLoss([0.9, 0.3]), float(RankedLoss([0.2, 0.9]))
        (True, 0.9)
    """

    __slots__ = ("parts",)
    parts: tuple[float, ...]

    def __new__(cls, losses: Iterable[float]) -> Self:
        """Put the losses in order."""
        parts = tuple(sorted((float(f"{loss:.12g}") for loss in losses), reverse=True))
        loss = super().__new__(cls, parts[0] if parts else 0.0)
        loss.parts = parts
        return loss

    def __reduce__(self) -> tuple[type[RankedLoss], tuple[tuple[float, ...]]]:
        return RankedLoss, (self.parts,)

    def __eq__(self, other: object) -> bool:
        return self.parts == other.parts if isinstance(other, RankedLoss) else float(self) == other

    def __hash__(self) -> int:
        return hash(self.parts)

    def __lt__(self, other: float) -> bool:
        return self.parts < other.parts if isinstance(other, RankedLoss) else float(self) < other

    def __le__(self, other: float) -> bool:
        return self.parts <= other.parts if isinstance(other, RankedLoss) else float(self) <= other

    def __gt__(self, other: float) -> bool:
        return self.parts > other.parts if isinstance(other, RankedLoss) else float(self) > other

    def __ge__(self, other: float) -> bool:
        return self.parts >= other.parts if isinstance(other, RankedLoss) else float(self) >= other


class NodeFigures(NamedTuple):
    """What sizes alone tell of a node whose classes have been judged."""

    rows: int
    classes: int  # that have rows, refused ones too
    squares: float  # of the sizes of all classes, added up
    kept_classes: int  # that may stand
    kept_squares: float
    refused: int  # rows that will show nothing
    smallest: int  # rows of the smallest class that may stand; 0 without one


def node_figures(sizes: Sizes, admitted: Mask) -> NodeFigures:
    """Take the figures of a node from the sizes of its classes and which of them may stand.

    A class without rows (people of a population alone) is not published and counts nowhere.

    Example:
        >>> node = node_figures(np.array([3, 1]), np.array([True, False]))
        >>> node.refused, node.squares, node.kept_squares
        (1, 10.0, 9.0)
    """
    some: Mask = sizes > 0
    rows, squares, kept_classes, kept_squares, kept_rows, smallest = counting.class_figures(
        sizes, admitted & some
    )
    return NodeFigures(
        rows=rows,
        classes=int(np.count_nonzero(some)),
        squares=squares,
        kept_classes=kept_classes,
        kept_squares=kept_squares,
        refused=rows - kept_rows,
        smallest=smallest,
    )


class JudgedNode(NamedTuple):
    """A node, its classes and which of them may stand."""

    grouped: Grouped
    admitted: Mask
    figures: NodeFigures

    @property
    def refused(self) -> Mask:
        """Classes that will show nothing."""
        return ~self.admitted & (self.grouped.sizes > 0)


@dataclass(frozen=True, kw_only=True)
class ObjectiveSettings:
    """What an objective may be told; each takes some of it, and the rest is refused.

    Args:
        minimum: Rows a class must have.
        weights: How much each column counts; none for all alike. The largest counts as 1, as in ARX.
        factor: Balance of suppression (0) and generalisation (1), as in ARX; 0.5 treats them alike.
        aggregate: How columns are put together: one of ``AGGREGATES``; None for what is usual.
        target: Values of the column that is to be learnt.
        costs: What each level of each column costs, never less on the way up.
        attacker: Who looks for rows: one of ``ATTACKERS``; a journalist does so in a population.
        publisher_benefit: What the publisher gains from a row that is shown as it is.
        publisher_loss: What the publisher loses when a row is found.
        attacker_gain: What an attacker gains from a row that is found.
        attacker_cost: What it costs to look for one.
    """

    minimum: int = 1
    weights: tuple[float, ...] = ()
    factor: float = 0.5
    aggregate: str | None = None
    target: Values | None = field(default=None, repr=False)
    costs: tuple[tuple[float, ...], ...] = ()
    attacker: str = "prosecutor"
    publisher_benefit: float = 1200.0
    publisher_loss: float = 300.0
    attacker_gain: float = 300.0
    attacker_cost: float = 4.0

    def __post_init__(self) -> None:
        if not isinstance(self.weights, tuple):
            raise InvalidParameter("weights must be a number for each column")
        for weight in self.weights:
            check.above_zero(weights=weight)
        check.between(0, 1, factor=self.factor)
        if self.aggregate is not None:
            check.one_of(AGGREGATES, aggregate=self.aggregate)
        if self.target is not None and not isinstance(self.target, Values):
            raise InvalidParameter("target must be values of a column")
        for costs in self.costs:
            for cost in costs:
                check.at_least(0, costs=cost)
            if list(costs) != sorted(costs):
                raise InvalidParameter(f"costs={list(costs)} must not fall on the way up")
        check.one_of(ATTACKERS, attacker=self.attacker)
        check.above_zero(publisher_benefit=self.publisher_benefit)
        check.at_least(0, publisher_loss=self.publisher_loss)
        check.at_least(0, attacker_gain=self.attacker_gain)
        check.at_least(0, attacker_cost=self.attacker_cost)

    @property
    def suppression(self) -> float:
        """What suppression counts."""
        return min(1.0, 2 * self.factor)

    @property
    def generalisation(self) -> float:
        """What generalisation counts."""
        return min(1.0, 2 - 2 * self.factor)

    def weights_of(self, lattice: Lattice) -> Floats:
        """Give a weight for every column, the largest being 1.

        Raises:
            InvalidParameter: If there is not one for each column.
        """
        columns = len(lattice.trees)
        if not self.weights:
            return np.ones(columns)
        if len(self.weights) != columns:
            raise InvalidParameter(
                f"weights={len(self.weights)} must be one for each of the {columns} columns"
            )
        return np.array(self.weights) / max(self.weights)


class Objective(ABC):
    """What is minimised, on one lattice.

    ``monotone`` says that the loss itself never falls on the way up, whatever is refused; :attr:`grows` that
    whoever refuses more classes of a node never loses less.

    Guarantees:
        - No node at or above one loses less than its :meth:`bound`, whatever is refused there.
        - :meth:`bound` never falls on the way up.
        - Where there are :meth:`floors`, no node's bound is below its floor.
    """

    monotone: ClassVar[bool] = False

    @property
    def tie(self) -> float:
        """How far below the best a bound must lie to be worth a look; below 0 where equal numbers may win."""
        return _TIE

    @property
    def grows(self) -> bool:
        """Whether a node that refuses more classes never loses less; not, unless an objective says so."""
        return False

    def at_least(self, node: JudgedNode) -> float:
        """Say what a node loses at least if it refuses these classes and perhaps others."""
        return self.value(node) if self.grows else self.bound(node)

    @classmethod
    @abstractmethod
    def of(cls, lattice: Lattice, settings: ObjectiveSettings) -> Self:
        """Prepare the objective for a lattice."""

    @abstractmethod
    def value(self, node: JudgedNode) -> float:
        """Say what a node that holds loses."""

    @abstractmethod
    def bound(self, node: JudgedNode) -> float:
        """Say what this node and all above it lose at least."""

    def floors(self) -> Floats | None:
        """Bound the loss of every node from below without grouping it, where cells alone decide."""
        return None
