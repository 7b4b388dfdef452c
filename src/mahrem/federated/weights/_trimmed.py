"""Median and trimmed mean, weight by weight: a few odd clients do not move them far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from mahrem import check
from mahrem.federated.weights._average import enough
from mahrem.types import Floats

if TYPE_CHECKING:
    from mahrem.federated.weights._plan import LearningPlan


def trimmed_mean(weights: Floats, cut: int) -> Floats:
    """Leave out the ``cut`` smallest and largest of each weight and average the rest; clients count alike.

    Args:
        weights: ``(clients, size)``, more than ``2 * cut`` clients.
        cut: How many at each end.

    Guarantees:
        - With at most ``cut`` clients that lie, each weight lies between the smallest and largest of the
          honest ones.

    References:
        Yin et al.: Byzantine-robust distributed learning: towards optimal statistical rates, 2018.

    Example:
        >>> trimmed_mean(np.array([[1.0], [2.0], [1e9]]), 1).tolist()
        [2.0]
    """
    enough(len(weights), 2 * cut + 1, f"a trimmed mean with cut={cut}")
    if cut == 0:
        return np.asarray(np.asarray(weights, np.float64).mean(axis=0))
    return np.asarray(np.sort(np.asarray(weights, np.float64), axis=0)[cut : len(weights) - cut].mean(axis=0))


@dataclass(frozen=True, kw_only=True)
class TrimmedMean:
    """:func:`trimmed_mean` as data; ``cut`` is how many clients may lie."""

    cut: int = 1

    def __post_init__(self) -> None:
        check.at_least(1, cut=check.whole(cut=self.cut))

    @classmethod
    def of(cls, plan: LearningPlan) -> Self:
        """Cut off as many as may lie."""
        return cls(cut=plan.malicious)

    def require(self, clients: int) -> None:
        """Ask for more clients than are cut off."""
        enough(clients, 2 * self.cut + 1, f"a trimmed mean with cut={self.cut}")

    def __call__(self, weights: Floats, rows: Floats) -> Floats:  # noqa: ARG002 - as the protocol says
        """See :func:`trimmed_mean`; numbers of rows are not used: a client that lies would lie about them."""
        return trimmed_mean(weights, self.cut)


@dataclass(frozen=True, kw_only=True)
class CoordinateMedian:
    """The median of each weight: fewer than half of the clients may lie.

    References:
        Yin et al.: Byzantine-robust distributed learning: towards optimal statistical rates, 2018.
    """

    @classmethod
    def of(cls, plan: LearningPlan) -> Self:  # noqa: ARG003 - there is nothing to say about it
        """Make one."""
        return cls()

    def require(self, clients: int) -> None:
        """Ask for three clients: of two the median is the mean."""
        enough(clients, 3, "a median")

    def __call__(self, weights: Floats, rows: Floats) -> Floats:  # noqa: ARG002 - as the protocol says
        """Take the median of each weight; numbers of rows are not used."""
        self.require(len(weights))
        return np.asarray(np.median(np.asarray(weights, np.float64), axis=0))
