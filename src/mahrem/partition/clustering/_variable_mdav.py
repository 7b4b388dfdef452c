"""V-MDAV and MDAV*: groups that are extended by records close by."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem import check
from mahrem.arrays import averaging
from mahrem.partition._partition import Admits, Partition
from mahrem.partition.clustering._microaggregation import microaggregate
from mahrem.types import Labels, Points


@dataclass(frozen=True)
class VariableMdav:
    """Group rows by V-MDAV: as MDAV+, and every group is extended by records that lie close.

    The unassigned record nearest to any record of the group joins it when that distance (not squared) is
    below ``gamma`` times its distance to the nearest other unassigned record; up to 2k-1 records.

    Args:
        gamma: Not below 0; 0 never extends. The authors take 0.2 for scattered and 1.1 for clustered data.
        standardise: Give every column the same deviation first, as the literature does.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite.
        InvalidParameter: If ``gamma`` is below 0.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - Of equal distances the first row counts: the same table gives the same groups.

    References:
        Solanas, Martínez-Ballesté: V-MDAV, a multivariate microaggregation with variable group size, 2006.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.02], [0.04], [0.9], [0.7], [1.0]])
        >>> VariableMdav()(points, Admission(((KAnonymity(2), None),), rows=6)).labels
        array([1, 1, 1, 0, 0, 0])
    """

    gamma: float = 0.2
    standardise: bool = True

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        check.at_least(0, gamma=self.gamma)

        def group(scaled: Points, minimum: int) -> Labels:
            return averaging.extended_groups(scaled, minimum, self.gamma)

        return microaggregate(points, admits, group, standardise=self.standardise)


@dataclass(frozen=True)
class MdavStar:
    """Group rows in the spirit of MDAV*: extend a group by a close record, or let it start a group.

    The paper's abstract says that this question "is investigated in more depth"; its text could not be
    read, so this is our reading of it and not the published algorithm. As MDAV+, but then the unassigned
    record nearest to the group's centroid is looked at: it joins when that adds less to the squared error
    than the record would cost in the group it could start with its own k-1 nearest unassigned records; up to
    2k-1 records.

    Args:
        standardise: Give every column the same deviation first, as the literature does.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - Of equal distances the first row counts: the same table gives the same groups.

    References:
        Thaeter, Reischuk: Improving anonymization clustering, 2018.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.02], [0.04], [0.9], [0.7], [1.0]])
        >>> MdavStar()(points, Admission(((KAnonymity(2), None),), rows=6)).labels
        array([1, 1, 1, 0, 0, 0])
    """

    standardise: bool = True

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""

        def group(scaled: Points, minimum: int) -> Labels:
            return averaging.extended_groups(scaled, minimum, None)

        return microaggregate(points, admits, group, standardise=self.standardise)
