"""Which method suits a table: a small table of evidence, and a note that says why."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem import check
from mahrem.partition._entries import LARGE, METHODS
from mahrem.words import Note

QUADRATIC_ROWS = 20_000  # above this, methods that look at all pairs are left out unless asked for by name
PATIENCE = 60.0  # seconds; a method expected to take longer for one run is left out as well
LIGHT = 0.6  # share of k up to which distinct l-diversity was seen to leave mosaic ahead


@dataclass(frozen=True, kw_only=True)
class MethodEvidence:
    """What the choice looks at: figures about the table and the promise, no value of the data."""

    rows: int
    columns: int  # quasi-identifiers
    unordered: int  # of them, words without an order
    k: int
    apart: bool = False  # cells of different classes must not overlap (delta-presence)
    demanding: bool = False  # a promise that refuses many small classes, see :func:`choose_method`
    seconds: float | None = None  # time allowed; None: a minute


def suits_size(method: str, rows: int) -> Note | None:
    """Say why a method is left out of a sweep over so many rows by default; None when it is not.

    Example:
        >>> suits_size("mosaic", 1_000_000) is None
        True
        >>> print(suits_size("mdav", 1_000_000))
        looks at all pairs of rows: left out above 20,000 rows; name it to run it
    """
    known = METHODS[method]
    if known.growth == "lattice":
        return Note("left_out.lattice")
    if known.growth == "n²" and rows > QUADRATIC_ROWS:
        return Note("left_out.pairs", {"most": QUADRATIC_ROWS})
    expected = known.seconds(rows)
    if known.growth == "n²" and expected > PATIENCE:
        return Note("left_out.slow", {"seconds": expected, "most": PATIENCE})
    return None


def choose_method(evidence: MethodEvidence) -> tuple[str, Note]:
    """Choose a method; gives its name and why.

    ================================================  ============  =======================================
    evidence, the first line that fits                method        because
    ================================================  ============  =======================================
    cells must not overlap (delta-presence)           mondrian      its strict cuts are the only ones
    fewer than 2k rows                                mondrian      there is one class whatever is done
    a demanding promise, above 200,000 rows           mondrian      it cuts only where both sides may stand
    time allowed is below mosaic's expected time      mondrian      the quickest
    otherwise                                         mosaic        least loss at n log n
    ================================================  ============  =======================================

    A promise is demanding when k counts people, or when there is one beyond k that is not distinct
    l-diversity with l up to 0.6 k. Methods that lay classes by size, as mosaic does with so large a table,
    must then merge what is refused and lose more than Mondrian: :func:`mahrem.compare` says what holds on
    yours.

    Args:
        evidence: Size, kinds, k and the time allowed.

    Guarantees:
        - The same evidence gives the same choice.
        - The reason holds sizes only, no value of the data.

    Example:
        >>> choose_method(MethodEvidence(rows=30_000, columns=5, unordered=1, k=5))[0]
        'mosaic'
        >>> choose_method(MethodEvidence(rows=10_000_000, columns=5, unordered=1, k=5, seconds=10))[0]
        'mondrian'
    """
    allowed = 60.0 if evidence.seconds is None else check.at_least(0, seconds=evidence.seconds)
    if evidence.apart:
        return "mondrian", Note("choice.apart")
    if evidence.rows < 2 * evidence.k:
        return "mondrian", Note("choice.few", {"rows": evidence.rows})
    if evidence.demanding and evidence.rows > LARGE:
        return "mondrian", Note("choice.demanding")
    expected = METHODS["mosaic"].seconds(evidence.rows)
    if expected > allowed:
        times = {"expected": expected, "rows": evidence.rows, "allowed": allowed}
        return "mondrian", Note("choice.slow", times)
    ordered = evidence.columns - evidence.unordered
    columns = {"ordered": ordered, "unordered": evidence.unordered}
    return "mosaic", Note("choice.least", {"rows": evidence.rows, **columns, "k": evidence.k})
