"""delta-disclosure privacy: a class says about as much of every value as the table does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mahrem import check
from mahrem.models._beta_likeness import BasicLikeness
from mahrem.models._counts import Counts, Need, PrivacyModel
from mahrem.models._shares import LOOSE, by_class, logarithm, spans_of

if TYPE_CHECKING:
    from mahrem.types import Floats, Integers, Levels, Mask

_MOST = 700.0  # beyond this a power of e is no number


@dataclass(frozen=True)
class DeltaDisclosure(PrivacyModel):
    """delta-disclosure: no value is much more or much less common in a class than in the table.

    With shares ``p`` in the table and ``q`` in a class, ``|ln(q / p)| < delta`` for every value of the table.

    The logarithm is natural (ARX takes base 2). A value of the table that a class lacks gives infinity: that
    nobody in the class has it is a disclosure too. So every class must show every value, which makes this the
    strictest of the models for columns with rare values.

    Guarantees:
        - The level of a class is the largest ``|ln(q / p)|`` over all values of the table; it holds when that
          is strictly below ``delta``.
        - A union of admissible classes is admissible.

    References:
        Brickell, Shmatikov: The cost of privacy, destruction of data-mining utility in anonymized data
        publishing, 2008.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=2, size=2)
        >>> DeltaDisclosure(1).level(counts).round(3)
        array([0.693,   inf])
    """

    delta: float
    name: ClassVar[str] = "delta-disclosure"
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check.above_zero(delta=self.delta)

    @property
    def wanted(self) -> float:
        """What the level must stay below."""
        return self.delta

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for every value, neither much rarer nor much more common."""
        inside = 1 - 1e-12  # the ends themselves are outside
        factor = np.exp(self.delta) * inside
        return (Need("bounds", low=table / factor, high=table * factor),)

    def loosened(self, share: float) -> PrivacyModel:
        """Ask that no value is much more common; how rare one may be is not known then."""
        return BasicLikeness(float(np.exp(min(self.delta, _MOST))) / (1 - share) - 1 + LOOSE)

    def level(self, counts: Counts) -> Levels:
        """Give the largest ``|ln(q / p)|`` of every class."""
        spans = spans_of(counts)
        value = spans.counts.value
        more = np.log(spans.highest) - logarithm(spans.table_lowest)[value]
        with np.errstate(invalid="ignore"):  # a value of neither: ``more`` is infinite then
            fewer = logarithm(spans.table_highest)[value] - logarithm(spans.lowest)
        largest = by_class(np.maximum, np.fmax(more, fewer), spans.counts, empty=np.inf)
        lacking = spans.counts.distinct < np.count_nonzero(spans.table_highest)
        return np.where(lacking, np.inf, largest)

    def admits(self, levels: Levels, counts: Counts) -> Mask:  # noqa: ARG002
        """Compare with ``delta``, strictly."""
        return levels < self.delta
