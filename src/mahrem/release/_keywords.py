"""Keywords of settings, made by scripts/keywords.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypedDict


class ReleaseKeywords(TypedDict, total=False):
    """What may be said about a release; ``help(mahrem.anonymize)`` says what each means."""

    quasi: Hashable | Sequence[Hashable]
    sensitive: Hashable | Sequence[Hashable] | Mapping[Any, Mapping[str, object]]
    identifier: Hashable | Sequence[Hashable]
    insensitive: Hashable | Sequence[Hashable]
    roles: Mapping[Any, str]
    rest: str | None
    accept: Mapping[Any, str]
    region: str | None
    kind: Mapping[Any, str]
    order: Mapping[Any, str | Sequence[str]]
    null: str | Sequence[str]
    missing: str
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
    l: float | None  # noqa: E741 - the literature's name
    l_kind: str | None
    c: float | None
    t: float | None
    t_kind: str | None
    alpha: float | None
    beta: float | None
    beta_kind: str | None
    delta_disclosure: float | None
    delta_presence: Sequence[float] | str | None
    trajectory_k: int | None
    population: Any
    known_absence: str | None
    fraction: float | None
    method: str
    options: Mapping[Any, Any]
    strategy: str
    bounds: str
    grid: Mapping[Any, float | str]
    round: Mapping[Any, float]
    prefix: Mapping[Any, int]
    bands: Mapping[Any, float | str]
    at_least: Mapping[Any, float | str]
    at_most: Mapping[Any, float | str]
    cells: str
    top: Mapping[Any, float]
    bottom: Mapping[Any, float]
    jitter: float | None
    repair: bool
    sparse: Mapping[Any, str | Sequence[str]]
    suppress: Hashable | Sequence[Hashable]
    suppression_limit: float | None
    suppressed: str
    weights: Mapping[Any, float]
    minimality_safe: bool | None
    seed: int | None
    engine: str
    master: str | None
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    thousands: str | None
    date_format: str | Mapping[Any, str]
    header: bool | None
    names: str | Sequence[str]
    skip_rows: int | None
    skip_last: int | None
    query: str | None
    table: str | None
    format: str
    shuffle: bool | None
    language: str
    look_for: Sequence[Mapping[str, object]]
