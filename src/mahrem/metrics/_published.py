"""Utility of a published table, from how often each cell occurs in each column."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from mahrem.metrics._cell_losses import text_losses
from mahrem.metrics._entries import MetricFacts, take_figures
from mahrem.metrics._loss import weighed
from mahrem.table import Hierarchy
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Sizes


def published_loss(
    tallies: Mapping[str, pl.DataFrame],
    *,
    sizes: Sizes,
    rows: int,
    suppressed: int,
    k: int,
    people: Sizes | None = None,
    weights: Mapping[str, float] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Measure what a published table has lost, by :func:`mahrem.metrics.text_losses` of its cells.

    Loss is a sum over cells, so no class is needed, and a table larger than memory can be measured.

    Args:
        tallies: For each quasi-identifier, columns ``cell`` (text) and ``rows``.
        sizes: Rows in each published class.
        rows: All rows, the suppressed ones included.
        suppressed: Rows that show nothing.
        k: The k that was asked for.
        people: People in each published class, where k counts them; by default rows.
        weights: How much each column's loss counts, 1 where nothing is said.
        hierarchies: Trees of the columns that have one; every cell must be a node.

    Raises:
        InvalidInput: If a cell is no node of its column's hierarchy.
    """
    weigh = {name: 1.0 if weights is None else weights.get(name, 1.0) for name in tallies}
    columns = {
        name: _column(tally, rows, (hierarchies or {}).get(name), name) for name, tally in tallies.items()
    }
    total = sum(weigh[name] * columns[name].pop("ncp_sum") for name in tallies)
    possible = sum(weigh.values()) * rows
    facts = MetricFacts(
        sizes=sizes,
        people=sizes if people is None else people,
        k=k,
        rows=rows,
        suppressed=suppressed,
        published=len(sizes),
    )
    lost: dict[str, float] = {
        "gcp": total / possible if possible else 0.0,
        "gcp_sum": total,
        "iloss": sum(weigh[name] * columns[name]["iloss"] for name in tallies),
        "distortion": int(sum(c["generalised_cells"] + c["suppressed_cells"] for c in columns.values())),
    }
    return take_figures(facts, lost), columns


def _column(tally: pl.DataFrame, rows: int, hierarchy: Hierarchy | None, name: str) -> dict[str, float]:
    cells, times = tally["cell"], tally["rows"].to_numpy()
    losses = text_losses(cells, hierarchy, name=name)
    hidden = (cells == SUPPRESSED).fill_null(value=False).to_numpy()
    lost = weighed(times, losses.ncp)
    return {
        "ncp_sum": lost,
        "gcp": lost / rows if rows else 0.0,
        "iloss": weighed(times, losses.iloss),
        "generalised_cells": int(times[~losses.exact & ~hidden].sum()),
        "suppressed_cells": int(times[hidden].sum()),
    }
