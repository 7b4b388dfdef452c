"""Rows that change places between near classes where that makes the classes smaller."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.cutting import grow
from mahrem.arrays.tiling._normals import rows_by_label
from mahrem.threads import available_threads, in_threads
from mahrem.types import Floats, Integers, Labels, Offsets, Points, Rows, Written

__all__ = ["swap_in_tiles", "swap_rows"]

_TILE = 16  # classes among which rows change places
_PASSES = 4  # over the classes of a tile
_LARGE = 256  # rows from which on a class is left as it is: its pairs of rows would be too many
_SMALL = 5_000  # rows that are not worth a second thread
_LITTLE = 1e-12  # rounding is no gain


@inner
def _leave_out_each(points: Points, rows: Rows, start: int, stop: int, ends: Floats, widths: Floats) -> float:
    """Write the ends and the summed width a class has without each of its rows; gives its width with all.

    Only the row that holds an end can move it, to the second least or greatest value.
    """
    total = 0.0
    widths[: stop - start] = 0.0
    for column in range(points.shape[1]):
        low = next_low = np.inf
        high = next_high = -np.inf
        for i in range(start, stop):
            value = points[rows[i], column]
            low, next_low = min(low, value), min(next_low, max(low, value))
            high, next_high = max(high, value), max(next_high, min(high, value))
        total += high - low
        for i in range(start, stop):
            value = points[rows[i], column]
            without = ends[i - start]
            without[0, column] = next_low if value == low else low
            without[1, column] = next_high if value == high else high
            widths[i - start] += without[1, column] - without[0, column]
    return total


@inner
def _width_with(ends: Floats, point: Floats) -> float:
    total = 0.0
    for column in range(len(point)):
        total += max(ends[1, column], point[column]) - min(ends[0, column], point[column])
    return total


@inner
def _swap_pair(
    points: Points, rows: Rows, offsets: Offsets, one: int, other: int, ends: Floats, widths: Floats
) -> bool:
    """Make the first swap between two classes that lowers rows times widths; says whether there was one."""
    start, stop, begin, end = offsets[one], offsets[one + 1], offsets[other], offsets[other + 1]
    size, others = stop - start, end - begin
    if max(size, others) > _LARGE:
        return False
    now = size * _leave_out_each(points, rows, start, stop, ends[0], widths[0])
    now += others * _leave_out_each(points, rows, begin, end, ends[1], widths[1])
    for i in range(start, stop):
        own, at_least = points[rows[i]], size * widths[0, i - start]
        for j in range(begin, end):
            if at_least + others * widths[1, j - begin] >= now - _LITTLE:
                continue  # not even without the rows that come in
            cost = size * _width_with(ends[0, i - start], points[rows[j]])
            cost += others * _width_with(ends[1, j - begin], own)
            if cost < now - _LITTLE:
                rows[i], rows[j] = rows[j], rows[i]
                return True
    return False


@kernel
def swap_in_tiles(
    points: Points,
    rows: Written[Rows],
    offsets: Offsets,
    tiles: Rows,
    borders: Offsets,
    first: int,
    last: int,
    most: int,
) -> None:
    """Swap rows between the classes of each of the tiles ``first .. last``."""
    ends, widths = np.empty((2, most, 2, points.shape[1])), np.empty((2, most))
    for tile in range(first, last):
        for _ in range(_PASSES):
            better = False
            for a in range(borders[tile], borders[tile + 1]):
                for b in range(a + 1, borders[tile + 1]):
                    for _ in range(most):
                        if not _swap_pair(points, rows, offsets, tiles[a], tiles[b], ends, widths):
                            break
                        better = True
            if not better:
                break


def _centres(points: Points, rows: Rows, offsets: Offsets) -> Points:
    sums = np.add.reduceat(points[rows], offsets[:-1], axis=0)
    return np.asarray(sums / np.diff(offsets)[:, None], np.float64)


def swap_rows(
    points: Points, labels: Labels, classes: int, *, threads: int | None = None
) -> tuple[Labels, Labels]:
    """Let rows change places between near classes wherever that lowers rows times widths.

    Classes lie in tiles by their centres; within a tile every pair of classes is tried.

    Args:
        points: ``(n, d)`` finite numbers.
        labels: ``(n,)`` class of each row, none empty, none left out.
        classes: How many classes there are.
        threads: How many; None for one per core. The result does not depend on it.

    Guarantees:
        - Every class keeps its size, and the sum of rows times widths does not grow.

    Returns:
        The new labels ``(n,)``, and the tile of every class ``(c,)``: rows never leave their tile.
    """
    rows, offsets = rows_by_label(labels, classes)
    points = np.ascontiguousarray(points, np.float64)
    minimum = min(_TILE, classes)
    split = grow(_centres(points, rows, offsets), minimum, strict=False)
    tiles, borders = rows_by_label(split.labels, split.classes)
    sizes: Integers = np.diff(offsets)
    workers = available_threads(threads) if len(rows) > _SMALL else 1
    in_threads(
        lambda first, last: swap_in_tiles(
            points, rows, offsets, tiles, borders, first, last, min(int(sizes.max()), _LARGE)
        ),
        np.diff(borders),
        parts=8 * workers,
        threads=workers,
    )
    swapped = np.empty(len(labels), np.int64)
    swapped[rows] = np.repeat(np.arange(classes), sizes)
    return swapped, split.labels
