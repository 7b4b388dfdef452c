"""Values made coarser one by one: rounded, on a grid, beyond an end, cut to their beginning.

Classes have no say here: the same value always becomes the same cell, whoever else is in the table.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.recode._moment_grid import moment_step, snap_moments
from mahrem.recode._number_grid import number_grid
from mahrem.table import Moments, Numbers
from mahrem.table.cells import EXACT, NumberGrid, write_labels, write_prefixes, write_ranges
from mahrem.types import Floats


def nearest_lines(numbers: Floats, domain: Numbers, step: float) -> tuple[Floats, NumberGrid]:
    """Round to the nearest multiple of ``step``, halves upward; also gives the grid of them. NaN stays.

    Example:
        >>> nearest_lines(np.array([1249.0, 1250.0]), Numbers(1249, 1250, True), 100)[0].tolist()
        [1200.0, 1300.0]
    """
    grid = number_grid(domain, step)
    missing = np.isnan(numbers)
    known = np.where(missing, 0.0, numbers)
    count = grid.count_below(known)
    low, high = grid.line(count), grid.line(count + 1)
    nearest = np.where(known - low < high - known, low, high) + 0.0
    return np.where(missing, np.nan, nearest), grid


def number_cells(
    numbers: Floats, domain: Numbers, *, step: float | str, low: float | None, high: float | None
) -> pl.Series:
    """Write each number as its step of a grid, the whole ones disjoint: ``[20, 29]``, ``[30, 39]``.

    Beyond a declared end cells are open. Where numbers have fractions, neighbours share an end, and a number
    on it counts upward. NaN becomes null.

    Example:
        >>> ages = np.array([29.0, 30.0, 97.0])
        >>> number_cells(ages, Numbers(29, 97, True), step=10, low=None, high=90).to_list()
        ['[20, 29]', '[30, 39]', '[90, inf]']
    """
    grid = number_grid(domain, step)
    count = grid.count_below(np.where(np.isnan(numbers), 0.0, numbers))
    first, last = grid.line(count), grid.line(count + 1)
    exact = bool(np.all(np.maximum(np.abs(first), np.abs(last)) < EXACT))
    if domain.whole and grid.exponent >= 0 and exact:
        last = last - 1
    kind = pl.Int64 if grid.exponent >= 0 and exact else pl.Float64
    cells = write_ranges(pl.Series(first + 0.0).cast(kind), pl.Series(last + 0.0).cast(kind))
    return open_ends(cells.set(pl.Series(np.isnan(numbers)), None), numbers, low=low, high=high)


def open_ends(cells: pl.Series, numbers: Floats, *, low: float | None, high: float | None) -> pl.Series:
    """Write what lies beyond a declared end, or on it, as open there; other cells stay as they are.

    Example:
        >>> open_ends(pl.Series(["7", "250"]), np.array([7.0, 250.0]), low=None, high=200).to_list()
        ['7', '[200, inf]']
    """
    if low is not None:
        cells = cells.set(pl.Series(numbers <= low), f"[-inf, {number_text(low)}]")
    if high is not None:
        cells = cells.set(pl.Series(numbers >= high), f"[{number_text(high)}, inf]")
    return cells


def number_text(number: float) -> str:
    """Write one number as cells do, a whole one without a point."""
    whole = float(number).is_integer() and abs(number) < EXACT
    return str(pl.Series([number]).cast(pl.Int64 if whole else pl.Float64).cast(pl.String).item())


def moment_cells(moments: pl.Series, domain: Moments, step: float | str) -> pl.Series:
    """Write each day or moment as its step of the calendar: ``[2024-05-01, 2024-05-31]``."""
    known = moments.drop_nulls()
    if not len(known):
        return pl.Series([None], dtype=pl.String).new_from_index(0, len(moments))
    distinct = known.unique()
    cells = write_ranges(*snap_moments(distinct, distinct, moment_step(domain, step)))
    return moments.replace_strict(distinct, cells, default=None, return_dtype=pl.String)


def prefix_cells(codes: pl.Series, keep: int) -> pl.Series:
    """Show the first characters of each code and ``*`` for the rest, up to the longest; null stays null.

    Example:
        >>> prefix_cells(pl.Series(["34710", "06", None]), 2).to_list()
        ['34***', '06', None]
    """
    lengths = codes.str.len_chars()
    longest = int(lengths.max() or 0)  # type: ignore[arg-type]
    cut = write_prefixes(codes.str.slice(0, keep), longest)
    return cut.zip_with((lengths > keep).fill_null(value=False), write_labels(codes)).alias(codes.name)
