"""delta-presence: nobody learns too well who is in the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.models._counts import Counts, PrivacyModel
from mahrem.models._shares import by_class

if TYPE_CHECKING:
    from mahrem.types import Levels, Mask


@dataclass(frozen=True)
class DeltaPresence(PrivacyModel):
    """delta-presence: of the population in a class, a share between ``low`` and ``high`` is in the release.

    The counts are those of a membership column of the population: value 1 is a person in the release, value 0
    one who is in the population only.

    A class without members is refused where ``low`` is above 0, as in the paper and in ARX: whoever is in it
    would be known to be absent. :class:`ShownPresence` is the other reading.

    Guarantees:
        - The level of a class is the share of members; it holds when the share lies in ``[low, high]``, or
          when nobody of the population is in it.
        - A union of admissible classes is admissible: its share lies between theirs.

    References:
        Nergiz, Atzori, Clifton: Hiding the presence of individuals from shared databases, 2007.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 0, 0, 1]), np.array([1, 1, 1, 0, 1]), classes=2, size=2)
        >>> DeltaPresence(0.1, 0.8).level(counts), DeltaPresence(0.1, 0.8).holds(counts)
        (array([0.75, 1.  ]), array([ True, False]))
    """

    low: float
    high: float
    name: ClassVar[str] = "delta-presence"
    of_members: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check.between(0, 1, **{"delta_presence.low": self.low})
        check.between(0, 1, **{"delta_presence.high": self.high})
        if self.low > self.high:
            raise InvalidParameter(f"delta_presence.low={self.low!r} must not be above high={self.high!r}")

    @property
    def wanted(self) -> float:
        """The largest share of members; ``wanted_range`` says both ends."""
        return self.high

    @property
    def wanted_range(self) -> tuple[float, float]:
        """Both ends of what the share of members may be."""
        return self.low, self.high

    @property
    def least_rows(self) -> int:
        """A class may hold no member where ``low`` is 0, and an empty one hides nobody."""
        return 0

    @property
    def unshown(self) -> DeltaPresence:
        """What is asked for people who fit no published class: the same."""
        return self

    def level(self, counts: Counts) -> Levels:
        """Give the share of members in every class, 0 where there are none."""
        if len(counts.table) > 2:
            raise InvalidParameter(
                f"values={len(counts.table)} must be two: 1 in the release, 0 in the population only"
            )
        members = by_class(np.add, np.where(counts.value == 1, counts.count, 0), counts, empty=0.0)
        return members / np.maximum(counts.totals, 1)

    def admits(self, levels: Levels, counts: Counts) -> Mask:
        """Compare shares with both ends."""
        admitted: Mask = (counts.totals == 0) | ((levels >= self.low) & (levels <= self.high))
        return admitted


@dataclass(frozen=True)
class ShownPresence(DeltaPresence):
    """delta-presence of whoever fits a published class; all others may be known to be absent.

    Guarantees:
        - A class holds when it has no members or when their share lies in ``[low, high]``.
        - What :class:`DeltaPresence` admits, this admits; with ``low = 0`` the two agree.
        - With ``low`` above 0 a class without members thins out the one it joins, so ``monotone`` is not
          claimed.

    References:
        Nergiz, Atzori, Clifton: Hiding the presence of individuals from shared databases, 2007.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1]), np.array([1, 0, 0]), classes=2, size=2)
        >>> DeltaPresence(0.1, 0.8).holds(counts), ShownPresence(0.1, 0.8).holds(counts)
        (array([ True, False]), array([ True,  True]))
    """

    name: ClassVar[str] = "delta-presence-shown"
    monotone: ClassVar[bool] = False

    @property
    def unshown(self) -> DeltaPresence:
        """What is asked for people who fit no published class: the upper end alone."""
        return DeltaPresence(0.0, self.high)

    def admits(self, levels: Levels, counts: Counts) -> Mask:
        """Compare shares with both ends where there are members."""
        admitted: Mask = (levels == 0.0) | super().admits(levels, counts)
        return admitted
