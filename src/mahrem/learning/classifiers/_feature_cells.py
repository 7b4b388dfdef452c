"""Published cells as a classifier reads them: text, ends of ranges, beginnings of codes, what is missing."""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.table import Members, Prefix, read_cell, read_ranges
from mahrem.table.cells.alone import day_alone, number_alone
from mahrem.types import Floats, Integers, Mask

_DAY = 86_400_000_000  # microseconds
_ENDS = r"^\[(.*), (.*)\]$"


def cell_beginnings(text: str | None) -> list[str]:
    """Give every beginning that a code is known to have, the shortest first."""
    cell = read_cell(text)
    known = cell.beginning if isinstance(cell, Prefix) else getattr(cell, "text", "")
    return [known[:length] for length in range(1, len(known) + 1)]


def cell_values(cells: pl.Series) -> list[str]:
    """Collect the values that are named anywhere in the cells, sorted."""
    values: set[str] = set()
    for text in cells.to_list():
        cell = read_cell(text)
        if isinstance(cell, Members):
            values.update(member for member in cell.members if member is not None)
        elif (value := getattr(cell, "text", None)) is not None:
            values.add(value)
    return sorted(values)


def cell_ends(cells: pl.Series) -> tuple[Floats, Floats]:
    """Give both ends of cells that are numbers, dates or ranges; NaN for others."""
    low, high = read_ranges(cells)
    if cells.str.contains(":").any():  # moments beside days: all of them in days
        low, high = low / _DAY, high / _DAY
    return np.where(np.isfinite(low), low, np.nan), np.where(np.isfinite(high), high, np.nan)


def ends_alone(cells: pl.Series) -> tuple[Floats, Floats]:
    """Give :func:`cell_ends`, each cell read by itself: no moment beside it changes what a day says.

    Example:
        >>> ends_alone(pl.Series(["[2, 5]", "7", "1970-01-03T10:00", "inf", "much"]))[1].tolist()
        [5.0, 7.0, 2.0, inf, nan]
    """
    text, kind = pl.col("text"), pl.String()
    day = day_alone("text", kind).to_physical().cast(pl.Float64)
    both = []
    for place in (1, 2):
        end = pl.DataFrame({"text": cells}).select(pl.coalesce(text.str.extract(_ENDS, place), text))
        read = end.select(pl.coalesce(number_alone("text", kind), day)).to_series()
        both.append(read.fill_null(float("nan")).to_numpy(writable=True))
    low, high = both
    half = np.isnan(low) | np.isnan(high)
    low[half] = high[half] = np.nan
    return low, high


def missing_cells(cells: pl.Series) -> Mask:
    """Say which cells are empty."""
    empty = (cells == "").fill_null(value=True)
    return empty.to_numpy()


def distinct_cells(series: pl.Series) -> tuple[pl.Series, Integers]:
    """Give distinct cells as text, in order of appearance, and which of them each row shows."""
    text = series.cast(pl.String)
    distinct = text.unique(maintain_order=True)
    number = pl.DataFrame({"cell": text}).join(
        pl.DataFrame({"cell": distinct, "number": np.arange(len(distinct))}),
        on="cell",
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return distinct.rename("cell"), number["number"].to_numpy()
