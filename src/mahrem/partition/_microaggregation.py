"""What all microaggregation methods share: the door, and obeying promises beyond the size of a class."""

from __future__ import annotations

import numpy as np

from mahrem import arrays
from mahrem.errors import InvalidInput
from mahrem.metrics import standardised
from mahrem.partition._partition import Admits, Partition, least_rows
from mahrem.types import Floats, Integers, Labels, Mask, Points

__all__ = ["admit_by_merging", "prepare"]


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
    found, labels = np.unique(labels, return_inverse=True)
    classes = len(found)
    if admits.plain:
        return Partition(labels=labels, classes=classes)
    changed: Mask = np.ones(classes, np.bool_)
    refused: Mask = np.zeros(classes, np.bool_)
    while True:
        refused[changed] = ~_judge(labels, np.flatnonzero(changed), classes, admits)
        if classes == 1 or not refused.any():
            return Partition(labels=labels, classes=classes)
        sizes = np.bincount(labels, minlength=classes)
        columns = _centres(points, labels, sizes)
        target, grown = arrays.merge_refused(columns, sizes, refused, np.argsort(sizes, kind="stable"))
        alive, numbers = np.unique(target, return_inverse=True)
        labels, classes = numbers[labels], len(alive)
        changed, refused = grown[alive], refused[alive]


def _judge(labels: Labels, which: Integers, classes: int, admits: Admits) -> Mask:
    """Ask ``admits`` about some of the classes."""
    wanted = np.zeros(classes, np.bool_)
    wanted[which] = True
    rows = np.flatnonzero(wanted[labels])
    rows = rows[np.argsort(labels[rows], kind="stable")]
    ends = np.cumsum(np.bincount(labels[rows], minlength=classes)[which])
    return admits(rows.astype(np.int32), np.concatenate([[0], ends]).astype(np.int64))


def _centres(points: Points, labels: Labels, sizes: Integers) -> Floats:
    """Give the centres of all classes as columns ``(d, c)``."""
    centres = np.empty((points.shape[1], len(sizes)))
    for column, values in enumerate(points.T):
        centres[column] = np.bincount(labels, weights=values, minlength=len(sizes)) / sizes
    return centres
