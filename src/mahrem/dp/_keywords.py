"""Keywords of settings, made by scripts/keywords.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal, TypedDict

from mahrem.table import ColumnDeclaration


class LedgerKeywords(TypedDict, total=False):
    """The promise a ledger counts by, and what is public.

    Attributes:
        delta: The total delta; 0 by default, which allows only Laplace noise.
        composition: filter, zcdp, sum, pld; default filter, which holds however costs are chosen; pld is
            tighter, for plans fixed in advance.
        relation: Neighbours: add-remove, replace (the number of rows is public then); default add-remove.
        subject: Says whose row it is: people are protected, not rows.
        rows_per_person: Rows of a person used at most; default 1.
        columns: What is public of columns: bounds, values, what an empty cell counts as.
        rows: The number of rows, if it is public.
    """

    delta: float
    composition: Literal["filter", "zcdp", "sum", "pld"]
    relation: Literal["add-remove", "replace"]
    subject: Hashable | None
    rows_per_person: int
    columns: Mapping[Any, ColumnDeclaration | Mapping[str, Any]] | None
    rows: int | None
