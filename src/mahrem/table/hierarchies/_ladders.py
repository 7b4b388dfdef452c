"""Ladders: what every value of a column is called at each level between itself and the root.

A label is a cell of the published grammar, so that whoever reads a release reads the set it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import polars as pl

from mahrem.table.cells import (
    EXACT,
    NumberGrid,
    all_whole,
    finite,
    write_labels,
    write_prefixes,
    write_ranges,
    write_set,
)
from mahrem.table.cells.zones import calendar, on_this_clock, wall_clock
from mahrem.table.hierarchies._hierarchy import ROOT, Hierarchy
from mahrem.types import Floats

TRUNCATE = {
    "day": "1d",
    "week": "1w",
    "month": "1mo",
    "quarter": "1q",
    "year": "1y",
    "decade": "10y",
}


def build_tree(leaves: pl.Series, ladder: Sequence[pl.Series]) -> Hierarchy:
    """Put leaves, levels and root together; leaves whose text is equal are one.

    Args:
        leaves: The values as text; a tree without any has one leaf that no value can be.
        ladder: For each level the labels of all leaves.
    """
    if len(leaves) == 0:
        return Hierarchy.from_rows([["", ROOT]])
    frame = pl.DataFrame(
        [leaves.alias("0"), *(rung.alias(str(level)) for level, rung in enumerate(ladder, 1))]
    )
    frame = frame.unique("0", keep="first", maintain_order=True)
    return Hierarchy.from_columns([*frame.get_columns(), pl.Series([ROOT]).new_from_index(0, frame.height)])


def number_ladder(values: Floats, grids: Sequence[NumberGrid]) -> list[pl.Series]:
    """Name the interval of each number on every grid, both ends inside.

    Between whole numbers the interval ends before the next line: 20 is in ``[20, 24]``, not in ``[15, 20]``.
    Among others a number on a line belongs to the interval above it, and the interval names both lines.
    """
    return [_intervals(values, grid) for grid in grids]


def _intervals(values: Floats, grid: NumberGrid) -> pl.Series:
    whole = all_whole(values)
    if whole and grid.step <= 1:  # only the value itself lies there
        number = pl.Series(values).cast(pl.Int64)
        return write_ranges(number, number)
    count = grid.count_below(values)
    low, high = finite(grid.line(count)) + 0.0, finite(grid.line(count + 1)) + 0.0
    if grid.exponent >= 0 and bool(np.all(np.maximum(np.abs(low), np.abs(high)) < EXACT)):
        return write_ranges(
            pl.Series("low", low).cast(pl.Int64), pl.Series("high", high).cast(pl.Int64) - int(whole)
        )
    return write_ranges(pl.Series("low", low), pl.Series("high", high))


def cut_ladder(values: Floats, levels: Sequence[Sequence[Decimal]]) -> list[pl.Series]:
    """Name the interval between two cuts in which each number lies; the outer ones have no end."""
    whole = bool(np.all(values == np.floor(values))) and all(cut % 1 == 0 for cuts in levels for cut in cuts)
    ladder = []
    for cuts in levels:
        texts = [f"{cut.normalize():f}" for cut in cuts]
        ends = [f"{cut.normalize() - 1:f}" for cut in cuts] if whole else texts
        pairs = zip(["-inf", *texts], [*ends, "inf"], strict=True)
        names = [low if low == high else f"[{low}, {high}]" for low, high in pairs]
        place = np.searchsorted(np.array([float(text) for text in texts]), values, side="right")
        ladder.append(pl.Series(names, dtype=pl.String).gather(place))
    return ladder


def moment_ladder(moments: pl.Series, units: Sequence[str]) -> list[pl.Series]:
    """Name the day, week, month ... of each day or moment by its first and last day or moment."""
    return [_periods(moments, TRUNCATE[unit]) for unit in units]


def _periods(moments: pl.Series, every: str) -> pl.Series:
    wall = wall_clock(moments)
    begin = wall.dt.truncate(every)
    first, following = calendar(begin), begin.dt.offset_by(every)
    if not isinstance(moments.dtype, pl.Datetime):
        return write_ranges(first, calendar(following.dt.offset_by("-1d")))
    seconds = bool((wall.dt.truncate("1s") == wall).all())
    last, zone = calendar(following.dt.offset_by("-1s" if seconds else "-1us")), moments.dtype.time_zone
    return write_ranges(on_this_clock(first, zone, late=False), on_this_clock(last, zone, late=True))


def prefix_ladder(codes: pl.Series, lengths: Sequence[int]) -> list[pl.Series]:
    """Keep that many characters from the left, ``*`` for each further one; a code as short stays itself."""
    sizes = codes.str.len_chars()
    longest = int(sizes.max() or 0)  # type: ignore[arg-type]
    return [
        write_prefixes(codes.str.slice(0, length), longest).zip_with(sizes > length, write_labels(codes))
        for length in lengths
    ]


def suffix_ladder(codes: pl.Series, lengths: Sequence[int]) -> list[pl.Series]:
    """Keep that many characters from the right, ``*`` for each one before; a code as short stays itself."""
    sizes = codes.str.len_chars()
    longest = int(sizes.max() or 0)  # type: ignore[arg-type]
    rungs = []
    for length in lengths:
        ends = codes.str.tail(length)
        stars = ROOT * (longest - length) + ends
        stars = write_labels(stars).zip_with(ends.str.ends_with(ROOT), stars)  # else it reads as a beginning
        rungs.append(write_labels(codes).zip_with(sizes <= length, stars))
    return rungs


def group_ladder(order: Sequence[str], sizes: Sequence[int]) -> list[pl.Series]:
    """Name groups of that many neighbours in a declared order as sets; the last group may be smaller."""
    ladder = []
    for size in sizes:
        groups = [write_set(order[start : start + size]) for start in range(0, len(order), size)]
        ladder.append(pl.Series(groups, dtype=pl.String).gather(np.arange(len(order)) // size))
    return ladder
