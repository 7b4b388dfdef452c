"""Distinct values of a column, cleaned of what people and programs leave around them, with their counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from mahrem.contents._findings import ContentFinding
from mahrem.types import Integers, Mask
from mahrem.words import Note

__all__ = ["DistinctCells", "count_distinct", "surprise"]

LONGEST = 400  # characters of a cell that are looked at
MOST_SLOWLY = 600  # values that go through a library one by one
MISSING = (
    "", "-", "--", "---", ".", "?", "*", "/", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "nat", "<na>",
    "#n/a", "unknown", "missing", "not known", "not available", "unbekannt", "keine angabe", "k.a.", "k. a.",
    "fehlt", "entfällt", "bilinmiyor", "yok", "belirtilmemiş", "boş",
)  # fmt: skip
LABEL = (
    r"(?i)^(?:tel(?:efon|ephone)?|phone|mobile?|handy|cep|gsm|fax|ssn|nhs(?: ?no)?|iban|tckn?|t\.?c\.?(?: kimlik)?(?: no)?|"
    r"kimlik(?: no)?|vkn|vergi no|steuer-?id(?:nr)?|idnr|svnr|rvnr|e-?mail|e-?posta|mail|mailto|url|web|ip|mac|vin|"
    r"uuid|urn:uuid|plaka|no|nr|id|dob|geb|adresse?|adres|address|name|isim|ad soyad)\s*\.?\s*[:#=]\s*"
)
DECIMAL = r"^[-+]?\d+[.,]\d+$"


@dataclass(frozen=True)
class DistinctCells:
    """Distinct values of a column that are there, each with how many rows have it."""

    texts: pl.Series = field(repr=False)  # (m,) cleaned
    counts: Integers = field(repr=False)  # (m,)
    rows: int  # with and without a value
    numeric: bool = False  # came as numbers: leading zeros are lost
    region: str | None = None  # of national forms; None: any that is known
    distinct_share: float | None = None  # of the whole column, where this is a sample of it
    memory: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # read once, asked often

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return int(self.counts.sum())

    @property
    def unique(self) -> float:
        """Distinct values per row that has one."""
        return len(self.texts) / max(1, self.present) if self.distinct_share is None else self.distinct_share

    @cached_property
    def compact(self) -> pl.Series:
        """Values in capitals without blanks and separators; numbers with a fraction are nothing then."""
        bare = self.texts.str.replace(LABEL, "").str.replace_all(r"[\s./\-_()']", "").str.to_uppercase()
        return pl.select(pl.when(self.texts.str.contains(DECIMAL)).then(pl.lit("")).otherwise(bare)).to_series()

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
        return self.texts.str.contains(pattern).to_numpy()

    def only(self, marked: Mask) -> DistinctCells:
        """Keep marked values alone."""
        return replace(self, texts=self.texts.filter(pl.Series(marked)), counts=self.counts[marked], memory={})

    def found(
        self, kind: str, holds: Mask, confidence: float, reason: str, **figures: float
    ) -> ContentFinding:
        """Tell that marked values are of a kind."""
        share = self.share(holds)
        values = {"share": share, **figures}
        return ContentFinding(kind, share, round(confidence, 3), Note(f"content.reason.{reason}", values))


def fold(texts: pl.Series) -> pl.Series:
    """Write texts in small plain letters."""
    marks = {"İ": "i", "I": "i", "ı": "i", "ß": "ss", "æ": "ae", "ø": "o", "ł": "l"}
    plain = texts.str.replace_many(list(marks), list(marks.values())).str.to_lowercase().str.normalize("NFKD")
    return plain.str.replace_all(r"\p{M}", "")


def count_distinct(
    column: pl.Series, *, region: str | None = None, distinct_share: float | None = None
) -> DistinctCells:
    """Clean the values of a column and count them.

    Guarantees:
        - Blanks of all kinds, quotes around a value and words for nothing do not count as values.
        - The order of the rows does not matter.
    """
    numeric = column.dtype.is_numeric()
    texts = _as_text(column)
    counted = texts.drop_nulls().value_counts(sort=False, name="rows of it")
    name = counted.columns[0]
    lean = counted[name].str.slice(0, LONGEST)
    if not numeric:
        lean = lean.str.replace_all("[\u00a0\u2000-\u200f\u202f\u2060\ufeff\\s]+", " ")
        lean = lean.str.strip_chars(" \"'`\u201c\u201d\u201e\u2018\u2019;,")
        lean = lean.str.replace(r"^(\d{6,})\.0+$", "$1")  # an id that was once a float
    cleaned = pl.DataFrame({"text": lean, "rows": counted["rows of it"].cast(pl.Int64)})
    if not numeric:
        cleaned = cleaned.filter(~pl.col("text").str.to_lowercase().is_in(MISSING))
        cleaned = cleaned.group_by("text").agg(pl.col("rows").sum())
    cleaned = cleaned.sort("text")
    counts = cleaned["rows"].to_numpy()
    return DistinctCells(cleaned["text"], counts, len(column), numeric, region, distinct_share)


def _as_text(column: pl.Series) -> pl.Series:
    """Write any column as text; whole numbers without a fraction, nested cells as nothing."""
    kind = column.dtype
    if kind == pl.String:
        return column
    if kind.is_float():
        column = column.fill_nan(None)
        column = column.filter(column.is_finite() | column.is_null())
        whole = column.drop_nulls()
        if len(whole) and bool((whole == whole.round(0)).all()) and float(whole.abs().max() or 0) < 2**53:  # type: ignore[arg-type]
            column = column.cast(pl.Int64)
        return column.cast(pl.String)
    if kind in {pl.Categorical, pl.Enum, pl.Boolean} or kind.is_numeric() or kind.is_temporal():
        return column.cast(pl.String, strict=False)
    if kind == pl.Binary:
        return column.cast(pl.String, strict=False)
    return pl.Series(column.name, [None] * len(column), dtype=pl.String)


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
