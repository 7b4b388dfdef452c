"""Names of people, by short lists of common ones: a column of names shares enough with any such list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl

from mahrem.contents._distinct import DistinctCells, contains, read_lists
from mahrem.contents._findings import ContentFinding
from mahrem.types import Integers, Mask

WRITTEN = r"^[\p{L}][\p{L}.'’`\-]*(?:,? +\(?[\p{L}][\p{L}.'’`\-]*\)?){0,5},?(?: [\p{L}][\p{L}.\-]*)?$"
# A word before a name that nothing else has, folded; the name is then whatever follows.
TITLED = (
    r"^(?:herrn?|frau|mrs?|ms|miss|sayin|sn|bay|bayan|prof|dr|doc|uzm|dipl|ing|hr|fr|mme|mlle|sig|sra?|dna?)"
    r"\b[. ]"
)
# A family name with the first letters of given ones, before or behind it.
INITIALS = (
    r"^(?:\p{Lu}\.[ \-]?){1,3} ?\p{Lu}[\p{L}'’\-]{2,}$|^\p{Lu}[\p{L}'’\-]{2,},? (?:\p{Lu}\.[ \-]?){1,3}$"
)
SEVERAL = r" ?[;|&].*$"  # behind the first of several
MOST_WORDS = 5
FEW_NAMES = 0.6  # of which so many must be listed, since chance weighs more among few
# Ends and beginnings that family names have, folded.
FAMILY_LIKE = (
    r"(?:oglu|gil|turk|mann|huber|hofer|meier|maier|meyer|mayer|bauer|statter|stetter|lander|acher|baumer|"
    r"[^aeo]son|sson|ssen|dsen|nsen|qvist|strom|wicz|ows(?:ki|ka)|ews(?:ki|ka)|ins(?:ki|ka)|czyk|escu|ovic|ova|idis|"
    r"opoulos|akis|"
    r"\w{2}[ое]ва?|ская|скии|енко|чук)$|^(?:oz|mc|"
    r"mac)[b-df-hj-np-tv-z]\w{3,}$|^kara[b-df-hj-np-tv-z]\w{2,}$"
)
# Ends of Turkish and Arabic given names.
GIVEN_LIKE = r"^\w{2,}(?:nur|gul|naz|han|alp|tekin|ettin|eddin|uddin|ullah|urrahman)$"


@cache
def name_lists() -> tuple[pl.Series, pl.Series, pl.Series, pl.Series]:
    """Give given names, family names, titles and names that are words as well."""
    read = read_lists()
    given, family, titles, words = (
        pl.Series(sorted(set(read[key].split()))) for key in ("given", "family", "titles", "also_words")
    )
    return given, family, titles, words


@dataclass(frozen=True)
class PersonName:
    """Recognise given names, family names and both together, in any order and case.

    Lists cannot hold all names, so it is the share of listed ones that decides: of whole names at least
    ``whole`` must hold a listed part, of single words ``single``, since many names are words as well.
    """

    kind: str = "name"
    whole: float = 0.25
    single: float = 0.3
    distinct: int = 3  # values that must be listed: fewer are categories
    least_lists: float = 0.3  # of the rows name several people

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds names of people."""
        if cells.numeric:
            return None
        if cells.share(cells.matches(SEVERAL)) >= self.least_lists:  # of several people: the first will do
            cells = replace(cells, texts=cells.texts.str.replace(SEVERAL, ""), memory={})
        written = cells.matches(WRITTEN) & (cells.words <= MOST_WORDS + 1)
        if cells.share(written) < 0.2 or written.sum() < self.distinct:
            return None
        listed, both, ambiguous, parts = self._listed(cells)
        titled = written & contains(cells.folded, TITLED) & (parts >= 1)
        for marked in (titled, written & cells.matches(INITIALS)):
            if marked.sum() >= 8 and marked.sum() >= 0.5 * written.sum() and cells.unique > 0.1:
                return cells.finding(self.kind, marked, 0.8, "shaped")
        several = written & (parts >= 2)
        if several.sum() >= 0.6 * written.sum():
            named, judged = several, several
            enough = self.whole if several.sum() >= 8 else FEW_NAMES
            sure = (listed & several & ~ambiguous).sum()
            if (both & several).sum() < 0.04 * several.sum() and sure < self.whole * several.sum():
                return None
        else:  # a word that is also a name proves nothing
            named, judged = written, written & (parts >= 1) & ~ambiguous
            enough = self.single if judged.sum() >= 12 else 0.45 if judged.sum() >= 7 else FEW_NAMES
        known = int((listed & judged).sum())
        if known < max(self.distinct, enough * judged.sum()) or cells.share(named) < 0.2:
            return None
        share = known / int(judged.sum())
        return cells.finding(self.kind, named, 0.5 + 0.45 * share, "named", listed=share)

    @staticmethod
    def _listed(cells: DistinctCells) -> tuple[Mask, Mask, Mask, Integers]:
        """Mark values with a listed part, with both names, with an everyday word; count their parts."""
        given, family, titles, words = name_lists()
        rows = pl.DataFrame({"text": cells.folded}).with_row_index("at")
        spelt = rows.with_columns(
            pl.col("text")
            .str.replace_all(r"[.,'’`()]", " ")
            .str.replace_all("-", " ", literal=True)
            .str.extract_all(r"\S+")
        ).explode("text", empty_as_null=True)
        spelt = spelt.filter((pl.col("text").str.len_chars() > 1) & ~pl.col("text").is_in(titles.implode()))
        flags = spelt.with_columns(
            given=pl.col("text").is_in(given.implode()) | pl.col("text").str.contains(GIVEN_LIKE),
            family=pl.col("text").is_in(family.implode()) | pl.col("text").str.contains(FAMILY_LIKE),
            word=pl.col("text").is_in(words.implode()),
        ).with_columns(listed=pl.col("given") | pl.col("family"))
        each = flags.group_by("at").agg(
            pl.col("listed", "word").any(),
            (pl.col("given").any() & pl.col("family").any() & (pl.col("listed").sum() >= 2)).alias("both"),
            pl.len().alias("parts"),
        )
        marks = rows.select("at").join(each, on="at", how="left", maintain_order="left")
        listed = marks["listed"].fill_null(value=False).to_numpy()
        both, word = (marks[key].fill_null(value=False).to_numpy() for key in ("both", "word"))
        return listed, both, word, marks["parts"].fill_null(0).to_numpy().astype(np.int64)


NAME = PersonName()
