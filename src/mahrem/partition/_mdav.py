"""MDAV and MDAV+: groups of one size around the records farthest from the middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import arrays
from mahrem.partition._microaggregation import admit_by_merging, prepare
from mahrem.partition._partition import Admits, Partition
from mahrem.types import Points

__all__ = ["Mdav", "MdavPlus", "mdav", "mdav_plus"]


def mdav(points: Points, admits: Admits, *, standardise: bool = True) -> Partition:
    """Group rows by classic MDAV, with fixed group size.

    While at least three groups are left: the row farthest from the centroid of what is left and its k-1
    nearest, then the row farthest from that one and its k-1 nearest. Then one more group if two are left, and
    the rest is the last one. Quadratic at worst; boxes around neighbours spare most of the distances.

    Args:
        points: ``(n, d)`` quasi-identifiers.
        admits: Its minimum is the group size k; what it refuses is merged where the squared error grows
            least.
        standardise: Give every column the same deviation first, as the literature does.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - A plain minimum ``k`` gives groups of ``k`` rows, and one of ``k .. 2k-1``.
        - Of equal distances the first row counts: the same table gives the same groups.

    References:
        Domingo-Ferrer, Torra: Ordinal, continuous and heterogeneous k-anonymity through microaggregation,
        2005.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.9], [0.1], [1.0]])
        >>> mdav(points, Admission(((KAnonymity(2), None),), rows=4)).labels
        array([0, 1, 0, 1])
    """
    scaled, minimum = prepare(points, admits, standardise=standardise)
    labels = arrays.mdav_groups(scaled, minimum) if minimum > 1 else np.arange(len(scaled))
    return admit_by_merging(scaled, labels, admits)


def mdav_plus(points: Points, admits: Admits, *, standardise: bool = True) -> Partition:
    """Group rows by MDAV+: the centroid of all rows once, one group at a time.

    The row farthest from the centroid and its k-1 nearest make a group, while at least k rows are left; the
    rest joins the groups with the nearest centroids.

    Args:
        points: ``(n, d)`` quasi-identifiers.
        admits: Its minimum is k; what it refuses is merged where the squared error grows least.
        standardise: Give every column the same deviation first, as the literature does.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - A plain minimum ``k`` gives ``n // k`` groups.
        - Of equal distances the first row counts: the same table gives the same groups.

    References:
        Stoldt: Datenbankanonymisierung auf Basis von k-means-Algorithmen, 2019.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.9], [0.1], [1.0], [0.2]])
        >>> mdav_plus(points, Admission(((KAnonymity(2), None),), rows=5)).labels
        array([1, 0, 1, 0, 1])
    """
    scaled, minimum = prepare(points, admits, standardise=standardise)
    labels = arrays.mdav_plus_groups(scaled, minimum) if minimum > 1 else np.arange(len(scaled))
    return admit_by_merging(scaled, labels, admits)


@dataclass(frozen=True)
class Mdav:
    """:func:`mdav` as data: its settings can be printed, compared and stored."""

    standardise: bool = True

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return mdav(points, admits, standardise=self.standardise)


@dataclass(frozen=True)
class MdavPlus:
    """:func:`mdav_plus` as data."""

    standardise: bool = True

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return mdav_plus(points, admits, standardise=self.standardise)
