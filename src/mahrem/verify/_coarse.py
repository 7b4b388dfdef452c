"""Check columns that were made coarser row by row, against what they were before.

Nothing here knows how a cell was made: it is read back as text, and both questions are asked of it. Does it
hold the value that stood there, and is it as coarse as was said?
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

from mahrem.table import Exact, Kind, Prefix, read_cell, read_ranges
from mahrem.table.cells import as_text, moments_of_text, numbers_of_text, with_point
from mahrem.table.cells.zones import CALENDAR_STEPS, wall_clock
from mahrem.types import Floats, Mask

_CLOSE = 1e-9  # of a step: how far from a line a float of it may lie
_SKIPPED = timedelta(hours=3)


@dataclass(frozen=True, kw_only=True)
class Coarseness:
    """How coarse a column is said to be; the names are those of the settings that ask for it.

    Args:
        kind: What its values were before.
        grid: Cells are steps of this width, or of the calendar.
        round: Numbers are multiples of this.
        top: No number above this is told from it.
        bottom: No number below this is told from it.
        prefix: So many characters of a code are shown at most.
    """

    kind: Kind
    grid: float | str | None = None
    round: float | None = None
    top: float | None = None
    bottom: float | None = None
    prefix: int | None = None


def rows_too_fine(
    before: pl.Series,
    published: pl.Series,
    coarseness: Coarseness,
    *,
    hidden: Mask | None = None,
    decimal: str | None = None,
) -> int:
    """Count the rows whose cell does not hold their value, or tells more of it than was said.

    Args:
        before: The column as it came, row by row.
        published: The same rows as read back from what is published.
        coarseness: How coarse they should be.
        hidden: Rows that show nothing and are not asked about.
        decimal: The sign before a number's fraction in text, where it is not a point.

    Guarantees:
        - 0 only if a value is missing exactly where it was, every other lies in its cell, and every cell is
          as wide as was said.

    Example:
        >>> ages = pl.Series([23, 91])
        >>> coarseness = Coarseness(kind=Kind.NUMERIC, grid=10, top=90)
        >>> rows_too_fine(ages, pl.Series(["[20, 29]", "[90, inf]"]), coarseness)
        0
        >>> rows_too_fine(ages, pl.Series(["[20, 24]", "[90, 99]"]), coarseness)
        2
    """
    shown = as_text(published)
    missing = before.is_null().to_numpy()
    asked = np.ones(len(missing), np.bool_) if hidden is None else ~hidden
    wrong = asked & (missing != shown.is_null().to_numpy())
    present = asked & ~missing & ~wrong
    if present.any():
        wrong[present] = ~_as_said(before, shown, coarseness, present, decimal)
    return int(wrong.sum())


def _as_said(
    before: pl.Series, shown: pl.Series, coarseness: Coarseness, present: Mask, decimal: str | None
) -> Mask:
    """Judge the rows that show something; what the column is is decided by all of it."""
    rows = pl.Series(present)
    if coarseness.prefix is not None:
        return _beginnings(as_text(before).filter(rows), shown.filter(rows), coarseness.prefix)
    if coarseness.kind is Kind.DATE:
        moments = moments_of_text(before) if before.dtype == pl.String else before
        return _periods(moments.filter(rows), shown.filter(rows), str(coarseness.grid))
    numbers = numbers_of_text(before, decimal=decimal) if before.dtype == pl.String else before
    every = numbers.cast(pl.Float64)
    whole = bool((every.drop_nulls() == every.drop_nulls().floor()).all())
    own = every.filter(rows).to_numpy()
    low, high = read_ranges(with_point(shown.filter(rows), decimal))
    beyond = np.zeros(len(own), np.bool_)
    if coarseness.top is not None:
        beyond |= (low == coarseness.top) & np.isposinf(high) & (own >= coarseness.top)
    if coarseness.bottom is not None:
        beyond |= np.isneginf(low) & (high == coarseness.bottom) & (own <= coarseness.bottom)
    return beyond | (_within(low, high, own, coarseness, whole=whole) & _inside_ends(own, coarseness))


def _inside_ends(own: Floats, coarseness: Coarseness) -> Mask:
    """Say which numbers may be told: those between the declared ends."""
    inside = np.ones(len(own), np.bool_)
    if coarseness.top is not None:
        inside &= own < coarseness.top
    if coarseness.bottom is not None:
        inside &= own > coarseness.bottom
    return inside


def _within(low: Floats, high: Floats, own: Floats, coarseness: Coarseness, *, whole: bool) -> Mask:
    """Judge cells of numbers that lie between the declared ends."""
    if coarseness.round is not None:
        step = coarseness.round
        near = np.abs(own - low) <= step * (0.5 + _CLOSE) + 4 * np.spacing(np.abs(own))
        return np.asarray((low == high) & near & _on_lines(low, step))
    if coarseness.grid is None:
        return np.asarray((low == high) & (low == own))
    step = float(coarseness.grid)
    holds = (low <= own) & (own <= high)
    # Among whole numbers a step ends one before the next line.
    blur = _CLOSE * step + 4 * np.spacing(np.maximum(np.abs(low), np.abs(high)))
    wide = (np.abs(high - low - step) <= blur) | (whole & (high - low == step - 1))
    return np.asarray(holds & wide & _on_lines(low, step))


def _on_lines(values: Floats, step: float) -> Mask:
    count = np.where(np.isfinite(values), values, 0.5 * step) / step  # an open end is no line
    return np.asarray(np.abs(count - np.rint(count)) <= _CLOSE * np.maximum(1.0, np.abs(count)))


def _beginnings(before: pl.Series, shown: pl.Series, most: int) -> Mask:
    """Judge beginnings of codes; every pair of a code and a cell once."""
    pairs = pl.DataFrame({"code": before, "cell": shown})
    distinct = pairs.unique()
    cells = {text: read_cell(text) for text in distinct["cell"].unique()}
    fits = []
    for code, text in distinct.iter_rows():
        cell = cells[text]
        if isinstance(cell, Prefix):
            begins = code.startswith(cell.beginning) and len(code) <= cell.length
            fits.append(begins and len(cell.beginning) <= most)
        else:
            fits.append(isinstance(cell, Exact) and cell.text == code and len(code) <= most)
    judged = distinct.with_columns(pl.Series("fits", fits, dtype=pl.Boolean))
    return pairs.join(judged, on=["code", "cell"], how="left", maintain_order="left")["fits"].to_numpy()


def moment_ends(cells: pl.Series) -> pl.Series:
    """Read where cells of days or moments begin, then where they end: twice as many."""
    inner = cells.str.strip_chars("[]").str.split_exact(", ", 1).struct.unnest()
    texts = inner["field_0"], inner["field_1"].fill_null(inner["field_0"])
    return moments_of_text(pl.concat([text.alias("end") for text in texts]))


def _periods(moments: pl.Series, shown: pl.Series, step: str) -> Mask:
    """Judge steps of the calendar: from the first moment of one to its last."""
    ends = moment_ends(shown)
    zone = moments.dtype.time_zone if isinstance(moments.dtype, pl.Datetime) else None
    if zone is not None:
        ends = ends.dt.convert_time_zone(zone)
    low, high = ends[: len(shown)], ends[len(shown) :]
    own = moments.dt.cast_time_unit("us") if isinstance(moments.dtype, pl.Datetime) else moments
    holds = (low <= own) & (own <= high)
    # In a zone the first hours of a day may be skipped by its clocks.
    slack = _SKIPPED if zone is not None and step not in {"minute", "hour"} else timedelta(0)
    first = wall_clock(low).cast(pl.Datetime("us"))
    last = wall_clock(high).cast(pl.Datetime("us"))
    after = last.dt.offset_by("1d" if moments.dtype == pl.Date else "1s").dt.truncate("1s")
    begin = (first + slack).dt.truncate(CALENDAR_STEPS[step])
    end = begin.dt.offset_by(CALENDAR_STEPS[step])
    begins = (first - begin).abs() <= slack
    ended = ((after - end).abs() <= slack) | (last.dt.date() == date.max)
    return (holds & begins & ended).fill_null(value=False).to_numpy()
