"""MDAV and MDAV+: groups of one size around the records farthest from the middle."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem.arrays import averaging
from mahrem.partition._partition import Admits, Partition
from mahrem.partition.clustering._microaggregation import microaggregate
from mahrem.types import Points


@dataclass(frozen=True)
class Mdav:
    """Group rows by classic MDAV, with fixed group size.

    While at least three groups are left: the row farthest from the centroid of what is left and its k-1
    nearest, then the row farthest from that one and its k-1 nearest. Then one more group if two are left, and
    the rest is the last one. Quadratic at worst; boxes around neighbours spare most of the distances.

    Args:
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
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.9], [0.1], [1.0]])
        >>> Mdav()(points, Admission(((KAnonymity(2), None),), rows=4)).labels
        array([0, 1, 0, 1])
    """

    standardise: bool = True

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return microaggregate(points, admits, averaging.mdav_groups, standardise=self.standardise)


@dataclass(frozen=True)
class MdavPlus:
    """Group rows by MDAV+: the centroid of all rows once, one group at a time.

    The row farthest from the centroid and its k-1 nearest make a group, while at least k rows are left; the
    rest joins the groups with the nearest centroids.

    Args:
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
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.9], [0.1], [1.0], [0.2]])
        >>> MdavPlus()(points, Admission(((KAnonymity(2), None),), rows=5)).labels
        array([1, 0, 1, 0, 1])
    """

    standardise: bool = True

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return microaggregate(points, admits, averaging.mdav_plus_groups, standardise=self.standardise)
