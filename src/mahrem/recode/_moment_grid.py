"""A grid of days, weeks, months, quarters and years (or minutes and hours) that bounds are moved out to."""

from __future__ import annotations

import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.table import Moments
from mahrem.table.cells import calendar, on_this_clock, wall_clock

_LINES = 32  # about so many grid lines cross the domain
_DAY = 86_400_000_000  # microseconds

_EVERY = {
    "minute": "1m",
    "hour": "1h",
    "day": "1d",
    "week": "1w",
    "month": "1mo",
    "quarter": "1q",
    "year": "1y",
}
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
    words = [word for word in _EVERY if domain.unit == "us" or _DAYS[word] >= 1]
    if step is not None:
        if step not in words:
            raise InvalidParameter(f"step={step!r} must be one of {', '.join(words)} for a column of dates")
        return str(step)
    days = (domain.high - domain.low) / (_DAY if domain.unit == "us" else 1)
    return next((word for word in words if _DAYS[word] >= days / _LINES), "year")


def snap_moments(low: pl.Series, high: pl.Series, step: str) -> tuple[pl.Series, pl.Series]:
    """Move ends out to whole steps: the first day or moment of one, the last of the other.

    Steps follow the clock of the moments' own zone. The last moment of a step is its last whole second, or
    its last microsecond where a value lies after that.
    """
    every = _EVERY[step]
    first, top = calendar(wall_clock(low).dt.truncate(every)), wall_clock(high)
    following = top.dt.truncate(every).dt.offset_by(every)
    if not isinstance(high.dtype, pl.Datetime):
        return first, calendar(following.dt.offset_by("-1d"))
    second = following.dt.offset_by("-1s")
    last = calendar(second.zip_with(top <= second, following.dt.offset_by("-1us")))
    zone = high.dtype.time_zone
    return on_this_clock(first, zone, late=False), on_this_clock(last, zone, late=True)
