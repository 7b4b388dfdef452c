"""Keywords of settings, made by scripts/keywords.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

from mahrem.models import ModelKeywords
from mahrem.partition import MethodName
from mahrem.table import FormatName
from mahrem.words import LanguageName


class ReleaseKeywords(ModelKeywords, total=False):
    """What may be said about a release; ``help(mahrem.anonymize)`` says what each means."""

    quasi: Hashable | Sequence[Hashable]
    sensitive: Hashable | Sequence[Hashable] | Mapping[Any, Mapping[str, object]]
    identifier: Hashable | Sequence[Hashable]
    insensitive: Hashable | Sequence[Hashable]
    roles: Mapping[Any, str]
    rest: Literal["insensitive", "drop"] | None
    accept: Mapping[Any, str]
    region: str | None
    kind: Mapping[Any, str]
    order: Mapping[Any, str | Sequence[str]]
    null: str | Sequence[str]
    missing: Literal["category", "suppress", "drop", "drop-any", "refuse"]
    subject: Hashable | None
    hierarchy: Mapping[Any, Any]
    automatic: Hashable | None
    rho: str | float | Sequence[float]
    smoothing: float | None
    minimum_count: int | None
    learn_from: Any
    pseudonym: Mapping[Any, Any]
    redact: Hashable | Sequence[Hashable]
    shift_dates: Any
    shift_days: int | None
    k: int | None
    delta_presence: Sequence[float] | str | None
    trajectory_k: int | None
    k_map: int | None
    journalist_risk: float | None
    no_attack: Sequence[float] | str | None
    profitability: Sequence[float] | str | None
    average_risk: float | None
    marketer_risk: float | None
    sample_uniqueness: float | None
    population_uniqueness: float | None
    population_uniqueness_kind: Literal["dankar", "pitman", "zayatz", "snb"] | None
    population: Any
    known_absence: Literal["refused", "allowed"] | None
    fraction: float | None
    method: MethodName
    options: Mapping[Any, Any]
    strategy: Literal["strict", "relaxed"]
    bounds: Literal["grid", "exact"]
    grid: Mapping[Any, float | str]
    round: Mapping[Any, float]
    prefix: Mapping[Any, int]
    bands: Mapping[Any, float | str]
    at_least: Mapping[Any, float | str]
    at_most: Mapping[Any, float | str]
    cells: Literal["text", "pairs", "midpoint", "centroid"]
    top: Mapping[Any, float]
    bottom: Mapping[Any, float]
    jitter: float | None
    repair: bool
    seconds: float | None
    local: bool
    sparse: Mapping[Any, str | Sequence[str]]
    suppress: Hashable | Sequence[Hashable]
    suppression_limit: float | None
    suppressed: Literal["hidden", "keep-sensitive"]
    weights: Mapping[Any, float]
    minimality_safe: bool | None
    seed: int | None
    engine: Literal["local", "spark"]
    master: str | None
    memory: int | str | None
    delimiter: str | None
    encoding: str | None
    decimal: Literal[".", ","] | None
    thousands: Literal[".", ",", " ", "'"] | None
    date_format: str | Mapping[Any, str]
    header: bool | None
    names: str | Sequence[str]
    skip_rows: int | None
    skip_last: int | None
    query: str | None
    table: str | None
    format: FormatName
    shuffle: bool | None
    language: LanguageName
    recipient: str | None
    purpose: str | None
    rationale: str | None
    reviewer: str | None
    look_for: Sequence[Mapping[str, object]]
