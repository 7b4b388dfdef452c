"""One spelling for every value: what other programs write or infer for a whole column says the same here.

Programs choose how a column is written by looking at all of its rows: one empty cell makes ``3`` a ``3.0``,
one word keeps ``yes`` from becoming a truth, one moment gives every day a midnight, one object turns
``0 days 08:00:00`` into ``8:00:00``. Whoever promises that a record changes nothing for the others compares
cells in this one spelling: texts, and what texts can be taken for, come out as the same text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

import polars as pl

from mahrem.table.cells._number_grid import EXACT

# What pyarrow takes for missing in a column of numbers, and for a word in a column of words.
MISSING = frozenset(
    [
        "#n/a",
        "#n/a n/a",
        "#na",
        "-1.#ind",
        "-1.#qnan",
        "-nan",
        "+nan",
        "1.#ind",
        "1.#qnan",
        "n/a",
        "na",
        "nan",
        "null",
    ]
)
TRUTHS: Mapping[str, str] = {  # what DuckDB takes for truths, and pyarrow for 1 and 0, in a column of such
    "true": "1",
    "t": "1",
    "yes": "1",
    "false": "0",
    "f": "0",
    "no": "0",
}
_ENDLESS = {"inf": "inf", "infinity": "inf", "-inf": "-inf", "-infinity": "-inf", "epoch": "1970-01-01"}
_WORDS: Mapping[str, str | None] = {**dict.fromkeys(MISSING, None), **TRUTHS, **_ENDLESS}
_HEX = r"^([+-])?0[xX]([0-9a-fA-F]{1,15})$"
_BINARY = r"^([+-])?0[bB]([01]{1,62})$"
_ZONE = r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_SIXTY = r"[0-5]?[0-9]"
_CLOCK = (
    r"^(?:(?P<years>[+-]?[0-9]{1,4}) years? ?)?(?:(?P<months>[+-]?[0-9]{1,6}) mon(?:th)?s? ?)?"
    r"(?:(?P<days>[+-]?[0-9]{1,9}) days?,? ?)?T?"
    r"(?:(?P<sign>[+-])?(?P<hours>[0-9]{1,9}):(?P<minutes>[0-5]?[0-9])"
    rf"(?::(?P<seconds>{_SIXTY}|60)(?:[.](?P<part>[0-9]{{1,9}}))?)?{_ZONE}?)?$"
)
_SPAN = (  # as ISO 8601 has it
    r"^(?P<all>[+-])?P(?:(?P<days>[+-]?[0-9]{1,9})D)?"
    r"(?:T(?:(?P<hours>[0-9]{1,9})H)?(?:(?P<minutes>[0-9]{1,9})M)?"
    r"(?:(?P<seconds>[0-9]{1,9})(?:[.](?P<part>[0-9]{1,9}))?S)?)?$"
)
_COUNTED = r"^([+-]?[0-9]{1,18}) (nano|micro|milli)?(second|minute|hour|week)s?$"  # as NumPy writes spans
_MOMENT = (  # in any year; DuckDB counts those before the first
    r"^(?P<year>[+-]?[0-9]{4,7})[-/](?P<month>[0-9]{1,2})[-/](?P<day>[0-9]{1,2})(?P<era> \(BC\))?"
    rf"(?:[T ](?P<hours>[0-9]{{1,2}}):(?P<minutes>{_SIXTY})"
    rf"(?::(?P<seconds>{_SIXTY}|60)(?:[.](?P<part>[0-9]{{1,9}}))?)?"
    rf" ?(?:(?P<away>{_ZONE[1:-1]})|(?P<zone>[A-Z][A-Za-z0-9_/+-]*))?)?$"
)
_DOTTED = r"^([0-9]{1,2})[.]([0-9]{1,2})[.]([0-9]{4})\b"  # always the day first
# Nobody knows which number is the month or the year; programs choose by all rows.
_UNSURE = r"^(?:[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2}|[0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{4})(?:[T ].*)?$"
NO_TIME = r"^24:0?0(?::0?0(?:[.]0*)?)?$"  # a column of times of day cannot hold the end of a day
_TIMED = r"^[+-]?[0-9]|^[+-]?[PT][0-9T+-]"  # all other texts are words
_LONG = pl.Int128  # of microseconds: a thousand million weeks are too many for 64 bits
_SECOND, _MINUTE, _HOUR, _DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000

# DuckDB keeps a span of many days as months of thirty, and writes it so.
_DAYS_OF = {"years": 360, "months": 30, "days": 1}
_UNITS = {
    "nanosecond": 1,
    "microsecond": 1,
    "millisecond": 1000,
    "second": _SECOND,
    "minute": _MINUTE,
    "hour": _HOUR,
    "week": 7 * _DAY,
}


def one_spelling(texts: pl.Series) -> pl.Series:
    """Write each text as every other spelling of its value is written; what says nothing is null.

    Guarantees:
        - A cell depends on itself alone, and ``one_spelling`` of what it gave changes nothing.
        - Numbers are as floats are written, whole ones without a point up to 2**53; beyond, where a gap makes
          others of whole numbers, they are what the nearest float is. Truths are 1 and 0.
        - Times of day and spans are their microseconds, as columns of such are read beside numbers.
        - Days are ISO; moments too, in UTC, which is what programs keep of them, without a midnight.
        - Words stay as they are.

    Example:
        >>> one_spelling(pl.Series(["3.0", "yes", "8:00:00", "2024-1-2 00:00", "n/a", "ward b"])).to_list()
        ['3', '1', '28800000000', '2024-01-02', None, 'ward b']
    """
    distinct = texts.unique()
    if 2 * len(distinct) > len(texts):
        return _spelled(texts)
    return texts.replace_strict(distinct, _spelled(distinct), default=None, return_dtype=pl.String)


def numbers_of(texts: pl.Series) -> pl.Series:
    """Read texts in any spelling as numbers; what is none is null.

    Example:
        >>> numbers_of(pl.Series(["3e0", "t", "PT1S", "much"])).to_list()
        [3.0, 1.0, 1000000.0, None]
    """
    trimmed = texts.str.strip_chars()
    numbers = trimmed.cast(pl.Float64, strict=False).fill_nan(None)
    others = numbers.is_null() & trimmed.is_not_null()
    if not others.any():
        return numbers
    spelled = one_spelling(trimmed.filter(others))
    return numbers.scatter(others.arg_true(), spelled.cast(pl.Float64, strict=False))


def are_words(texts: Sequence[str]) -> bool:
    """Say whether texts are mere words, which no column makes others and no other spelling says as well.

    Example:
        >>> are_words(["ward b", "m"]), are_words(["yes"]), are_words(["2024-01-02"])
        (True, False, False)
    """
    given = pl.Series(texts, dtype=pl.String)
    timed = given.str.contains(_TIMED).any()
    return not timed and one_spelling(given).to_list() == list(texts) and numbers_of(given).is_null().all()


def is_unsure_day(text: str) -> bool:
    """Say whether a text is a day of which nobody knows the month or the year: programs choose by all rows.

    Example:
        >>> is_unsure_day("13/01/2024"), is_unsure_day("24-01-13"), is_unsure_day("2024-01-13")
        (True, True, False)
    """
    return re.match(_UNSURE, text.strip()) is not None


def written_number(number: pl.Expr) -> pl.Expr:
    """Write numbers as floats are written, whole ones without a point; NaN is null."""
    number = number.cast(pl.Float64)
    exact = (number == number.round()) & (number.abs() <= EXACT)
    whole = pl.when(exact).then(number).cast(pl.Int64).cast(pl.String)
    return pl.coalesce(whole, number.fill_nan(None).cast(pl.String))


def _spelled(texts: pl.Series) -> pl.Series:
    text = pl.col("text")
    trimmed = texts.alias("text").str.strip_chars().to_frame()
    frame = trimmed.with_columns(
        text.str.to_lowercase().alias("small"),
        pl.when(text != "").then(text).alias("spelled"),
        text.cast(pl.Float64, strict=False).alias("number"),
    )
    known = pl.col("small").is_in(list(_WORDS))
    words = pl.col("small").replace_strict(_WORDS, default=None, return_dtype=pl.String)
    frame = frame.select(
        "text",
        (~known & pl.col("number").is_null() & text.str.contains(_TIMED)).alias("other"),
        pl.when(known)
        .then(words)
        .when(pl.col("number").is_not_null())
        .then(written_number(pl.col("number")))
        .otherwise("spelled")
        .alias("spelled"),
    )
    others = frame["other"].fill_null(value=False)
    if not others.any():
        return frame["spelled"].alias(texts.name)
    read = _timed(frame["text"].filter(others))
    return frame["spelled"].scatter(others.arg_true(), read).alias(texts.name)


def _timed(texts: pl.Series) -> pl.Series:
    """Write numbers to the base 16, times, spans, days and moments in their one spelling; words stay."""
    counted = [_digits(texts, _HEX, 16), _digits(texts, _BINARY, 2)]
    counted += [read(texts) for read in (_clock, _span, _counted)]
    spelled = [one.to_frame("number").select(written_number(pl.col("number"))).to_series() for one in counted]
    spelled = [*spelled, _moment(texts), texts]
    frame = pl.DataFrame([one.alias(str(place)) for place, one in enumerate(spelled)])
    return frame.select(pl.when(~texts.str.contains(NO_TIME)).then(pl.coalesce(pl.all()))).to_series()


def _digits(texts: pl.Series, pattern: str, base: int) -> pl.Series:
    """Read numbers to another base than ten."""
    signs = texts.str.extract_groups(pattern).struct.unnest()
    signed = pl.when(pl.col("1") == "-").then(-1).otherwise(1)
    return signs.select(signs["2"].str.to_integer(base=base, strict=False) * signed).to_series()


def _parts(texts: pl.Series, pattern: str) -> pl.DataFrame:
    return texts.str.extract_groups(pattern).struct.unnest()


def _clock(texts: pl.Series) -> pl.Series:
    """Give the microseconds of times of day and of spans as pandas, Python and databases write them."""
    hours = pl.col("hours").cast(_LONG)
    within = hours * _HOUR + _minutes_and_less()
    signed = pl.when(pl.col("sign") == "-").then(-1 * within).otherwise(within)
    days = sum((pl.col(name).cast(_LONG).fill_null(0) * many for name, many in _DAYS_OF.items()), pl.lit(0))
    given = pl.any_horizontal(pl.col(*_DAYS_OF, "hours").is_not_null())
    length = days * _DAY + signed.fill_null(0)
    return _parts(texts, _CLOCK).select(pl.when(given).then(length)).to_series()


def _span(texts: pl.Series) -> pl.Series:
    """Give the microseconds of spans as ISO 8601 writes them."""
    days, hours = pl.col("days").cast(_LONG), pl.col("hours").cast(_LONG)
    length = days.fill_null(0) * _DAY + hours.fill_null(0) * _HOUR + _minutes_and_less()
    signed = pl.when(pl.col("all") == "-").then(-1 * length).otherwise(length)
    named = pl.any_horizontal(pl.col("days", "hours", "minutes", "seconds").is_not_null())
    return _parts(texts, _SPAN).select(pl.when(named).then(signed)).to_series()


def _counted(texts: pl.Series) -> pl.Series:
    """Give the microseconds of spans that count one unit."""
    parts = texts.str.extract_groups(_COUNTED).struct.unnest()
    number, unit = pl.col("1").cast(_LONG), pl.concat_str(pl.col("2").fill_null(""), "3")
    length = number * unit.replace_strict(_UNITS, default=None, return_dtype=pl.Int64)
    return parts.select(pl.when(unit == "nanosecond").then(number // 1000).otherwise(length)).to_series()


def _minutes_and_less() -> pl.Expr:
    micro = pl.col("part").fill_null("").str.pad_end(9, "0").str.head(6).cast(pl.Int64)
    minutes, seconds = (pl.col(name).cast(pl.Int64).fill_null(0) for name in ("minutes", "seconds"))
    return minutes * _MINUTE + seconds * _SECOND + micro


def _moment(texts: pl.Series) -> pl.Series:
    """Write days and moments as ISO in UTC, cut to microseconds; of a midnight the day."""
    parts = _parts(texts.str.replace(_DOTTED, "$3-$2-$1"), _MOMENT)
    year = pl.col("year").cast(pl.Int64)
    year = pl.when(pl.col("era").is_not_null()).then(1 - year).otherwise(year)
    two = (pl.col(name).str.pad_start(2, "0") for name in ("month", "day"))
    day = pl.format("{}-{}-{}", 2000 + year % 400, *two).str.to_date("%Y-%m-%d", strict=False)
    within = pl.col("hours").cast(pl.Int64).fill_null(0) * _HOUR + _minutes_and_less()
    known = pl.when(within <= _DAY).then(day.cast(pl.Datetime("us")) + within.cast(pl.Duration("us")))
    read = parts.select(known.alias("moment"), (year // 400 - 5).alias("cycles"), "away", "zone")
    moments = _in_utc(read).to_frame("moment").with_columns(read["cycles"])
    return moments.select(written_moment(pl.col("moment"), pl.col("cycles"))).to_series()


def _in_utc(read: pl.DataFrame) -> pl.Series:
    """Give moments in UTC; those in a zone that is not known are null."""
    away, moment = pl.col("away"), pl.col("moment")
    minutes = away.str.extract(r"^[+-]([0-9]{2})", 1).cast(pl.Int64).fill_null(0) * 60
    minutes += away.str.extract(r"^[+-][0-9]{2}:?([0-9]{2})$", 1).cast(pl.Int64).fill_null(0)
    ahead = pl.when(away.str.starts_with("-")).then(-minutes).otherwise(minutes)
    moments = read.select(pl.when(pl.col("zone").is_null()).then(moment - pl.duration(minutes=ahead)))
    in_utc = moments.to_series()
    for name in read["zone"].unique().drop_nulls():
        places = (read["zone"] == name).fill_null(value=False).arg_true()
        in_utc = in_utc.scatter(places, _in_utc_from(read["moment"].gather(places), str(name)))
    return in_utc


def _in_utc_from(moments: pl.Series, zone: str) -> pl.Series:
    """Take moments from a zone; an hour that comes twice is the later one, as DuckDB has it."""
    try:
        first, later = (
            (moments + timedelta(hours=hours)).dt.replace_time_zone(
                zone, ambiguous="latest", non_existent="null"
            )
            for hours in (0, 1)
        )
    except pl.exceptions.PolarsError:
        return pl.Series([None] * len(moments), dtype=moments.dtype)
    here = first.zip_with(first.is_not_null(), later)  # in an hour that is left out clocks go on
    return here.dt.convert_time_zone("UTC").dt.replace_time_zone(None)


def written_moment(moment: pl.Expr, cycles: pl.Expr) -> pl.Expr:
    """Write moments as ISO, of a midnight the day.

    Args:
        moment: In microseconds, near enough for polars to know its calendar.
        cycles: So many times 400 years later: the calendar is the same then.
    """
    year = moment.dt.year().cast(pl.Int64) + 400 * cycles
    text = year.cast(pl.String)
    padded = pl.when(year.is_between(1, 9999)).then(text.str.pad_start(4, "0")).otherwise(text)
    clock = (
        moment.dt.to_string("-%m-%dT%H:%M:%S%.6f").str.replace("[.]?0+$", "").str.replace("T00:00:00$", "")
    )
    return pl.concat_str(padded, clock)
