"""Text as numbers, days and moments, whole columns at a time, and back; what cannot be read becomes null."""

from __future__ import annotations

import polars as pl
from polars import selectors

from mahrem.errors import InvalidInput
from mahrem.table.cells._number_grid import EXACT
from mahrem.table.cells.zones import OFFSET, instants, moment_text, seconds_off

_DOTTED = r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$"
_CLOCK = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_MOMENT = rf"^({_CLOCK}) ?({OFFSET})?$"


def numbers_of_text(text: pl.Series, *, decimal: str | None = None) -> pl.Series:
    """Read numbers, blanks around them allowed; ``decimal`` is the sign before the fraction.

    Example:
        >>> numbers_of_text(pl.Series([" 12", "1e3", "x"])).to_list()
        [12.0, 1000.0, None]
        >>> numbers_of_text(pl.Series(["1,5", "1.5"]), decimal=",").to_list()
        [1.5, None]
    """
    if decimal is not None and decimal != ".":
        dotted = text.str.contains(".", literal=True)
        text = text.str.replace(decimal, ".", literal=True).set(dotted, None)
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() > text.null_count():
        numbers = text.str.strip_chars().cast(pl.Float64, strict=False)
    return numbers


def with_point(cells: pl.Series, decimal: str | None) -> pl.Series:
    """Write single numbers among cells with a point, as ranges always are; what has one already is none.

    Example:
        >>> with_point(pl.Series(["1,5", "[2.5, 3.0]"]), ",").to_list()
        ['1.5', '[2.5, 3.0]']
    """
    if decimal is None or decimal == ".":
        return cells
    single = ~cells.str.starts_with("[")
    dotted = cells.set(single & cells.str.contains(".", literal=True), None)
    return dotted.str.replace(decimal, ".", literal=True).zip_with(single, cells)


def moments_of_text(text: pl.Series) -> pl.Series:
    """Read ISO days, ISO date-times or day-first dotted days; a Date series, or Datetime if any has a time.

    Moments with an offset (``Z``, ``+03:00``) are instants: they come in the zone of that offset, or in UTC
    if offsets differ. Beside moments without one they cannot be placed and become null.

    Example:
        >>> moments_of_text(pl.Series(["2024-12-31", "31.12.2024"])).to_list()
        [datetime.date(2024, 12, 31), datetime.date(2024, 12, 31)]
    """
    days = _days(
        text, "%Y-%m-%d", fits=text.str.len_bytes() == 10
    )  # else 24-1-1 would be a day of the year 24
    if days.null_count() == text.null_count():
        return days
    text = text.str.strip_chars()
    days = _days(text, "%Y-%m-%d", fits=text.str.len_bytes() == 10)
    if days.null_count() > text.null_count():
        days = days.fill_null(_days(text, "%d.%m.%Y", fits=text.str.contains(_DOTTED)))
    parts = text.str.extract_groups(_MOMENT).struct.unnest()
    plain, offsets = parts["1"].alias(text.name), parts["2"]
    if plain.null_count() == len(plain):
        return days
    plain = plain.str.replace(" ", "T", literal=True)
    moments = plain.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
    if moments.null_count() > plain.null_count():
        moments = moments.fill_null(plain.str.to_datetime("%Y-%m-%dT%H:%M", time_unit="us", strict=False))
    zoned = offsets.is_not_null()
    if (
        zoned.any()
        and moments.filter(~zoned).null_count() == (~zoned).sum()
        and days.null_count() == len(days)
    ):
        return instants(moments, offsets)
    return moments.set(zoned, None).fill_null(days.cast(pl.Datetime("us")))


def mixes_zones(text: pl.Series) -> bool:
    """Say whether a column holds moments with a time zone beside days or moments without one."""
    if text.dtype != pl.String or not text.str.contains(rf"^\s*{_CLOCK} ?{OFFSET}\s*$").any():
        return False
    moments = moments_of_text(text)
    return moments.dtype == pl.Datetime("us") and moments.null_count() < len(moments)


def as_text(series: pl.Series) -> pl.Series:
    """Give values as text, whole numbers without a point."""
    shown = whole_numbers(series)
    if shown.dtype.is_nested() or shown.dtype in (pl.Object, pl.Binary):
        raise InvalidInput(
            f"column={series.name!r} holds {series.dtype.base_type()} values; it needs text, numbers or dates"
        )
    if isinstance(shown.dtype, pl.Datetime):
        return moment_text(shown)
    return shown.dt.to_string() if shown.dtype == pl.Duration else shown.cast(pl.String)


def text_where_needed(frame: pl.DataFrame) -> pl.DataFrame:
    """Give as ISO text what files of text would refuse or blur.

    That are spans of time (``PT5H``), times of day (else with nine digits behind the seconds), and moments in
    a zone whose clocks were seconds off (``+01:56:56``), as they were everywhere before 1900.
    """
    blurred = [column for column in frame.get_columns() if seconds_off(column)]
    times = selectors.time().dt.to_string("%H:%M:%S%.f")
    return frame.with_columns(selectors.duration().dt.to_string("iso"), times, *map(moment_text, blurred))


def whole_numbers(series: pl.Series) -> pl.Series:
    """Turn whole numbers that came as floats (beside missing ones) into whole numbers."""
    if (
        series.dtype.is_float()
        and (series.is_null() | ((series == series.floor()) & (series.abs() < EXACT))).all()
    ):
        return series.cast(pl.Int64)
    return series


def _days(text: pl.Series, form: str, *, fits: pl.Series) -> pl.Series:
    if not fits.any():
        return pl.Series(text.name, [None], dtype=pl.Date).new_from_index(0, len(text))
    return (text if fits.all() else text.set(~fits, None)).str.to_date(form, strict=False)
