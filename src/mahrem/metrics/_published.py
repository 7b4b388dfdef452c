"""Utility of a table of which only the published cells are known (an audit)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.metrics._entries import MetricFacts, take_figures
from mahrem.table import Hierarchy, Members, Prefix, read_cell, read_ranges
from mahrem.types import Floats, Integers, Mask, Sizes


def published_loss(
    tallies: Mapping[str, pl.DataFrame],
    *,
    sizes: Sizes,
    rows: int,
    suppressed: int,
    k: int,
    weights: Mapping[str, float] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Measure what a published table has lost, from how often each cell occurs in each column.

    Loss is a sum over cells, so no class is needed, and a table larger than memory can be measured. The
    domain of a column is what its own cells span: for a table without its original there is no other.
    Of a prefix the hidden share of its characters counts; a label that is no range or set counts as exact.
    In a column with a hierarchy a cell counts by the leaves under it.

    Args:
        tallies: For each quasi-identifier, columns ``cell`` (text) and ``rows``.
        sizes: Rows in each published class.
        rows: All rows, the suppressed ones included.
        suppressed: Rows that show nothing.
        k: The k that was asked for.
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
        sizes=sizes, people=sizes, k=k, rows=rows, suppressed=suppressed, published=len(sizes)
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
    if hierarchy is None:
        ncp, iloss, exact = _losses(cells)
    else:
        covered = _covered(tally, hierarchy, name)
        ncp = np.where(covered > 1, covered / hierarchy.leaves, 0.0)
        iloss = np.maximum(covered - 1, 0) / hierarchy.leaves
        exact = covered <= 1
    hidden = (cells == "*").fill_null(value=False).to_numpy()
    ncp = np.where(hidden, 1.0, ncp)  # even where the tree has one leaf only
    return {
        "ncp_sum": float(ncp @ times),
        "gcp": float(ncp @ times) / rows if rows else 0.0,
        "iloss": float(iloss @ times),
        "generalised_cells": int(times[~exact & ~hidden].sum()),
        "suppressed_cells": int(times[hidden].sum()),
    }


def _losses(cells: pl.Series) -> tuple[Floats, Floats, Mask]:
    """Give NCP, ILoss and exactness of distinct cells."""
    low, high = read_ranges(cells)
    ranged = np.isfinite(low) & np.isfinite(high)
    hidden = (cells == "*").fill_null(value=False).to_numpy()
    ncp = hidden.astype(np.float64)
    iloss = ncp.copy()
    exact = ~hidden
    if ranged.any():
        width = high[ranged] / 2 - low[ranged] / 2  # halves, so that no difference overflows
        span = high[ranged].max() / 2 - low[ranged].min() / 2
        ncp[ranged] = iloss[ranged] = width / span if span > 0 else 0.0
        exact[ranged] = high[ranged] == low[ranged]
    words = np.flatnonzero(~ranged & ~hidden & cells.is_not_null().to_numpy())
    parsed = [read_cell(text) for text in cells.gather(words)]
    known = {value for cell in parsed if isinstance(cell, Members) for value in cell.members}
    known |= {getattr(cell, "text", None) for cell in parsed} - {None}
    for place, cell in zip(words, parsed, strict=True):
        if isinstance(cell, Members):
            ncp[place], iloss[place] = len(cell.members) / len(known), (len(cell.members) - 1) / len(known)
        elif isinstance(cell, Prefix):
            ncp[place] = iloss[place] = 1 - len(cell.beginning) / cell.length
        exact[place] = not isinstance(cell, Members | Prefix)
    return ncp, iloss, exact


def _covered(tally: pl.DataFrame, hierarchy: Hierarchy, name: str) -> Integers:
    """Count the leaves under each cell; of nodes that are called alike the widest counts. Missing is none."""
    cells = tally["cell"].str.strip_chars()
    shown = [hierarchy.cells(level) for level in range(hierarchy.levels)]
    nodes = pl.DataFrame({"cell": pl.concat(shown), "covered": np.concatenate(hierarchy.leaf_counts)})
    widest = nodes.group_by("cell").agg(pl.col("covered").max())
    found = cells.to_frame("cell").join(widest, on="cell", how="left", maintain_order="left")["covered"]
    values = hierarchy.find(cells.filter(found.is_null()).drop_nulls().unique())  # 34.0 is the leaf 34
    unread = cells.is_in(values.filter(pl.col("code").is_null())["leaf"].implode()).fill_null(value=False)
    if unread.any():
        count = int(tally["rows"].filter(unread).sum())
        raise InvalidInput(
            f"hierarchy.{name}: {count} cells ({int(unread.sum())} different) are no node of it; "
            "give the hierarchy the table was published with"
        )
    leaf = pl.Series(np.where(cells.is_null().to_numpy(), 0, 1))
    return found.fill_null(leaf).to_numpy()
