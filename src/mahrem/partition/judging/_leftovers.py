"""No row is lost: what a method left over gets a class, and classes that may not stand are merged."""

from __future__ import annotations

import numpy as np

from mahrem.arrays import cutting, tiling
from mahrem.errors import Infeasible
from mahrem.partition._partition import Admits
from mahrem.types import Floats, Integers, Labels, Mask, Points, Sizes

_PAIRS = 2**27  # pairs of classes that are looked at in one round, about half a second
_TILE = 512  # near classes among which a refused class looks for a partner, however many there are


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
        new_classes = cutting.group_nearest(np.ascontiguousarray(points[left]), minimum, own)
        labels[left] = own + classes
        return classes + new_classes
    if len(left):
        low, high = class_boxes(points, labels, classes)
        cutting.join_least(np.ascontiguousarray(points), left, low, high, labels)
    return classes


def merge_refused(
    points: Points, labels: Labels, classes: int, admits: Admits, *, by_error: bool = False
) -> tuple[Labels, int]:
    """Merge every class that ``admits`` refuses with the near one that costs least, until all may stand.

    In every round each refused class, the smallest first, looks for a partner among all others; where there
    are more than about ten thousand, among those of its tile of near classes, so that n log n holds.

    Args:
        points: ``(n, d)`` quasi-identifiers.
        labels: ``(n,)`` class of each row, none left over.
        classes: How many classes there are.
        admits: Judges classes of the whole table.
        by_error: Cost is what the squared error grows by; else what rows times widths grow by.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - ``admits`` accepts every class; a class it accepted is only ever joined, never torn apart.
        - Labels are ``0 .. c-1`` and none is empty.
    """
    refused = ~judge_classes(labels, np.arange(classes), classes, admits)
    turn = 0
    while refused.any():
        if classes == 1:
            raise Infeasible("the table does not keep the promise even as one class; ask for less")
        turn += 1
        sizes, target = np.bincount(labels, minlength=classes), np.empty(classes, np.int64)
        low, high = (
            (_centres(points, labels, sizes),) * 2 if by_error else class_boxes(points, labels, classes)
        )
        tile_of, tiles = tiling.class_tiles((low + high) / 2, max(_TILE, _PAIRS // classes), turn)
        near = tiling.rows_by_label(tile_of, tiles)
        order = np.argsort(sizes, kind="stable")
        grown = cutting.merge_refused(order, tile_of, *near, refused, low, high, sizes, by_error, target)
        alive, numbers = np.unique(target, return_inverse=True)
        labels, classes = numbers[labels], len(alive)
        refused, asked = refused[alive], np.flatnonzero(grown[alive])
        refused[asked] = ~judge_classes(labels, asked, classes, admits)
    return labels, classes


def judge_classes(labels: Labels, which: Integers, classes: int, admits: Admits) -> Mask:
    """Ask ``admits`` about some of the classes; rows labelled -1 are in none."""
    numbers = np.full(classes + 1, -1, np.int64)
    numbers[which] = np.arange(len(which))
    return admits(*tiling.rows_by_label(numbers[labels], len(which)))


def _centres(points: Points, labels: Labels, sizes: Sizes) -> Floats:
    """Give the middle of every class, ``(c, d)``."""
    centres = np.empty((len(sizes), points.shape[1]))
    for column, values in enumerate(points.T):
        centres[:, column] = np.bincount(labels, weights=values, minlength=len(sizes)) / sizes
    return centres


def class_boxes(points: Points, labels: Labels, classes: int) -> tuple[Floats, Floats]:
    """Give the least and the greatest place of every class in every column, ``(c, d)`` each."""
    low, high = np.empty((2, classes, points.shape[1]))
    for column in range(points.shape[1]):
        low[:, column], high[:, column], _ = cutting.class_extremes(points[:, column], labels, classes)
    return low, high
