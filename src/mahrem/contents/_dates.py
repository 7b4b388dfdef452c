"""Dates in any usual writing; those that births would have apart from those of events."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.contents._distinct import FIGURES, DistinctCells, contains, fold
from mahrem.contents._findings import ContentFinding
from mahrem.types import Floats

MONTHS = {
    word: month
    for month, words in enumerate(
        (
            "jan january januar jaenner janner ocak oca", "feb february februar feber subat sub",
            "mar march marz maerz mrz mart", "apr april nisan nis", "may mai mayis",
            "jun june juni haziran haz",
            "jul july juli temmuz tem", "aug august agustos agu", "sep sept september eylul eyl",
            "oct october okt oktober ekim eki", "nov november kasim kas",
            "dec december dez dezember aralik ara",
        ),
        start=1,
    )
    for word in words.split()
}  # fmt: skip
ROMAN = dict(
    zip(("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"), range(1, 13), strict=True)
)
# Plain digits and letters: classes of all scripts make patterns that take long to build.
CLOCK = (
    r"(?:[Tt ,]+(?:um |at |saat )?[0-9]{1,2}[:.][0-9]{2}[^ ]*(?: ?[AaPp]\.?[Mm]\.?)?"
    r"(?: ?(?:Z|z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
NUMERIC = (
    r"^(?:[^0-9 ]+ )?([0-9]{1,4})(?: ?[-./] ?| )([0-9]{1,2})(?: ?[-./] ?| )([0-9]{1,4})\.?" + CLOCK + "$"
)
SOLID = r"^((?:19|20)[0-9]{2})(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])(?:T?[0-9]{4,6}Z?)?$"
DAY_NAME = r"(?:[a-z]+\.?,? )?"
YEAR = r"([0-9]{4}|'?[0-9]{2})"
CLOCK_FOLDED = CLOCK.replace("UTC", "utc")
DAY_FIRST = (
    rf"^{DAY_NAME}([0-9]{{1,2}})(?:st|nd|rd|th)?[. \-/]*(?:of )?([a-z]+)[., \-/]*"
    rf"{YEAR}{CLOCK_FOLDED}(?: [a-z]+)?$"
)
MONTH_FIRST = rf"^{DAY_NAME}([a-z]+)[. \-]+([0-9]{{1,2}})(?:st|nd|rd|th)?[., \-]+{YEAR}{CLOCK_FOLDED}$"
BY_PROGRAMS = r"^[a-z]+ ([a-z]+) +([0-9]{1,2}) [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: [a-z]+)? ([0-9]{4})$"
YEAR_MONTH_NAME = rf"^([0-9]{{4}})[. \-/]+([a-z]+)[. \-/]+([0-9]{{1,2}}){CLOCK_FOLDED}$"
YEAR_ALONE = r"^(19[0-9]{2}|20[0-2][0-9])(?:[-/.](?:0[1-9]|1[0-2]))?$"
MONTH_OF_YEAR = r"^(?:0?[1-9]|1[0-2])[-/.](19[0-9]{2}|20[0-2][0-9])$"
FEWEST = 3  # digits in a date: 3 Mar 90
LEAST = 0.6  # share of dates from which a column is called one
GLANCE = 100  # values that show that a column holds no dates
MOMENTS = 8  # different values from which on numbers may count time
OLDEST, CHILD, SPAN, LONG_AGO = 1880, 12, 15, 30  # years


def years_of(cells: DistinctCells) -> Floats:
    """Read dates as years with a fraction; NaN where a value is no date.

    Days before months or after is decided by all values: what lets more of them be dates.
    """
    years = np.full(len(cells.texts), np.nan)
    if cells.signs <= FIGURES:
        return _dated(*_groups(cells.texts, SOLID, near="^(?:19|20)[0-9]{6}"))
    labelled = cells.texts.str.replace(
        r"(?i)^(?:dob|d\.o\.b\.?|geb\.?|born|d\.?t\.?|dogum|doğum|\*)\s*[:.]?\s*", ""
    )
    if not contains(labelled, "[0-9]").any():
        return years
    first, second, third = _groups(labelled, NUMERIC, near=r"[0-9] ?[-./ ] ?[0-9]{1,2} ?[-./ ] ?[0-9]")
    # Nobody writes the month first with points between, and no year has one digit behind a day.
    short = contains(labelled, r"[-./ ][0-9]$")
    third = np.where(short & (first <= 31), np.nan, third)
    pointed = contains(labelled, r"^[0-9]{1,2}\.")
    day_month = _dated(third, second, first)
    month_day = np.where(pointed, np.nan, _dated(third, first, second))
    year_first = _dated(first, second, third)
    american = cells.counts[~np.isnan(month_day)].sum() > cells.counts[~np.isnan(day_month)].sum()
    numeric = np.where(first > 31, year_first, month_day if american else day_month)
    if np.isnan(numeric).any() and not np.isnan(first).all():  # 90-01-31
        short = np.isnan(numeric) & (second <= 12)
        numeric = np.where(short, year_first, numeric)
    years = np.where(np.isnan(numeric), years, numeric)
    years = _either(years, _dated(*_groups(labelled, SOLID, near="[0-9]{8}")))
    if not np.isnan(years).any() or not any(map(str.isalpha, cells.signs)):
        return years
    plain = fold(labelled)
    if contains(plain, "[0-9].*[a-z]{3}|[a-z]{3}.*[0-9]|[0-9][. /-]+[ivx]+[. /-]+[0-9]").any():
        for pattern, order in (
            (DAY_FIRST, (2, 1, 0)),
            (MONTH_FIRST, (2, 0, 1)),
            (BY_PROGRAMS, (2, 0, 1)),
            (YEAR_MONTH_NAME, (0, 1, 2)),
        ):
            groups = _groups(plain, pattern, near="[0-9].*[a-z]|[a-z].*[0-9]")
            years = _either(years, _dated(*(groups[place] for place in order)))
    return years


def _groups(texts: pl.Series, pattern: str, *, near: str) -> tuple[Floats, ...]:
    """Give the three parts of every value as numbers; months in words too.

    What has them matches ``near`` as well, a simple pattern that rules most columns out.
    """
    if not contains(texts, near).any():
        return (np.full(len(texts), np.nan),) * 3
    parts = texts.str.extract_groups(pattern).struct.unnest()
    if parts.to_series(0).null_count() == len(texts):
        return (np.full(len(texts), np.nan),) * 3
    numbers = []
    for part in parts.iter_columns():
        lean = part.str.strip_chars("'").str.strip_chars(".")
        number = lean.cast(pl.Float64, strict=False)
        named = lean.replace_strict({**MONTHS, **ROMAN}, default=None, return_dtype=pl.Float64)
        numbers.append(number.fill_null(named).to_numpy())
    return tuple(numbers)


def _either(first: Floats, second: Floats) -> Floats:
    return np.where(np.isnan(first), second, first)


def _dated(year: Floats, month: Floats, day: Floats) -> Floats:
    """Give years with a fraction where three numbers are a date of the last century and a half."""
    now = dt.datetime.now(tz=dt.UTC).year
    full = np.where(year < 100, np.where(year > now % 100 + 1, 1900 + year, 2000 + year), year)
    with np.errstate(invalid="ignore"):
        valid = (
            (full >= OLDEST) & (full <= now + 30) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
        )
        valid &= ~((day == 31) & np.isin(month, (2, 4, 6, 9, 11))) & ~((day == 30) & (month == 2))
        return np.where(valid, full + (month - 1) / 12 + (day - 1) / 372, np.nan)


def _births(years: Floats) -> bool:
    """Tell whether dates are spread as births are: over decades, most of them long ago."""
    is_date = ~np.isnan(years)
    sorted_years = np.sort(years[is_date])
    if len(sorted_years) < 2:
        return False
    low, middle, high = np.quantile(sorted_years, (0.1, 0.5, 0.9))
    now = dt.datetime.now(tz=dt.UTC).year
    wide = high - low >= SPAN and middle <= now - CHILD
    return bool((wide or middle <= now - LONG_AGO) and sorted_years[-1] <= now + 1)


def _year_numbers(cells: DistinctCells) -> Floats:
    """Give the years of all rows where nearly all are years, or months of years; nothing otherwise."""
    texts = cells.texts
    years = texts.str.extract(YEAR_ALONE).fill_null(texts.str.extract(MONTH_OF_YEAR)).cast(pl.Float64)
    fits = years.is_not_null().to_numpy()
    if fits.sum() < 15 or cells.share(fits) < 0.98:
        return np.empty(0)
    often = np.maximum(1, 2000 * cells.counts[fits] / cells.counts.sum()).astype(np.int64)
    return np.repeat(years.to_numpy()[fits], often)


def _plausible(cells: DistinctCells) -> Floats:
    """Read a column as dates, or as nothing where only few of its values are; once for both kinds."""
    if "years" not in cells.memory:
        cells.memory["years"] = _read(cells)
    years: Floats = cells.memory["years"]
    return years


def _read(cells: DistinctCells) -> Floats:
    counted = _counted(cells)
    if counted is not None:
        return counted
    if cells.numeric and not contains(cells.texts, SOLID).any():
        return np.full(len(cells.texts), np.nan)
    # Patterns of dates take long to build: a glance at the digits rules most columns out.
    if cells.share((cells.texts.str.count_matches("[0-9]") >= FEWEST).to_numpy()) < LEAST:
        return np.full(len(cells.texts), np.nan)
    some = cells.some(GLANCE)
    if some is not cells and some.share(~np.isnan(years_of(some))) < LEAST / 2:
        return np.full(len(cells.texts), np.nan)
    years = years_of(cells)
    is_date = ~np.isnan(years)
    # Eight digits in a row are dates only where all are.
    solid = contains(cells.texts, r"^\d+$")
    if cells.share(is_date & solid) > 0.3 and cells.share(is_date) < 0.95:
        return np.full(len(years), np.nan)
    return years if cells.share(is_date) >= LEAST else np.full(len(years), np.nan)


def _counted(cells: DistinctCells) -> Floats | None:
    """Read moments that programs count in seconds or milliseconds since 1970; None where values are others.

    Whole days leave nothing by the length of a day, or all the same. Other moments lie within the last
    decades, and so close together that numbers of other things hardly would.
    """
    if len(cells.texts) < MOMENTS or not cells.signs <= {*FIGURES, "-"}:
        return None
    numbers = cells.texts.cast(pl.Int64, strict=False)
    if numbers.null_count():
        return None
    values = numbers.to_numpy()
    for second in (1, 1000):
        day = 86_400 * second
        years = 1970 + values / (365.2425 * day)
        now = dt.datetime.now(tz=dt.UTC).year + 1
        inside = (years >= OLDEST) & (years <= now)
        if not inside.all() or float(np.median(np.abs(values))) < 365 * day:
            continue
        _, often = np.unique(values % day, return_counts=True)
        whole = often.max() >= 0.9 * len(values)
        recent = years.min() >= 2001 and np.ptp(years) >= 0.1 and len(often) >= 0.5 * len(values)
        if whole or recent:
            return years
    return None


def _span(years: Floats) -> float:
    low, high = np.quantile(years, (0.1, 0.9))
    return float(np.round(high - low))


@dataclass(frozen=True)
class BirthDate:
    """Recognise dates, and years alone, that are spread as births are."""

    kind: str = "birth-date"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether a column holds dates of birth."""
        years = _plausible(cells)
        is_date = ~np.isnan(years)
        if is_date.any() and _births(years):
            return cells.finding(self.kind, is_date, 0.85, "dates", span=_span(years[is_date]))
        alone = _year_numbers(cells)
        if len(alone) and _births(alone):
            everyone = np.ones(len(years), np.bool_)
            return cells.finding(self.kind, everyone, 0.6, "years", span=_span(alone))
        return None


@dataclass(frozen=True)
class EventDate:
    """Recognise dates that are not spread as births are: visits, orders, deaths."""

    kind: str = "date"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether a column holds dates of events."""
        years = _plausible(cells)
        is_date = ~np.isnan(years)
        if not is_date.any() or _births(years):
            return None
        return cells.finding(self.kind, is_date, 0.9, "dates", span=_span(years[is_date]))


BIRTH, EVENT = BirthDate(), EventDate()
