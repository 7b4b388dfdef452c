"""The normal records of every part: a reference record and its nearest; the others are outliers."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.cutting import nth, signed
from mahrem.arrays.tiling._outliers import Table, factors, find_neighbours, load, make_table, squares_from
from mahrem.threads import available_threads, in_threads
from mahrem.types import Floats, Integers, Labels, Matrix, Offsets, Points, Rows, Written

__all__ = ["normals_first", "order_parts", "rows_by_label"]

_SMALL = 5_000  # rows that are not worth a second thread
_PAIRS = 65_536  # distances that a part is worth; of a larger part only some records are tried as reference
_LEAST = 16  # records tried in any case
_SAMPLE = 512  # records of a part that get a local outlier factor, evenly spread over it
_TIGHTEST, _LOF, _DISTANCE = 0, 1, 2  # 3 = knn


@inner
def _nearest(columns: Floats, size: int, place: int, k: int, table: Table) -> None:
    """Pick the ``k`` records nearest to one of them, itself among them; the earlier ones on ties."""
    keys = table.keys[3]
    squares_from(columns, size, place, keys.view(np.float64))
    limit = nth(keys, 0, size, k - 1, table.keys)  # numbers not below zero lie in the order of their bits
    ties = k
    for i in range(size):
        ties -= keys[i] < limit
    count = 0
    for i in range(size):
        equal = keys[i] == limit
        take = (keys[i] < limit) | (equal & (ties > 0))
        ties -= equal
        if take:
            table.picked[count] = i
            count += 1


@inner
def _width(columns: Floats, picked: Integers, count: int) -> float:
    """Add up the widths of some records in all columns."""
    total = 0.0
    for column in range(columns.shape[0]):
        low = high = columns[column, picked[0]]
        for i in range(1, count):
            value = columns[column, picked[i]]
            low = min(low, value)
            high = max(high, value)
        total += high - low
    return total


@inner
def _spread_of(size: int, place: int, rule: int, neighbours: int, k: int, table: Table) -> float:
    """Say how loosely a record is surrounded, by one of the rules."""
    if rule == _TIGHTEST:
        _nearest(table.columns, size, place, k, table)
        return _width(table.columns, table.picked, k)
    count = size if rule == _DISTANCE else min(neighbours + 1, size)
    _nearest(table.columns, size, place, count, table)
    squares, total = table.keys[3].view(np.float64), 0.0
    for i in range(count):
        total += np.sqrt(squares[table.picked[i]])
    return total


@inner
def _reference(size: int, rule: int, neighbours: int, k: int, table: Table) -> int:
    """Choose the record around which a part is densest; the earlier one on ties."""
    if rule == _LOF and size > 1:
        taken = min(size, _SAMPLE)
        columns = table.columns
        if taken < size:
            columns = np.empty((columns.shape[0], taken))
            for i in range(taken):
                columns[:, i] = table.columns[:, i * size // taken]
        count = max(1, min(neighbours, taken - 1))
        find_neighbours(columns, taken, count, table.keys[3].view(np.float64), table.near, table.far)
        factors(taken, count, table)
        return signed(np.argmin(table.score[:taken])) * size // taken
    tried = min(size, max(_LEAST, _PAIRS // size))
    best, least = 0, np.inf
    for i in range(tried):
        place = i * size // tried
        spread = _spread_of(size, place, rule, neighbours, k, table)
        if spread < least:
            best, least = place, spread
    return best


@kernel
def order_parts(
    points: Points,
    rows: Written[Rows],
    offsets: Offsets,
    first: int,
    last: int,
    k: int,
    rule: int,
    neighbours: int,
    sort: bool,  # noqa: FBT001 - kernels take arguments by position
    widths: Written[Matrix[Floats]],
) -> None:
    """Bring the normal records of the parts ``first .. last`` to their front; writes two widths per part."""
    most = np.max(offsets[first + 1 : last + 1] - offsets[first:last])
    scored = min(most, _SAMPLE) if rule == _LOF else 1
    table = make_table(most, points.shape[1], scored, max(1, min(neighbours, scored - 1)))
    aside = np.empty(most, np.int32)
    chosen = np.empty(most, np.bool_)
    for part in range(first, last):
        start, size = offsets[part], offsets[part + 1] - offsets[part]
        if size == 0:
            widths[part] = 0.0
            continue
        load(points, rows, start, size, table.columns)
        for i in range(size):
            table.picked[i] = i
            aside[i] = rows[start + i]
        widths[part, 1] = _width(table.columns, table.picked, size)
        taken = min(k, size)
        if taken == size and not sort:
            widths[part, 0] = widths[part, 1]
            continue
        reference = _reference(size, rule, neighbours, taken, table)
        _nearest(table.columns, size, reference, taken, table)
        widths[part, 0] = _width(table.columns, table.picked, taken)
        if sort:
            order = np.argsort(table.keys[3, :size], kind="mergesort")
            for i in range(size):
                rows[start + i] = aside[order[i]]
            continue
        chosen[:size] = False
        for i in range(taken):
            chosen[table.picked[i]] = True
        front, back = start, start + taken
        for i in range(size):
            if chosen[i]:
                rows[front] = aside[i]
                front += 1
            else:
                rows[back] = aside[i]
                back += 1


def normals_first(
    points: Points,
    rows: Rows,
    offsets: Offsets,
    k: int,
    *,
    rule: int,
    neighbours: int,
    sort: bool = False,
    threads: int | None = None,
) -> Floats:
    """Bring the ``k`` normal records of every part to its front: a reference record and its nearest.

    Args:
        points: ``(n, d)`` the records.
        rows: ``(m,)`` row numbers, one part after the other; rearranged within each part.
        offsets: ``(p + 1,)``; part ``i`` holds ``rows[offsets[i]:offsets[i + 1]]``.
        k: How many are normal.
        rule: The reference is the record 0 whose ``k`` nearest have the least widths, 1 with the lowest local
            outlier factor, 2 with the least mean distance to all, 3 to its ``neighbours`` nearest.
        neighbours: How many rules 1 and 3 look at.
        sort: Order all records of a part by their distance from the reference.
        threads: How many; None for one per core. The result does not depend on it.

    Returns:
        ``(p, 2)`` summed widths of the normal records and of the whole part.
    """
    widths = np.empty((len(offsets) - 1, 2))
    workers = available_threads(threads) if len(rows) > _SMALL else 1
    in_threads(
        lambda first, last: order_parts(
            points, rows, offsets, first, last, k, rule, neighbours, sort, widths
        ),
        np.diff(offsets),
        parts=8 * workers if workers > 1 else 1,
        threads=workers,
    )
    return widths


@kernel
def _count_out(labels: Labels, ends: Written[Integers], rows: Written[Rows]) -> None:
    for row in range(len(labels)):
        label = labels[row]
        if label >= 0:
            rows[ends[label]] = row
            ends[label] += 1


def rows_by_label(labels: Labels, classes: int) -> tuple[Rows, Offsets]:
    """Give the row numbers of every class, one class after the other; rows labelled -1 are left out.

    Example:
        >>> import numpy as np
        >>> rows_by_label(np.array([1, 0, -1, 1]), 2)
        (array([1, 0, 3], dtype=int32), array([0, 1, 3]))
    """
    counted = np.bincount(labels + 1, minlength=classes + 1)[1:]
    offsets = np.concatenate([[0], np.cumsum(counted)])
    rows = np.empty(offsets[-1], np.int32)
    _count_out(labels, offsets[:-1].copy(), rows)
    return rows, offsets
