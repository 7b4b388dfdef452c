"""Walk over sets of columns, smallest first, and find the rows that each set is the first to single out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.errors import InvalidParameter
from mahrem.types import Integers, Mask

_KEYS = 2**62  # one number must hold a choice of values


@dataclass(frozen=True)
class Subset:
    """A set of columns and what it does."""

    columns: tuple[int, ...]
    fresh: Integers = field(repr=False)  # rows alone in these columns and in no subset of them
    alone: int  # rows alone in these columns
    complete: bool = True  # False: time is up, and nothing was looked at


@dataclass(frozen=True)
class Lookup:
    """Distinct rows of a table of codes."""

    codes: Integers = field(repr=False)  # (d, c) dense codes, 0 .. m-1 in each column
    times: Integers = field(repr=False)  # (c,) how many rows show each
    place: Integers = field(repr=False)  # (n,) distinct row of each row
    choices: tuple[int, ...]  # (d,) how many codes each column has


def distinct_rows(codes: Integers) -> Lookup:
    """Number the distinct rows of a matrix of codes; any whole numbers will do, equal ones are equal."""
    matrix = np.asarray(codes)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise InvalidParameter(f"codes={matrix.shape} must be a matrix of rows by at least one column")
    numbered = [_number(np.asarray(column, np.int64)) for column in matrix.T]
    codes_of_rows = np.stack([column for column, _ in numbered])
    choices = tuple(count for _, count in numbered)
    keys = _keys(codes_of_rows, choices, tuple(range(len(choices))))
    _, first, place, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return Lookup(np.ascontiguousarray(codes_of_rows[:, first]), times.astype(np.int64), place, choices)


def _number(column: Integers) -> tuple[Integers, int]:
    """Close the gaps between codes: 0 .. m-1 and m, without sorting where they lie near each other."""
    low, high = int(column.min(initial=0)), int(column.max(initial=0))
    if high - low <= 4 * len(column) + 1024:
        present = np.bincount(column - low, minlength=1) > 0
        return np.asarray((np.cumsum(present) - 1)[column - low]), int(present.sum())
    values, codes = np.unique(column, return_inverse=True)
    return codes, len(values)


def walk_subsets(
    rows: Lookup,
    *,
    most: int | None = None,
    seconds: float | None = None,
    skip: Callable[[tuple[int, ...]], bool] | None = None,
) -> Iterator[Subset]:
    """Give every set of columns by size, with the rows alone in it and in no smaller one of its subsets.

    A row alone in some columns is alone in any more: it is taken out of the supersets' counting, where it
    could not make another row less alone. What is counted thus shrinks from level to level.

    Args:
        rows: Distinct rows.
        most: The largest set looked at; all columns if None.
        seconds: When to stop; the last thing given then says that it is not complete.
        skip: Sets to leave out; must be true of every superset of a set it is true of.
    """
    began = time.monotonic()
    columns = len(rows.choices)
    total = len(rows.times)
    known: dict[tuple[int, ...], NDArray[np.uint8]] = {(): np.packbits(np.zeros(total, np.bool_))}
    for size in range(1, min(most or columns, columns) + 1):
        level: dict[tuple[int, ...], NDArray[np.uint8]] = {}
        for subset in combinations(range(columns), size):
            if skip is not None and skip(subset):
                continue
            if seconds is not None and time.monotonic() - began > seconds:
                yield Subset(subset, np.empty(0, np.int64), 0, complete=False)
                return
            packed = known[subset[1:]].copy()
            for left_out in range(1, size):
                packed |= known[subset[:left_out] + subset[left_out + 1 :]]
            covered = np.unpackbits(packed, count=total).view(np.bool_)
            open_rows = np.flatnonzero(~covered)
            fresh = open_rows[_alone(rows, open_rows, subset)]
            covered[fresh] = True
            level[subset] = np.packbits(covered)
            yield Subset(subset, fresh, int(np.count_nonzero(covered)))
        known = level


def _alone(rows: Lookup, open_rows: Integers, subset: tuple[int, ...]) -> Mask:
    """Say which of some distinct rows, each counted as often as it occurs, nobody else equals."""
    keys = _keys(rows.codes, rows.choices, subset, open_rows)
    times = rows.times[open_rows]
    if math.prod(rows.choices[column] for column in subset) <= 4 * len(keys) + 1024:
        weights = times if (times > 1).any() else None
        return np.asarray(np.bincount(keys, weights=weights)[keys] == 1)
    doubled = np.concatenate([keys, keys[times > 1]])
    return np.asarray(pl.Series(doubled).is_unique().to_numpy()[: len(keys)])


def _keys(
    codes: Integers, choices: tuple[int, ...], subset: tuple[int, ...], rows: Integers | None = None
) -> Integers:
    """Put the codes of some columns into one number, closing the gaps where it would grow too large."""
    keys, most = np.zeros(1, np.int64), 1
    for column in subset:
        own = codes[column] if rows is None else codes[column][rows]
        if most * choices[column] > _KEYS:
            values, keys = np.unique(keys, return_inverse=True)
            most = len(values)
        keys = keys * choices[column] + own
        most *= choices[column]
    return np.asarray(keys)
