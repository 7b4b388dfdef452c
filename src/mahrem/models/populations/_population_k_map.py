"""k-map and attacks that do not pay: whoever looks for a class in a population finds enough people."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mahrem import check
from mahrem.models._counts import Counts, PrivacyModel
from mahrem.models._shares import by_class

if TYPE_CHECKING:
    from mahrem.types import Levels, Mask


class PeopleEnough(PrivacyModel):
    """A promise that a class keeps when it fits people enough, counted in a table of the population."""

    of_members: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = True
    compares: ClassVar[bool] = False

    @property
    @abstractmethod
    def people(self) -> int:
        """The fewest people whom a class may fit."""

    @property
    def wanted(self) -> float:
        """The fewest people whom a class may fit."""
        return self.people

    @property
    def least_rows(self) -> int:
        """A class without anybody of the release is not published, and may stand."""
        return 0

    def level(self, counts: Counts) -> Levels:
        """Give the people of every class; infinity where nobody of the release is among them."""
        members = by_class(np.add, np.where(counts.value == 1, counts.count, 0), counts, empty=0.0)
        return np.where(members > 0, counts.totals.astype(np.float64), np.inf)

    def holds(self, counts: Counts) -> Mask:
        """Compare people with how many are enough."""
        return self.level(counts) >= self.people


@dataclass(frozen=True)
class PopulationKMap(PeopleEnough):
    """k-map: every class with somebody of the release in it fits at least ``k`` people of the population.

    The counts are those of a membership column of the population, as for
    :class:`~mahrem.models.DeltaPresence`: value 1 is a person in the release, value 0 one who is in the
    population only. :class:`~mahrem.models.KMap` is the estimate where nobody has such a table.

    Guarantees:
        - The level of a class is the people of the population in it, infinity where nobody of the release
          is: such a class is not published. It holds when that is at least ``k``.
        - What k-anonymity admits, this admits.
        - A union of admissible classes is admissible.

    References:
        Sweeney: Computational disclosure control, 2001.
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 0, 1, 2]), np.array([1, 0, 0, 1, 0]), classes=3, size=2)
        >>> PopulationKMap(3).level(counts), PopulationKMap(3).holds(counts)
        (array([ 3.,  1., inf]), array([ True, False,  True]))
    """

    k: int
    name: ClassVar[str] = "k-map-population"

    def __post_init__(self) -> None:
        check.whole_at_least(1, k_map=self.k)

    @property
    def people(self) -> int:
        """As many as k says."""
        return self.k


@dataclass(frozen=True)
class PopulationNoAttack(PeopleEnough):
    """Profitability without attack, by a table of the population: a search costs more than it brings.

    With one over the people whom a class fits as the chance ``c`` to find one of them, ``gain * c < cost``:
    it is k-map with the least whole number above ``gain / cost``.

    Guarantees:
        - The level of a class is the people of the population in it, infinity where nobody of the release
          is. It holds when an attack on one of so many does not pay.
        - A union of admissible classes is admissible.

    References:
        Wan, Vorobeychik, Xia et al.: A game theoretic framework for analyzing re-identification risk, 2015.

    Example:
        >>> PopulationNoAttack(gain=8, cost=4).people  # two would just pay
        3
    """

    gain: float
    cost: float
    name: ClassVar[str] = "no-attack-population"

    def __post_init__(self) -> None:
        check.above_zero(**{"no_attack.gain": self.gain})
        check.above_zero(**{"no_attack.cost": self.cost})

    @property
    def people(self) -> int:
        """The least whole number above gain over cost."""
        return math.floor(self.gain / self.cost) + 1
