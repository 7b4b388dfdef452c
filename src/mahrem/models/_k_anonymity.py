"""k-anonymity: nobody stands alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mahrem import check
from mahrem.models._counts import Counts, Need, PrivacyModel

if TYPE_CHECKING:
    from mahrem.types import Floats, Integers, Levels, Mask


@dataclass(frozen=True)
class _LeastSize(PrivacyModel):
    """Each class holds at least ``k``."""

    k: int
    setting: ClassVar[str] = "k"
    compares: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.whole_at_least(1, **{self.setting: self.k})

    @property
    def wanted(self) -> float:
        """The smallest that may stand."""
        return self.k

    @property
    def least_rows(self) -> int:
        """So many people have at least so many rows."""
        return self.k

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for the size."""
        return (Need("size", self.k),)

    def level(self, counts: Counts) -> Levels:
        """Give the size of every class."""
        return counts.sizes.astype(np.float64)

    def holds(self, counts: Counts) -> Mask:
        """Compare sizes with ``k``."""
        return counts.sizes >= self.k


@dataclass(frozen=True)
class KAnonymity(_LeastSize):
    """k-anonymity: each class holds at least ``k`` rows (or people, where sizes count people).

    Guarantees:
        - The level of a class is its size; it holds when the size is at least ``k``.
        - A union of admissible classes is admissible.

    References:
        Samarati, Sweeney: Protecting privacy when disclosing information, 1998.
        Sweeney: k-anonymity, a model for protecting privacy, 2002.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 0, 1]), np.array([0, 1, 1, 0]), classes=2, size=2)
        >>> KAnonymity(2).holds(counts)
        array([ True, False])
    """

    name: ClassVar[str] = "k-anonymity"
    growing: ClassVar[bool] = True


@dataclass(frozen=True)
class TrajectoryAnonymity(_LeastSize):
    """k-anonymity of trajectories: what all tied rows of a person show, at least ``k`` people show.

    A pseudonym ties the rows of one person together. Whoever knows the person's quasi-identifiers in all of
    them looks for the whole trajectory, which may be unique where every single row is not.

    Guarantees:
        - The level of a trajectory is the number of its people; it holds when that is at least ``k``.

    References:
        Terrovitis, Mamoulis: Privacy preservation in the publication of trajectories, 2008.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> people = counts_of(np.array([0, 0, 0, 1]), np.zeros(4, np.int64), classes=2, size=1)
        >>> TrajectoryAnonymity(2).holds(people)  # each class a trajectory
        array([ True, False])
    """

    setting: ClassVar[str] = "trajectory_k"
    name: ClassVar[str] = "trajectory-k-anonymity"
