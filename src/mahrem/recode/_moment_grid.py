"""A grid of days, weeks, months, quarters and years (or minutes and hours) that bounds are moved out to."""

from __future__ import annotations

import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.table import Moments
from mahrem.table.cells.zones import CALENDAR_STEPS, calendar, on_this_clock, wall_clock

_LINES = 32  # about so many grid lines cross the domain
_DAY = 86_400_000_000  # microseconds

# How much later a shifted step begins; a day has no half.
_HALF = {"hour": "30m", "week": "3d", "month": "15d", "quarter": "1mo15d", "year": "6mo"}
_DAYS = {
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "month": 365.25 / 12,
    "quarter": 365.25 / 4,
    "year": 365.25,
}


def moment_step(domain: Moments, step: float | str | None = None) -> str:
    """Choose the step: the given word, or the smallest that is wide enough.

    Example:
        >>> moment_step(Moments(0, 365, "D")), moment_step(Moments(0, 2000, "D"))
        ('month', 'quarter')
    """
    words = [word for word in CALENDAR_STEPS if domain.unit == "us" or _DAYS[word] >= 1]
    if step is not None:
        if step not in words:
            raise InvalidParameter(f"step={step!r} must be one of {', '.join(words)} for a column of dates")
        return str(step)
    days = (domain.high - domain.low) / (_DAY if domain.unit == "us" else 1)
    return next((word for word in words if _DAYS[word] >= days / _LINES), "year")


def nest(inner: str, outer: str) -> bool:
    """Say whether steps of the calendar lie within others: weeks do not within months.

    Example:
        >>> nest("month", "year"), nest("week", "month"), nest("year", "month")
        (True, False, False)
    """
    return inner == outer or (_DAYS[inner] < _DAYS[outer] and inner != "week")


def snap_moments(
    low: pl.Series, high: pl.Series, step: str, *, shifted: bool = False
) -> tuple[pl.Series, pl.Series]:
    """Move ends out to whole steps: the first day or moment of one, the last of the other.

    Steps follow the clock of the moments' own zone. The last moment of a step is its last whole second, or
    its last microsecond where a value lies after that. ``shifted`` steps begin half a step later: the months
    on their 16th day, the years in July.
    """
    top = wall_clock(high)
    first = calendar(_step_begin(wall_clock(low), step, shifted=shifted))
    following = _step_begin(top, step, shifted=shifted, more=1)
    if not isinstance(high.dtype, pl.Datetime):
        return first, calendar(following.dt.offset_by("-1d"))
    second = following.dt.offset_by("-1s")
    last = calendar(second.zip_with(top <= second, following.dt.offset_by("-1us")))
    zone = high.dtype.time_zone
    return on_this_clock(first, zone, late=False), on_this_clock(last, zone, late=True)


def _step_begin(moments: pl.Series, step: str, *, shifted: bool, more: int = 0) -> pl.Series:
    """Give where the step of each moment begins, or the one after it."""
    every = CALENDAR_STEPS[step]
    unit = every.lstrip("1")
    later = f"{more}{unit}"
    half = _HALF.get(step)
    if not shifted or half is None:
        return moments.dt.truncate(every).dt.offset_by(later)
    begins = moments.dt.truncate(every)
    begins = pl.concat([begins.dt.offset_by(f"{back}{unit}").dt.offset_by(half) for back in (-1, 0)])
    before, here = begins[: len(moments)], begins[len(moments) :]
    if more:
        after = moments.dt.truncate(every).dt.offset_by(later).dt.offset_by(half)
        return after.zip_with(here <= moments, here)
    return here.zip_with(here <= moments, before)
