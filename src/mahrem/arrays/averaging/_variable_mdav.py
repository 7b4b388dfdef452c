"""MDAV with groups that are extended by close records: V-MDAV and MDAV*."""

from __future__ import annotations

import math

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.averaging._mdav import far_first, join_nearest, left_over, until
from mahrem.arrays.averaging._nearby import Pool, nearest, pool_of, take
from mahrem.types import Floats, Integers, Labels, Points, Rows, Written

__all__ = ["extended_groups"]


@inner
def _candidate(pool: Pool, rows: Rows, size: int, apart: Floats, neighbours: Rows) -> tuple[int, float]:
    """Find the row nearest to any row of the group, and its squared distance to that one."""
    best, distance = -1, np.inf
    for i in range(size):
        nearest(pool, pool.points[rows[i]], 1, apart, neighbours)
        if apart[0] < distance or (apart[0] == distance and neighbours[0] < best):
            best, distance = neighbours[0], apart[0]
    return best, distance


@inner
def _is_close(pool: Pool, row: int, inner: float, gamma: float, apart: Floats, neighbours: Rows) -> bool:
    """Whether a row lies nearer to the group than ``gamma`` times its nearest other row (V-MDAV)."""
    count = nearest(pool, pool.points[row], 2, apart, neighbours)
    if count < 2:
        return True
    outer = apart[0] if neighbours[0] != row else apart[1]
    return math.sqrt(inner) < gamma * math.sqrt(outer)


@inner
def _is_cheap(pool: Pool, row: int, cost: float, minimum: int, apart: Floats, neighbours: Rows) -> bool:
    """Whether a row costs this group less than the group it would start with its nearest (MDAV*)."""
    count = nearest(pool, pool.points[row], minimum, apart, neighbours)
    if count < minimum:
        return True
    own = 0.0
    for column in range(pool.points.shape[1]):
        middle = 0.0
        for i in range(minimum):
            middle += pool.points[neighbours[i], column]
        own += (pool.points[row, column] - middle / minimum) ** 2
    return cost < own * minimum / (minimum - 1)


@inner
def _next(
    pool: Pool, rows: Rows, size: int, minimum: int, gamma: float, apart: Floats, neighbours: Rows
) -> int:
    """Give the row that a group is extended by, -1 for none; ``gamma`` below 0 is MDAV*."""
    if gamma >= 0.0:
        row, inner = _candidate(pool, rows, size, apart, neighbours)
        return row if _is_close(pool, row, inner, gamma, apart, neighbours) else -1
    centre = np.zeros(pool.points.shape[1])
    for i in range(size):
        for column in range(len(centre)):
            centre[column] += pool.points[rows[i], column]
    nearest(pool, centre / size, 1, apart, neighbours)
    row, cost = neighbours[0], apart[0] * size / (size + 1)
    return row if _is_cheap(pool, row, cost, minimum, apart, neighbours) else -1


@kernel
def extend_groups(
    pool: Written[Pool],
    far: Rows,
    counts: Written[Integers],
    minimum: int,
    stop: int,
    gamma: float,
    labels: Written[Labels],
) -> None:
    """Make and extend groups while more than ``stop`` rows are left.

    ``counts`` holds the place in ``far``, how many rows are left, and the next group; it is brought forward.
    """
    apart, neighbours = np.empty(minimum + 1), np.empty(minimum + 1, np.int32)
    rows = np.empty(2 * minimum, np.int32)
    at, left, group = counts[0], counts[1], counts[2]
    while left > stop and left >= minimum:
        while labels[far[at]] >= 0:
            at += 1
        nearest(pool, pool.points[far[at]], minimum, apart, rows)
        for i in range(minimum):
            take(pool, rows[i])
        size, left = minimum, left - minimum
        while size < 2 * minimum - 1 and left > 0:
            row = _next(pool, rows, size, minimum, gamma, apart, neighbours)
            if row < 0:
                break
            take(pool, row)
            rows[size] = row
            size, left = size + 1, left - 1
        for i in range(size):
            labels[rows[i]] = group
        group += 1
    counts[0], counts[1], counts[2] = at, left, group


def extended_groups(points: Points, minimum: int, gamma: float | None) -> Labels:
    """Group rows by V-MDAV with the given ``gamma``, or by MDAV* with None.

    Args:
        points: ``(n, d)`` finite numbers, ``n >= minimum``.
        minimum: Rows of a group at least; it is extended to twice that less one at most.
        gamma: How much nearer a row must be to the group than to other rows, not below 0.
    """
    labels = np.full(len(points), -1)
    far, counts = far_first(points), np.array([0, len(points), 0])
    while counts[1] >= minimum:
        pool = pool_of(points, left_over(labels))
        rule = -1.0 if gamma is None else float(gamma)
        extend_groups(pool, far, counts, minimum, until(int(counts[1])), rule, labels)
    join_nearest(points, labels, int(counts[2]))
    return labels
