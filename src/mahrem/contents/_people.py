"""Names of people, by short lists of common ones: a column of names shares enough with any such list."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl

from mahrem.contents._distinct import DistinctCells
from mahrem.contents._findings import ContentFinding
from mahrem.types import Mask

__all__ = ["PersonName"]

WRITTEN = r"^[\p{L}][\p{L}.'’`\-]*(?:,? +\(?[\p{L}][\p{L}.'’`\-]*\)?){0,5},?(?: [\p{L}][\p{L}.\-]*)?$"
MOST_WORDS = 5


@cache
def _lists() -> tuple[pl.Series, pl.Series, pl.Series]:
    """Give given names, family names and titles."""
    read = tomllib.loads(files("mahrem.contents").joinpath("names.toml").read_text(encoding="utf-8"))
    given, family, titles = (pl.Series(sorted(set(read[key].split()))) for key in ("given", "family", "titles"))
    return given, family, titles


@dataclass(frozen=True)
class PersonName:
    """Recognise given names, family names and both together, in any order and case.

    Lists cannot hold all names, so it is the share of listed ones that decides: of whole names at least
    ``whole`` must hold a listed part, of single words ``single``, since many names are words as well.
    """

    kind: str = "name"
    whole: float = 0.4
    single: float = 0.5
    distinct: int = 4  # values that must be listed: fewer are categories

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds names of people."""
        if cells.numeric:
            return None
        written = cells.matches(WRITTEN) & (cells.words <= MOST_WORDS + 1)
        if cells.share(written) < 0.2 or written.sum() < self.distinct:
            return None
        listed, both, parts = self._listed(cells)
        listed &= written
        several = written & (parts >= 2)
        if several.sum() >= 0.6 * written.sum():
            known, named = listed & several, several
            strong = (both & several).sum() / max(1, several.sum())
            enough = known.sum() >= self.whole * several.sum() and strong >= 0.12
            few = several.sum() < 8 and strong < 0.5
        else:
            known, named = listed & (parts == 1), written
            enough = known.sum() >= self.single * written.sum()
            few = written.sum() < 12 and known.sum() < 0.85 * written.sum()
        if not enough or few or known.sum() < self.distinct or cells.share(named) < 0.2:
            return None
        if len(cells.texts) <= 12 and cells.present >= 20 * len(cells.texts):  # categories
            return None
        share = known.sum() / named.sum()
        return cells.found(self.kind, named, 0.5 + 0.45 * float(share), "named", listed=float(share))

    @staticmethod
    def _listed(cells: DistinctCells) -> tuple[Mask, Mask, Mask]:
        """Mark values with a listed part and with a listed given and family name; count their parts."""
        given, family, titles = _lists()
        rows = pl.DataFrame({"text": cells.folded}).with_row_index("at")
        spelt = rows.with_columns(
            pl.col("text").str.replace_all(r"[.,'’`()]", " ").str.replace_all("-", " ", literal=True).str.extract_all(r"\S+")
        ).explode("text", empty_as_null=True)
        spelt = spelt.filter((pl.col("text").str.len_chars() > 1) & ~pl.col("text").is_in(titles.implode()))
        flags = spelt.with_columns(
            given=pl.col("text").is_in(given.implode()), family=pl.col("text").is_in(family.implode())
        ).with_columns(listed=pl.col("given") | pl.col("family"))
        each = flags.group_by("at").agg(
            pl.col("listed").any(),
            (pl.col("given").any() & pl.col("family").any() & (pl.col("listed").sum() >= 2)).alias("both"),
            pl.len().alias("parts"),
        )
        told = rows.select("at").join(each, on="at", how="left", maintain_order="left")
        listed = told["listed"].fill_null(value=False).to_numpy()
        both = told["both"].fill_null(value=False).to_numpy()
        return listed, both, told["parts"].fill_null(0).to_numpy().astype(np.int64)


NAME = PersonName()
