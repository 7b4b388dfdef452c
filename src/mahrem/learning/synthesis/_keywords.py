"""Keywords of settings, made by scripts/keywords.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from mahrem.table import FormatName
from mahrem.words import LanguageName


class SynthesisKeywords(TypedDict, total=False):
    """How a synthetic table is made.

    Attributes:
        columns: Which columns; all the ledger knows.
        missing: Columns that may be empty; else such rows count as declared, or are left out.
        kinds: What a number is, whole or number.
        dates: First and last day of a column of dates.
        cells: Cells of a number, or the edges between them.
        constraints: Rules every row keeps: 'a <= b', 'total = a + b', 'never a=x and b=y' or 'unique id'.
        method: marginals, aim, mst, vae, gan, lstm (for series); default marginals.
        target: Column to predict: what goes with it is kept best.
        options: A setting of the method's own.
        rows: Rows to make; as many as there seem to be.
        given: A condition every row meets.
        format: Data file: one of FormatName; default csv.
        language: Of the report: one of LanguageName; default en.
        html: Draw report.html.
        quality: Private folder for figures against the real rows; NOT private.
        holdout: Real rows the synthesiser does not see, for the figures of quality.
    """

    columns: Sequence[Hashable]
    missing: Sequence[Hashable]
    kinds: Mapping[Any, str] | None
    dates: Mapping[Any, tuple[str, str]] | None
    cells: Mapping[Any, int | Sequence[float]] | None
    constraints: Sequence[str]
    method: Literal["marginals", "aim", "mst", "vae", "gan", "lstm"]
    target: Hashable | None
    options: Mapping[str, Any] | None
    rows: int | None
    given: Mapping[Any, Any] | None
    format: FormatName
    language: LanguageName
    html: bool
    quality: bool | str | Path
    holdout: object
