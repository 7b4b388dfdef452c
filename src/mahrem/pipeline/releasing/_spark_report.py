"""What is said about a release that a cluster made: figures from published classes and cells, no rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mahrem.metrics import published_loss
from mahrem.pipeline.releasing._summary import build_report, counted_facts, general_caveats, report_columns
from mahrem.report import Report
from mahrem.spark import ClusterDraft, ClusterVerdict, CutPlan
from mahrem.table import Moments, Numbers
from mahrem.words import Note


def report_of(draft: ClusterDraft, verdict: ClusterVerdict, *, seconds: float) -> Report:
    """Build the report of what a cluster made, as far as its facts can be known without rows."""
    policy = draft.policy
    utility, per_column = _utility(draft, verdict)
    named = [
        name for name in draft.source_columns if name not in draft.leave_out or name in policy.identifier
    ]
    valued = any(outcome.column for outcome in verdict.outcomes)
    numbers = any(isinstance(column.domain, Numbers | Moments) for column in draft.quasi)
    facts = counted_facts(
        policy,
        verdict,
        utility=utility,
        columns=report_columns(policy, named, draft.columns, per_column, draft.recodings),
        method=draft.method,
        caveats=[
            Note("warning.cluster"),
            *([Note("warning.classes_untried")] if valued else []),
            *general_caveats(policy, numbers=numbers),
        ],
    )
    facts = replace(
        facts,
        dropped=draft.dropped,
        suppressed=draft.suppressed,
        reason=draft.reason,
        engine=described(draft.plans, draft.jobs),
    )
    return build_report(facts, seconds=seconds)


def described(plans: Sequence[CutPlan], jobs: int | None) -> dict[str, Any]:
    """Say how a cluster went about it: levels, passes, parts."""
    parts = np.concatenate([plan.sizes[~plan.whole] for plan in plans])
    return {
        "name": "spark",
        "rounds": len(plans),
        "levels": max(plan.levels for plan in plans),
        "passes": sum(plan.passes for plan in plans),
        "jobs": jobs,
        "parts": len(parts),
        "smallest_part": int(parts.min(initial=parts.max(initial=0))),
        "largest_part": int(parts.max(initial=0)),
        "classes_without_worker": int(sum(plan.whole.sum() for plan in plans)),
    }


def _utility(
    draft: ClusterDraft, verdict: ClusterVerdict
) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """Measure what is published, from how often each cell is shown."""
    policy, hidden = draft.policy, verdict.suppressed
    stars = pl.DataFrame({"cell": ["*"], "rows": [hidden]}) if hidden else pl.DataFrame()
    trees = {name: draft.columns[name].hierarchy for name in policy.quasi}
    return published_loss(
        {
            name: pl.concat(
                [tally.select(pl.col("cell"), pl.col("rows").cast(pl.Int64)), stars], how="diagonal"
            )
            for name, tally in verdict.tallies.items()
        },
        sizes=verdict.sizes,
        people=verdict.people,
        rows=verdict.rows,
        suppressed=hidden,
        k=policy.k or 1,
        weights=policy.weights or None,
        hierarchies={name: tree for name, tree in trees.items() if tree is not None},
    )
