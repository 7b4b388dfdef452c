"""From centres to groups that keep a minimum: k-means, then merge the small and split the large."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.averaging._lloyd import assign, lloyd, middles
from mahrem.arrays.averaging._merge import merge_small, split_large
from mahrem.types import Floats, Labels, Matrix, Points, Written

__all__ = ["compact", "groups_from_centres", "groups_from_labels", "squared_error"]

_FAR = 1e150  # where a group that is no more lies: its square is still a number
_PATIENCE = 10  # rounds without a better grouping before a circle is suspected


@inner
def compact(labels: Labels, most: int) -> int:
    """Number the groups anew in the order of their first rows; gives how many there are."""
    numbers = np.full(most, -1, np.int64)
    count = 0
    for row in range(len(labels)):
        if numbers[labels[row]] < 0:
            numbers[labels[row]] = count
            count += 1
        labels[row] = numbers[labels[row]]
    return count


@kernel
def groups_from_labels(
    points: Points,
    labels: Written[Labels],
    most: int,
    minimum: int,
    order: int,
    by_loss: bool,  # noqa: FBT001 - kernels take arguments by position
) -> int:
    """Merge groups below the minimum, split those of twice the minimum, in place; gives how many there are.

    Args:
        points: ``(n, d)``.
        labels: ``(n,)`` groups below ``most``, not all of them used; changed.
        most: Above all labels.
        minimum: Rows a group needs; there are at least so many rows.
        order: How small groups are merged, see :func:`merge_small`.
        by_loss: Merge where SSE grows least; else with the nearest centre.
    """
    columns = np.full((points.shape[1], most), _FAR)
    sizes = np.empty(most, np.int64)
    middles(points, labels, columns, sizes)
    target = merge_small(columns, sizes, minimum, order, by_loss)
    for row in range(len(labels)):
        labels[row] = target[labels[row]]
    return split_large(points, labels, compact(labels, most), minimum)


@kernel
def squared_error(points: Points, labels: Labels, groups: int) -> float:
    """Add up the squared distances of rows to the centres of their groups."""
    columns = np.zeros((points.shape[1], groups))
    middles(points, labels, columns, np.empty(groups, np.int64))
    total = 0.0
    for row in range(len(points)):
        for column in range(points.shape[1]):
            total += (points[row, column] - columns[column, labels[row]]) ** 2
    return total


@inner
def _same(one: Labels, other: Labels) -> bool:
    for row in range(len(one)):  # noqa: SIM110 - Numba has no generators here
        if one[row] != other[row]:
            return False
    return True


@kernel
def groups_from_centres(
    points: Points,
    columns: Written[Matrix[Floats]],
    minimum: int,
    order: int,
    by_loss: bool,  # noqa: FBT001 - kernels take arguments by position
    inside: bool,  # noqa: FBT001 - kernels take arguments by position
    rounds: int,
    labels: Written[Labels],
) -> int:
    """Run k-means from the given centres and make its clusters keep the minimum; gives how many groups.

    Args:
        points: ``(n, d)``, ``n >= minimum``.
        columns: ``(d, c)`` centres, moved.
        minimum: Rows a group needs.
        order: How small groups are merged, see :func:`merge_small`.
        by_loss: Merge where SSE grows least; else with the nearest centre.
        inside: Merge and split in every round, and go on from the groups' centres; the best grouping is kept.
        rounds: At most so many.
        labels: ``(n,)`` written.
    """
    for row in range(len(labels)):
        labels[row] = -1
    if not inside:
        lloyd(points, columns, rounds, labels)
        return groups_from_labels(points, labels, columns.shape[1], minimum, order, by_loss)
    best, least_error, count, waited = labels.copy(), np.inf, 0, 0
    for _ in range(rounds):
        before = labels.copy()
        assign(points, columns, labels)
        groups = groups_from_labels(points, labels, columns.shape[1], minimum, order, by_loss)
        compact(labels, groups)  # the same grouping has the same numbers
        error = squared_error(points, labels, groups)
        waited += 1
        if error < least_error:
            best, least_error, count, waited = labels.copy(), error, groups, 0
        if waited >= _PATIENCE or _same(before, labels):
            break
        columns = np.zeros((points.shape[1], groups))
        middles(points, labels, columns, np.empty(groups, np.int64))
    for row in range(len(labels)):
        labels[row] = best[row]
    return count
