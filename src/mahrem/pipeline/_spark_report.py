"""What is said about a release that a cluster made: figures from published classes and cells, no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from mahrem.drafts import risk_of
from mahrem.metrics import MetricFacts, published_loss, take_figures
from mahrem.pipeline._summary import ReleaseFacts, build_report, general_caveats, report_column
from mahrem.report import Report
from mahrem.spark import ClusterDraft, ClusterVerdict, CutPlan, PlacedColumn
from mahrem.table import (
    Leaves,
    Members,
    Moments,
    Numbers,
    Prefix,
    Words,
    read_cell,
    read_ranges,
)
from mahrem.types import Floats, Integers, Mask
from mahrem.words import Note

_DAY = 86_400e6  # microseconds


def report_of(draft: ClusterDraft, verdict: ClusterVerdict, *, seconds: float) -> Report:
    """Build the report of what a cluster made, as far as its facts can be known without rows."""
    policy = draft.policy
    utility, per_column = _utility(draft, verdict)
    recodings = dict(zip(policy.quasi, draft.recodings, strict=True))
    facts = ReleaseFacts(
        policy=policy,
        outcomes=verdict.outcomes,
        utility=utility,
        columns={
            name: report_column(
                draft.columns.get(name),
                per_column.get(name),
                recodings.get(name),
                named=name in policy.identifier,
            )
            for name in draft.source_columns
            if name not in draft.leave_out or name in policy.identifier
        },
        quasi=policy.quasi,
        sensitive=list(policy.sensitive),
        risk=risk_of(verdict.people, fraction=policy.fraction),
        sizes=verdict.sizes,
        rows=verdict.rows,
        rows_in=draft.rows_in,
        dropped=draft.dropped,
        suppressed=draft.suppressed,
        method=draft.method,
        reason=draft.reason,
        engine=described(draft.plans, draft.jobs),
        caveats=[
            Note("warning.cluster"),
            *general_caveats(
                policy, numbers=any(isinstance(column.domain, Numbers | Moments) for column in draft.quasi)
            ),
            *verdict.notes,
        ],
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
    """Measure classes as published, and the cells of each column on the column's own axis."""
    policy, hidden, rows = draft.policy, verdict.suppressed, verdict.rows
    columns = {
        column.name: _loss(
            column, verdict.tallies[column.name], verdict, missing=column.name in draft.incomplete
        )
        for column in draft.quasi
    }
    weigh = {name: policy.weights.get(name, 1.0) for name in columns}
    total = sum(weigh[name] * (figures.pop("ncp_sum") + hidden) for name, figures in columns.items())
    for figures in columns.values():
        figures["gcp"] = (figures["gcp"] * (rows - hidden) + hidden) / max(rows, 1)
        figures["iloss"] += hidden
        figures["suppressed_cells"] += hidden
    possible = sum(weigh.values()) * rows
    changed = sum(figures["generalised_cells"] + figures["suppressed_cells"] for figures in columns.values())
    facts = MetricFacts(
        sizes=verdict.sizes,
        people=verdict.people,
        k=policy.k or 1,
        rows=rows,
        suppressed=hidden,
        published=verdict.classes,
    )
    lost: dict[str, float] = {
        "gcp": total / possible if possible else 0.0,
        "gcp_sum": total,
        "iloss": sum(weigh[name] * figures["iloss"] for name, figures in columns.items()),
        "distortion": int(changed),
    }
    return take_figures(facts, lost), columns


def _loss(
    quasi: PlacedColumn, tally: pl.DataFrame, verdict: ClusterVerdict, *, missing: bool
) -> dict[str, float]:
    """Measure one column from how often each of its cells is shown."""
    domain, shown = quasi.domain, verdict.rows - verdict.suppressed
    if isinstance(domain, Leaves):
        utility, figures = published_loss(
            {quasi.name: tally},
            sizes=verdict.sizes,
            rows=shown,
            suppressed=0,
            k=1,
            hierarchies={quasi.name: domain.hierarchy},
        )
        return {**figures[quasi.name], "ncp_sum": utility["gcp_sum"]}
    whole = 1.0
    if isinstance(domain, Words):
        # A missing value is one of the values that a set may name, and none of the codes with a beginning.
        values = max(len(domain.labels) + (missing and not domain.prefixes), 1)
        covered = _covered(tally["cell"], domain)
        ncp, exact = np.where(covered > 1, covered / values, 0.0), covered == 1
        iloss = (covered - 1) / values
        whole -= 1 / values  # a cell that says "anything" still says that there is a value
    else:
        ncp, exact = _widths(tally["cell"], quasi)
        iloss = ncp
    times = tally["rows"].to_numpy()
    hidden = (tally["cell"] == "*").fill_null(value=False).to_numpy()
    lost = float(np.where(hidden, 1.0, ncp) @ times)
    return {
        "ncp_sum": lost,
        "gcp": lost / max(shown, 1),
        "iloss": float(np.where(hidden, whole, iloss) @ times),
        "generalised_cells": int(times[~exact & ~hidden].sum()),
        "suppressed_cells": int(times[hidden].sum()),
    }


def _widths(cells: pl.Series, quasi: PlacedColumn) -> tuple[Floats, Mask]:
    """Give the share of the axis that each interval covers."""
    low, high = read_ranges(cells)
    first, last = quasi.axis(np.zeros(0)).span
    if isinstance(quasi.domain, Moments) and quasi.domain.unit == "us":
        days = not bool(cells.str.contains(":", literal=True).any())
        low, high = (low * _DAY, high * _DAY) if days else (low, high)
    ends = np.where(np.isinf(low), first, low), np.where(np.isinf(high), last, high)
    width = ends[1] / 2 - ends[0] / 2
    known = np.isfinite(width)
    domain = last / 2 - first / 2
    share = np.minimum(np.where(known, width, 0.0) / domain, 1.0) if domain else np.zeros(len(cells))
    return share, ~known | (low == high)


def _covered(cells: pl.Series, domain: Words) -> Integers:
    """Count the values that each cell may stand for."""
    labels = pl.Series(domain.labels, dtype=pl.String)
    covered = np.ones(len(cells), np.int64)
    for place, text in enumerate(cells):
        cell = read_cell(text)
        if isinstance(cell, Members):
            covered[place] = len(cell.members)
        elif isinstance(cell, Prefix):
            covered[place] = int(labels.str.starts_with(cell.beginning).sum())
    return covered
