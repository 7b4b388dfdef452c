"""Dates as people write them: days or months first, months in words, a clock behind."""

from __future__ import annotations

import re
import unicodedata

import polars as pl

_CLOCK = r"(?:[T ,]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]{1,6})?))? ?([AaPp])?(?:\.?[Mm]\.?)?)?"
CLOCK_PARTS = ("hour", "minute", "seconds", "half")
_NUMERIC = rf"^\s*([0-9]{{1,4}})([./-])([0-9]{{1,2}})([./-])([0-9]{{1,4}}){_CLOCK}\s*$"
_WORD = r"([\p{L}]+)"
_DAY_WORD = rf"^\s*([0-9]{{1,2}})(?:st|nd|rd|th)?\.?[ /-]?{_WORD}\.?,?[ /-]?([0-9]{{4}}){_CLOCK}\s*$"
_WORD_DAY = rf"^\s*{_WORD}\.? ([0-9]{{1,2}})(?:st|nd|rd|th)?,? ([0-9]{{4}}){_CLOCK}\s*$"
_MONTHS = (
    "jan january januar jaenner janner ocak oca", "feb february februar feber subat sub",
    "mar march marz maerz mrz mart", "apr april nisan nis", "may mai mayis", "jun june juni haziran haz",
    "jul july juli temmuz tem", "aug august agustos agu", "sep sept september eylul eyl",
    "oct october okt oktober ekim eki", "nov november kasim kas", "dec december dez dezember aralik ara",
)  # fmt: skip
_NUMBERS = {word: number for number, words in enumerate(_MONTHS, start=1) for word in words.split()}
_DIRECTIVES = frozenset("dmYyHMSbBpIjeaAfFTR%")
_TIMES = frozenset("HMSpIfTR")


def usual_dates(texts: pl.Series) -> pl.Series:
    """Read dates that are not ISO as ISO text, whole columns at a time; null where a text is none.

    Whether days or months come first is decided for each separator by all texts that have it: a part above 12
    is a day. Days come first before dots where nothing tells, as everywhere that dots are used.

    Args:
        texts: What is written in a column; each text once is enough.

    Guarantees:
        - A text that could be two dates, and whose order no other text tells, is null.
        - Years of two digits are null: nobody knows their century.

    Example:
        >>> usual_dates(pl.Series(["12/31/2020", "1/2/2021"])).to_list()
        ['2020-12-31', '2021-01-02']
        >>> usual_dates(pl.Series(["1/2/2021", "3 Mart 2021"])).to_list()
        [None, '2021-03-03']
    """
    frame = _numeric_parts(texts)
    first, second, third = pl.col("first"), pl.col("second"), pl.col("third")
    last = pl.col("year_last")
    days = (last & (first > 12)).any().over("mark")  # a first part that can only be a day
    months = (last & (second > 12)).any().over("mark")
    dotted = pl.col("mark") == "."
    day_first = (
        pl.when(dotted & ~months).then(True)
        .when(days != months).then(days)
        .when(first > 12).then(True)
        .when(second > 12).then(False)
        .when(first == second).then(True)
    )  # fmt: skip
    frame = frame.with_columns(day_first.alias("day_first")).select(
        pl.when("year_first").then(first).when("year_last").then(third).alias("year"),
        pl.when("year_first").then(second).when("day_first").then(second).otherwise(first).alias("month"),
        pl.when("year_first").then(third).when("day_first").then(first).otherwise(second).alias("day"),
        (pl.col("year_first") | (last & pl.col("day_first").is_not_null())).alias("known"),
        *CLOCK_PARTS,
    )
    read = _iso(frame).set(~frame["known"].fill_null(value=False), None)
    for pattern, day, month in ((_DAY_WORD, "1", "2"), (_WORD_DAY, "2", "1")):
        if read.null_count() == texts.null_count():
            break
        named = texts.str.extract_groups(pattern).struct.unnest()
        words = pl.DataFrame(
            {
                "year": named["3"].cast(pl.Int64, strict=False),
                "month": _month_numbers(named[month]),
                "day": named[day].cast(pl.Int64, strict=False),
                **{part: named[str(place)] for place, part in enumerate(CLOCK_PARTS, start=4)},
            }
        )
        read = read.fill_null(_iso(words))
    return read.alias(texts.name)


