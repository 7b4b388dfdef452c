"""What a cell says by itself, whatever type its column came with: one text, one number, one day.

A type belongs to a whole column, and a single record can change it: an empty cell turns whole numbers into
floats, a word turns numbers into texts. Whoever promises that a record changes nothing for the others reads
cells here, where 3, 3.0 and "3" are the same and what cannot be read is missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any

import numpy as np
import polars as pl

from mahrem.table.cells._number_grid import EXACT
from mahrem.table.cells.spellings import numbers_of, one_spelling, written_moment, written_number

_DAY = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ].*)?$"
_CLOCK = "%Y-%m-%dT%H:%M:%S%.f"
_MIDNIGHT = r"T00:00:00(?:[+-][0-9]{2}:[0-9]{2})?$"  # a day, whatever zone it was put in
# The same in a column of texts: one moment makes pandas write the midnight of every other day into a file.
TEXT_OF_MIDNIGHT = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]00:00:00([.]0+)?(Z|[+-][0-9]{2}:?[0-9]{2})?$"
MOST_DIGITS = 400  # of a number; the largest float has 309
_THOUSANDTHS = r"(\.[0-9]{3})000(?![0-9])"  # polars writes whole thousandths of a second with three digits
_MICROSECOND = timedelta(microseconds=1)
_DAY_LONG = 86_400_000_000  # microseconds
_CYCLE = 146_097  # days of 400 years, after which the calendar is the same
_UNITS_OF_A_DAY = {"ms": _DAY_LONG // 1000, "us": _DAY_LONG, "ns": _DAY_LONG * 1000}
_COMMA = r"^([+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?)$"
_LAST_DAY, _LAST_MOMENT = (1 << 31) - 1, (1 << 63) - 1


def text_alone(column: str, dtype: pl.DataType) -> pl.Expr:
    """Write each cell as text; whole numbers without a point, days as ISO, nothing as null.

    Example:
        >>> numbers = pl.DataFrame({"ward": [3.0, None, 2.5]})
        >>> numbers.select(text_alone("ward", numbers.schema["ward"]))["ward"].to_list()
        ['3', None, '2.5']
    """
    return _text(pl.col(column), dtype).alias(column)


def _text(cell: pl.Expr, dtype: pl.DataType) -> pl.Expr:  # noqa: PLR0911 - one line per kind
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        trimmed = cell.cast(pl.String).str.strip_chars()
        return pl.when(trimmed != "").then(trimmed)
    if dtype.is_float():  # one number of more digits widens those of all others
        return written_number(cell)
    if isinstance(dtype, pl.Decimal):
        text = cell.cast(pl.String)
        short = text.str.strip_chars_end("0").str.strip_chars_end(".")
        return pl.when(text.str.contains(".", literal=True)).then(short).otherwise(text)
    if isinstance(dtype, pl.Date | pl.Datetime):
        return pl.coalesce(_text_of_day(cell, dtype), _endless(cell, dtype), _spelled_day(cell, dtype))
    if isinstance(dtype, pl.Time):
        return cell.dt.to_string("%H:%M:%S%.f")
    if dtype.is_integer() or isinstance(dtype, pl.Boolean | pl.Null):
        return cell.cast(pl.String)
    if isinstance(dtype, pl.Duration):
        return _microseconds(cell.to_physical(), dtype.time_unit).cast(pl.String)
    return pl.repeat(None, pl.len(), dtype=pl.String)


def _text_of_day(cell: pl.Expr, dtype: pl.Date | pl.Datetime) -> pl.Expr:
    known = pl.when(cell.dt.year().is_between(1, 9999)).then(cell)  # polars panics where it writes others
    if isinstance(dtype, pl.Date):
        return known.cast(pl.String)
    zoned = "" if dtype.time_zone is None else "%:z"
    return known.dt.to_string(_CLOCK + zoned).str.replace(_MIDNIGHT, "")


def _spelled_day(cell: pl.Expr, dtype: pl.Date | pl.Datetime) -> pl.Expr:
    """Write days and moments of any year in their one spelling, in UTC: what programs keep of a moment."""
    kept = cell.to_physical().cast(pl.Int64)
    if isinstance(dtype, pl.Datetime):
        long = _UNITS_OF_A_DAY[dtype.time_unit]
        days, within = kept // long, _microseconds(kept % long, dtype.time_unit)
    else:
        days, within = kept, pl.lit(0)
    return written_moment((days % _CYCLE * _DAY_LONG + within).cast(pl.Datetime("us")), days // _CYCLE)


def _endless(cell: pl.Expr, dtype: pl.Date | pl.Datetime) -> pl.Expr:
    """Write the first and last of all days as infinities: so DuckDB keeps them, and a column of ``inf``."""
    last = _LAST_DAY if isinstance(dtype, pl.Date) else _LAST_MOMENT
    kept = cell.to_physical()
    return pl.when(kept == last).then(pl.lit("inf")).when(kept == -last).then(pl.lit("-inf"))


def value_alone(column: str, dtype: pl.DataType, decimal: str | None = None) -> pl.Expr:
    """Write what each cell says in the one spelling of its value, whatever its column was written as.

    Guarantees:
        - Whatever spelling or type another program chose for a whole column, a value comes out as one text.

    Example:
        >>> days = pl.DataFrame({"day": ["2024-01-02 00:00:00", "2024-1-2", "NaN"]})
        >>> days.select(value_alone("day", days.schema["day"]))["day"].to_list()
        ['2024-01-02', '2024-01-02', None]
    """
    if isinstance(dtype, pl.Boolean):
        return pl.col(column).cast(pl.Int8).cast(pl.String)
    if dtype.is_numeric() or isinstance(dtype, pl.Null | pl.Duration | pl.Time):
        return written_number(number_alone(column, dtype))
    if isinstance(dtype, pl.Date | pl.Datetime):
        return pl.coalesce(_endless(pl.col(column), dtype), _spelled_day(pl.col(column), dtype)).alias(column)
    text = _with_points(_text(pl.col(column), dtype), dtype, decimal)
    return text.map_batches(one_spelling, return_dtype=pl.String, is_elementwise=True).alias(column)


def _with_points(text: pl.Expr, dtype: pl.DataType, decimal: str | None) -> pl.Expr:
    """Write numbers of texts with a point."""
    if decimal == "," and isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return text.str.replace(_COMMA, "$1.$2")
    return text


def value_of(declared: str, decimal: str | None = None) -> tuple[str | None, float | None]:
    """Give a declared value in its one spelling, and the number it is.

    Example:
        >>> value_of("2.50"), value_of("yes"), value_of("ward b")
        (('2.5', 2.5), ('1', 1.0), ('ward b', None))
    """
    return values_of([declared], decimal)[0]


def values_of(declared: Iterable[str], decimal: str | None = None) -> list[tuple[str | None, float | None]]:
    """Give :func:`value_of` of many."""
    frame, kind = pl.DataFrame({"cell": list(declared)}, schema={"cell": pl.String}), pl.String()
    number = number_alone("cell", kind, decimal).alias("number")
    return frame.select(value_alone("cell", kind, decimal), number).rows()


def number_alone(column: str, dtype: pl.DataType, decimal: str | None = None) -> pl.Expr:
    """Read each cell as a number; what is none, NaN included, is null.

    Spans and times of day are their microseconds: beside one of them pyarrow takes everybody's whole number
    for such, and only so the numbers come back.

    Example:
        >>> words = pl.DataFrame({"cost": ["3", " 2.5", "much", "true"]})
        >>> words.select(number_alone("cost", words.schema["cost"]))["cost"].to_list()
        [3.0, 2.5, None, 1.0]
    """
    if dtype.is_numeric() or isinstance(dtype, pl.Boolean):
        number = pl.col(column).cast(pl.Float64, strict=False)
    elif isinstance(dtype, pl.Duration | pl.Time):
        unit = dtype.time_unit if isinstance(dtype, pl.Duration) else "ns"
        number = _microseconds(pl.col(column).to_physical(), unit).cast(pl.Float64)
    else:
        text = _with_points(text_alone(column, dtype), dtype, decimal)
        number = text.map_batches(numbers_of, return_dtype=pl.Float64, is_elementwise=True)
    return number.fill_nan(None).alias(column)


def _microseconds(kept: pl.Expr, unit: str) -> pl.Expr:
    return kept if unit == "us" else kept // 1000 if unit == "ns" else kept * 1000


def plain_alone(column: str, dtype: pl.DataType) -> pl.Expr:
    """Write each cell so that files and frames of the same rows agree: numbers alike, words in small letters.

    Example:
        >>> cells = pl.DataFrame({"cost": ["2.50", "3", "TRUE"]})
        >>> cells.select(plain_alone("cost", cells.schema["cost"]))["cost"].to_list()
        ['2.5', '3', '1']
    """
    return value_alone(column, dtype).str.to_lowercase()


def day_alone(column: str, dtype: pl.DataType) -> pl.Expr:
    """Read each cell as a day; of a moment the day counts, and what is neither is null.

    Example:
        >>> days = pl.DataFrame({"born": ["1990-05-01", "1990-05-01T13:00", "unknown"]})
        >>> days.select(day_alone("born", days.schema["born"]))["born"].to_list()
        [datetime.date(1990, 5, 1), datetime.date(1990, 5, 1), None]
    """
    return value_alone(column, dtype).str.extract(_DAY, 1).str.to_date("%Y-%m-%d", strict=False)


def part_of_width(number: pl.Expr, width: float) -> pl.Expr:
    """Divide each cell by one public number, with the same result however many rows there are.

    Polars multiplies many rows by the inverse of a single number, and divides a single row by it: the last
    digits differ, and one record more would move another's cell to the next step of a grid. Divided by a
    column, every cell comes out as exactly as it can.

    Example:
        >>> days = pl.DataFrame({"stay": [35.0, 7.0]})
        >>> days.select(7 * (pl.col("stay") / 49), part_of_width(pl.col("stay"), 49).alias("part") * 7).row(0)
        (4.999999999999999, 5.0)
    """
    widths = pl.int_range(pl.len()).cast(pl.Float64) * 0.0 + width  # a column that is not one number for all
    return number / widths


def place_alone(
    column: str,
    dtype: pl.DataType,
    declared: tuple[str, ...],
    decimal: str | None = None,
    *,
    as_written: bool = False,
) -> pl.Expr:
    """Give the place of each cell among declared values, or null: by its number, else by its text.

    Args:
        column: Its name.
        dtype: Its type.
        declared: The values.
        decimal: The decimal sign of texts.
        as_written: Look for the very text first: 1.1 and 1.10 then have places of their own in a column of
            texts. Never where noise is paid for: one record can make numbers of them, for everybody.

    Guarantees:
        - Spellings of one value have one place; of two declared spellings the first one's, but for those
          that stand there as written.

    Example:
        >>> wards = pl.DataFrame({"ward": [1.0, 2.0, None]})
        >>> wards.select(place_alone("ward", wards.schema["ward"], ("2", "1")))["ward"].to_list()
        [1, 0, None]
    """
    texts, numbers = dict[str, int](), dict[float, int]()
    for place, (text, number) in enumerate(values_of(declared, decimal)):
        if number is not None:
            numbers.setdefault(number, place)
        elif text is not None:
            texts.setdefault(text, place)
    places = [_looked_up(number_alone(column, dtype, decimal), numbers, pl.Float64())] if numbers else []
    if texts or not numbers:
        places.append(_looked_up(value_alone(column, dtype, decimal), texts, pl.String()))
    if as_written:
        written = {value.strip(): place for place, value in reversed(list(enumerate(declared)))}
        places.insert(0, _looked_up(text_alone(column, dtype), written, pl.String()))
    return pl.coalesce(places)


def _looked_up(cell: pl.Expr, places: Mapping[Any, int], kind: pl.DataType) -> pl.Expr:
    known, numbered = pl.Series(list(places), dtype=kind), pl.Series(list(places.values()), dtype=pl.Int64)
    return cell.replace_strict(known, numbered, default=None, return_dtype=pl.Int64)


def texts_of_objects(values: Iterable[object]) -> pl.Series:
    """Write Python objects of any kinds as :func:`text_alone` writes cells of their own columns.

    Example:
        >>> texts_of_objects([3, 3.0, "3", None, float("nan"), True, [1, 2]]).to_list()
        ['3', '3', '3', None, None, 'true', None]
    """
    texts = [_text_or_none(value) for value in values]
    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError:  # half a character is no text; the others are
        whole = [None if text is None else text.encode(errors="replace").decode() for text in texts]
        return pl.Series(whole, dtype=pl.String)


def _text_or_none(value: object) -> str | None:
    try:
        return _text_of(value)
    except Exception:  # noqa: BLE001 - whatever an object does when it is asked, it is no reason to fail
        return None


def _text_of(value: object) -> str | None:  # noqa: PLR0911 - one line per kind
    match value:
        case str():
            return value
        case bytes() | bytearray():  # one such cell makes bytes of a whole column of words
            return value.decode()
        case bool() | np.bool_():
            return str(value).lower()
        case date() | time() | timedelta() | np.datetime64() | np.timedelta64():  # the last is whole as well
            return _text_of_time(value)
        case Integral():
            return str(int(value))
        case Decimal():
            return _text_of_decimal(value)
        case Real():
            return _text_of_float(float(value))
        case Complex() if complex(value).imag == 0:  # what a column of numbers is beside one that is complex
            return _text_of_float(complex(value).real)
        case tuple() if type(value).__name__ == "MonthDayNano":  # DuckDB makes months of days
            months, days, nanoseconds = value
            return str((30 * months + days) * _DAY_LONG + nanoseconds // 1000)
    return None


def _text_of_time(value: date | time | timedelta | np.datetime64 | np.timedelta64) -> str | None:
    if isinstance(value, time):
        return _text_in_column(pl.Series([value]))
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit = "ns" if np.datetime_data(value)[0] in {"ns", "ps", "fs", "as"} else "us"
        return _text_in_column(pl.Series(np.array([value]).astype(f"{value.dtype.kind}8[{unit}]")))
    if value != value:  # noqa: PLR0124 - a day that is none is not equal to itself
        return None
    if isinstance(value, timedelta):
        return str(value // _MICROSECOND)
    if isinstance(value, datetime) and value.tzinfo is not None:  # what programs keep of a moment
        value = value.astimezone(UTC).replace(tzinfo=None)
    return re.sub(_MIDNIGHT, "", re.sub(_THOUSANDTHS, r"\1", value.isoformat()))


def _text_of_decimal(value: Decimal) -> str | None:
    if not value.is_finite():
        return _text_of_float(float(value))
    if abs(value.adjusted()) > MOST_DIGITS:  # written out it would fill the memory
        return None
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _text_of_float(value: float) -> str | None:
    if math.isnan(value):
        return None
    if value.is_integer() and abs(value) <= EXACT:
        return str(int(value))
    return _text_in_column(pl.Series([value]))


def _text_in_column(cell: pl.Series) -> str | None:
    """Write a cell as a column of such is written."""
    text: str | None = pl.select(_text(pl.lit(cell), cell.dtype)).item()
    return text
