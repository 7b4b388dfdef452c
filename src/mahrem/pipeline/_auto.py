"""Which method suits a table: a small table of evidence, and the sentence that says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mahrem import check

__all__ = ["QUADRATIC", "QUADRATIC_ROWS", "TRAITS", "Evidence", "Trait", "choose", "suits"]

QUADRATIC_ROWS = 20_000  # above this, methods that look at all pairs are left out unless asked for by name
PATIENCE = 60.0  # seconds; a method expected to take longer for one run is left out as well
LIGHT = 0.6  # share of k up to which distinct l-diversity was seen to leave mosaic ahead


@dataclass(frozen=True)
class Trait:
    """What is known of a method before it runs.

    ``rows_a_second`` was measured at k=5 with default settings: on 1,000,000 x 5 uniform points for
    ``n log n``, on 10,000 rows of Adult for ``n²``, where seconds grow with the square of the rows. Two cores
    that others used as well: an order of magnitude to plan with, not a benchmark.
    """

    growth: str  # "n log n", "n²", or "lattice": by the nodes of a lattice more than by the rows
    rows_a_second: float

    def seconds(self, rows: int) -> float:
        """Give about how long a table of so many rows takes."""
        alone = rows / self.rows_a_second
        return alone * rows / 10_000 if self.growth == "n²" else alone


# A new method gets its line here.
TRAITS: Mapping[str, Trait] = {
    "mondrian": Trait("n log n", 3.3e6),
    "optimised-mondrian": Trait("n log n", 4.0e5),
    "canon": Trait("n log n", 2.4e6),
    "u-mondrian": Trait("n log n", 1.6e6),
    "u-canon": Trait("n log n", 9.5e5),
    "mosaic": Trait("n log n", 4.9e5),
    "mdav+": Trait("n²", 1.9e5),
    "mdav": Trait("n²", 1.7e5),
    "mdav*": Trait("n²", 1.5e5),
    "v-mdav": Trait("n²", 7.6e4),
    "kanonymeans": Trait("n²", 8.5e3),
    "ona*": Trait("n²", 3.3e3),
    "kanonymeans*": Trait("n²", 90.0),  # from 4 evaluations; 30 are the default
    **dict.fromkeys(("datafly", "bottom-up", "top-down"), Trait("lattice", 1e6)),
    **dict.fromkeys(("incognito", "ola", "flash", "mingen"), Trait("lattice", 1e5)),
}
QUADRATIC = tuple(name for name, trait in TRAITS.items() if trait.growth == "n²")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the choice looks at: figures about the table and the promise, no value of the data."""

    rows: int
    columns: int  # quasi-identifiers
    unordered: int  # of them, words without an order
    k: int
    apart: bool = False  # cells of different classes must not overlap (delta-presence)
    demanding: bool = False  # a promise that refuses many small classes, see :func:`choose`
    seconds: float | None = None  # time allowed; None: a minute


def suits(method: str, rows: int) -> str | None:
    """Say why a method is left out of a sweep over so many rows by default; None when it is not.

    Example:
        >>> suits("mosaic", 1_000_000) is None
        True
        >>> suits("mdav", 1_000_000)
        'looks at all pairs of rows: left out above 20,000 rows; name it to run it'
    """
    if TRAITS[method].growth == "lattice":
        return "lifts whole columns along their hierarchies: never swept by default; name it to run it"
    if method in QUADRATIC and rows > QUADRATIC_ROWS:
        return f"looks at all pairs of rows: left out above {QUADRATIC_ROWS:,} rows; name it to run it"
    expected = TRAITS[method].seconds(rows)
    if method in QUADRATIC and expected > PATIENCE:
        return f"takes about {expected:,.0f} s a run: left out above {PATIENCE:g} s; name it to run it"
    return None


def choose(evidence: Evidence) -> tuple[str, str]:
    """Choose a method; gives its name and why.

    ================================================  ============  =======================================
    evidence, the first line that fits                method        because
    ================================================  ============  =======================================
    cells must not overlap (delta-presence)           mondrian      its strict cuts are the only ones
    fewer than 2k rows                                mondrian      there is one class whatever is done
    a demanding promise                               mondrian      it cuts only where both sides may stand
    time allowed is below mosaic's expected time      mondrian      the quickest
    otherwise                                         mosaic        least loss at n log n
    ================================================  ============  =======================================

    A promise is demanding when k counts people, or when there is one beyond k that is not distinct
    l-diversity with l up to 0.6 k. Methods that cluster by size must then merge what is refused and lose
    more than Mondrian. Seen on two tables only (demo patients, 8,000 rows of Adult; ``guide/compare.md``):
    :func:`mahrem.compare` says what holds on yours.

    Args:
        evidence: Size, kinds, k and the time allowed.

    Guarantees:
        - The same evidence gives the same choice.
        - The reason holds sizes only, no value of the data.

    Example:
        >>> choose(Evidence(rows=30_000, columns=5, unordered=1, k=5))[0]
        'mosaic'
        >>> choose(Evidence(rows=10_000_000, columns=5, unordered=1, k=5, seconds=10))[0]
        'mondrian'
    """
    allowed = 60.0 if evidence.seconds is None else check.at_least(0, seconds=evidence.seconds)
    if evidence.apart:
        return "mondrian", "delta-presence needs cells that do not overlap, and only strict cuts give them"
    if evidence.rows < 2 * evidence.k:
        return "mondrian", f"{evidence.rows:,} rows are fewer than 2k: there is one class whatever is done"
    if evidence.demanding:
        reason = "the promise refuses many small classes; merging them cost more than cutting with care"
        return "mondrian", f"{reason} where we compared"
    expected = TRAITS["mosaic"].seconds(evidence.rows)
    if expected > allowed:
        reason = (
            f"mosaic would take about {expected:,.0f} s for {evidence.rows:,} rows, {allowed:g} s are allowed"
        )
        return "mondrian", f"{reason}; mondrian is the quickest"
    kinds = f"{evidence.columns - evidence.unordered} ordered and {evidence.unordered} unordered columns"
    return (
        "mosaic",
        f"least loss at n log n where we compared; {evidence.rows:,} rows, {kinds}, k={evidence.k}",
    )
