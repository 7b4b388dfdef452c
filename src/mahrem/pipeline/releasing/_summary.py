"""The report of a release, built from facts that one machine or a cluster gives: figures only, no value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem.disclosed import Count, Figure, Why, of_crowd, published
from mahrem.drafts import Draft, accepted_columns, as_told, doubts_of, hides_whose, risk_of, utility_of
from mahrem.metrics import class_size_bins, highest_risk
from mahrem.models import Outcome
from mahrem.partition import Levels
from mahrem.release.decisions import Policy
from mahrem.report import (
    Report,
    ReportColumn,
    ReportLearning,
    ReportMissing,
    ReportPromise,
    ReportRelation,
    ReportRisk,
    ReportTeam,
    stamp,
    verdict_of,
    warnings_of,
)
from mahrem.table import Column, Missing, Role
from mahrem.table.writing import exported_names
from mahrem.types import Sizes
from mahrem.verify import Verdict, people_per_class, published_classes
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.drafts import Crowd


_EXAMPLES = 3  # published cells that a report shows of a column
SMALLEST_SHOWN = 3  # a report never shows a count below this, whatever k is


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """What is known about a release where it was made.

    Attributes:
        quasi: Quasi-identifiers as they are published; ``sensitive`` likewise.
        sizes: ``(c,)`` rows in each published class.
        suppressed: Rows that show nothing for they miss values.
        doubts: What weakens a promise that holds.
        reason: Why the method was chosen, if it was.
    """

    policy: Policy
    outcomes: Sequence[Outcome]
    utility: Mapping[str, float]
    columns: Mapping[str, ReportColumn]
    quasi: Sequence[str]
    sensitive: Sequence[str]
    risk: ReportRisk
    sizes: Sizes
    rows: int
    dropped: int
    suppressed: int
    method: str
    reason: Note | None
    caveats: Sequence[Note]
    doubts: Sequence[Note] = ()
    learning: ReportLearning | None = None
    relations: tuple[ReportRelation, ...] | None = None
    red_team: ReportTeam | None = None
    engine: Mapping[str, Any] | None = None


def build_report(facts: ReleaseFacts, *, seconds: float) -> Report:
    """Put the report of a release together, whoever made it."""
    policy, reason = facts.policy, facts.reason
    dropped = hidden_count(facts.dropped, policy, possible=policy.missing in {Missing.DROP, Missing.DROP_ANY})
    suppressed = hidden_count(facts.suppressed, policy, possible=policy.missing is Missing.SUPPRESS)
    return Report(
        **stamp(),
        **verdict_of(holds=all(outcome.holds for outcome in facts.outcomes), doubts=facts.doubts),
        promises=tuple(ReportPromise.read(outcome.as_dict()) for outcome in facts.outcomes),
        utility=published(facts.utility),
        columns=facts.columns,
        published={
            "quasi": exported_names(list(facts.quasi), policy.format),
            "sensitive": exported_names(list(facts.sensitive), policy.format),
        },
        risk=facts.risk,
        learning=facts.learning,
        relations=facts.relations,
        red_team=facts.red_team,
        class_sizes=published(class_size_bins(facts.sizes)),
        rows=published(facts.rows),
        rows_in=None if dropped is None else published(facts.rows + dropped),
        dropped=dropped,
        missing=ReportMissing(
            policy=str(policy.missing),
            dropped=dropped,
            suppressed=suppressed,
            below=published(floor_of(policy)),
        ),
        method=facts.method,
        method_reason=None if reason is None else str(reason),
        method_note=None if reason is None else published(reason.as_dict()),
        engine=None if facts.engine is None else published(facts.engine),
        settings=policy.public(),
        seconds=published(round(seconds, 3)),
        **warnings_of(facts.caveats),
    )


def floor_of(policy: Policy) -> int:
    """Say how many people a figure beside the table must stand for."""
    return max(policy.k or 1, SMALLEST_SHOWN)


def hidden_count(rows: int, policy: Policy, *, possible: bool) -> Count | None:
    """Tell how many rows nobody sees: as a multiple of k, and below k not at all.

    Args:
        rows: How many there are.
        policy: Names k.
        possible: Whether the settings let there be any; if not, everybody knows that there is none.
    """
    floor = floor_of(policy)
    if not possible:
        return Count(0, Why.PUBLISHED)
    return None if rows < floor else of_crowd(rows // floor * floor)


def report_column(
    column: Column | None, figures: Mapping[str, object] | None, recoding: object, *, named: bool, given: bool
) -> ReportColumn:
    """Say what a column is and what became of it; one without a kind is taken out or left as it is.

    Of its level only where the hierarchy was ``given``: how many one has that is made of values follows from
    where people are in their cells.
    """
    if column is None:
        return ReportColumn(role=str(Role.IDENTIFIER if named else Role.INSENSITIVE))
    known = ReportColumn(role=str(column.role), kind=str(column.kind))
    if figures is None:
        return known
    shown = published({"level": getattr(recoding, "level", None) if given else None, **figures})
    return replace(known, recoding=type(recoding).__name__.lower(), **shown)


def report_columns(
    policy: Policy,
    names: Iterable[str],
    columns: Mapping[str, Column],
    figures: Mapping[str, Mapping[str, object]],
    recodings: Sequence[object],
) -> dict[str, ReportColumn]:
    """Say of columns what they are and what became of them, where no rows are at hand."""
    by_name = dict(zip(policy.quasi, recodings, strict=True))
    return {
        name: report_column(
            columns.get(name),
            figures.get(name),
            by_name.get(name),
            named=name in policy.identifier,
            given=name in policy.hierarchy,
        )
        for name in names
    }


def general_caveats(policy: Policy, *, numbers: bool) -> Iterator[Note]:
    """Give what every report must say; ``numbers``: classes have ends that are values."""
    if policy.bounds == "exact" and numbers:
        yield Note("warning.exact")
    if policy.pseudonym:
        yield Note("warning.pseudonym")
    for name in policy.redact:
        yield Note("warning.redacted", {"column": name})
    if policy.shift_days is not None:
        yield Note("warning.shifted", {"days": published(policy.shift_days)})
    if policy.k is None:
        yield Note("warning.no_k")


def counted_facts(
    policy: Policy,
    verdict: Verdict,
    *,
    utility: Mapping[str, float],
    columns: Mapping[str, ReportColumn],
    method: str,
    caveats: Sequence[Note],
) -> ReleaseFacts:
    """Give what is known about a release whose rows are not at hand, by what was counted of it."""
    return ReleaseFacts(
        policy=policy,
        outcomes=verdict.outcomes,
        utility=utility,
        columns=columns,
        quasi=policy.quasi,
        sensitive=list(policy.sensitive),
        risk=risk_of(verdict.people, fraction=policy.fraction),
        sizes=verdict.sizes,
        rows=verdict.rows,
        dropped=0,
        suppressed=0,
        method=method,
        reason=None,
        caveats=[*caveats, *verdict.notes],
        doubts=list(accepted_columns(policy)),
    )


def summarise(
    draft: Draft, verdict: Verdict, *, seconds: float, pictures: bool, target: str | None = None
) -> Report:
    """Build the report of a draft; ``pictures`` adds what came before, the red team and relations."""
    policy, prepared = draft.policy, draft.prepared
    floor = floor_of(policy)
    verdict = as_told(verdict, policy, floor)
    utility, per_column = utility_of(draft, verdict)
    crowd = _crowd_of(draft) if pictures else None
    facts = ReleaseFacts(
        policy=policy,
        outcomes=verdict.outcomes,
        utility=utility,
        columns={
            name: _column(draft, name, per_column.get(name), crowd, floor)
            for name in prepared.source.columns
            if name not in prepared.leave_out or name in policy.identifier
        },
        quasi=draft.quasi,
        sensitive=list(prepared.values),
        risk=_risk(draft, verdict, crowd, floor),
        sizes=verdict.sizes,
        rows=prepared.rows,
        dropped=int((~prepared.keep).sum()),
        suppressed=int(prepared.suppress.sum()),
        method=draft.method,
        reason=draft.method_reason,
        caveats=[*_caveats(draft), *verdict.notes],
    )
    if target is not None:
        from mahrem.drafts import measure_learning

        facts = replace(facts, learning=measure_learning(draft, target))
    if crowd is not None:
        from mahrem.drafts import probe, relations

        facts = replace(
            facts,
            relations=relations(draft, crowd, floor=floor),
            red_team=probe(draft, crowd, floor=floor),
        )
    facts = replace(facts, doubts=list(doubts_of(draft, facts.red_team, verdict.trajectories)))
    return build_report(facts, seconds=seconds)


def _crowd_of(draft: Draft) -> Crowd:
    from mahrem.drafts import crowd_of  # only pages compare with what came before

    return crowd_of(draft)


def _column(
    draft: Draft, name: str, figures: Mapping[str, float] | None, crowd: Crowd | None, floor: int
) -> ReportColumn:
    prepared, policy = draft.prepared, draft.policy
    named = name in policy.identifier or name in policy.pseudonym
    given = name in draft.policy.hierarchy
    column = report_column(
        prepared.columns.get(name), figures, draft.recodings.get(name), named=named, given=given
    )
    if figures is None or crowd is None:
        return column
    column = replace(column, examples=_common_cells(draft, name))
    if name in crowd.coarse:
        return column
    from mahrem.drafts import is_shifted
    from mahrem.report import distribution

    axis = next(axis for axis in crowd.axes if axis.name == name)
    labels, bands = draft.partition.labels[crowd.rows], is_shifted(draft.recodings.get(name))
    counts = distribution(axis, labels, draft.cells[name], floor=floor, bands=bands)
    return replace(column, distribution=of_crowd(counts) if counts else None)


def _common_cells(draft: Draft, name: str) -> tuple[str, ...] | None:
    """Give the cells that most published rows show; none where these are ends or middles, not text."""
    cells = draft.cells[name]
    if draft.form != "text" and cells.low is not None:
        return None
    shown = pl.DataFrame({"cell": cells.text.cast(pl.String), "rows": draft.sizes}).filter(
        pl.Series(~cells.suppressed), pl.col("rows") > 0, pl.col("cell").is_not_null()
    )
    common = shown.group_by("cell").agg(pl.col("rows").sum()).sort("rows", "cell", descending=[True, False])
    return tuple(common["cell"].head(_EXAMPLES)) or None


def _risk(draft: Draft, verdict: Verdict, crowd: Crowd | None, floor: int) -> ReportRisk:
    """Give the risk of what is published and, beside it, of the shown rows before."""
    prepared = draft.prepared
    everybody = None if prepared.population is None else prepared.population.height
    if everybody is None:
        why = Why.CROWD if hides_whose(draft.policy) else Why.PUBLISHED
        risk = risk_of(verdict.least_hidden, fraction=draft.policy.fraction, why=why)
    else:
        labels = draft.partition.labels
        fitting = np.bincount(labels[labels >= 0], minlength=draft.partition.classes)
        risk = risk_of(draft.sizes, population=fitting, everybody=everybody)
        if verdict.trajectories is not None:
            risk = replace(risk, highest=Figure(highest_risk(verdict.trajectories), Why.PUBLISHED))
    if crowd is None:
        return risk
    from mahrem.drafts import risk_before, singling_columns

    return replace(
        risk,
        before=risk_before(_sizes_before(draft, crowd), floor, whose=hides_whose(draft.policy)),
        unique_columns=singling_columns(crowd, floor=floor),
    )


def _sizes_before(draft: Draft, crowd: Crowd) -> Sizes:
    frame = pl.DataFrame({str(number): axis.positions for number, axis in enumerate(crowd.axes)})
    if draft.prepared.subjects is None:  # nobody asks which rows they are
        return frame.group_by(frame.columns).len()["len"].to_numpy().astype(np.int64)
    labels, sizes = published_classes(frame, frame.columns)
    return people_per_class(labels, draft.prepared.subjects[crowd.rows], len(sizes))


def _caveats(draft: Draft) -> Iterator[Note]:
    policy, how = draft.policy, draft.partition.how
    yield from draft.prepared.source.notes
    yield from draft.notes
    if policy.subject is not None and policy.subject not in policy.pseudonym:
        yield Note("warning.people")
    if isinstance(how, Levels) and not how.finished:
        yield Note("warning.search")
    if policy.automatic is not None and policy.learn_from is None:
        yield Note("warning.learnt")
    yield from general_caveats(
        policy, numbers=any(np.isfinite(axis.span).all() for axis in draft.prepared.axes)
    )
