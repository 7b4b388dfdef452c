"""All figures of utility of one release at once, in all and per column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.metrics._cell_losses import CellLosses, cell_losses
from mahrem.metrics._entries import MetricFacts, take_figures
from mahrem.metrics._loss import gcp, iloss
from mahrem.threads import in_parallel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mahrem.table import Cells, Hierarchy
    from mahrem.types import Floats, Integers, Mask, Sizes


@dataclass(frozen=True, kw_only=True)
class RowCounts:
    """How many rows a release has, and in how many classes it shows them.

    Attributes:
        rows: All rows, the suppressed ones too.
        suppressed: Rows that show nothing; each counts as a whole row of suppressed cells.
        classes: How many distinct published vectors there are.
        people: ``(c,)`` people in each published class, where k counts them; by default rows.
    """

    rows: int
    suppressed: int
    classes: int
    people: Sizes | None = field(default=None, repr=False)


def measure(
    sizes: Sizes,
    cells: Mapping[str, Cells],
    published: RowCounts,
    *,
    k: int,
    weights: Mapping[str, float] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Measure a release on the classes and the cells it publishes, in all and per column.

    Classes that show the same are one, and the domain of a column is what its cells span: figures are those
    of an audit of the published table, and tell nothing beyond it.

    Per column, ``gcp`` is the mean penalty of its cells and ``iloss`` the sum of their losses, neither
    weighted; ``generalised_cells`` still say something, ``suppressed_cells`` nothing, and the two add up to
    ``distortion``.

    Args:
        sizes: ``(c,)`` rows in each class.
        cells: What the classes show in each quasi-identifier.
        published: How many rows and classes are published.
        k: The k that was asked for.
        weights: What columns count in ``gcp``, ``gcp_sum`` and ``iloss``; 1 for those not named.
        hierarchies: Trees that were given for columns; losses of the others are read off their cells.

    Raises:
        InvalidParameter: If a weight is negative or not a number, or its column has no cells.
    """
    return measure_losses(class_losses(sizes, cells, hierarchies), published, k=k, weights=weights)


@dataclass(frozen=True, kw_only=True)
class ClassLosses:
    """What the classes of a release lose; those that show the same are one.

    Attributes:
        sizes: ``(c,)`` rows in each.
        columns: What each loses in every quasi-identifier.
        starred: Which say nothing in it.
    """

    sizes: Sizes = field(repr=False)
    columns: Mapping[str, CellLosses] = field(repr=False)
    starred: Mapping[str, Mask] = field(repr=False)


def class_losses(
    sizes: Sizes, cells: Mapping[str, Cells], hierarchies: Mapping[str, Hierarchy] | None = None
) -> ClassLosses:
    """Give what :func:`measure` needs of classes, before anybody knows what is published of them."""
    kept, merged = _distinct_classes(sizes, cells)

    def lost(name: str) -> CellLosses:
        return _of_classes(cell_losses(cells[name], (hierarchies or {}).get(name)), kept)

    return ClassLosses(
        sizes=merged,
        columns=dict(zip(cells, in_parallel(lost, cells, rows=len(kept)), strict=True)),
        starred={name: column.suppressed[kept] for name, column in cells.items()},
    )


def measure_losses(
    classes: ClassLosses,
    published: RowCounts,
    *,
    k: int,
    weights: Mapping[str, float] | None = None,
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Give the figures of :func:`measure` where it is known what classes lose."""
    sizes, losses = classes.sizes, classes.columns
    named = dict(weights or {})
    check.unknown_keys(named, tuple(losses), where="weights")
    for column, weight in named.items():
        check.at_least(0, **{f"weights.{column}": weight})
    counting = np.array([named.get(column, 1.0) for column in losses], dtype=np.float64)
    facts = MetricFacts(
        sizes=sizes,
        people=sizes if published.people is None else published.people,
        k=k,
        rows=published.rows,
        suppressed=published.suppressed,
        published=published.classes,
        ncp=_stacked([loss.ncp for loss in losses.values()], len(sizes)),
        loss=_stacked([loss.iloss for loss in losses.values()], len(sizes)),
        exact=_stacked([loss.exact for loss in losses.values()], len(sizes)) > 0,
        weights=counting,
    )
    return take_figures(facts), {
        name: _of_column(sizes, loss, classes.starred[name], published.suppressed)
        for name, loss in losses.items()
    }


def _distinct_classes(sizes: Sizes, cells: Mapping[str, Cells]) -> tuple[Integers, Sizes]:
    """Give one class of those that show the same, and how many rows they have together; empty ones go."""
    full = np.flatnonzero(np.asarray(sizes) > 0)
    if not cells:
        return full, np.asarray(sizes)[full]
    shown = pl.DataFrame({str(place): column.text for place, column in enumerate(cells.values())})[full]
    rows = pl.Series("rows", np.asarray(sizes)[full])
    merged = (
        shown.with_columns(rows, pl.Series("place", full))
        .group_by(shown.columns)
        .agg(pl.col("rows").sum(), pl.col("place").min())
    )
    if merged.height == len(full):
        return full, np.asarray(sizes)[full]
    return merged["place"].to_numpy(), merged["rows"].to_numpy()


def _of_classes(losses: CellLosses, kept: Integers) -> CellLosses:
    return CellLosses(losses.ncp[kept], losses.iloss[kept], losses.exact[kept])


def _of_column(sizes: Sizes, losses: CellLosses, starred: Mask, suppressed: int) -> dict[str, float]:
    """Measure one column."""
    return {
        "gcp": gcp(sizes, losses.ncp[:, None], suppressed=suppressed),
        "iloss": iloss(sizes, losses.iloss[:, None], suppressed=suppressed),
        "generalised_cells": int(sizes[~losses.exact & ~starred].sum()),
        "suppressed_cells": int(sizes[starred].sum()) + suppressed,
    }


def _stacked(columns: Sequence[Floats | Mask], classes: int) -> Floats:
    """Put columns side by side, ``(c, d)``, even when there are none."""
    return np.column_stack(columns).astype(np.float64) if columns else np.zeros((classes, 0))
