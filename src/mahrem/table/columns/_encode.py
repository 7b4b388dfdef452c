"""Columns as numbers: quasi-identifiers on an axis."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, spelled
from mahrem.table._schema import Column, Kind
from mahrem.table.cells import EXACT, as_text, mixes_zones, moments_of_text, numbers_of_text
from mahrem.table.cells.zones import within_calendar
from mahrem.table.columns._axis import Axis, Leaves, Moments, Numbers, Words
from mahrem.types import Integers, Positions

_MANY = 10_000  # values from which on counting is worth looking whether one can
DIGITS = 15  # that floats keep, whatever the number


def encode_quasi(series: pl.Series, column: Column, *, decimal: str | None = None) -> Axis:
    """Lay a quasi-identifier on its axis.

    Args:
        series: The column, typed or as text; null is missing.
        column: Its kind, and its order or hierarchy where it has one.
        decimal: The sign before a number's fraction in text, where it is not a point.

    Guarantees:
        - Positions are NaN exactly where the value is missing, and equal exactly where values are equal.
        - Positions follow the column's own order: size, time, declared order, tree, or text.

    Example:
        >>> from mahrem.table import Role
        >>> age = Column(name="age", role=Role.QUASI, kind=Kind.NUMERIC)
        >>> encode_quasi(pl.Series("age", ["34", "7", None]), age).positions.tolist()
        [34.0, 7.0, nan]
    """
    if column.hierarchy is not None:
        return Axis(column.name, _floats(column.hierarchy.codes(as_text(series))), Leaves(column.hierarchy))
    positions, domain = _encode(series, column, decimal)
    return Axis(column.name, positions, domain)


def _encode(
    series: pl.Series, column: Column, decimal: str | None
) -> tuple[Positions, Numbers | Moments | Words]:
    match column.kind:
        case Kind.NUMERIC:
            return number_places(series, column.name, decimal)
        case Kind.DATE:
            return moment_places(series, column.name)
        case Kind.ORDINAL:
            return ordinal_places(series, column)
        case Kind.CATEGORICAL | Kind.CODE:
            labels, places = sorted_places(as_text(series))
            return places, Words(tuple(labels.to_list()), prefixes=column.kind is Kind.CODE)


def number_places(series: pl.Series, name: str, decimal: str | None) -> tuple[Positions, Numbers]:
    """Read numbers and their ends; what is no number is refused."""
    text = series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series
    if text.dtype == pl.String:
        numbers = numbers_of_text(text, decimal=decimal)
    elif text.dtype.is_numeric():
        numbers = text.cast(pl.Float64)
        _refuse_finer_decimals(text, name)
    else:
        numbers = pl.Series([None], dtype=pl.Float64).new_from_index(0, len(text))
    _refuse_unread(text, numbers, name, what="numeric", read_as="numbers")
    wild = len(numbers) - numbers.null_count() - int(numbers.is_finite().sum())
    if wild:
        raise InvalidInput(
            f"column={name!r}: {wild} values are not finite numbers; "
            f"make them missing ({spelled('null', 'TOKEN')}), or leave those rows out"
        )
    positions = _floats(numbers) + 0.0  # no negative zero
    low, high = _ends(positions)
    largest = max(-low, high)
    if largest >= EXACT:
        _refuse_large_whole(text, numbers, name)
    whole = largest < EXACT and bool(np.all(np.isnan(positions) | (positions == np.floor(positions))))
    return positions, Numbers(low, high, whole)


def _refuse_finer_decimals(series: pl.Series, name: str) -> None:
    """Refuse decimals that floats do not tell apart."""
    if not isinstance(series.dtype, pl.Decimal):
        return
    digits = series.cast(pl.String).str.replace_all(r"^[-0.]+|[.]", "").str.strip_chars_end("0")
    long = int((digits.str.len_chars() > DIGITS).sum())
    if long:
        raise InvalidInput(
            f"column={name!r}: {long} decimals have more than {DIGITS} digits and cannot be kept apart as "
            f"numbers; round them, or pass {spelled('kind', {name: 'categorical'})}"
        )


def _refuse_unread(series: pl.Series, read: pl.Series, name: str, *, what: str, read_as: str) -> None:
    unread = read.null_count() - series.null_count()
    if unread:
        raise InvalidInput(
            f"column={name!r} is not {what}: {unread} of {len(series) - series.null_count()} values cannot "
            f"be read as {read_as}; pass {spelled('kind', {name: 'categorical'})}, or "
            f"{spelled('null', 'TOKEN')} for missing values"
        )


def _refuse_large_whole(series: pl.Series, numbers: pl.Series, name: str) -> None:
    large = numbers.abs() >= EXACT
    if series.dtype == pl.String:
        large &= series.str.contains(r"^\s*[+-]?\d+\s*$")
    elif series.dtype.is_float():
        return
    count = int(large.sum())
    if count:
        raise InvalidInput(
            f"column={name!r}: {count} whole numbers reach 2**53 and cannot be kept apart as numbers; "
            f"pass {spelled('kind', {name: 'code'})} or {spelled('kind', {name: 'categorical'})}"
        )


def moment_places(series: pl.Series, name: str) -> tuple[Positions, Moments]:
    """Read days or moments and their ends; what is neither is refused."""
    text = series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series
    if text.dtype == pl.String:
        moments = moments_of_text(text)
    elif text.dtype == pl.Datetime:
        moments = text.dt.cast_time_unit("us")
        _refuse_finer(text, moments, name)
    elif text.dtype == pl.Date:
        moments = text
    else:
        moments = pl.Series([None], dtype=pl.Date).new_from_index(0, len(text))
    refuse_mixed_zones(text, name)
    _refuse_unread(text, moments, name, what="a date", read_as="ISO or DD.MM.YYYY dates")
    beyond = int((~within_calendar(moments)).sum())
    if beyond:
        raise InvalidInput(
            f"column={name!r}: {beyond} values lie before the year 1 or after 9999, where calendars differ; "
            f"make them missing, or pass {spelled('kind', {name: 'categorical'})}"
        )
    ticks = moments.to_physical().cast(pl.Int64)
    positions = _floats(ticks)
    blurred = int((ticks != ticks.cast(pl.Float64).cast(pl.Int64)).sum())
    if blurred:
        raise InvalidInput(
            f"column={name!r}: {blurred} moments lie too far from 1970 for their microseconds to be kept; "
            "cut them to whole seconds"
        )
    if not isinstance(moments.dtype, pl.Datetime):
        return positions, Moments(*_ends(positions), "D")
    return positions, Moments(*_ends(positions), "us", moments.dtype.time_zone)


def _refuse_finer(series: pl.Series, moments: pl.Series, name: str) -> None:
    """Refuse moments that differ by less than cells can show."""
    if not isinstance(series.dtype, pl.Datetime) or series.dtype.time_unit != "ns":
        return
    finer = int((series.to_physical() % 1000 != 0).sum())
    if finer:
        raise InvalidInput(
            f"column={name!r}: {finer} of {len(moments)} moments have nanoseconds, which cells do not show; "
            f"cut them to microseconds"
        )


def refuse_mixed_zones(series: pl.Series, name: str) -> None:
    """Refuse moments with a time zone beside ones without: nobody knows how they lie to each other."""
    if mixes_zones(series):
        raise InvalidInput(
            f"column={name!r} holds date-times with a time zone and some without; "
            f"write all with one (2022-10-01T09:30:00+03:00, …Z) or none"
        )


def ordinal_places(series: pl.Series, column: Column) -> tuple[Positions, Words]:
    """Give each value's place in the declared order."""
    order = column.order
    if not order:
        raise InvalidInput(
            f"column={column.name!r} is ordinal: its values need an order, "
            f"{spelled('order', {column.name: 'low,high'})}"
        )
    if len(set(order)) < len(order):
        raise InvalidInput(f"column={column.name!r}: its order names a value twice")
    text = as_text(series)
    labels = pl.Series(order, dtype=pl.String)
    strange = text.drop_nulls().is_in(labels.implode()).not_()
    if strange.any():
        raise InvalidInput(
            f"column={column.name!r}: {int(strange.sum())} of {len(strange)} values are not in its order; "
            f"name every value in {spelled('order', {column.name: '…'})}, or "
            f"{spelled('null', 'TOKEN')} for missing values"
        )
    return _places(text, labels), Words(tuple(order), ordered=True)


