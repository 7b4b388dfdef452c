"""Telephone numbers, in international form or in the national forms of a region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.contents._distinct import MOST_SLOWLY, DistinctCells, ascii_digits, contains, surprise
from mahrem.contents._findings import ContentFinding
from mahrem.types import Mask

REGIONS = ("TR", "DE", "GB", "US", "FR")  # tried where none was given
# Tried where none of these fits, with numbers that are written as such.
FURTHER = (
    "IT",
    "ES",
    "NL",
    "PL",
    "SE",
    "AT",
    "CH",
    "BE",
    "PT",
    "BR",
    "IN",
    "JP",
    "RU",
    "DK",
    "CZ",
    "AU",
)
PILOT = 30  # numbers that say which of them it is
# Ways of writing that hardly anything else has; a number is then believed although its plan does not know it.
WRITTEN = (
    r"^\+\d{1,3}[\d\s()./\-]{6,18}|"  # a country
    r"^[78]? ?\(0?\d{2,5}\)[\s./\-]?\d[\d\s./\-]{4,11}|"  # an area in brackets
    r"^0\d{1,5}[\s/\-]\(?\d[\d\s./\-]{4,11}|"  # an area that begins with 0
    r"^\d{2}(?: \d{2}){3}$|"  # Denmark and Norway
    r"^(?:1[\s.\-])?\d{3}[.\-]\d{3}[.\-]\d{4}|"  # North America
    r"^\d{2} 9?\d{4}-\d{4}$"  # Brazil
)
# A 0 or brackets, and parts: hardly anything else is written so.
AT_HOME = r"^\+|^\(?0\d{1,5}\)?[\s/\-]+\d[\d\s./\-]{4,}$|^0\d(?:[\s.]\d\d){4}$"
ALL_SO = 0.9
SPARSE = 20  # numbers of a town for each that is there
LEAST_WRITTEN = 0.3  # of a column's numbers, the others being as long
# A length that national numbers without their 0 have, and how they begin: looser plans need the 0 or a mark.
BARE = {
    "TR": r"^(?:5[03-5]\d|[2-4]\d\d)\d{7}$",
    "DE": r"^1[567]\d{8,9}$",
    "GB": r"^(?:7[1-57-9]\d{8}|[12]\d{9})$",
    "US": r"^1?[2-9]\d\d[2-9]\d{6}$",
    "FR": "^$",
}
# How often a number of any digits is valid in a region.
CHANCE = {"TR": 0.2, "DE": 0.75, "GB": 0.4, "US": 0.4, "FR": 0.85}
UNLIKELY = 3.0  # -log of 0.05: so many valid numbers without a separator must surprise
# Three numbers with one sign between them; what follows is a time. Two pairs more are a number in France.
DAY = r"^\d{1,4}(?:\.\d{1,2}\.|/\d{1,2}/|-\d{1,2}-| \d{1,2} )\d{1,4}(?:$|[T ]+\d{4}$)"
SHAPE = r"^[+(]?[\d(][\d\s()./\-–]{5,20}\d(?:\s*(?:x|ext\.?|dw\.?|dahili)\s*\d{1,5})?$"
LABEL = (
    r"(?i)^(?:tel(?:efon|ephone)?(?: ?no)?|phone|mobile?|handy|cep|gsm|fax|home|work|ev|iş|privat|"
    r"call)?\s*[.:=]?\s*"
)
WITHIN = (
    r"(?:\+\d{1,3}|\(?\b0\d{2,4}\)?)[\s./\-]?\(?\d{2,4}\)?(?:[\s./\-]?\d{2,4}){1,4}\b|"
    r"\(?\b[2-9]\d{2}\)?[\s.\-]\d{3}[\s.\-]\d{4}\b"
)


@dataclass(frozen=True)
class Phone:
    """Recognise telephone numbers: what looks like one must be possible in its country's plan.

    Guarantees:
        - Numbers without a plus sign, a leading 0 or separators are believed only where nearly all are valid
          and do not share their beginning, as counters and order numbers do.
    """

    kind: str = "phone"
    least: float = 0.75  # of the values with the shape of a number that are valid

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds telephone numbers."""
        return self._cells(cells) or self._within(cells)

    def _cells(self, cells: DistinctCells) -> ContentFinding | None:
        bare = cells.texts.str.replace(LABEL, "") if cells.letters else cells.texts
        bare = bare.str.replace(r"^00", "+").str.replace("(0)", "", literal=True)
        digits = bare.str.replace_all(r"\D", "").str.len_bytes()
        shaped = (
            bare.str.contains(ascii_digits(SHAPE)) & digits.is_between(8, 15)
        ).to_numpy() & ~cells.matches(rf"^[-+]?\d+[.,]\d+$|{DAY}|^\d{{1,3}}(?:\.\d{{1,3}}){{3}}$")
        places = np.flatnonzero(shaped)
        if not len(places):
            return None
        if len(places) > MOST_SLOWLY:
            places = places[np.linspace(0, len(places) - 1, MOST_SLOWLY).astype(int)]
        looked = bare.gather(places)
        marked = contains(looked, r"^\+|^\(?0|[\s()./\-–]")
        region, best = self._planned(looked, marked, cells.region)
        by_writing = contains(looked, ascii_digits(WRITTEN))
        if by_writing.mean() >= LEAST_WRITTEN and (best | by_writing).mean() >= 2 * LEAST_WRITTEN:
            best = best | by_writing
        international = contains(looked, r"^\+")
        if (best & international).sum() < 0.9 * best.sum() and not self._spread(looked, best, marked):
            return None
        separated = contains(looked, r"^\+|[\s()./\-–]")
        if not (best & by_writing).any() or by_writing.mean() < LEAST_WRITTEN:
            if best.sum() == 0 or best.mean() < self._enough(
                region, marked[best].mean(), separated[best].mean()
            ):
                return None
            chance = CHANCE.get(region, 0.6)
            unsure = separated[best].mean() <= 0.5 or region in FURTHER
            if unsure and surprise(int(best.sum()), len(best), chance) < UNLIKELY:
                return None
        if len(places) < shaped.sum():  # the rest is believed
            valid = shaped
        else:
            valid = np.zeros(len(shaped), np.bool_)
            valid[places] = best
        if cells.share(valid) < 0.5 and best.sum() < 3 and not international[best].any():
            return None
        figures = {"right": int(best.sum()), "shaped": len(places)}
        return cells.finding(
            self.kind, valid, 0.95 if marked[best].mean() > 0.5 else 0.75, "phone", **figures
        )

    def _planned(self, looked: pl.Series, marked: Mask, region: str | None) -> tuple[str, Mask]:
        """Give the country in whose plan most numbers are, and which of them."""

        def best_of(regions: Sequence[str], numbers: pl.Series, marks: Mask) -> tuple[str, Mask]:
            regions = regions[:1] if bool(numbers.str.starts_with("+").all()) else regions
            tried = ((name, self._valid(numbers, name, marks, loose=name == region)) for name in regions)
            return max(tried, key=lambda attempt: int(attempt[1].sum()))

        grouped = contains(looked, r"^\+|\d[\s./\-)]+\d+[\s./\-]\d")
        some = np.unique(np.linspace(0, len(looked) - 1, PILOT).astype(int))
        tried = (region,) if region else REGIONS
        if len(tried) > 1 and len(looked) > 2 * PILOT:
            tried = best_of(tried, looked.gather(some), marked[some])[:1]
        best = best_of(tried, looked, marked)
        if region or best[1].mean() >= self.least:
            return best
        further = best_of(FURTHER, looked.gather(some), grouped[some])
        if further[1].mean() <= best[1][some].mean():
            return best
        return best_of(further[:1], looked, grouped)

    def _enough(self, region: str, marked: float, separated: float) -> float:
        """Give the share of valid numbers that proves them: more where nearly any number is one."""
        if separated > 0.5:
            return self.least
        chance = CHANCE.get(region, 0.5)
        return chance + 0.65 * (1 - chance) if marked > 0.5 else 0.9

    @staticmethod
    def _valid(looked: pl.Series, region: str, marked: Mask, *, loose: bool) -> Mask:
        """Mark the numbers that are valid in a region, or anywhere where they say so."""
        import phonenumbers

        bare = BARE.get(region, r"^\d{8,11}$" if loose else "^$")
        believed = contains(looked.str.replace_all(r"\D", ""), bare)
        national = contains(looked, r"^\+|^\(?0") if region in {"TR", "DE", "GB", "FR"} else marked
        valid = np.zeros(len(looked), np.bool_)
        for place, text in enumerate(looked):
            if not (national[place] or believed[place]):
                continue
            try:
                valid[place] = phonenumbers.is_valid_number(phonenumbers.parse(text, region))
            except phonenumbers.NumberParseException:
                continue
        return valid

    @staticmethod
    def _spread(looked: pl.Series, valid: Mask, marked: Mask) -> bool:
        """Tell whether numbers begin in many ways and end in many: neither a counter nor a series.

        Those that are written as telephone numbers may be of one town, unless they are counted through.
        """
        digits = looked.filter(pl.Series(valid)).str.replace_all(r"\D", "")
        count = len(digits)
        if count == 0:
            return False
        few = 3 if marked[valid].mean() > 0.5 else 4
        if count < few:
            return bool(marked[valid].all()) and count * 2 >= len(valid)
        if contains(looked.filter(pl.Series(valid)), AT_HOME).mean() >= ALL_SO:
            numbers = digits.str.slice(-9).cast(pl.Int64).unique().sort()
            return int(numbers[-1]) - int(numbers[0]) >= SPARSE * count
        beginnings = digits.str.slice(0, 7).n_unique()
        areas = digits.str.slice(0, 5).n_unique()
        return beginnings >= 0.5 * min(count, 100) and areas >= min(6, 0.4 * count)

    def _within(self, cells: DistinctCells) -> ContentFinding | None:
        """Look for numbers inside longer texts."""
        if not cells.letters or not (cells.words >= 3).any():
            return None
        long = (cells.words >= 3) & cells.matches(r"\p{L}{2}") & cells.matches(WITHIN)
        places = np.flatnonzero(long)[:MOST_SLOWLY]
        if not len(places):
            return None
        import phonenumbers

        inside = cells.texts.gather(places).str.extract(f"({ascii_digits(WITHIN)})", 1)
        right = np.zeros(len(long), np.bool_)
        for place, text in zip(places, inside, strict=True):
            for region in (cells.region,) if cells.region else REGIONS:
                try:
                    valid = phonenumbers.is_valid_number(phonenumbers.parse(text, region))
                except phonenumbers.NumberParseException:
                    continue
                right[place] |= valid
        if not right.any() or right.sum() < 0.5 * len(places):
            return None
        return cells.finding(self.kind, right, 0.8, "within")


PHONE = Phone()
