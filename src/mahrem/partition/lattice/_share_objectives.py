"""Objectives that look at how much of all combinations of values the cells of a class cover."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mahrem.arrays import counting
from mahrem.errors import InvalidParameter
from mahrem.partition.lattice._covered_shares import CoveredShares, people_of
from mahrem.partition.lattice._lattice import Grouped, Lattice
from mahrem.partition.lattice._objective import JudgedNode, Objective, ObjectiveSettings
from mahrem.types import Floats, Mask, Sizes


@dataclass(frozen=True)
class ShareObjective(Objective):
    """An objective that what the cells of classes cover decides, with their sizes."""

    shares: CoveredShares = field(repr=False)
    settings: ObjectiveSettings

    @classmethod
    def of(cls, lattice: Lattice, settings: ObjectiveSettings) -> Self:
        """Prepare logarithms of domain shares."""
        return cls(CoveredShares.of(lattice), settings)


@dataclass(frozen=True)
class RecordLoss(ShareObjective):
    """Entropy-based information loss, added up over rows; a refused row loses all.

    References:
        Wan, Vorobeychik, Xia et al.: A game theoretic framework for analyzing re-identification risk, 2015.
    """

    @property
    def grows(self) -> bool:
        """A refused row loses most, where suppression counts no less."""
        return self.settings.generalisation <= self.settings.suppression

    def value(self, node: JudgedNode) -> float:
        """Add up losses of shown rows, and refused rows."""
        shown = node.admitted & (node.grouped.sizes > 0)
        lost = float(node.grouped.sizes[shown] @ self.shares.losses(node.grouped, shown))
        return self.settings.generalisation * lost + self.settings.suppression * node.figures.refused

    def bound(self, node: JudgedNode) -> float:
        """Add up the same as if the cheaper of showing and refusing were done."""
        some = node.grouped.sizes > 0
        lost = self.settings.generalisation * self.shares.losses(node.grouped, some)
        return float(node.grouped.sizes[some] @ np.minimum(lost, self.settings.suppression))


@dataclass(frozen=True)
class Ambiguity(ShareObjective):
    """How many combinations of values each row may stand for, added up; a refused row stands for all.

    References:
        Goldberger, Tassa: Efficient anonymizations with enhanced utility, 2010.
    """

    @property
    def grows(self) -> bool:
        """A refused row stands for all combinations."""
        return True

    def value(self, node: JudgedNode) -> float:
        """Add up combinations."""
        shown = node.admitted & (node.grouped.sizes > 0)
        return self._covered(node.grouped, shown) + node.figures.refused * math.exp(self.shares.most)

    def bound(self, node: JudgedNode) -> float:
        """Add up combinations as if nothing were refused."""
        return self._covered(node.grouped, node.grouped.sizes > 0)

    def _covered(self, grouped: Grouped, chosen: Mask) -> float:
        return float(grouped.sizes[chosen] @ np.exp(self.shares.combinations(grouped, chosen)))


@dataclass(frozen=True)
class Divergence(ShareObjective):
    """Kullback-Leibler divergence of rows from what cells say, who spread their rows evenly.

    As in ARX it is added up once for every row, so that a combination of ``c`` rows counts ``c`` times; all
    refused rows are spread over all combinations.

    References:
        Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-diversity, 2007.
    """

    def value(self, node: JudgedNode) -> float:
        """Add up logarithms of what rows are over what cells say they are."""
        sizes, rows = node.grouped.sizes, node.figures.rows
        shown = node.admitted & (sizes > 0)
        log_shares = np.full(len(sizes), np.log(max(1, node.figures.refused)) - self.shares.most)
        log_shares[shown] = np.log(sizes[shown]) - self.shares.combinations(node.grouped, shown)
        return self._against(node, log_shares - math.log(max(1, rows)))

    def bound(self, node: JudgedNode) -> float:
        """Add up the same as if each class and each that it joins held all rows."""
        some = node.grouped.sizes > 0
        log_shares = np.zeros(len(some))
        log_shares[some] = -self.shares.combinations(node.grouped, some)
        return self._against(node, log_shares)

    def _against(self, node: JudgedNode, log_shares: Floats) -> float:
        """Compare rows with logarithms of the share that cells say each combination of a class has."""
        lattice, rows = self.shares.lattice, max(1, node.figures.rows)
        base = lattice.base
        _, _, into = counting.regroup(base.keys, base.sizes, lattice.lift(base.levels, node.grouped.levels))
        times = base.sizes.astype(np.float64)
        met = times > 0
        shares = times[met] / rows
        return float((times[met] * shares) @ (np.log(shares) - log_shares[into[met]])) / math.log(2)


@dataclass(frozen=True)
class PublisherPayout(ShareObjective):
    """What the publisher fails to earn, when an attacker looks for whoever is worth it.

    A row shown with information loss ``i`` that is found with chance ``c`` earns ``benefit (1 - i)``, less
    ``loss c`` where ``gain c`` is above what an attack costs; a refused row earns nothing. ``i`` is the
    mean of the logarithms of domain shares, 0 for values as they are and 1 at the root. The chance is one
    over the rows of a class; a journalist's is one over the people of the population whom it fits.

    References:
        Wan, Vorobeychik, Xia et al.: A game theoretic framework for analyzing re-identification risk, 2015.
    """

    people: Lattice | None = field(default=None, repr=False)  # in which all people of the population count

    @classmethod
    def of(cls, lattice: Lattice, settings: ObjectiveSettings) -> Self:
        """Prepare domain shares, and the people around the table.

        Raises:
            InvalidParameter: If a journalist has no population to look in.
        """
        people = None
        if settings.attacker == "journalist":
            people = people_of(lattice)
            if people is None:
                raise InvalidParameter("attacker='journalist' looks in a population; say population too")
        return cls(CoveredShares.of(lattice), settings, people)

    def value(self, node: JudgedNode) -> float:
        """Add up what is not earned."""
        settings, sizes = self.settings, node.grouped.sizes
        shown = node.admitted & (sizes > 0)
        fits: Sizes = sizes if self.people is None else self.people.classes(node.grouped.levels).sizes
        chance = 1.0 / fits[shown]
        attacked = settings.attacker_gain * chance - settings.attacker_cost > 0
        missed = settings.publisher_benefit * self.shares.losses(node.grouped, shown)
        missed += np.where(attacked, settings.publisher_loss * chance, 0.0)
        hidden = float(node.figures.refused) * settings.publisher_benefit * settings.suppression
        return settings.generalisation * float(sizes[shown] @ missed) + hidden

    def bound(self, node: JudgedNode) -> float:
        """Add up the same as if nobody attacked and the cheaper of showing and refusing were done."""
        settings, some = self.settings, node.grouped.sizes > 0
        shown = settings.generalisation * self.shares.losses(node.grouped, some)
        least = np.minimum(shown, settings.suppression)
        return settings.publisher_benefit * float(node.grouped.sizes[some] @ least)
