"""What the templates of the explorer are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mahrem.web.bodies import ErrorDetail, FormField, Job
from mahrem.web.pages._contexts import SensitiveLine, Shell
from mahrem.web.pages._scatter import Scatter
from mahrem.web.projects import Candidate


@dataclass(frozen=True, kw_only=True)
class Slider:
    """A field with a slider beside it."""

    field: FormField
    low: float
    high: float
    step: float
    stops: Sequence[
        str
    ] = ()  # what each place of the slider says, where these are words; the first says nothing


@dataclass(frozen=True, kw_only=True)
class SlidColumn:
    """A quasi-identifier and how coarse it may become."""

    number: int
    name: str
    sliders: Sequence[Slider]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of two candidates side by side."""

    candidate: Candidate
    title: str


@dataclass(frozen=True, kw_only=True)
class FigureLine:
    """A figure of a candidate, and of another one beside it."""

    name: str
    meaning: str
    value: str
    other: str | None


@dataclass(frozen=True, kw_only=True)
class ColumnResult:
    """What a column would lose, with examples."""

    name: str
    share: float
    loss: str
    other: str | None
    examples: Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class SizeBar:
    """Rows in classes of some sizes, as a bar."""

    x: float
    width: float
    height: float
    label: str
    words: str


@dataclass(frozen=True, kw_only=True)
class CandidateLine:
    """A candidate in the list."""

    candidate: Candidate
    title: str
    adopted: bool
    current: bool


@dataclass(frozen=True, kw_only=True)
class DeepSide:
    """One of two candidates, made on every row: what its report would show, and rows it would publish."""

    title: str
    parts: Mapping[str, Any]
    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]]


@dataclass(frozen=True, kw_only=True)
class ExploredPage:
    """The part of the explorer that changes with every try."""

    project: str
    current: Candidate | None
    title: str
    problem: ErrorDetail | None
    extent: str  # on how many rows, in what time
    adopted: bool
    figures: Sequence[FigureLine]
    columns: Sequence[ColumnResult]
    bars: Sequence[SizeBar]
    scatter: Scatter | None
    candidates: Sequence[CandidateLine]
    beside: Side | None
    differences: Sequence[tuple[str, str, str]]  # setting, here, there
    job: Job | None
    deep: Sequence[DeepSide]  # both sides made on every row, if somebody had that done
    deep_job: Job | None
    targets: Sequence[str]  # what models may learn


@dataclass(frozen=True, kw_only=True)
class ExplorePage:
    """The explorer."""

    shell: Shell
    problem: ErrorDetail | None
    sliders: Sequence[Slider]
    method: Sequence[FormField]
    sensitive: Sequence[tuple[SensitiveLine, Sequence[Slider]]]
    columns: Sequence[SlidColumn]
    explored: ExploredPage
    fresh: bool  # what the form says was not tried yet