def dates_of_format(texts: pl.Series, form: str) -> pl.Series:
    """Read dates of a format (``%d/%m/%Y``) as ISO text; null where a text is of another.

    Example:
        >>> dates_of_format(pl.Series(["31/12/20", "x"]), "%d/%m/%y").to_list()
        ['2020-12-31', None]
    """
    lean, form = texts.str.strip_chars(), form.replace(".%f", "%.f")
    if _TIMES & set(re.findall(r"%\.?(.)", form)):
        moments = lean.str.to_datetime(form, time_unit="us", strict=False)
        return moments.dt.to_string("%Y-%m-%dT%H:%M:%S%.f")
    return lean.str.to_date(form, strict=False).dt.to_string("%Y-%m-%d")


def is_date_format(form: str) -> bool:
    """Say whether a text is a format that gives a whole date: ``%d/%m/%Y``, ``%F``, ``%d %B %Y %H:%M``."""
    named = re.findall(r"%(.)", form)
    if not named or not set(named) <= _DIRECTIVES or form.count("%") != len(named) + named.count("%"):
        return False
    whole = {"F"}, *({day, month, year} for day in "de" for month in "mbB" for year in "Yy"), {"j", "Y"}
    return any(parts <= set(named) for parts in whole)


def look_like_dates(texts: pl.Series) -> pl.Series:
    """Say which texts are written like dates, whether or not it is known which: a Boolean series."""
    first, second = pl.col("first"), pl.col("second")
    a_day = (pl.max_horizontal(first, second) <= 31) & (pl.min_horizontal(first, second).is_between(1, 12))
    short = pl.col("short") & a_day
    plain = _numeric_parts(texts).select(pl.col("year_first") | (pl.col("year_last") & a_day) | short)
    named = pl.Series([False]).new_from_index(0, len(texts))
    for pattern, place in ((_DAY_WORD, "2"), (_WORD_DAY, "1")):
        words = texts.str.extract_groups(pattern).struct.field(place)
        named |= _month_numbers(words).is_not_null()
    return plain.to_series().fill_null(value=False) | named


def _numeric_parts(texts: pl.Series) -> pl.DataFrame:
    """Take numeric dates apart, and say where the year stands."""
    parts = texts.str.extract_groups(_NUMERIC).struct.unnest()
    long_first, long_last = (parts[place].str.len_bytes() == 4 for place in ("1", "5"))
    short_first, short_last = (parts[place].str.len_bytes() <= 2 for place in ("1", "5"))
    same = parts["2"] == parts["4"]
    return pl.DataFrame(
        {
            "mark": parts["2"],
            **{
                name: parts[place].cast(pl.Int64, strict=False)
                for name, place in (("first", "1"), ("second", "3"), ("third", "5"))
            },
            "year_first": same & long_first & short_last,
            "year_last": same & short_first & long_last,
            "short": same & short_first & short_last,
            **{part: parts[str(place)] for place, part in enumerate(CLOCK_PARTS, start=6)},
        }
    )


def _iso(frame: pl.DataFrame) -> pl.Series:
    """Write dates, and the clock behind them, as ISO text; what is on no calendar and no clock is null."""
    hour = pl.col("hour").cast(pl.Int64, strict=False)
    half = pl.col("half").str.to_lowercase()
    later = pl.when(half == "p").then(12).otherwise(0)
    hour = pl.when(half.is_null()).then(hour).when(hour.is_between(1, 12)).then(hour % 12 + later)
    year, month, day = (pl.col(name).cast(pl.String).str.zfill(2) for name in ("year", "month", "day"))
    date = pl.format("{}-{}-{}", year.str.zfill(4), month, day)
    valid = date.str.to_date("%Y-%m-%d", strict=False).is_not_null()
    seconds = pl.col("seconds").fill_null("00")
    clock = pl.format("{}T{}:{}:{}", date, hour.cast(pl.String).str.zfill(2), pl.col("minute"), seconds)
    runs = hour.is_between(0, 23) & (pl.col("minute") < "60") & (seconds.str.slice(0, 2) < "60")
    shown = pl.when(valid & pl.col("hour").is_null()).then(date).when(valid & runs).then(clock)
    return frame.select(shown.alias("iso")).to_series()


def _month_numbers(words: pl.Series) -> pl.Series:
    distinct = words.drop_nulls().unique()
    known = {word: _NUMBERS.get(_folded(word)) for word in distinct.to_list()}
    return words.replace_strict(known, default=None, return_dtype=pl.Int64)


def _folded(word: str) -> str:
    """Write a word in small letters without accents."""
    lower = word.replace("İ", "i").lower().replace("\u0131", "i").replace("ß", "ss")
    return "".join(sign for sign in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(sign))
