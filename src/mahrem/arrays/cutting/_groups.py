"""Group reductions: extremes per class, and how often each value occurs in each candidate class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import kernel
from mahrem.arrays.cutting._select import signed
from mahrem.threads import available_threads, chunks, in_threads
from mahrem.types import Codes, Floats, Integers, Labels, Offsets, Positions, Rows, Sizes, Written

__all__ = ["class_extremes", "count_values", "reduce_extremes", "triplets"]

_U = np.uint64
_SMALL = 20_000  # rows that are not worth a second thread
_DENSE = _U(
    4
)  # with at most this many times more values than rows, walking all values beats sorting those met


@kernel
def reduce_extremes(
    positions: Positions, labels: Labels, low: Written[Floats], high: Written[Floats], missing: Written[Sizes]
) -> None:
    """Narrow ``low`` and ``high`` to the positions of each class, and count the missing ones."""
    for i in range(len(positions)):
        label = labels[i]
        if label < 0:
            continue
        group, position = _U(label), positions[i]
        if np.isnan(position):
            missing[group] += 1
            continue
        low[group] = min(low[group], position)
        high[group] = max(high[group], position)


def class_extremes(positions: Positions, labels: Labels, classes: int) -> tuple[Floats, Floats, Sizes]:
    """Give the least and the greatest position of every class, and how many of its positions are missing.

    Args:
        positions: ``(n,)`` numbers; NaN is missing and only counted.
        labels: ``(n,)`` class of each row; -1 is left out.
        classes: How many classes there are.

    Returns:
        Three arrays ``(classes,)``; a class without any position has low infinity and high minus infinity.

    Example:
        >>> import numpy as np
        >>> class_extremes(np.array([1.0, 5.0, np.nan, 9.0]), np.array([0, 0, 0, -1]), 1)
        (array([1.]), array([5.]), array([1]))
    """
    low, high = np.full(classes, np.inf), np.full(classes, -np.inf)
    missing = np.zeros(classes, np.int64)
    reduce_extremes(
        np.ascontiguousarray(positions, np.float64),
        np.ascontiguousarray(labels, np.int64),
        low,
        high,
        missing,
    )
    return low, high, missing


@kernel
def count_values(
    codes: NDArray[np.int8] | Codes,
    rows: Rows,
    offsets: Offsets,
    first: int,
    last: int,
    size: int,
    begin: int,
    group: Written[Integers],
    value: Written[Integers],
    count: Written[Integers],
) -> int:
    """Write the triplets of the candidates ``first .. last`` from ``begin`` on; gives how many there are."""
    tallies = np.zeros(size + 1, np.int64)  # one place ahead for rows that are not counted
    met = np.empty(min(size, offsets[last] - offsets[first]) + 1, np.int64)
    where, values, origin = _U(begin), _U(size), _U(offsets[first])
    # looked up before counting: a count waits for the one before it, and should not wait for memory as well
    drawn = np.empty(offsets[last] - offsets[first], codes.dtype)
    for i in range(_U(len(drawn))):
        drawn[i] = codes[_U(rows[origin + i])]
    for candidate in range(first, last):
        start, stop = _U(offsets[candidate]) - origin, _U(offsets[candidate + 1]) - origin
        if (stop - start) * _DENSE >= values:
            for i in range(start, stop):
                tallies[_U(np.int64(drawn[i]) + 1)] += 1
            for code in range(values):  # a value not met is written and then written over
                times = tallies[code + _U(1)]
                tallies[code + _U(1)] = 0
                group[where], value[where], count[where] = candidate, code, times
                where += _U(times > 0)
            continue
        distinct = _U(0)
        for i in range(start, stop):
            place = _U(np.int64(drawn[i]) + 1)
            met[distinct] = place
            distinct += _U((tallies[place] == 0) & (place > 0))
            tallies[place] += 1
        met[:distinct].sort()
        for i in range(distinct):
            place = _U(met[i])
            group[where], value[where], count[where] = candidate, place - _U(1), tallies[place]
            where += _U(1)
            tallies[place] = 0
    return signed(where) - begin


def triplets(
    codes: NDArray[np.int8] | Codes, rows: Rows, offsets: Offsets, size: int, *, threads: int | None = None
) -> tuple[Integers, Integers, Integers]:
    """Count how often each value occurs in each candidate class.

    Args:
        codes: ``(n,)`` value of each row of the table, ``0 .. size-1``; -1 is not counted. Of 8 or 32 bits:
            few values are looked up faster in few bits.
        rows: Row numbers, one candidate after the other.
        offsets: ``(g + 1,)``; candidate ``i`` holds ``rows[offsets[i]:offsets[i + 1]]``.
        size: How many values there are.
        threads: How many; None for one per core.

    Returns:
        Candidate, value and count, sorted by candidate and value; counts are never zero.

    Example:
        >>> import numpy as np
        >>> codes = np.array([2, 0, 2, -1], np.int32)
        >>> triplets(codes, np.array([0, 1, 2, 3], np.int32), np.array([0, 3, 4]), 3)
        (array([0, 0]), array([0, 2]), array([1, 2]))
    """
    together: NDArray[Any] = np.ascontiguousarray(codes)
    lengths = np.diff(offsets)
    threads = available_threads(threads) if len(rows) > _SMALL else 1
    borders = chunks(lengths, threads)
    room = np.concatenate([[0], np.cumsum(np.minimum(lengths, size))])[borders]
    room += np.arange(len(borders))  # one place more per run, see count_values
    table = np.empty((3, room[-1]), np.int64)
    counted = np.zeros(len(borders), np.int64)

    def run(first: int, last: int) -> None:
        for part in range(first, last):
            ends = int(borders[part]), int(borders[part + 1])
            counted[part] = count_values(together, rows, offsets, *ends, size, int(room[part]), *table)

    in_threads(run, np.ones(len(borders) - 1, np.int64), len(borders) - 1, threads)
    total = 0
    for part, count in enumerate(counted.tolist()):
        if part and count:
            table[:, total : total + count] = table[:, room[part] : room[part] + count]
        total += count
    return table[0, :total], table[1, :total], table[2, :total]
