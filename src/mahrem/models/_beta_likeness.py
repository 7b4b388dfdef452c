"""beta-likeness: no value gains too much confidence, relative to its share in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mahrem import check
from mahrem.models._counts import Allowance, Counts, Need, PrivacyModel
from mahrem.models._shares import LOOSE, TOLERANCE, Spans, by_class, inverse, logarithm, spans_of

if TYPE_CHECKING:
    from mahrem.types import Floats, Integers, Levels, Mask


@dataclass(frozen=True)
class _Likeness(PrivacyModel):
    """What both likenesses share: no value gains more than ``beta`` over its share in the table."""

    beta: float
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check.above_zero(beta=self.beta)

    @property
    def wanted(self) -> float:
        """The largest relative gain a value may have."""
        return self.beta

    def admits(self, levels: Levels, counts: Counts) -> Mask:  # noqa: ARG002
        """Compare gains with ``beta``, up to 1e-9."""
        return levels <= self.beta + TOLERANCE


@dataclass(frozen=True)
class BasicLikeness(_Likeness):
    """Basic beta-likeness: with share ``p`` in the table and ``q`` in a class, ``(q - p) / p <= beta``.

    Guarantees:
        - The level of a class is the largest ``(q - p) / p`` over its values, never below 0, infinity when it
          shows a value the table does not; it holds when that is at most ``beta`` up to 1e-9.
        - A union of admissible classes is admissible.

    References:
        Cao, Karras: Publishing microdata with a robust privacy guarantee, 2012.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=2, size=2)
        >>> BasicLikeness(1).level(counts).round(3)
        array([1.   , 0.333])
    """

    name: ClassVar[str] = "beta-likeness-basic"

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for shares that gain no more."""
        return (_at_most(table, np.full(len(table), self.beta)),)

    def loosened(self, share: float) -> PrivacyModel:
        """Allow for shares of the table that grow by what goes."""
        return BasicLikeness((1 + self.beta) / (1 - share) - 1 + LOOSE)

    def allowance(self) -> Allowance:
        """Allow each value so much more than in the table."""
        return Allowance(gain=self.beta + TOLERANCE)

    def level(self, counts: Counts) -> Levels:
        """Give the largest relative gain of every class."""
        spans = spans_of(counts)
        return np.maximum(by_class(np.maximum, _gains(spans), spans.counts, empty=np.inf), 0.0)


@dataclass(frozen=True)
class EnhancedLikeness(_Likeness):
    """Enhanced beta-likeness: ``(q - p) / p <= min(beta, -ln p)``, so that common values stay hidden too.

    The bound differs from value to value, so a class's figure cannot be one gain beside one bound. The level
    is therefore the smallest ``beta`` at which the class would be admitted: its largest gain, or infinity
    when some gain exceeds ``-ln p``, which no ``beta`` can mend.

    Guarantees:
        - A class holds when its level is at most ``beta`` up to 1e-9.
        - What enhanced beta-likeness admits, basic beta-likeness admits.
        - A union of admissible classes is admissible.

    References:
        Cao, Karras: Publishing microdata with a robust privacy guarantee, 2012.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=2, size=2)
        >>> EnhancedLikeness(1).level(counts)
        array([ 1., inf])
    """

    name: ClassVar[str] = "beta-likeness-enhanced"

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for shares that gain no more."""
        return (_at_most(table, np.minimum(self.beta, -logarithm(table))),)

    def loosened(self, share: float) -> PrivacyModel:
        """Ask what basic beta-likeness would."""
        return BasicLikeness(self.beta).loosened(share)

    def level(self, counts: Counts) -> Levels:
        """Give the smallest ``beta`` that admits each class."""
        spans = spans_of(counts)
        gains = _gains(spans)
        beyond = gains > (TOLERANCE - logarithm(spans.table_lowest))[spans.counts.value]
        needed = by_class(np.maximum, np.where(beyond, np.inf, gains), spans.counts, empty=np.inf)
        return np.maximum(needed, 0.0)


def _gains(spans: Spans) -> Floats:
    """Give ``(q - p) / p`` for every triplet, the largest it can be."""
    return spans.highest * inverse(spans.table_lowest)[spans.counts.value] - 1.0


def _at_most(table: Floats, gain: Floats) -> Need:
    """Bound the share of each value by what it may gain over the table's."""
    shown = table > 0
    return Need("bounds", low=np.zeros(len(table)), high=np.where(shown, (1 + gain + TOLERANCE) * table, 0.0))
