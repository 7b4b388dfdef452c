"""What stands beside "holds": what somebody accepted, values of one's own, and what the red team found."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from mahrem.disclosed import published
from mahrem.drafts._draft import Draft
from mahrem.release import is_nearly_unique
from mahrem.release.decisions import Policy
from mahrem.report import ReportFinding, ReportTeam
from mahrem.table import EVERY
from mahrem.types import Sizes
from mahrem.words import Note


def doubts_of(draft: Draft, team: ReportTeam | None, tied: Sizes | None) -> Iterator[Note]:
    """Say what weakens a release although its promises hold; a function of what is published, or rounded."""
    yield from accepted_columns(draft.policy)
    prepared = draft.prepared
    shown = draft.partition.labels[: prepared.taking_part] >= 0
    for name, values in prepared.values.items():
        codes = values.codes[: prepared.taking_part][shown]
        accepted = {name, EVERY} & {*draft.policy.accept}
        if not accepted and is_nearly_unique(pl.Series(codes[codes >= 0]), draft.policy.k):
            yield Note("doubt.rare", {"column": name})
    yield from tied_rows(tied, draft.policy)
    yield from found_by(team)


def tied_rows(tied: Sizes | None, policy: Policy) -> Iterator[Note]:
    """Say that fewer people than k show the same in all rows which pseudonyms tie together."""
    if tied is not None and len(tied) and tied.min() < (policy.k or 2):
        yield Note("doubt.trajectories", {"people": published(int(tied.min()))})


def accepted_columns(policy: Policy) -> Iterator[Note]:
    """Name what somebody accepted, and why."""
    for name, reason in policy.accept.items():
        if name == EVERY:
            yield Note("doubt.everything", {"reason": reason})
        else:
            yield Note("doubt.accepted", {"column": name, "reason": reason})


def found_by(team: ReportTeam | None) -> Iterator[Note]:
    """Say what the red team found that a promise does not speak of."""
    for finding in () if team is None else team.findings:
        if is_grave(finding):
            values = {"rate": finding.rate, "column": finding.details.get("column")}
            yield Note(f"doubt.{finding.attack}", {key: v for key, v in values.items() if v is not None})


def is_grave(finding: ReportFinding) -> bool:
    """Tell whether an attack found so much that a reader must hear of it with the verdict."""
    from mahrem.attacks import ATTACKS

    if finding.rate is None or not finding.alarming or finding.attack not in ATTACKS:
        return False
    line = ATTACKS[finding.attack].grave
    if line is None:  # whoever promised a bound is held to it
        promised = finding.details.get("promised")
        return promised is not None and finding.interval is not None and finding.interval[0] > promised
    return finding.rate >= line
