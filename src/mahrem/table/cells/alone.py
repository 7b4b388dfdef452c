"""What a cell says by itself, whatever type its column came with: one text, one number, one day.

A type belongs to a whole column, and a single record can change it: an empty cell turns whole numbers into
floats, a word turns numbers into texts. Whoever promises that a record changes nothing for the others reads
cells here, where 3, 3.0 and "3" are the same and what cannot be read is missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Complex, Integral, Real

import numpy as np
import polars as pl

from mahrem.table.cells._number_grid import EXACT

__all__ = [
    "TEXT_OF_MIDNIGHT",
    "are_days",
    "day_alone",
    "number_alone",
    "number_of",
    "part_of_width",
    "place_alone",
    "plain_alone",
    "text_alone",
    "text_beside",
    "texts_of_objects",
]

_DAY = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ].*)?$"
_CLOCK = "%Y-%m-%dT%H:%M:%S%.f"
_MIDNIGHT = r"T00:00:00(?:[+-][0-9]{2}:[0-9]{2})?$"  # a day, whatever zone it was put in
# The same in a column of texts: one moment makes pandas write the midnight of every other day into a file.
TEXT_OF_MIDNIGHT = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]00:00:00([.]0+)?(Z|[+-][0-9]{2}:?[0-9]{2})?$"
MOST_DIGITS = 400  # of a number; the largest float has 309
_THOUSANDTHS = r"(\.[0-9]{3})000(?![0-9])"  # polars writes whole thousandths of a second with three digits
_MICROSECOND = timedelta(microseconds=1)
_TRUTH = {"true": 1.0, "false": 0.0}


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
    if dtype.is_float():
        cell = cell.cast(pl.Float64)  # one number of more digits widens those of all others
        exact = (cell == cell.round()) & (cell.abs() <= EXACT)
        whole = pl.when(exact).then(cell).cast(pl.Int64).cast(pl.String)
        return pl.coalesce(whole, cell.fill_nan(None).cast(pl.String))
    if isinstance(dtype, pl.Decimal):
        text = cell.cast(pl.String)
        short = text.str.strip_chars_end("0").str.strip_chars_end(".")
        return pl.when(text.str.contains(".", literal=True)).then(short).otherwise(text)
    if isinstance(dtype, pl.Date | pl.Datetime):  # polars panics where it writes a day of no calendar
        cell = pl.when(cell.dt.year().is_between(1, 9999)).then(cell)
    if isinstance(dtype, pl.Datetime):
        zoned = "" if dtype.time_zone is None else "%:z"
        return cell.dt.to_string(_CLOCK + zoned).str.replace(_MIDNIGHT, "")
    if dtype.is_integer() or isinstance(dtype, pl.Boolean | pl.Null | pl.Date | pl.Time):
        return cell.cast(pl.String)
    if isinstance(dtype, pl.Duration):
        return _microseconds(cell, dtype).cast(pl.String)
    return pl.repeat(None, pl.len(), dtype=pl.String)


def text_beside(column: str, dtype: pl.DataType, compared: Iterable[str]) -> pl.Expr:
    """Write each cell as text to be compared with others; beside days, a midnight written out is its day.

    Example:
        >>> days = pl.DataFrame({"day": ["2024-01-02 00:00:00", "2024-01-02 13:05:00"]})
        >>> days.select(text_beside("day", days.schema["day"], ["2024-01-02"]))["day"].to_list()
        ['2024-01-02', '2024-01-02 13:05:00']
    """
    text = text_alone(column, dtype)
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum) and are_days(compared):
        return text.str.replace(TEXT_OF_MIDNIGHT, "$1")
    return text


def are_days(texts: Iterable[str]) -> bool:
    """Say whether some texts are days."""
    return any(re.match(_DAY, text.strip()) for text in texts)


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
    elif isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        text = text_alone(column, dtype)
        if decimal == ",":
            text = text.str.replace_all(",", ".", literal=True)
        truth = pl.Series(list(_TRUTH)), pl.Series(list(_TRUTH.values()))
        truth_value = text.str.to_lowercase().replace_strict(*truth, default=None, return_dtype=pl.Float64)
        number = pl.coalesce(text.cast(pl.Float64, strict=False), truth_value)
    elif isinstance(dtype, pl.Duration | pl.Time):
        number = _microseconds(pl.col(column), dtype).cast(pl.Float64)
    else:
        number = pl.repeat(None, pl.len(), dtype=pl.Float64)
    return number.fill_nan(None).alias(column)


def _microseconds(cell: pl.Expr, dtype: pl.Duration | pl.Time) -> pl.Expr:
    kept = cell.to_physical()
    unit = dtype.time_unit if isinstance(dtype, pl.Duration) else "ns"
    return kept if unit == "us" else kept // 1000 if unit == "ns" else kept * 1000


def plain_alone(column: str, dtype: pl.DataType) -> pl.Expr:
    """Write each cell so that files and frames of the same rows agree: numbers alike, words in small letters.

    Example:
        >>> cells = pl.DataFrame({"cost": ["2.50", "3", "TRUE"]})
        >>> cells.select(plain_alone("cost", cells.schema["cost"]))["cost"].to_list()
        ['2.5', '3', 'true']
    """
    text = text_alone(column, dtype)
    if not isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return text
    return pl.coalesce(_text(text.cast(pl.Float64, strict=False), pl.Float64()), text.str.to_lowercase())


def number_of(text: str) -> float | None:
    """Read one declared value as cells are read; None if it is no number.

    Example:
        >>> number_of("3.0"), number_of("True"), number_of("ward 3")
        (3.0, 1.0, None)
    """
    try:
        number = float(text)
    except ValueError:
        return _TRUTH.get(text.strip().lower())
    return None if math.isnan(number) or "_" in text else number


def day_alone(column: str, dtype: pl.DataType) -> pl.Expr:
    """Read each cell as a day; of a moment the day counts, and what is neither is null.

    Example:
        >>> days = pl.DataFrame({"born": ["1990-05-01", "1990-05-01T13:00", "unknown"]})
        >>> days.select(day_alone("born", days.schema["born"]))["born"].to_list()
        [datetime.date(1990, 5, 1), datetime.date(1990, 5, 1), None]
    """
    return text_alone(column, dtype).str.extract(_DAY, 1).str.to_date("%Y-%m-%d", strict=False)


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


def place_alone(column: str, dtype: pl.DataType, declared: tuple[str, ...]) -> pl.Expr:
    """Give the place of each cell among declared values, or null: by its text, else by its number.

    Example:
        >>> wards = pl.DataFrame({"ward": [1.0, 2.0, None]})
        >>> wards.select(place_alone("ward", wards.schema["ward"], ("2", "1")))["ward"].to_list()
        [1, 0, None]
    """
    numbers: dict[float, int] = {}
    for place, value in enumerate(declared):
        number = number_of(value)
        if number is not None:
            numbers.setdefault(number, place)
    places = pl.Series(range(len(declared)), dtype=pl.Int64)
    by_text = text_beside(column, dtype, declared).replace_strict(
        pl.Series(declared).str.strip_chars(), places, default=None, return_dtype=pl.Int64
    )
    if not numbers:
        return by_text
    by_number = number_alone(column, dtype).replace_strict(
        pl.Series(list(numbers), dtype=pl.Float64),
        pl.Series(list(numbers.values()), dtype=pl.Int64),
        default=None,
        return_dtype=pl.Int64,
    )
    if dtype.is_numeric() and len(numbers) == sum(number_of(value) is not None for value in declared):
        return by_number  # no two declared values are one number, so texts could say nothing else
    return pl.coalesce(by_text, by_number)


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
        case Integral():
            return str(int(value))
        case Decimal():
            return _text_of_decimal(value)
        case date() | time() | timedelta() | np.datetime64() | np.timedelta64():
            return _text_of_time(value)
        case Real():
            return _text_of_float(float(value))
        case Complex() if complex(value).imag == 0:  # what a column of numbers is beside one that is complex
            return _text_of_float(complex(value).real)
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
