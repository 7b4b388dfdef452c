"""Keywords of settings, made by scripts/keywords.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from mahrem.table import FormatName


class MaskingKeywords(TypedDict, total=False):
    """Roles of columns, how a source is read, what columns are worth: settings of a release."""

    quasi: Hashable | Sequence[Hashable]
    sensitive: Hashable | Sequence[Hashable] | Mapping[Any, Mapping[str, object]]
    identifier: Hashable | Sequence[Hashable]
    insensitive: Hashable | Sequence[Hashable]
    rest: Literal["insensitive", "drop"] | None
    accept: Mapping[Any, str]
    region: str | None
    weights: Mapping[Any, float]
    format: FormatName
    null: str | Sequence[str]
    delimiter: str | None
    encoding: str | None
    decimal: Literal[".", ","] | None
    header: bool | None
    names: str | Sequence[str]
    skip_rows: int | None
    query: str | None
    table: str | None


class SuppressionKeywords(MaskingKeywords, total=False):
    """How cells are hidden.

    Attributes:
        k: Rows that must be alike in all quasi-identifiers.
        sets: Columns known together, and their k.
        reading: What a hidden cell is taken for: exact, match (a value of its own, or any value); default
            exact.
    """

    k: int | None
    sets: Mapping[str, int] | Sequence[str]
    reading: Literal["exact", "match"]


class PerturbationKeywords(MaskingKeywords, total=False):
    """How values are changed.

    Attributes:
        steps: What is done to which columns.
        seed: For experiments alone; never published.
    """

    steps: Mapping[str, Any] | Sequence[str]
    seed: int | None


class RiskKeywords(MaskingKeywords, total=False):
    """How the risk of a table is measured.

    Attributes:
        weight: Column of sampling weights.
        household: Column that names households.
        fraction: Share of the population that is in the table.
        largest: Largest sets of columns to look for special uniques in.
    """

    weight: Hashable | None
    household: Hashable | None
    fraction: float | None
    largest: int | None


class LevelKeywords(TypedDict, total=False):
    """Hierarchies, how a source is read, what columns are worth: settings of a release."""

    hierarchy: Mapping[Any, Any]
    weights: Mapping[Any, float]
    format: FormatName
    null: str | Sequence[str]
    delimiter: str | None
    encoding: str | None
    decimal: Literal[".", ","] | None
    header: bool | None
    names: str | Sequence[str]
    skip_rows: int | None
    query: str | None
    table: str | None


class GeneralisationKeywords(LevelKeywords, total=False):
    """How levels are chosen and rows sampled.

    Attributes:
        beta: Chance of each row to be sampled; usual: that which needs the smallest classes.
        share: Part of epsilon that chooses levels; default 0.1.
    """

    beta: float | None
    share: float
