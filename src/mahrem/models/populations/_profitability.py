"""Profitability: a row is published only where that pays, although somebody may look for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mahrem import check
from mahrem.models._counts import Counts, PrivacyModel
from mahrem.models.populations._sampled import chances, check_fraction
from mahrem.types import Floats, Levels, Mask, Sizes


@dataclass(frozen=True)
class Profitability(PrivacyModel):
    """Profitability: every published row earns its publisher something, attacks reckoned with.

    A row with information loss ``i`` that is found with chance ``c`` earns ``benefit (1 - i)``, less
    ``loss c`` where an attack pays: where ``gain c`` is above ``cost``. The chance is a prosecutor's, one
    over the rows of a class; with a ``fraction`` the journalist's that is expected. ``i`` is the mean of the
    logarithms of domain shares.

    Guarantees:
        - :meth:`payouts` are by that definition; a class may stand when they are above 0.
        - The level of a class by its counts alone is what its rows would earn if they lost nothing: no class
          that earns something is refused by it.

    References:
        Wan, Vorobeychik, Xia et al.: A game theoretic framework for analyzing re-identification risk, 2015.

    Example:
        >>> model = Profitability(benefit=100, loss=300, gain=50, cost=10)
        >>> model.payouts(np.array([1, 4, 5]), np.array([0.0, 0.5, 0.5]))
        array([-200.,  -25.,   50.])
        >>> model.pays(np.array([1, 4, 5]), np.array([0.0, 0.5, 0.5]))
        array([False, False,  True])
    """

    benefit: float
    loss: float
    gain: float
    cost: float
    fraction: float = 1.0
    name: ClassVar[str] = "profitability"
    rising: ClassVar[bool] = True
    monotone: ClassVar[bool] = False
    compares: ClassVar[bool] = False
    of_cells: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.above_zero(**{"profitability.benefit": self.benefit})
        for name in ("loss", "gain", "cost"):
            check.at_least(0, **{f"profitability.{name}": getattr(self, name)})
        check_fraction(self.fraction)

    @property
    def wanted(self) -> float:
        """What a row must earn more than."""
        return 0.0

    def payouts(self, people: Sizes, losses: Floats) -> Floats:
        """Give what a row of each class earns.

        Args:
            people: ``(c,)`` rows of each class, or people of the population whom it fits.
            losses: ``(c,)`` information loss of its rows, from 0 to 1.
        """
        chance = chances(people, self.fraction)
        attacked = self.gain * chance - self.cost > 0
        earned: Floats = self.benefit * (1.0 - losses) - np.where(attacked, self.loss * chance, 0.0)
        return earned

    def pays(self, people: Sizes, losses: Floats) -> Mask:
        """Say of which classes rows earn something."""
        return self.payouts(people, losses) > self.wanted

    def level(self, counts: Counts) -> Levels:
        """Give what a row of each class would earn with its values as they are."""
        return self.payouts(counts.sizes, np.zeros(counts.groups))

    def holds(self, counts: Counts) -> Mask:
        """Say of which classes rows may earn something."""
        return self.level(counts) > self.wanted


@dataclass(frozen=True)
class PopulationProfitability(Profitability):
    """Profitability where a journalist looks in a table of the population.

    Guarantees:
        - As :class:`Profitability`, the chance being one over the people whom a class fits.

    References:
        Wan, Vorobeychik, Xia et al.: A game theoretic framework for analyzing re-identification risk, 2015.

    Example:
        >>> PopulationProfitability(100, 300, 50, 10).pays(np.array([4, 5]), np.array([0.5, 0.5]))
        array([False,  True])
    """

    name: ClassVar[str] = "profitability-population"
    of_people: ClassVar[bool] = True
