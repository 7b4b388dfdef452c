"""l-diversity: a class shows several sensitive values, and none of them too often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mahrem import check
from mahrem.models._counts import Counts, Need, PrivacyModel
from mahrem.models._shares import TOLERANCE, by_class

if TYPE_CHECKING:
    from mahrem.types import Floats, Integers, Levels, Mask


@dataclass(frozen=True)
class DistinctDiversity(PrivacyModel):
    """Distinct l-diversity: each class shows at least ``l`` sensitive values.

    Guarantees:
        - The level of a class is the number of its values; it holds when that is at least ``l``.
        - A union of admissible classes is admissible.

    References:
        Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity, privacy beyond k-anonymity, 2006.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=2, size=2)
        >>> DistinctDiversity(2).holds(counts)
        array([ True, False])
    """

    l: int  # noqa: E741 - the literature's name
    name: ClassVar[str] = "distinct-l-diversity"
    compares: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    growing: ClassVar[bool] = True
    rising: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.whole_at_least(1, l=self.l)

    @property
    def wanted(self) -> float:
        """The fewest values a class may show."""
        return self.l

    @property
    def least_rows(self) -> int:
        """Each value needs a row."""
        return self.l

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for so many values."""
        return (Need("distinct", self.l),)

    def level(self, counts: Counts) -> Levels:
        """Give the number of values of every class."""
        return counts.distinct.astype(np.float64)

    def holds(self, counts: Counts) -> Mask:
        """Compare numbers of values with ``l``."""
        return counts.distinct >= self.l


@dataclass(frozen=True)
class _Mixture(PrivacyModel):
    """What both entropies share: a class is as mixed as ``l`` values of equal share, up to 1e-9."""

    l: float  # noqa: E741 - the literature's name
    compares: ClassVar[bool] = False
    rising: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.at_least(1, l=self.l)

    @property
    def wanted(self) -> float:
        """The least mixture a class may show."""
        return self.l

    @property
    def least_rows(self) -> int:
        """Entropy is at most that of as many values as there are rows."""
        return math.ceil(self.l - TOLERANCE)

    def admits(self, levels: Levels, counts: Counts) -> Mask:  # noqa: ARG002
        """Compare mixtures with ``l``, up to 1e-9."""
        return levels >= self.l - TOLERANCE


