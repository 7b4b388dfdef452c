"""Distinct values of a column, cleaned of what people and programs leave around them, with their counts."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl

from mahrem.contents._findings import ContentFinding
from mahrem.types import Floats, Integers, Mask
from mahrem.words import Note

LONGEST = 400  # characters of a cell that are looked at
MOST_SLOWLY = 300  # values that go through a library one by one
FEW = 150  # texts up to which a call of polars costs more than looking at them
# Both engines read patterns without these alike, and Latin letters but two that are an i to one of them.
_OTHERWISE = re.compile(r"\\[pPzxu]|\[\[|&&|--|~~")
_PLAIN = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u012f\u0132-\u017e\u0180-\u024f]*")
MISSING = (
    "", "-", "--", "---", ".", "?", "*", "/", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "nat",
    "<na>", "#n/a", "unknown", "missing", "not known", "not available", "unbekannt", "keine angabe", "k.a.",
    "k. a.", "fehlt", "entfällt", "bilinmiyor", "yok", "belirtilmemiş", "boş",
)  # fmt: skip
LABEL = (
    r"(?i)^(?:tel(?:efon|ephone)?|phone|mobile?|handy|cep|gsm|fax|ssn|nhs(?: ?no)?|iban|tckn?|"
    r"t\.?c\.?(?: kimlik)?(?: no)?|"
    r"kimlik(?: no)?|vkn|vergi no|steuer-?id(?:nr)?|idnr|svnr|rvnr|e-?mail|e-?posta|mail|mailto|"
    r"url|web|ip|mac|vin|"
    r"uuid|urn:uuid|plaka|no|nr|id|dob|geb|adresse?|adres|address|name|isim|ad soyad)\s*\.?\s*[:#=]\s*"
)
FIGURES = frozenset("0123456789")
UNSEEN = "\u200b-\u200f\u2060\ufeff\u00ad"  # signs without a width
BLANKS = "\u00a0\u2000-\u200a\u202f\\s"
# Digits of other scripts, which people and forms mix with ours.
DIGITS = {chr(first + digit): str(digit) for first in (0xFF10, 0x0660, 0x06F0, 0x0966) for digit in range(10)}
QUOTES = "\"'`\u201c\u201d\u201e\u2018\u2019;,"
# Whatever tidying would change or leave out; words for nothing are short and simple.
UNTIDY = (
    f"^[{BLANKS}{QUOTES}]|[{BLANKS}{QUOTES}]$|"
    f"[\u00a0\u2000-\u200a\u202f\\t\\r\\n{UNSEEN}{''.join(DIGITS)}]|  |"
    rf"^\d{{6,}}\.0+$|^$|^.{{{LONGEST + 1},}}$|^(?i:{'|'.join(re.escape(word) for word in MISSING if word)})$"
)
UNCOUNTED = (
    pl.List,
    pl.Array,
    pl.Struct,
    pl.Object,
    pl.Binary,
    pl.Duration,
    pl.Null,
)  # hold no single values
DECIMAL = r"^[-+]?\d+[.,]\d+$"
# A beginning that cells of a column share is a label, whatever its words: up to a colon, or before a number.
LABELS = (
    (r"^([\p{L}*][^0-9:=#@/\\]{0,23}[:=#] *)[^/ ]", 0.6),
    (r"^(\* *|\p{L}[\p{L}.\- ]{1,20}[ .])[0-9+(]", 0.8),
    (r"^(\p{L}[\p{L}.]{2,11} )\S", 0.9),
    (r"^(\p{L}{1,5}[\-_/]?)[0-9]{8,}", 0.9),
)
LABELLED = 3  # distinct values from which on a beginning can be shared


@dataclass(frozen=True)
class DistinctCells:
    """Distinct values of a column that are there, each with how many rows have it."""

    texts: pl.Series = field(repr=False)  # (m,) cleaned
    counts: Floats = field(repr=False)  # (m,) rows that have it, or that it stands for
    rows: int  # with and without a value
    numeric: bool = False  # came as numbers: leading zeros are lost
    region: str | None = None  # of national forms; None: any that is known
    sampled: tuple[int, int] | None = None  # of a column with so many different values in so many rows
    memory: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # read once, asked often

    @cached_property
    def present(self) -> int:
        """Rows that have a value."""
        return round(float(self.counts.sum()))

    @property
    def unique(self) -> float:
        """Distinct values per row that has one."""
        distinct, rows = (len(self.texts), self.present) if self.sampled is None else self.sampled
        return distinct / max(1, rows)

    @property
    def distinct(self) -> int:
        """Different values of the column, those that were not sampled among them."""
        return len(self.texts) if self.sampled is None else self.sampled[0]

    @cached_property
    def signs(self) -> frozenset[str]:
        """Give all signs that values are written with."""
        return frozenset("".join(self.texts.to_list()))

    @cached_property
    def letters(self) -> bool:
        """Tell whether there are words."""
        return any(map(str.isalpha, self.signs)) and bool(contains(self.texts, r"\p{L}{2}").any())

    @cached_property
    def compact(self) -> pl.Series:
        """Values in capitals without blanks and separators; numbers with a fraction are nothing then."""
        if self.signs <= FIGURES:
            return self.texts
        bare = self.texts.str.replace(LABEL, "").str.replace_all(r"[\s./\-_()']", "").str.to_uppercase()
        return pl.select(
            pl.when(self.texts.str.contains(DECIMAL)).then(pl.lit("")).otherwise(bare)
        ).to_series()

    @cached_property
    def folded(self) -> pl.Series:
        """Values in small plain letters: ``ŞAHİN`` and ``Sahin`` are the same."""
        return fold(self.texts)

    @cached_property
    def words(self) -> Integers:
        """Count the words of every value."""
        return self.texts.str.count_matches(r"\S+").to_numpy().astype(np.int64)

    @cached_property
    def numbers(self) -> pl.Series:
        """Values as numbers; null where one is none."""
        return self.texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)

    def share(self, holds: Mask) -> float:
        """Give the share of rows whose value is marked."""
        return float(self.counts[holds].sum() / self.present) if self.present else 0.0

    def matches(self, pattern: str) -> Mask:
        """Mark the values that a pattern is found in."""
        return contains(self.texts, ascii_digits(pattern))

    def also(self, marked: Mask, pattern: str) -> Mask:
        """Mark further values that a pattern is found in; those marked already are not looked at."""
        if marked.all():
            return marked
        more = marked.copy()
        more[~marked] = contains(self.texts.filter(pl.Series(~marked)), ascii_digits(pattern))
        return more

    def some(self, values: int) -> DistinctCells:
        """Give about so many of the values, evenly spread; all of them where they are few more."""
        step = len(self.texts) // values
        if step < 2:
            return self
        return replace(self, texts=self.texts.gather_every(step), counts=self.counts[::step], memory={})

    def unlabelled(self) -> DistinctCells | None:
        """Give the values without a beginning that they share; None if they share none."""
        short = self.numeric or len(self.texts) < LABELLED or not (self.letters or "*" in self.signs)
        label = None if short else _label(self.texts)
        if label is None:
            return None
        bare = pl.col("text").str.slice(len(label)).str.strip_chars()
        cells = pl.DataFrame({"text": self.texts, "rows": self.counts}).select(
            pl.when(pl.col("text").str.starts_with(label)).then(bare).otherwise("text").alias("text"), "rows"
        )
        cells = cells.filter(pl.col("text") != "").group_by("text").agg(pl.col("rows").sum()).sort("text")
        return replace(self, texts=cells["text"], counts=cells["rows"].to_numpy(), memory={})

    def finding(
        self, kind: str, holds: Mask, confidence: float, reason: str, **figures: float
    ) -> ContentFinding:
        """Tell that marked values are of a kind."""
        share = self.share(holds)
        values = {"share": share, **figures}
        return ContentFinding(
            kind, share, round(float(confidence), 3), Note(f"content.reason.{reason}", values)
        )


def contains(texts: pl.Series, pattern: str) -> Mask:
    """Mark the texts that a pattern is found in, whichever engine looks.

    Example:
        >>> contains(pl.Series(["K-12", "12"]), r"^[A-Z]").tolist()
        [True, False]
    """
    engine = _engine(pattern) if len(texts) <= FEW and not texts.null_count() else None
    listed = [] if engine is None else texts.to_list()
    if engine is None or not all(map(_PLAIN.fullmatch, listed)):
        return texts.str.contains(pattern).to_numpy()
    search = engine.search
    return np.fromiter((search(text) is not None for text in listed), np.bool_, len(listed))


@cache
def _engine(pattern: str) -> re.Pattern[str] | None:
    """Give what Python looks with; None where it would read a pattern otherwise, or not at all."""
    if _OTHERWISE.search(pattern):
        return None
    try:
        return re.compile(pattern)
    except re.error:
        return None


def ascii_digits(pattern: str) -> str:
    """Let a pattern mean the ten digits: those of all scripts take long to build and are not looked for."""
    return pattern.replace(r"\d", "[0-9]")


def fold(texts: pl.Series) -> pl.Series:
    """Write texts in small plain letters."""
    if int(texts.str.len_bytes().sum()) == int(texts.str.len_chars().sum()):  # plain letters alone
        return texts.str.to_lowercase()
    marks = {"İ": "i", "I": "i", "ı": "i", "ß": "ss", "æ": "ae", "ø": "o", "ł": "l"}
    plain = texts.str.replace_many(list(marks), list(marks.values())).str.to_lowercase().str.normalize("NFKD")
    return plain.str.replace_all(r"\p{M}", "")


def count_distinct(
    column: pl.Series,
    *,
    rows: Integers | None = None,
    region: str | None = None,
    sampled: tuple[int, int] | None = None,
) -> DistinctCells:
    """Clean the values of a column and count them.

    Args:
        column: The values.
        rows: How often each counts; once if None.
        region: Of national forms.
        sampled: Different values and rows of the whole column, where this is a sample of it.

    Guarantees:
        - Blanks of all kinds, quotes around a value and words for nothing do not count as values.
        - The order of the rows does not matter.
    """
    each = np.ones(len(column)) if rows is None else rows.astype(np.float64)
    cells = pl.DataFrame({"text": as_text(column).rename("text"), "rows": each}).drop_nulls()
    cells = cells.group_by("text").agg(pl.col("rows").sum())
    counted = tidied_cells(cells, len(column), column.dtype.is_numeric(), region)
    return replace(counted, sampled=sampled)


def tidied_cells(cells: pl.DataFrame, rows: int, numeric: bool, region: str | None) -> DistinctCells:  # noqa: FBT001
    """Clean different values, with the rows of each beside them."""
    if not numeric:
        untidy = pl.Series(contains(cells["text"], UNTIDY), dtype=pl.Boolean)
        if untidy.any():  # most columns are tidy, and one look is cheaper than all the tidying
            tidied = cells.filter(untidy).with_columns(
                pl.col("text").map_batches(_tidied, return_dtype=pl.String)
            )
            tidied = tidied.filter(~pl.col("text").str.to_lowercase().is_in(MISSING))
            cells = pl.concat([cells.filter(~untidy), tidied]).group_by("text").agg(pl.col("rows").sum())
    cells = cells.sort("text")  # nothing depends on the order of rows
    return DistinctCells(cells["text"], cells["rows"].to_numpy(), rows, numeric, region)


def _label(texts: pl.Series) -> str | None:
    """Give the beginning that nearly all values share and that is none of their own."""
    some = texts.gather_every(max(1, len(texts) // 100))
    for pattern, least in LABELS:
        beginnings = some.str.extract(pattern).drop_nulls()
        if len(beginnings) >= least * len(some):
            label = str(beginnings.mode().sort()[0])
            if int((beginnings == label).sum()) >= least * len(some):
                return label
    return None


def _tidied(texts: pl.Series) -> pl.Series:
    shown = texts.str.slice(0, LONGEST).str.replace_all(f"[{UNSEEN}]", "")
    shown = shown.str.replace_many(list(DIGITS), list(DIGITS.values()))
    lean = shown.str.replace_all(f"[{BLANKS}]+", " ").str.strip_chars(f" {QUOTES}")
    return lean.str.replace(r"^(\d{6,})\.0+$", "$1")  # an id that was once a float


def as_text(column: pl.Series) -> pl.Series:
    """Write any column as text, whole numbers without a fraction; nested cells and bytes as nothing."""
    kind = column.dtype
    if kind == pl.String:
        return column
    if kind.is_float():
        finite = pl.when(column.is_finite()).then(column)
        return pl.select(finite.cast(pl.String).str.replace(r"\.0$", "").alias(column.name)).to_series()
    if (
        isinstance(kind, pl.Categorical | pl.Enum | pl.Date | pl.Datetime | pl.Time | pl.Boolean)
        or kind.is_numeric()
    ):
        return column.cast(pl.String)
    return pl.Series(column.name, [None] * len(column), dtype=pl.String)


def portion(marks: pl.Series | Mask) -> float:
    """Give the share of marks that are set; none of none is nothing."""
    return float(marks.sum()) / max(1, len(marks))


def surprise(hits: int, tries: int, chance: float) -> float:
    """Give how surprising so many hits are by chance alone: a lower bound of -log of the probability.

    References:
        Chernoff's bound for the upper tail of a binomial distribution.
    """
    if tries == 0 or hits <= chance * tries:
        return 0.0
    share = hits / tries
    rest = 0.0 if share == 1 else (1 - share) * math.log((1 - share) / (1 - chance))
    return tries * (share * math.log(share / chance) + rest)


@cache
def read_lists() -> dict[str, str]:
    """Read the lists of common words that detectors compare with, words with blanks between them."""
    return tomllib.loads(files("mahrem.contents").joinpath("lists.toml").read_text(encoding="utf-8"))
