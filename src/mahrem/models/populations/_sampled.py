"""Promises about people of the population, when only the share of them in the table is known."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.estimates import expected_risks, k_map_rows
from mahrem.models._counts import Counts, Need, PrivacyModel
from mahrem.types import Floats, Integers, Levels, Mask

_MOST = 10**9  # rows of a class beyond which nothing is asked


@dataclass(frozen=True)
class Sampled(PrivacyModel):
    """A promise that a class keeps exactly when it has rows enough."""

    monotone: ClassVar[bool] = True
    compares: ClassVar[bool] = False
    by_size: ClassVar[bool] = True

    @property
    def least_rows(self) -> int:
        """The fewest rows that are enough."""
        return self._rows

    @cached_property
    def _rows(self) -> int:
        return self._enough()

    @abstractmethod
    def _enough(self) -> int:
        """Work out the fewest rows that are enough."""

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for the size."""
        return (Need("size", self.least_rows),)

    def holds(self, counts: Counts) -> Mask:
        """Compare sizes with the fewest rows that are enough."""
        return counts.sizes >= self.least_rows


@dataclass(frozen=True)
class KMap(Sampled):
    """k-map by an estimator: a class has so many rows that it is thought to fit ``k`` people.

    Rows of a class of k people are taken as Poisson with mean ``k`` times ``fraction``; see
    :func:`~mahrem.estimates.k_map_rows`. What is wanted and reached is told in rows.

    Guarantees:
        - The level of a class is its rows; it holds when they are at least what the estimator asks for.
        - Never more than ``k`` rows are asked for: what k-anonymity admits, this admits.
        - A union of admissible classes is admissible.

    References:
        Sweeney: Computational disclosure control, 2001.
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1]), np.zeros(3, np.int64), classes=2, size=1)
        >>> KMap(5, fraction=0.01).holds(counts)
        array([ True, False])
    """

    k: int
    fraction: float
    name: ClassVar[str] = "k-map"
    rising: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.whole_at_least(1, k_map=self.k)
        check_fraction(self.fraction)

    @property
    def wanted(self) -> float:
        """The fewest rows of a class."""
        return self.least_rows

    def _enough(self) -> int:
        return k_map_rows(self.k, self.fraction)

    def level(self, counts: Counts) -> Levels:
        """Give the rows of every class."""
        return counts.sizes.astype(np.float64)


@dataclass(frozen=True)
class JournalistRisk(Sampled):
    """The journalist's risk: the expected chance to find a person of a class in the population.

    It is the expected value of one over the people whom a class fits, given its rows and the share of the
    population in the table; with everybody in the table, one over its rows.

    Guarantees:
        - The level of a class is that chance; it holds when it is at most ``risk``.
        - A union of admissible classes is admissible: the chance falls with the rows.

    References:
        Benedetti, Franconi: Statistical and technological solutions for controlled data dissemination, 1998.
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1]), np.zeros(3, np.int64), classes=2, size=1)
        >>> JournalistRisk(0.5, fraction=0.5).level(counts).round(3), JournalistRisk(0.5, 0.5).holds(counts)
        (array([0.307, 0.693]), array([ True, False]))
    """

    risk: float
    fraction: float = 1.0
    name: ClassVar[str] = "journalist-risk"
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_chance(journalist_risk=self.risk)
        check_fraction(self.fraction)

    @property
    def wanted(self) -> float:
        """The largest chance."""
        return self.risk

    def _enough(self) -> int:
        return _fewest(lambda rows: chances(np.array([rows]), self.fraction)[0] <= self.risk)

    def level(self, counts: Counts) -> Levels:
        """Give the chance of every class; nobody is found in an empty one."""
        return chances(counts.sizes, self.fraction)


@dataclass(frozen=True)
class NoAttack(Sampled):
    """Profitability without attack: looking for somebody of a class costs more than it brings.

    With a chance ``c`` to find a person, ``gain * c < cost``. With everybody in the table (``fraction=1``) it
    is the prosecutor's chance, one over the rows of a class; else the journalist's.

    Guarantees:
        - The level of a class is the chance; it holds when ``gain`` times it is below ``cost``.
        - A union of admissible classes is admissible.

    References:
        Wan, Vorobeychik, Xia et al.: A game theoretic framework for analyzing re-identification risk, 2015.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 0, 1, 1]), np.zeros(5, np.int64), classes=2, size=1)
        >>> NoAttack(gain=8, cost=4).holds(counts)  # two rows would just pay
        array([ True, False])
    """

    gain: float
    cost: float
    fraction: float = 1.0
    name: ClassVar[str] = "no-attack"
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check.above_zero(**{"no_attack.gain": self.gain})
        check.above_zero(**{"no_attack.cost": self.cost})
        check_fraction(self.fraction)

    @property
    def wanted(self) -> float:
        """What the chance must stay below."""
        return self.cost / self.gain

    def _enough(self) -> int:
        return _fewest(lambda rows: self.gain * chances(np.array([rows]), self.fraction)[0] < self.cost)

    def level(self, counts: Counts) -> Levels:
        """Give the chance of every class."""
        return chances(counts.sizes, self.fraction)


def chances(sizes: Integers, fraction: float) -> Floats:
    """Give the expected chance to find a person of each class, 0 where there is nobody."""
    risks = np.zeros(len(sizes))
    some = sizes > 0
    risks[some] = expected_risks(sizes[some], fraction)
    return risks


def check_fraction(fraction: float) -> None:
    """Refuse what is no share of a population."""
    check.between(0, 1, fraction=fraction)
    if fraction == 0:
        raise InvalidParameter("fraction=0 must be above 0: somebody is in the table")


def _check_chance(**named: float) -> None:
    ((name, value),) = named.items()
    check.between(0, 1, **{name: value})
    check.above_zero(**{name: value})


def _fewest(enough: Callable[[int], bool]) -> int:
    """Give the fewest rows that are enough, where more rows always are."""
    low, high = 0, 1
    while high < _MOST and not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
