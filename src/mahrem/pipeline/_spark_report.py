"""What is said about a release that a cluster made: figures from published classes and cells, no rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from mahrem.drafts import risk_of
from mahrem.metrics import MetricFacts, published_loss, take_figures
from mahrem.pipeline._summary import promises_of
from mahrem.report import class_size_bins
from mahrem.spark import ClusterDraft, ClusterVerdict, CutPlan, PlacedColumn
from mahrem.table import (
    Leaves,
    Members,
    Moments,
    Numbers,
    Prefix,
    Role,
    Words,
    exported_names,
    read_cell,
    read_ranges,
)
from mahrem.types import Floats, Integers, Mask

__all__ = ["described", "report_of"]

_DAY = 86_400e6  # microseconds


def report_of(made: ClusterDraft, verdict: ClusterVerdict, *, seconds: float) -> dict[str, Any]:
    """Gather the report of a release; its keys are those of a local one, as far as they can be known."""
    policy = made.policy
    utility, per_column = _utility(made, verdict)
    return {
        "mahrem": version("mahrem"),
        "created": datetime.now(UTC).date().isoformat(),
        "holds": all(outcome.holds for outcome in verdict.outcomes),
        "promises": promises_of(verdict.outcomes),
        "utility": utility,
        "columns": {
            name: _column(made, name, per_column)
            for name in made.source_columns
            if name not in made.leave_out or name in policy.identifier
        },
        "published": {
            "quasi": exported_names(list(policy.quasi), policy.format),
            "sensitive": exported_names(list(policy.sensitive), policy.format),
        },
        "risk": risk_of(verdict.people, fraction=policy.fraction),
        "class_sizes": class_size_bins(verdict.sizes),
        "rows": verdict.rows,
        "rows_in": made.rows_in,
        "dropped": made.dropped,
        "missing": {
            "policy": str(policy.missing),
            "dropped": made.dropped,
            "suppressed": made.suppressed,
        },
        "method": made.method,
        **({} if made.reason is None else {"method_reason": made.reason}),
        "engine": described(made.plans, made.jobs),
        "settings": policy.public(),
        "seconds": round(seconds, 3),
        "warnings": _caveats(made),
    }


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


def _column(made: ClusterDraft, name: str, figures: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    if name not in made.columns:
        named = name in made.policy.identifier
        return {"role": str(Role.IDENTIFIER if named else Role.INSENSITIVE)}
    column = made.columns[name]
    said: dict[str, Any] = {"role": str(column.role), "kind": str(column.kind)}
    if name in figures:
        recoding = made.recodings[made.policy.quasi.index(name)]
        said |= {"recoding": type(recoding).__name__.lower(), **figures[name]}
    return said


def _utility(
    made: ClusterDraft, verdict: ClusterVerdict
) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """Measure classes as published, and the cells of each column on the column's own axis."""
    policy, hidden, rows = made.policy, verdict.suppressed, verdict.rows
    columns = {
        one.name: _loss(one, verdict.tallies[one.name], verdict, missing=one.name in made.incomplete)
        for one in made.quasi
    }
    weigh = {name: policy.weights.get(name, 1.0) for name in columns}
    total = sum(weigh[name] * (found.pop("ncp_sum") + hidden) for name, found in columns.items())
    for found in columns.values():
        found["gcp"] = (found["gcp"] * (rows - hidden) + hidden) / max(rows, 1)
        found["iloss"] += hidden
        found["suppressed_cells"] += hidden
    possible = sum(weigh.values()) * rows
    changed = sum(found["generalised_cells"] + found["suppressed_cells"] for found in columns.values())
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
        "iloss": sum(weigh[name] * found["iloss"] for name, found in columns.items()),
        "distortion": int(changed),
    }
    return take_figures(facts, lost), columns


def _loss(
    quasi: PlacedColumn, tally: pl.DataFrame, verdict: ClusterVerdict, *, missing: bool
) -> dict[str, float]:
    """Measure one column from how often each of its cells is shown."""
    domain, shown = quasi.domain, verdict.rows - verdict.suppressed
    if isinstance(domain, Leaves):
        utility, found = published_loss(
            {quasi.name: tally},
            sizes=verdict.sizes,
            rows=shown,
            suppressed=0,
            k=1,
            hierarchies={quasi.name: domain.hierarchy},
        )
        return {**found[quasi.name], "ncp_sum": utility["gcp_sum"]}
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


def _caveats(made: ClusterDraft) -> list[str]:
    said = ["Made on a cluster: figures are those of classes as published."]
    if made.policy.bounds == "exact" and any(isinstance(one.domain, Numbers | Moments) for one in made.quasi):
        said.append("Bounds are exact: the smallest and largest values of classes are real values of people.")
    if made.policy.k is None:
        said.append("No k was asked for: rows may be singled out.")
    return said
