"""Scales of pictures: where a figure lies in pixels, and which round figures are written beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

NOWHERE = math.nan
NEARLY = 1e-9  # 0.3 / 0.1 is a little less than 3
_DIGITS = ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5))  # digits of one decade, coarsest first
_YEARS = (1000, 500, 200, 100, 50, 20, 10, 5, 2, 1)
_EDGE = re.compile(r"([+-]?\d{1,9})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d))?")


@dataclass(frozen=True)
class Scale:
    """Figures from ``low`` to ``high`` as pixels from ``start`` to ``end``.

    Guarantees:
        - A figure beyond an end is put on that end.
        - What is no figure (NaN, infinite; not positive on a scale of ratios) has no place: NaN.

    Example:
        >>> Scale(0, 10, 100, 0)(2.5)
        75.0
        >>> Scale(1, 100, 0, 300, ratios=True)(10)
        150.0
    """

    low: float
    high: float
    start: float
    end: float
    ratios: bool = False  # equal ratios are equally far apart

    def __call__(self, value: float) -> float:
        low, high, at = (self._measure(one) for one in (self.low, self.high, value))
        if math.isnan(low + high + at):
            return NOWHERE
        span = high / 2 - low / 2  # halves: the whole may be more than a float can hold
        share = (at / 2 - low / 2) / span if span > 0 else 0.5
        return self.start + (self.end - self.start) * min(max(share, 0.0), 1.0)

    def _measure(self, value: float) -> float:
        if not math.isfinite(value) or (self.ratios and value <= 0):
            return NOWHERE
        return math.log(value) if self.ratios else float(value)


@dataclass(frozen=True)
class Bands:
    """Equal bands for names, ``step`` pixels from one to the next.

    Args:
        count: How many.
        step: Pixels from the beginning of one band to that of the next.
        inner: Share of a step that is left free between two bands.
        outer: Share of a step that is left free before the first and after the last.
    """

    count: int
    step: float
    inner: float = 0.0
    outer: float = 0.0

    @property
    def width(self) -> float:
        """Pixels of one band."""
        return self.step * (1 - self.inner)

    @property
    def length(self) -> float:
        """Pixels of all bands together."""
        return self.step * (self.count - self.inner + 2 * self.outer)

    def begin(self, place: int) -> float:
        """Say where a band begins."""
        return self.step * (self.outer + place)

    def middle(self, place: int) -> float:
        """Say where the middle of a band is."""
        return self.begin(place) + self.width / 2


def finite(values: Iterable[float | None]) -> list[float]:
    """Keep what is a figure."""
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def ticks(low: float, high: float, about: int = 5, *, whole: bool = False) -> list[float]:
    """Give round figures from ``low`` to ``high``, a step of 1, 2 or 5 · 10^p apart.

    Args:
        low: Where they begin.
        high: Where they end.
        about: How many there should be; there may be about half or twice as many.
        whole: Give whole numbers only.

    Example:
        >>> ticks(0, 17, 4)
        [0.0, 5.0, 10.0, 15.0]
        >>> ticks(0, 1, 4, whole=True)
        [0.0, 1.0]
    """
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        return []
    step = _step(low, high, about, whole=whole)
    if not step:
        return [float(low)]
    return _figures(range(math.ceil(low / step - NEARLY), math.floor(high / step + NEARLY) + 1), step)


def nice(low: float, high: float, about: int = 5, *, whole: bool = False) -> list[float]:
    """Give round figures that enclose a range, its first and last among them; one without room is given some.

    Example:
        >>> nice(0, 17, 4)
        [0.0, 5.0, 10.0, 15.0, 20.0]
    """
    if not low < high:
        room = abs(low) / 2
        low, high = (low - room, low + room) if room else (0.0, 1.0)
    step = _step(low, high, about, whole=whole)
    places = range(math.floor(low / step + NEARLY), math.ceil(high / step - NEARLY) + 1) if step else ()
    figures = _figures(places, step)
    return figures if len(figures) > 1 else [low, high]


def _figures(places: Iterable[int], step: float) -> list[float]:
    # Fifteen digits tell round figures apart and drop what floats add to them: 3 * 0.1 is 0.3.
    distinct = dict.fromkeys(float(f"{place * step:.15g}") + 0.0 for place in places)
    return [value for value in distinct if math.isfinite(value)]


def _step(low: float, high: float, about: int, *, whole: bool) -> float:
    raw = high / about - low / about
    if raw < 1e-300:  # floats hold nothing between
        return 0.0
    power = 10.0 ** math.floor(math.log10(raw))
    digit = next(
        digit
        for digit, least in ((10, math.sqrt(50)), (5, math.sqrt(10)), (2, math.sqrt(2)), (1, 0))
        if raw / power >= least
    )
    step = digit * power if math.isfinite(digit * power) else power
    return max(step, 1.0) if whole else step


def ratio_ticks(low: float, high: float, *, least: int = 4, most: int = 8) -> list[float]:
    """Give round figures for a scale of ratios: powers of ten, and between them where these are few.

    Example:
        >>> ratio_ticks(0.9, 1100)
        [1.0, 10.0, 100.0, 1000.0]
        >>> ratio_ticks(2, 30)
        [2.0, 5.0, 10.0, 20.0]
    """
    if not (math.isfinite(low) and math.isfinite(high) and 0 < low <= high):
        return []
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in _DIGITS:
        every = [float(f"{digit}e{power}") for power in powers for digit in digits]
        inside = [value for value in every if low <= value <= high]
        if len(inside) >= least:
            return inside[:: math.ceil(len(inside) / most)]
    return ticks(low, high)


def decimals(values: Sequence[float]) -> int:
    """Count the places after the point that tell neighbouring figures apart.

    Example:
        >>> decimals([0.0, 0.25, 0.5]), decimals([0.0, 500.0])
        (2, 0)
    """
    gaps = [after - before for before, after in pairwise(values) if after > before]
    for places in range(13):
        if all(abs(round(value, places) - value) <= 1e-6 * min(gaps, default=abs(value)) for value in values):
            return places
    return 12


class Moment(NamedTuple):
    """A minute of the calendar; years may lie before 1 and after 9999."""

    year: int
    month: int
    day: int
    minute: int  # of the day

    @property
    def days(self) -> float:
        """Days since 1970-01-01."""
        year = self.year - (self.month <= 2)  # a year that begins in March has its leap day at its end
        cycle, rest = divmod(year, 400)
        of_year = (153 * ((self.month + 9) % 12) + 2) // 5 + self.day - 1
        whole = cycle * 146097 + rest * 365 + rest // 4 - rest // 100 + of_year
        return whole - 719468 + self.minute / 1440


def as_moment(text: str) -> Moment | None:
    """Read a day or a minute in ISO form; None where it is neither.

    Example:
        >>> as_moment("1970-01-02T12:00").days
        1.5
    """
    match = _EDGE.match(text)
    if not match:
        return None
    year, month, day, hour, minute = (int(part or 0) for part in match.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return Moment(year, month, day, 60 * hour + minute)


def moment_ticks(moments: Sequence[Moment], *, most: int = 6) -> list[tuple[float, str]]:
    """Choose the roundest of some moments and write them no finer than needed; days since 1970 and words.

    Example:
        >>> half_years = [as_moment(f"{year}-{month}-01") for year in (2020, 2021) for month in ("01", "07")]
        >>> [words for _, words in moment_ticks(half_years)]
        ['2020-01', '2020-07', '2021-01', '2021-07']
    """
    needed = min(3, len(moments))
    days = [one for one in moments if one.minute == 0]
    firsts = [one for one in days if one.day == 1]
    by_year = ([one for one in firsts if one.month == 1 and one.year % step == 0] for step in _YEARS)
    by_month = ([one for one in firsts if (one.month - 1) % step == 0] for step in (6, 3, 1))
    choices = (
        *((chosen, "{0:04d}") for chosen in by_year),
        *((chosen, "{0:04d}-{1:02d}") for chosen in by_month),
        (days, "{0:04d}-{1:02d}-{2:02d}"),
        (moments, "{1:02d}-{2:02d} {3:02d}:{4:02d}"),
    )
    chosen, pattern = next(choice for choice in choices if len(choice[0]) >= needed)
    return [
        (one.days, pattern.format(one.year, one.month, one.day, *divmod(one.minute, 60)))
        for one in chosen[:: math.ceil(len(chosen) / most) or 1]
    ]
