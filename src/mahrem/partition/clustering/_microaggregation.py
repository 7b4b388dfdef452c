"""What all microaggregation methods share: the door, and obeying promises beyond the size of a class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.metrics import standardised
from mahrem.partition._partition import Admits, Partition, least_rows
from mahrem.partition.judging import merge_refused
from mahrem.types import Labels, Points


def prepare(points: Points, admits: Admits, *, standardise: bool) -> tuple[Points, int]:
    """Check the table and give a copy to work on, standardised if asked, and the least rows of a class.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite.
    """
    minimum = least_rows(len(points), admits)
    strange = points.size - int(np.isfinite(points).sum())
    if strange:
        raise InvalidInput(
            f"points hold {strange} numbers that are not finite; missing values need a place first"
        )
    return np.array(standardised(points) if standardise else points, np.float64, order="C"), minimum


def microaggregate(
    points: Points, admits: Admits, group: Callable[[Points, int], Labels], *, standardise: bool
) -> Partition:
    """Let ``group`` sort the rows by the least rows of a class alone, and merge what ``admits`` refuses."""
    scaled, minimum = prepare(points, admits, standardise=standardise)
    labels = group(scaled, minimum) if minimum > 1 else np.arange(len(scaled))
    return admit_by_merging(scaled, labels, admits)


def generator(seed: int | None) -> np.random.Generator:
    """Make the source of random choices.

    Raises:
        InvalidParameter: If the seed is not a whole number from 0 on.
    """
    if seed is not None:
        check.at_least(0, seed=check.whole(seed=seed))
    return np.random.default_rng(seed)


def admit_by_merging(points: Points, labels: Labels, admits: Admits) -> Partition:
    """Merge classes that ``admits`` refuses, the smallest first, each where the squared error grows least.

    Args:
        points: ``(n, d)`` in the scale in which the squared error counts.
        labels: Class of each row; numbers may be unused.
        admits: Accepts the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class, and rows that shared a class still do.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [1.0], [9.0], [8.0]])
        >>> admits = Admission(((KAnonymity(2), None),), rows=4, members=np.array([True, False, True, True]))
        >>> admit_by_merging(points, np.array([0, 0, 1, 1]), admits).labels
        array([0, 0, 0, 0])
    """
    used, labels = np.unique(labels, return_inverse=True)
    classes = len(used)
    if not admits.plain:
        labels, classes = merge_refused(points, labels, classes, admits, by_error=True)
    return Partition(labels=labels, classes=classes)