@dataclass(frozen=True)
class EntropyDiversity(_Mixture):
    """Entropy l-diversity: each class is as mixed as ``l`` values of equal share, ``exp(H) >= l``.

    Guarantees:
        - The level of a class is ``exp(H)`` with ``H = -sum p ln p`` of its values; it holds when that is at
          least ``l`` up to 1e-9, so that ``l`` values of equal share are enough.
        - A union of admissible classes is admissible: entropy is concave.
        - A class that holds shows at least ``l`` values.

    References:
        Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity, privacy beyond k-anonymity, 2006.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 1]), classes=2, size=2)
        >>> EntropyDiversity(2).holds(counts)
        array([ True, False])
    """

    name: ClassVar[str] = "entropy-l-diversity"
    monotone: ClassVar[bool] = True

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for so much mixture."""
        return (Need("entropy", self.l),)

    def level(self, counts: Counts) -> Levels:
        """Give ``exp(H)`` of every class."""
        # H = ln N - (sum n ln n) / N: one logarithm per triplet, and no division before the sum
        weighted = by_class(np.add, counts.count * np.log(counts.count), counts, empty=0.0)
        totals = np.maximum(counts.totals, 1)
        return np.where(counts.distinct > 0, np.exp(np.log(totals) - weighted / totals), 0.0)


@dataclass(frozen=True)
class GrassbergerDiversity(_Mixture):
    """Entropy l-diversity with Grassberger's estimate of the entropy, which small classes do not lower.

    A class of few rows shows less entropy than what it was drawn from; the estimate makes up for that. It may
    be above the logarithm of the values shown, so at least ``l`` values are asked for as well.

    Guarantees:
        - The level of a class is ``exp(H)`` with ``H = ln N - (sum n G(n)) / N`` and ``G(n) = psi(n) +
          (-1)^n (psi((n + 1) / 2) - psi(n / 2)) / 2``, but at most the number of its values; it holds when
          that is at least ``l`` up to 1e-9.
        - A class that holds shows at least ``l`` values.
        - Where people show several values the level is a lower bound, whichever of them they are counted by.

    References:
        Grassberger: Entropy estimates from insufficient samplings, 2003; as in ARX.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 1, 1]), classes=2, size=2)
        >>> GrassbergerDiversity(2).holds(counts), EntropyDiversity(2).holds(counts)
        (array([ True, False]), array([False, False]))
    """

    name: ClassVar[str] = "grassberger-l-diversity"
    monotone: ClassVar[bool] = False

    def level(self, counts: Counts) -> Levels:
        """Give the smaller of ``exp(H)`` and the number of values of every class."""
        each = _grassberger(counts.count)
        if counts.held is not None:
            choosing = counts.held.classes.several[counts.group] > 0
            each = np.where(choosing, np.maximum(each, _grassberger_at_most(counts.count)), each)
        weighted = by_class(np.add, counts.count * each, counts, empty=0.0)
        totals = np.maximum(counts.totals, 1)
        mixed = np.exp(np.log(totals) - weighted / totals)
        return np.where(counts.distinct > 0, np.minimum(mixed, counts.distinct), 0.0)


def _grassberger(count: Integers) -> Floats:
    """Give G of every count: G(1) is ``-gamma - ln 2``, and G(2m) and G(2m + 1) add ``2 / (2m - 1)``."""
    most = int(count.max(initial=0)) // 2
    steps = np.concatenate([[0.0], np.cumsum(2.0 / (2.0 * np.arange(most) + 1.0))])
    return steps[count // 2] - np.euler_gamma - math.log(2)


def _grassberger_at_most(count: Integers) -> Floats:
    """Give ``ln 2 + psi((n + 1) / 2)``: G of even counts, above it for odd ones.

    ``n G(n)`` goes up and down between odd and even counts, so people counted on as few values as can be need
    not make its sum largest. Times ``n`` this is convex, so they do; and it is never below G.
    """
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, int(count.max(initial=0)) // 2 + 1))])
    odd = harmonic[count // 2] - np.euler_gamma + math.log(2)
    return np.where(count % 2 == 1, odd, _grassberger(count))


@dataclass(frozen=True)
class RecursiveDiversity(PrivacyModel):
    """Recursive (c,l)-diversity: the commonest value is not too common, the rare ones not too rare.

    With the counts of a class in descending order, ``r1 < c * (rl + ... + rm)``.

    Guarantees:
        - The level of a class is ``r1 / (rl + ... + rm)``, infinity when it shows fewer than ``l`` values;
          it holds when that is strictly below ``c``.
        - A union of admissible classes is admissible.

    References:
        Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity, privacy beyond k-anonymity, 2006.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> codes = np.repeat([0, 1, 2], [90, 5, 5])
        >>> counts = counts_of(np.zeros(100, dtype=np.int64), codes, classes=1, size=3)
        >>> RecursiveDiversity(c=19, l=3).holds(counts), RecursiveDiversity(c=18, l=3).holds(counts)
        (array([ True]), array([False]))
    """

    c: float
    l: int  # noqa: E741 - the literature's name
    name: ClassVar[str] = "recursive-(c,l)-diversity"
    compares: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check.above_zero(c=self.c)
        check.whole_at_least(1, l=self.l)

    @property
    def wanted(self) -> float:
        """What the level must stay below."""
        return self.c

    @property
    def least_rows(self) -> int:
        """With fewer than ``l`` values the tail is empty, and each value needs a row."""
        return self.l

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for a tail that is heavy enough."""
        return (Need("tail", self.c, self.l),)

    def level(self, counts: Counts) -> Levels:
        """Give ``r1 / (rl + ... + rm)`` of every class."""
        first = by_class(np.maximum, counts.count, counts, empty=0.0)
        tail = self._tail(counts, first)
        levels = np.full(counts.groups, np.inf)
        np.divide(first, tail, out=levels, where=tail > 0)
        return levels

    def admits(self, levels: Levels, counts: Counts) -> Mask:  # noqa: ARG002
        """Compare with ``c``, strictly."""
        return levels < self.c

    def _tail(self, counts: Counts, first: Levels) -> Levels:
        """Sum all but the ``l - 1`` largest counts of every class."""
        if self.l == 1:
            return counts.totals.astype(np.float64)
        if self.l == 2:
            rest: Levels = counts.totals - first
            return rest
        running = np.concatenate(([0], np.cumsum(_descending(counts))))
        begins = np.minimum(counts.ends - counts.distinct + self.l - 1, counts.ends)
        tail: Integers = running[counts.ends] - running[begins]
        return tail.astype(np.float64)


def _descending(counts: Counts) -> Integers:
    """Sort counts within each class, the largest first."""
    # one key for class and count; rows are numbered with 32 bits, so the product fits into 64
    step = int(counts.count.max(initial=0)) + 1
    base = (counts.group.astype(np.int64, copy=False) + 1) * step
    # classes are in order already and only their few counts are not: a merge sort is many times quicker
    return base - np.sort(base - counts.count, kind="stable")
