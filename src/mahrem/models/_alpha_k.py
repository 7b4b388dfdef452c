"""(alpha,k)-anonymity: k rows, and no value too common among them."""

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
class AlphaK(PrivacyModel):
    """(alpha,k)-anonymity: classes of at least ``k`` in which no value has a share above ``alpha``.

    This is the general form, asked of every value; the paper first states it for one chosen value.

    Guarantees:
        - The level of a class is the largest share of one value; it holds when that is at most ``alpha``
          and the class has at least ``k`` rows.
        - A union of admissible classes is admissible.

    References:
        Wong, Li, Fu, Wang: (alpha, k)-anonymity, an enhanced k-anonymity model, 2006.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 1]), classes=2, size=2)
        >>> AlphaK(alpha=0.5, k=2).holds(counts)
        array([ True, False])
    """

    alpha: float
    k: int
    name: ClassVar[str] = "(alpha,k)-anonymity"
    compares: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check.above_zero(alpha=self.alpha)
        check.between(0, 1, alpha=self.alpha)
        check.whole_at_least(1, k=self.k)

    @property
    def wanted(self) -> float:
        """The largest share one value may have."""
        return self.alpha

    @property
    def least_rows(self) -> int:
        """At least ``k``, and ``1 / alpha`` values need a row each."""
        return max(self.k, math.ceil(1 / self.alpha - TOLERANCE))

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for the size, and for no larger share."""
        most = np.full(len(table), self.alpha)
        return Need("size", self.k), Need("bounds", low=np.zeros(len(table)), high=most)

    def level(self, counts: Counts) -> Levels:
        """Give the largest share of one value in every class."""
        most = by_class(np.maximum, counts.count, counts, empty=np.inf)
        return most / np.maximum(counts.totals, 1)

    def admits(self, levels: Levels, counts: Counts) -> Mask:
        """Compare shares with ``alpha`` and sizes with ``k``."""
        return (levels <= self.alpha) & (counts.sizes >= self.k)
