"""Time zones: instants as the clock on the wall of a zone shows them, and back.

Periods (days, weeks, months) begin by the clock on the wall, but what lies in a cell is decided by instants:
a clock that is put back shows an hour twice.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import pyarrow as pa

OFFSET = r"(?:Z|[+-](?:0[0-9]|1[0-5])(?::?[0-5][0-9](?::?[0-5][0-9])?)?)"  # behind a time of day
_HOUR = 3600
_PARTS = r"^([+-])([0-9]{2}):?([0-9]{2})?:?([0-9]{2})?$"
_DAY = timedelta(days=1)
_FIRST, _LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001 - what clocks show
# polars knows zones by name only; these have had no other offset for generations
_NAMED = {
    12_600: "Asia/Tehran",
    16_200: "Asia/Kabul",
    19_800: "Asia/Kolkata",
    20_700: "Asia/Kathmandu",
    23_400: "Asia/Yangon",
    34_200: "Australia/Darwin",
}


def zone_of_offset(seconds: int) -> str:
    """Name a zone whose clocks are that far from UTC; UTC itself where there is none.

    Example:
        >>> zone_of_offset(0), zone_of_offset(3 * 3600), zone_of_offset(-5 * 3600), zone_of_offset(19_800)
        ('UTC', 'Etc/GMT-3', 'Etc/GMT+5', 'Asia/Kolkata')
    """
    hours, rest = divmod(seconds, _HOUR)
    if seconds and not rest and -12 <= hours <= 14:
        return f"Etc/GMT{-hours:+d}"  # the sign of these names is the other way round
    return _NAMED.get(seconds, "UTC")


def instants(wall: pl.Series, offsets: pl.Series) -> pl.Series:
    """Give moments that were written with an offset (``Z``, ``+03``, ``+0300``, ``+03:00``).

    Args:
        wall: What the clock showed, without a zone.
        offsets: How far it was from UTC, as text.

    Returns:
        Moments in the zone of the offset, or in UTC if offsets differ.
    """
    parts = offsets.replace("Z", "+00").str.extract_groups(_PARTS).struct.unnest()
    hours, minutes, seconds = (parts[str(place)].cast(pl.Int64).fill_null(0) for place in (2, 3, 4))
    away = (hours * _HOUR + minutes * 60 + seconds) * (1 - 2 * (parts["1"] == "-").cast(pl.Int64))
    away = away.set(offsets.is_null(), None)
    held = away.drop_nulls().unique()
    zone = zone_of_offset(int(held[0])) if len(held) == 1 else "UTC"
    ticks = wall.dt.cast_time_unit("us").to_physical() - away * 1_000_000
    return ticks.cast(pl.Datetime("us", zone)).alias(wall.name)


# Steps of the calendar by the words that people say, as polars spells them; shortest first.
CALENDAR_STEPS = {
    "minute": "1m",
    "hour": "1h",
    "day": "1d",
    "week": "1w",
    "month": "1mo",
    "quarter": "1q",
    "year": "1y",
}


def wall_clock(moments: pl.Series) -> pl.Series:
    """Give what the clock on the wall shows; days and moments without a zone are that already."""
    return moments.dt.replace_time_zone(None) if _zone(moments.dtype) is not None else moments


def calendar(wall: pl.Series) -> pl.Series:
    """Keep periods within the years 1 to 9999, which every reader knows: 0001 begins its decade."""
    if isinstance(wall.dtype, pl.Datetime):
        return wall.clip(_FIRST, _LAST)
    return wall.clip(_FIRST.date(), _LAST.date())


def within_calendar(moments: pl.Series) -> pl.Series:
    """Mark days and moments that a clock shows in the years 1 to 9999."""
    return wall_clock(moments).dt.year().is_between(1, 9999)


def on_this_clock(wall: pl.Series, zone: str | None, *, late: bool) -> pl.Series:
    """Give the instants at which a clock in a zone shows something.

    Args:
        wall: What it shows.
        zone: None leaves it as it is.
        late: Of an hour that is shown twice take the second; a skipped one is after the jump, else before.
    """
    if zone is None:
        return wall
    moments = _shown(wall, zone, late=late)
    if moments.null_count() > wall.null_count():
        near = -_DAY if late else _DAY  # the clock as it goes on the other side of the jump
        moments = moments.fill_null(_shown(wall + near, zone, late=late) - near)
    return moments


def _shown(wall: pl.Series, zone: str, *, late: bool) -> pl.Series:
    return wall.dt.replace_time_zone(zone, ambiguous="latest" if late else "earliest", non_existent="null")


def offset_form(moments: pl.Series) -> str:
    """Give how the offset is written; clocks of the nineteenth century are seconds off."""
    return "%::z" if seconds_off(moments) else "%:z"


def seconds_off(moments: pl.Series) -> bool:
    """Say whether a column holds moments at which the clocks of its zone were not whole minutes off."""
    if _zone(moments.dtype) is None:
        return False
    known = moments.drop_nulls()  # what lies behind a missing one may be no moment at all
    away = (known.dt.base_utc_offset() + known.dt.dst_offset()).dt.total_seconds()
    return bool((away % 60 != 0).any())


def moment_text(moments: pl.Series) -> pl.Series:
    """Give moments as text that reads as the same instants."""
    if _zone(moments.dtype) is None:
        return moments.cast(pl.String)
    return moments.dt.strftime("%Y-%m-%d %H:%M:%S%.6f" + offset_form(moments))


def named_zone(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a column whose zone is an offset such as ``+05:30`` a zone with a name; instants stay."""
    import pyarrow as pa

    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    offset = re.fullmatch(r"([+-])([0-9]{2}):([0-9]{2})", zone or "")
    if not offset:
        return column
    seconds = (int(offset[2]) * 60 + int(offset[3])) * 60
    name = zone_of_offset(-seconds if offset[1] == "-" else seconds)
    return column.cast(pa.timestamp(column.type.unit, tz=name))


def _zone(kind: pl.DataType) -> str | None:
    return kind.time_zone if isinstance(kind, pl.Datetime) else None
