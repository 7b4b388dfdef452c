"""MDAV: groups of a far record and its nearest."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.averaging._lloyd import assign, middles
from mahrem.arrays.averaging._nearby import Pool, farthest, nearest, pool_of, take
from mahrem.types import Floats, Labels, Points, Rows, Written

__all__ = ["far_first", "join_nearest", "left_over", "mdav_groups", "mdav_plus_groups", "until"]

_FEW = 2000  # rows that are not worth being laid out anew


@inner
def gather(pool: Pool, row: int, size: int, group: int, labels: Labels, apart: Floats, rows: Rows) -> None:
    """Make a group of a row and its nearest."""
    count = nearest(pool, pool.points[row], size, apart, rows)
    for i in range(count):
        labels[rows[i]] = group
        take(pool, rows[i])


@inner
def _leave(points: Points, rows: Rows, total: Floats) -> None:
    """Take rows out of the running sum."""
    for row in rows:
        for column in range(len(total)):
            total[column] -= points[row, column]


@kernel
def pair_groups(
    pool: Written[Pool], size: int, left: int, stop: int, group: int, labels: Written[Labels]
) -> tuple[int, int]:
    """Make groups by classic MDAV until ``stop`` rows are left; gives how many are, and the next group."""
    points = pool.points
    total = np.zeros(points.shape[1])
    for row in pool.order:
        for column in range(len(total)):
            total[column] += points[row, column]
    apart, rows = np.empty(size), np.empty(size, np.int32)
    while left > stop and left >= 2 * size:
        far = farthest(pool, total / left)
        gather(pool, far, size, group, labels, apart, rows)
        _leave(points, rows, total)
        left, group = left - size, group + 1
        if left >= 2 * size:  # there were three times the size: a second group, opposite to the first
            gather(pool, farthest(pool, points[far]), size, group, labels, apart, rows)
            _leave(points, rows, total)
            left, group = left - size, group + 1
    return left, group


@kernel
def grow_groups(
    pool: Written[Pool],
    far: Rows,
    at: int,
    size: int,
    left: int,
    stop: int,
    group: int,
    labels: Written[Labels],
) -> tuple[int, int, int]:
    """Make groups around the rows of ``far`` from ``at`` on, while more than ``stop`` rows are left."""
    apart, rows = np.empty(size), np.empty(size, np.int32)
    while left > stop and left >= size:
        while labels[far[at]] >= 0:
            at += 1
        gather(pool, far[at], size, group, labels, apart, rows)
        left, group = left - size, group + 1
    return at, left, group


def left_over(labels: Labels) -> Rows:
    """Give the rows without a group."""
    return np.flatnonzero(labels < 0).astype(np.int32)


def until(left: int) -> int:
    """Say when to lay out anew: boxes are emptied from outside, and half of the rows need half of them."""
    return left // 2 if left > _FEW else 0


def far_first(points: Points) -> Rows:
    """Give all rows, the farthest from the centroid first; of equal ones the first row."""
    apart = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    return np.argsort(-apart, kind="stable").astype(np.int32)


def join_nearest(points: Points, labels: Labels, groups: int) -> None:
    """Give the rows without a group the one with the nearest centroid."""
    rows, grouped = left_over(labels), labels >= 0
    if len(rows) == 0:
        return
    columns, nearest_groups = np.zeros((points.shape[1], groups)), np.zeros(len(rows), np.int64)
    middles(points[grouped], labels[grouped], columns, np.empty(groups, np.int64))
    assign(points[rows], columns, nearest_groups)
    labels[rows] = nearest_groups


def mdav_groups(points: Points, size: int) -> Labels:
    """Group rows by classic MDAV: groups of ``size`` rows, the last one of up to twice that less one.

    Args:
        points: ``(n, d)`` finite numbers, ``n >= size``.
        size: Rows of a group, at least 1.

    Example:
        >>> mdav_groups(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)
        array([0, 1, 0, 1])
    """
    labels = np.full(len(points), -1)
    left, group = len(points), 0
    while left >= 2 * size:
        pool = pool_of(points, left_over(labels))
        left, group = pair_groups(pool, size, left, until(left), group, labels)
    labels[labels < 0] = group
    return labels


def mdav_plus_groups(points: Points, size: int) -> Labels:
    """Group rows by MDAV+: groups of ``size`` rows, and those that are left over join the nearest.

    Args:
        points: ``(n, d)`` finite numbers, ``n >= size``.
        size: Rows of a group, at least 1.

    Example:
        >>> mdav_plus_groups(np.array([[0.0], [9.0], [1.0], [8.0], [7.0]]), 2)
        array([0, 1, 0, 1, 1])
    """
    labels = np.full(len(points), -1)
    left, group, at = len(points), 0, 0
    far = far_first(points)
    while left >= size:
        pool = pool_of(points, left_over(labels))
        at, left, group = grow_groups(pool, far, at, size, left, until(left), group, labels)
    join_nearest(points, labels, group)
    return labels
