"""Local outlier factors in thousands of small groups at once.

Every group is copied into columns that stay in the cache; groups are spread over threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.threads import available_threads, in_threads
from mahrem.types import Floats, Integers, Offsets, Points, Rows, Written

__all__ = [
    "Table",
    "factors",
    "find_neighbours",
    "load",
    "local_outlier_factors",
    "make_table",
    "score_groups",
    "squares_from",
]

_U = np.uint64
_SMALL = 5_000  # rows that are not worth a second thread
_FAINT = 1e-10  # keeps the density of records that coincide finite, as scikit-learn does


class Table(NamedTuple):
    """Room for one group at a time."""

    columns: Floats  # (d, m) its records
    keys: Integers  # (4, m) three for selecting, one for distances
    near: Integers  # (s, neighbours) places of the nearest records
    far: Floats  # (s, neighbours) how far they are
    density: Floats  # (s,)
    score: Floats  # (s,)
    picked: Integers  # (m,)


@inner
def make_table(most: int, columns: int, scored: int, neighbours: int) -> Table:
    """Make room for groups of up to ``most`` records, ``scored`` of which get a factor."""
    return Table(
        np.empty((columns, most)),
        np.empty((4, max(most, 64)), np.int64),
        np.empty((scored, neighbours), np.int64),
        np.empty((scored, neighbours)),
        np.empty(scored),
        np.empty(scored),
        np.empty(most, np.int64),
    )


@inner
def load(points: Points, rows: Rows, start: int, size: int, columns: Floats) -> None:
    """Copy the records of a group into columns."""
    for i in range(size):
        row = rows[start + i]
        for column in range(points.shape[1]):
            columns[column, i] = points[row, column]


@inner
def squares_from(columns: Floats, size: int, place: int, squares: Floats) -> None:
    """Write the squared distances of all records of a group from one of them."""
    for i in range(_U(size)):
        squares[i] = 0.0
    for column in range(_U(columns.shape[0])):
        origin = columns[column, _U(place)]
        for i in range(_U(size)):
            difference = columns[column, i] - origin
            squares[i] += difference * difference


@inner
def find_neighbours(
    columns: Floats, size: int, count: int, squares: Floats, near: Integers, far: Floats
) -> None:
    """Find the ``count`` nearest records of every record, from near to far, the earlier one on ties."""
    for i in range(size):
        squares_from(columns, size, i, squares)
        held = 0
        for j in range(size):
            square = squares[j]
            if j == i or (held == count and square >= far[i, count - 1]):
                continue
            place = held if held < count else count - 1
            while place > 0 and far[i, place - 1] > square:
                far[i, place], near[i, place] = far[i, place - 1], near[i, place - 1]
                place -= 1
            far[i, place], near[i, place] = square, j
            held = min(held + 1, count)
        for j in range(count):
            far[i, j] = np.sqrt(far[i, j])


@inner
def factors(size: int, count: int, table: Table) -> None:
    """Turn neighbours into local outlier factors."""
    near, far, density = table.near, table.far, table.density
    for i in range(size):
        reach = 0.0
        for j in range(count):
            reach += max(far[i, j], far[near[i, j], count - 1])
        density[i] = 1.0 / (reach / count + _FAINT)
    for i in range(size):
        around = 0.0
        for j in range(count):
            around += density[near[i, j]]
        table.score[i] = around / count / density[i]


@kernel
def score_groups(
    points: Points,
    rows: Rows,
    offsets: Offsets,
    first: int,
    last: int,
    neighbours: int,
    scores: Written[Floats],
) -> None:
    """Write the factors of the groups ``first .. last`` in the places of their rows."""
    most = np.max(offsets[first + 1 : last + 1] - offsets[first:last])
    table = make_table(most, points.shape[1], most, max(1, min(neighbours, most - 1)))
    squares = table.keys[3].view(np.float64)
    for group in range(first, last):
        start, size = offsets[group], offsets[group + 1] - offsets[group]
        if size < 2:  # a lone record has nobody to be compared with
            scores[start : start + size] = 1.0
            continue
        count = max(1, min(neighbours, size - 1))
        load(points, rows, start, size, table.columns)
        find_neighbours(table.columns, size, count, squares, table.near, table.far)
        factors(size, count, table)
        scores[start : start + size] = table.score[:size]


def local_outlier_factors(
    points: Points, rows: Rows, offsets: Offsets, neighbours: int, *, threads: int | None = None
) -> Floats:
    """Give the local outlier factor of every record within its own group; about 1 is normal, more is far off.

    Args:
        points: ``(n, d)`` the records.
        rows: ``(m,)`` row numbers, one group after the other.
        offsets: ``(g + 1,)``; group ``i`` holds ``rows[offsets[i]:offsets[i + 1]]``.
        neighbours: How many are compared with; at most all others of the group.
        threads: How many; None for one per core.

    Guarantees:
        - Equal to scikit-learn's ``-negative_outlier_factor_`` of each group, up to ties between neighbours.
        - Memory grows with the largest group times ``neighbours``, time with the squares of the groups.

    References:
        Breunig, Kriegel, Ng, Sander: LOF: identifying density-based local outliers, 2000.

    Example:
        >>> import numpy as np
        >>> points = np.array([[0.0], [1.0], [2.0], [9.0]])
        >>> rows, offsets = np.arange(4, dtype=np.int32), np.array([0, 4])
        >>> local_outlier_factors(points, rows, offsets, 2).round(2)
        array([0.88, 1.33, 0.88, 4.37])
    """
    points = np.ascontiguousarray(points, np.float64)
    scores = np.empty(len(rows))
    workers = available_threads(threads) if len(rows) > _SMALL else 1
    in_threads(
        lambda first, last: score_groups(points, rows, offsets, first, last, neighbours, scores),
        np.diff(offsets),
        parts=4 * workers if workers > 1 else 1,
        threads=workers,
    )
    return scores
