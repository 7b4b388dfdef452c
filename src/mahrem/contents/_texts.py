"""Sentences, record numbers and codes of diagnoses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from mahrem.contents._distinct import FIGURES, DistinctCells, contains, portion, read_lists, surprise
from mahrem.contents._findings import ContentFinding
from mahrem.contents._repeats import are_sparse_codes, has_favourites, repeats_evenly
from mahrem.types import Mask

PART_OF_YEAR = r"^(?:19|20)\d\d[-/. ]?(?:[QHWKqhwk][0-5]?\d|[01]\d)$"  # as many rows share
CATEGORIES = 25  # so few texts that many rows share are answers to choose from


@dataclass(frozen=True)
class FreeText:
    """Recognise texts that people wrote: several words, many lengths, hardly one twice."""

    kind: str = "text"
    words: float = 3.0  # on average
    length: float = 18.0  # characters on average

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether a column holds free text."""
        distinct = len(cells.texts)
        if cells.numeric or distinct < 2 or cells.signs <= FIGURES:
            return None
        # JSON: as many values as somebody put into one cell; what has two ends is a range.
        nested = cells.matches(r"""^(?:\{.*:.*\}|\[.*["'{].*\]|\[(?:[^,]*,){3,}.*\])$""")
        if nested.sum() >= 2 and cells.share(nested) >= 0.35:
            return cells.finding(self.kind, nested, 0.8, "shaped")
        lengths = cells.texts.str.len_chars().to_numpy()
        words, length = float(cells.words.mean()), float(lengths.mean())
        short = words < self.words or length < self.length
        if (
            short
            or (cells.unique <= 0.125 and distinct <= CATEGORIES * 4 and not self._of_people(cells))
            or (distinct <= 8 and cells.present >= 3 * distinct)
            or distinct <= min(3, 0.7 * cells.present)
        ):
            return None
        wordy = (cells.words >= 3) & cells.matches(r"\p{L}{2,}\W+(?:\S+\W+)*?\p{L}{2,}")
        lettered = float(cells.texts.str.count_matches(r"\p{L}").to_numpy().sum() / max(1, lengths.sum()))
        varied = float(np.std(cells.words)) >= 0.8 or words >= 6
        if cells.share(wordy) < 0.35 or lettered < 0.55 or not varied:
            return None
        if distinct >= 10 and self._vocabulary(cells) < 15:
            return None
        return cells.finding(self.kind, wordy, min(1.0, 0.6 + words / 20), "text", words=round(words, 1))

    @staticmethod
    def _of_people(cells: DistinctCells) -> bool:
        """Tell whether more texts than anybody would choose from come about as often as people have rows."""
        return len(cells.texts) > CATEGORIES and repeats_evenly(cells.counts, cells.distinct, cells.present)

    @staticmethod
    def _vocabulary(cells: DistinctCells) -> int:
        """Count the different words in some of the texts."""
        return cells.folded.head(500).str.extract_all(r"\p{L}+").explode(empty_as_null=True).n_unique()


