"""Objectives that look at whole classes: their sizes, and what they teach of a target."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.models import Counts
from mahrem.partition.lattice._lattice import Lattice
from mahrem.partition.lattice._lattice_values import ValuedLattice
from mahrem.partition.lattice._objective import JudgedNode, Objective, ObjectiveSettings
from mahrem.table import Values
from mahrem.types import Integers, Mask


@dataclass(frozen=True)
class SizeObjective(Objective):
    """An objective that the sizes of classes alone decide."""

    settings: ObjectiveSettings

    @classmethod
    def of(cls, lattice: Lattice, settings: ObjectiveSettings) -> Self:  # noqa: ARG003
        """Nothing is to be prepared."""
        return cls(settings)


@dataclass(frozen=True)
class Discernibility(SizeObjective):
    """DM: a class costs its size squared, a refused row as much as there are rows."""

    @property
    def grows(self) -> bool:
        """A refused row costs more than one in any class."""
        return True

    def value(self, node: JudgedNode) -> float:
        """Add up squares and refused rows."""
        return node.figures.kept_squares + float(node.figures.refused) * node.figures.rows

    def bound(self, node: JudgedNode) -> float:
        """Add up all squares: a refused row never costs less than its class."""
        return node.figures.squares


@dataclass(frozen=True)
class PlainDiscernibility(SizeObjective):
    """DM*: every class costs its size squared, refused ones too."""

    monotone: ClassVar[bool] = True

    @property
    def grows(self) -> bool:
        """What is refused does not matter."""
        return True

    def value(self, node: JudgedNode) -> float:
        """Add up all squares."""
        return node.figures.squares

    def bound(self, node: JudgedNode) -> float:
        """Add up all squares."""
        return node.figures.squares


@dataclass(frozen=True)
class MeanClassSize(SizeObjective):
    """AECS: rows over classes, all refused rows being one class more, as in ARX.

    With a factor other than one half, shown classes count by suppression and the refused one by
    generalisation: ARX's factors change places here.
    """

    @property
    def grows(self) -> bool:
        """Refused classes become one, where that one counts no more than a class."""
        return self.settings.generalisation <= self.settings.suppression

    def value(self, node: JudgedNode) -> float:
        """Divide rows by classes."""
        figures, settings = node.figures, self.settings
        classes = figures.kept_classes * settings.suppression
        if figures.refused:
            classes += settings.generalisation
        return figures.rows / classes if classes else math.inf

    def bound(self, node: JudgedNode) -> float:
        """Divide rows by the most that classes may count."""
        classes, settings = node.figures.classes, self.settings
        most = max(
            classes * settings.suppression, (classes - 1) * settings.suppression + settings.generalisation
        )
        return node.figures.rows / most if most else math.inf


@dataclass(frozen=True)
class MeanClassOverMinimum(MeanClassSize):
    """C_avg: AECS over the rows that a class must have."""

    def value(self, node: JudgedNode) -> float:
        """Divide rows by classes and by the minimum."""
        return super().value(node) / max(1, self.settings.minimum)

    def bound(self, node: JudgedNode) -> float:
        """Divide what AECS is at least."""
        return super().bound(node) / max(1, self.settings.minimum)


@dataclass(frozen=True)
class Classification(Objective):
    """Rows whose target a majority vote of their class gets wrong, over all rows, as ARX counts them.

    In a class where one value is the commonest, all rows with others are penalised; where none is, all rows
    are; so is every refused row. By default a refused row counts half of a wrong one.

    References:
        Iyengar: Transforming data to satisfy privacy constraints, 2002; ARX.
    """

    valued: ValuedLattice = field(repr=False)
    settings: ObjectiveSettings
    _last: dict[tuple[int, ...], tuple[Integers, Mask]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, lattice: Lattice, settings: ObjectiveSettings) -> Self:
        """Prepare the values of the target."""
        if settings.target is None:
            raise InvalidParameter("loss='classification' needs a target: the column that is to be learnt")
        return cls(ValuedLattice.of(lattice, _missing_as_value(settings.target)), settings)

    def value(self, node: JudgedNode) -> float:
        """Add up penalties."""
        top, alone = self._votes(node)
        sizes, shown = node.grouped.sizes, node.admitted & (node.grouped.sizes > 0)
        wrong = float((sizes - top)[shown & alone].sum()) * self.settings.generalisation
        torn = float(sizes[shown & ~alone].sum()) * self.settings.suppression
        hidden = float(node.figures.refused) * self.settings.factor
        return (wrong + torn + hidden) / self._scale(node)

    def bound(self, node: JudgedNode) -> float:
        """Count rows outside majorities, which never get fewer on the way up, by the least penalty."""
        top, _ = self._votes(node)
        least = min(self.settings.factor, self.settings.generalisation, self.settings.suppression)
        return float((node.grouped.sizes - top).sum()) * least / self._scale(node)

    def _scale(self, node: JudgedNode) -> float:
        settings = self.settings
        most = max(settings.factor, settings.generalisation, settings.suppression)
        return most * max(1, node.figures.rows)

    def _votes(self, node: JudgedNode) -> tuple[Integers, Mask]:
        """Give for each class the rows of its commonest value, and whether no other has as many."""
        levels = node.grouped.levels
        if levels not in self._last:
            self._last.clear()  # a node is asked about twice, one after the other
            self._last[levels] = _majorities(
                self.valued.counts(levels, np.ones(len(node.grouped.sizes), np.bool_))
            )
        return self._last[levels]


def _missing_as_value(values: Values) -> Values:
    """Make a row without a value one more value."""
    if not (values.codes < 0).any():
        return values
    codes = np.where(values.codes < 0, values.size, values.codes).astype(np.int32)
    return Values(values.name, codes, values.size + 1)


def _majorities(counts: Counts) -> tuple[Integers, Mask]:
    top = np.zeros(counts.groups, np.int64)
    np.maximum.at(top, counts.group, counts.count)
    as_many = np.bincount(counts.group[counts.count == top[counts.group]], minlength=counts.groups)
    return top, as_many <= 1
