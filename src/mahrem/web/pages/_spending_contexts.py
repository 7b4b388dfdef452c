"""What the template of verbs that a budget pays is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mahrem.web.bodies import FormField, Job
from mahrem.web.pages._contexts import Shell


@dataclass(frozen=True, kw_only=True)
class ErrorLine:
    """How far off something would be at an epsilon."""

    epsilon: str
    error: str
    share: float  # of the largest error that is shown, for a bar
    asked: bool


@dataclass(frozen=True, kw_only=True)
class SpendingPlan:
    """What a verb would cost and give, by what is public alone."""

    job: str  # that said it: what is spent is what was planned
    epsilon: str
    fits: bool
    figures: Sequence[tuple[str, str]]
    about: str
    errors: Sequence[ErrorLine]


@dataclass(frozen=True, kw_only=True)
class SpendPage:
    """One verb that a budget pays: its settings, its plan, how it goes, what came of it."""

    shell: Shell
    verb: str
    sheet: Mapping[str, Any] | None  # nothing while the table has no budget
    gain: Mapping[str, Any] | None
    columns: Sequence[str]  # of the table
    ledger_job: Job | None
    seen: int
    first: Sequence[FormField]
    more: Mapping[str, Sequence[FormField]]  # by heading
    elsewhere: Sequence[tuple[str, str]]  # options of the command line alone, and why
    plan_job: Job | None
    plan: SpendingPlan | None
    job: Job | None
    figures: Sequence[tuple[str, str]]
    notes: Sequence[str]
    guarantee: str
    files: Sequence[str]
    reported: bool  # whether there is a report to look at