@dataclass(frozen=True)
class RecordNumber:
    """Recognise numbers of records: nearly every row has its own, as a counter or in one shape.

    Long codes of one shape that a handful of rows share are somebody's as well: people have several rows.
    """

    kind: str = "record"
    least: float = 0.95  # distinct values among those there
    few: int = 8
    many: int = 20  # different codes, and ``long`` signs of each, that rows may share
    long: int = 7
    handful: int = 20  # rows
    longest: int = 9  # signs: nothing is measured so finely, however many rows share it
    crowd: int = 200  # rows

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether a column holds numbers of records."""
        if len(cells.texts) < self.few or cells.share(cells.matches(PART_OF_YEAR)) > 0.9:
            return None
        alone = cells.unique >= self.least or self._given_out(cells)
        return (self._numbered(cells) if alone else None) or self._repeated(cells)

    def _numbered(self, cells: DistinctCells) -> ContentFinding | None:
        """Look for a counter, or for codes of one length."""
        coded = cells.matches(r"^[\p{L}\d][\p{L}\d\-_/.#:+]*\d[\p{L}\d\-_/+]*$") & ~cells.matches(
            r"^\d{1,3}(?:,\d{3})+$|^[-+]?\d*[.,]\d+$|^\d{1,3}[/:]\d{1,3}(?::\d\d)?$"
        )
        if cells.share(coded) < 0.9:
            return None
        everyone = np.ones(len(cells.texts), np.bool_)
        unique = round(cells.unique, 4)
        whole = (
            cells.texts.str.replace_all(r"\D", "").str.slice(0, 15).cast(pl.Int64, strict=False).drop_nulls()
        )
        if cells.unique >= self.least and len(whole) and self._counts(whole, cells.distinct):
            return cells.finding(self.kind, everyone, 0.9, "counter", unique=unique)
        same, longest, digits_only = self._length(cells)
        if same < 0.9 or longest < (6 if digits_only else 4):
            return None
        return cells.finding(self.kind, everyone, 0.8, "code", unique=unique)

    def _repeated(self, cells: DistinctCells) -> ContentFinding | None:
        """Look for shorter codes, which come several times although chance would not let them."""
        if cells.numeric or not repeats_evenly(cells.counts, cells.distinct, cells.present):
            return None
        if not are_sparse_codes(cells.texts, cells.distinct):
            return None
        everyone = np.ones(len(cells.texts), np.bool_)
        return cells.finding(self.kind, everyone, 0.7, "code", unique=round(cells.unique, 4))

    def _given_out(self, cells: DistinctCells) -> bool:
        """Tell whether values are long codes that a handful of rows share: those of one person, it may be."""
        if len(cells.texts) < self.many or cells.unique < 1 / self.crowd or has_favourites(cells.counts):
            return False
        same, longest, digits_only = self._length(cells)
        if cells.unique < 1 / self.handful and longest < self.longest:
            return False
        digits = float(cells.texts.str.count_matches("[0-9]").to_numpy().mean())
        even = portion(contains(cells.texts, "0$"))  # amounts end so
        return same >= 0.9 and longest >= self.long and digits >= 4 and not (digits_only and even > 0.3)

    @staticmethod
    def _length(cells: DistinctCells) -> tuple[float, int, bool]:
        """Give the share of values that are as long as most are, this length, and whether all are digits."""
        digits_only = cells.share(cells.matches(r"^\d+$")) > 0.9
        lengths = cells.texts.str.len_chars().to_numpy().astype(np.int64)
        longest = int(np.bincount(lengths).argmax())
        return float((np.abs(lengths - longest) <= (1 if digits_only else 2)).mean()), longest, digits_only

    @staticmethod
    def _counts(numbers: pl.Series, distinct: int) -> bool:
        """Tell whether numbers fill their range as a counter does, whatever its steps are."""
        above = numbers.to_numpy() - int(numbers.min())  # type: ignore[arg-type]
        width = int(above.max()) // max(1, int(np.gcd.reduce(above))) + 1
        return len(numbers) >= 20 and numbers.n_unique() >= 0.9 * len(numbers) and width <= 2 * distinct


@cache
def _categories() -> pl.Series:
    """Give the categories of ICD-10 that are assigned."""
    assigned = []
    for line in read_lists()["icd10_gaps"].strip().splitlines():
        letter, *parts = line.split()
        gaps: set[int] = set()
        for part in parts:
            first, _, last = part.partition("-")
            gaps.update(range(int(first), int(last or first) + 1))
        assigned += [f"{letter}{number:02d}" for number in range(100) if number not in gaps]
    return pl.Series(assigned)


@dataclass(frozen=True)
class Diagnosis:
    """Recognise codes of ICD-10: their shape, and that hardly one lies in a gap of the classification."""

    kind: str = "icd10"
    distinct: int = 3

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds codes of diagnoses."""
        capitals = cells.texts.str.to_uppercase()
        shaped: Mask = contains(capitals, r"^[A-Z]\d\d(?:\.?[\dA-Z]{1,2}(?:[\dA-Z]{1,2})?|\.-)?[GVAZ+*!]?$")
        if shaped.sum() < self.distinct or cells.share(shaped) < 0.6:
            return None
        known = capitals.str.slice(0, 3).is_in(_categories().implode()).to_numpy() & shaped
        letters = capitals.filter(pl.Series(known)).str.slice(0, 1)
        detailed = portion(contains(capitals.filter(pl.Series(shaped)), r"^[A-Z]\d\d\."))
        right = float(known.sum() / shaped.sum())
        # Rooms and shelves use few letters, and codes of fixed length have no parts after a point.
        if right < 0.95 or letters.n_unique() < (4 if known.sum() >= 8 else 3):
            return None
        if detailed < 0.2 and surprise(int(known.sum()), int(shaped.sum()), 0.78) < 4:
            return None
        return cells.finding(self.kind, known, 0.6 + 0.3 * detailed, "shaped")


@dataclass(frozen=True)
class Drug:
    """Recognise codes of drugs (ATC): their shape, and that hardly one lies outside the groups there are."""

    kind: str = "atc"
    distinct: int = 3
    right: float = 0.95  # of the values

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether a column holds codes of drugs."""
        known = cells.matches(_drugs())
        if known.sum() < self.distinct or known.mean() < self.right or cells.share(known) < self.right:
            return None
        return cells.finding(self.kind, known, 0.9, "shaped")


@dataclass(frozen=True)
class LaboratoryTest:
    """Recognise codes of laboratory tests (LOINC): a check digit behind numbers of several lengths."""

    kind: str = "loinc"
    distinct: int = 8
    right: float = 0.98  # of the values
    unique: float = 0.5  # at most: more are numbers of somebody

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether a column holds codes of tests."""
        shaped = cells.matches(r"^[1-9]\d{0,4}-\d$")
        if shaped.sum() < self.distinct or shaped.mean() < self.right or cells.unique > self.unique:
            return None
        right = np.zeros(len(shaped), np.bool_)
        from mahrem.contents._check_digits import luhn, symbols

        lengths = cells.compact.str.len_bytes().to_numpy()
        for length in np.unique(lengths[shaped]):
            same = shaped & (lengths == length)
            right[same] = luhn(symbols(cells.compact.filter(pl.Series(same))))
        if len(np.unique(lengths[shaped])) < 2 or right.mean() < self.right:
            return None
        return cells.finding(self.kind, right, 0.85, "shaped")


@cache
def _drugs() -> str:
    """Give the pattern of codes of drugs, which begin with a group of the body and of what it is for."""
    groups = (line.split() for line in read_lists()["atc_groups"].strip().splitlines())
    heads = "|".join(f"{letter}(?:{'|'.join(numbers)})" for letter, *numbers in groups)
    return rf"^(?:{heads})[A-Z][A-Z]\d\d$"


DIAGNOSIS, DRUG, TEST, TEXT, RECORD = Diagnosis(), Drug(), LaboratoryTest(), FreeText(), RecordNumber()
