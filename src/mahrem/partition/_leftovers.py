"""No row is lost: what a method left over gets a class, and classes that may not stand are merged."""

from __future__ import annotations

import numpy as np

from mahrem import arrays
from mahrem.errors import Infeasible
from mahrem.partition._partition import Admits
from mahrem.types import Floats, Integers, Labels, Mask, Points

__all__ = ["merge_refused", "place_leftovers"]


def place_leftovers(points: Points, labels: Labels, classes: int, minimum: int) -> int:
    """Give every row labelled -1 a class, in place; gives how many classes there are then.

    Args:
        points: ``(n, d)`` quasi-identifiers.
        labels: ``(n,)`` class of each row; -1 = left over. Changed.
        classes: How many classes there are; at least one, or at least ``minimum`` rows are left over.
        minimum: Rows that a class needs.

    Guarantees:
        - ``L >= minimum`` rows form ``L // minimum`` classes of ``minimum`` rows, the last with the rest.
        - Fewer join, one by one, the class whose widths grow least.
    """
    left = np.flatnonzero(labels < 0).astype(np.int32)
    if len(left) >= minimum:
        own = np.empty(len(left), np.int64)
        made = arrays.group_nearest(np.ascontiguousarray(points[left]), minimum, own)
        labels[left] = own + classes
        return classes + made
    if len(left):
        low, high = _boxes(points, labels, classes)
        arrays.join_least(np.ascontiguousarray(points), left, low, high, labels)
    return classes


def merge_refused(points: Points, labels: Labels, classes: int, admits: Admits) -> tuple[Labels, int]:
    """Merge every class that ``admits`` refuses with the one that costs least, until all may stand.

    Args:
        points: ``(n, d)`` quasi-identifiers.
        labels: ``(n,)`` class of each row, none left over.
        classes: How many classes there are.
        admits: Judges classes of the whole table.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - ``admits`` accepts every class; a class it accepted is only ever joined, never torn apart.
        - Labels are ``0 .. c-1`` and none is empty.
    """
    target = np.arange(classes)  # the class that each class became part of
    low, high = _boxes(points, labels, classes)
    sizes = np.bincount(labels, minlength=classes)
    waiting = _refused(labels, target, admits)
    while len(waiting):
        grown: set[int] = set()
        for one in waiting[np.argsort(sizes[waiting], kind="stable")].tolist():
            if one in grown:  # what has grown is judged again before it moves
                continue
            into = arrays.least_merge(low, high, sizes, one)
            if into < 0:
                raise Infeasible("the table does not keep the promise even as one class; ask for less")
            target[target == one] = into
            low[into], high[into] = np.minimum(low[into], low[one]), np.maximum(high[into], high[one])
            sizes[into], sizes[one] = sizes[into] + sizes[one], 0
            grown.add(into)
        waiting = _refused(labels, target, admits, np.array(sorted(i for i in grown if sizes[i]), np.int64))
    alive, numbers = np.unique(target, return_inverse=True)
    return numbers[labels].astype(np.int64), len(alive)


def _refused(labels: Labels, target: Integers, admits: Admits, which: Integers | None = None) -> Integers:
    """Say which classes may not stand: all of them are judged, or only ``which``."""
    asked = np.unique(target) if which is None else which
    numbers = np.full(len(target), -1, np.int64)
    numbers[asked] = np.arange(len(asked))
    rows, offsets = arrays.rows_by_label(numbers[target][labels], len(asked))
    accepted: Mask = admits(rows, offsets)
    return asked[~accepted]


def _boxes(points: Points, labels: Labels, classes: int) -> tuple[Floats, Floats]:
    """Give the least and the greatest place of every class in every column, ``(c, d)`` each."""
    low, high = np.empty((2, classes, points.shape[1]))
    for column in range(points.shape[1]):
        low[:, column], high[:, column], _ = arrays.class_extremes(points[:, column], labels, classes)
    return low, high