def sorted_places(text: pl.Series) -> tuple[pl.Series, Positions]:
    """Sort the distinct values as text and give each value's place among them; text is hashed only once."""
    numbered = _digit_places(text)
    if numbered is not None:
        return numbered
    coded = text.cast(pl.Categorical(pl.Categories.random()))
    distinct = coded.unique().drop_nulls()
    labels = distinct.cast(pl.String)
    order = labels.arg_sort()
    codes = distinct.to_physical().to_numpy()[order]
    place = np.full(int(codes.max(initial=0)) + 2, np.nan)  # the last one is for missing values
    place[codes] = np.arange(len(codes))
    return labels.gather(order), place[coded.to_physical().fill_null(len(place) - 1).to_numpy()]


def _digit_places(text: pl.Series) -> tuple[pl.Series, Positions] | None:
    """The same for many codes of digits alone that are equally long, by counting; None where one is not."""
    lengths = text.str.len_bytes() if len(text) >= _MANY else text.clear()
    digits = lengths.max() if len(lengths) else None
    if not isinstance(digits, int) or lengths.min() != digits or not 0 < digits <= math.log10(len(text)):
        return None
    numbers = text.cast(pl.UInt32, strict=False)
    if numbers.null_count() > text.null_count() or (text < "0").any():  # a plus sign reads as a number
        return None
    known = numbers.is_not_null().to_numpy()
    values = numbers.drop_nulls().to_numpy()
    seen = np.zeros(10**digits, np.bool_)
    seen[values] = True
    places = np.full(len(text), np.nan)
    places[known] = (np.cumsum(seen) - 1)[values]
    labels = pl.Series(text.name, np.flatnonzero(seen)).cast(pl.String).str.zfill(digits)
    return labels, places


def _places(text: pl.Series, labels: pl.Series) -> Positions:
    """Give each value's place among the labels."""
    if len(labels) == 0:
        return np.full(len(text), np.nan)
    return _floats(text.cast(pl.Enum(labels)).to_physical())


def _floats(series: pl.Series | Integers) -> Positions:
    if isinstance(series, pl.Series):
        return series.cast(pl.Float64).fill_null(np.nan).to_numpy(writable=True)
    floats = series.astype(np.float64)
    floats[series < 0] = np.nan
    return floats


def _ends(positions: Positions) -> tuple[float, float]:
    present = positions[~np.isnan(positions)]
    if len(present) == 0:
        return 0.0, 0.0
    return float(present.min()), float(present.max())
