"""All figures of utility of one release at once, in all and per column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mahrem import check
from mahrem.metrics._entries import MetricFacts, take_figures
from mahrem.metrics._loss import gcp, iloss

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mahrem.table import Cells
    from mahrem.types import Floats, Mask, Sizes


def measure(
    sizes: Sizes,
    cells: Mapping[str, Cells],
    *,
    k: int,
    rows: int,
    suppressed: int,
    published_classes: int,
    people: Sizes | None = None,
    weights: Mapping[str, float] | None = None,
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Measure a release on its classes and on the cells it publishes, in all and per column.

    Per column, ``gcp`` is the mean penalty of its cells and ``iloss`` the sum of their losses, neither
    weighted; ``generalised_cells`` still say something, ``suppressed_cells`` nothing, and the two add up to
    ``distortion``.

    Args:
        sizes: ``(c,)`` rows in each class.
        cells: What the classes show in each quasi-identifier.
        k: The k that was asked for.
        rows: All rows, the suppressed ones too.
        suppressed: Rows that show nothing; each counts as a whole row of suppressed cells.
        published_classes: How many distinct published vectors there are.
        people: ``(c,)`` people in each published class, where k counts them; by default rows.
        weights: What columns count in ``gcp``, ``gcp_sum`` and ``iloss``; 1 for those not named.

    Raises:
        InvalidParameter: If a weight is negative or not a number, or its column has no cells.
    """
    named = dict(weights or {})
    check.unknown_keys(named, tuple(cells), where="weights")
    for column, weight in named.items():
        check.at_least(0, **{f"weights.{column}": weight})
    counting = np.array([named.get(column, 1.0) for column in cells], dtype=np.float64)
    ncp = _stacked([column.ncp for column in cells.values()], len(sizes))
    loss = _stacked([column.iloss for column in cells.values()], len(sizes))
    hidden = _stacked([column.suppressed | ~column.exact for column in cells.values()], len(sizes))
    facts = MetricFacts(
        sizes=sizes,
        people=sizes if people is None else people,
        k=k,
        rows=rows,
        suppressed=suppressed,
        published=published_classes,
        ncp=ncp,
        loss=loss,
        exact=hidden == 0,
        weights=counting,
    )
    return take_figures(facts), {
        name: _of_column(sizes, column, suppressed) for name, column in cells.items()
    }


def _of_column(sizes: Sizes, cells: Cells, suppressed: int) -> dict[str, float]:
    """Measure one column."""
    return {
        "gcp": gcp(sizes, cells.ncp[:, None], suppressed=suppressed),
        "iloss": iloss(sizes, cells.iloss[:, None], suppressed=suppressed),
        "generalised_cells": int(sizes[~cells.exact & ~cells.suppressed].sum()),
        "suppressed_cells": int(sizes[cells.suppressed].sum()) + suppressed,
    }


def _stacked(columns: Sequence[Floats | Mask], classes: int) -> Floats:
    """Put columns side by side, ``(c, d)``, even when there are none."""
    return np.column_stack(columns).astype(np.float64) if columns else np.zeros((classes, 0))
