"""Check that cells of quasi-identifiers are neither finer nor coarser than was steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem.table import Exact, Hierarchy, Kind, Prefix, read_cell, read_ranges
from mahrem.table.cells.zones import CALENDAR_STEPS
from mahrem.types import Mask
from mahrem.verify._coarse import moment_ends

_CLOSE = 1e-9


@dataclass(frozen=True, kw_only=True)
class CellBounds:
    """How fine and how coarse the cells of a column are said to be; the names are those of settings.

    Args:
        kind: What its values are.
        steps: ``bands``, ``at_least``, ``at_most``, ``round`` or ``prefix``, each with its step.
        hierarchy: The tree whose labels its cells show, if they do.
        longest: Characters of the longest code, where values are codes.
    """

    kind: Kind
    steps: Mapping[str, Any]
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    longest: int = 0


def cells_out_of_bounds(cells: pl.Series, bounds: CellBounds) -> int:
    """Count the different cells that are finer or coarser than was steps.

    A missing value shows no cell. Cells that say nothing are fine unless ``at_most`` was said; cells that are
    open at an end are as wide as that end was declared.

    Example:
        >>> bounds = CellBounds(kind=Kind.NUMERIC, steps={"at_least": 5, "at_most": 10})
        >>> cells_out_of_bounds(pl.Series(["[20, 24]", "[20, 22]", "[20, 40]", "*", None]), bounds)
        3
    """
    shown = cells.unique().drop_nulls()
    hidden = (shown == "*").to_numpy()
    coarse = hidden if "at_most" in bounds.steps else np.zeros(len(hidden), np.bool_)
    rest = shown.filter(pl.Series(~hidden))
    if not len(rest):
        return int(coarse.sum())
    if bounds.hierarchy is not None:
        wrong = _wrong_levels(rest, bounds.steps, bounds.hierarchy)
    elif bounds.kind is Kind.NUMERIC:
        wrong = _wrong_widths(rest, bounds.steps)
    elif bounds.kind is Kind.DATE:
        wrong = _wrong_periods(rest, bounds.steps)
    else:
        wrong = _wrong_beginnings(rest, bounds.steps, bounds.longest)
    return int(coarse.sum() + wrong.sum())


def _wrong_widths(cells: pl.Series, steps: Mapping[str, Any]) -> Mask:
    low, high = read_ranges(cells)
    width = high - low
    blur = _CLOSE + 4 * np.spacing(np.where(np.isfinite(high), np.abs(high), 1.0))
    closed = np.isfinite(width)
    # Between whole numbers a cell ends one before the next begins.
    whole = np.isfinite(low) & (low == np.floor(low)) & np.isfinite(high) & (high == np.floor(high))
    wrong = np.isnan(width)
    for setting in ("at_least", "bands", "round"):
        if setting in steps:
            wrong |= closed & (width + whole < float(steps[setting]) - blur)
    if "bands" in steps:
        step = float(steps["bands"])
        count = np.where(np.isfinite(low), low, 0.0) / step
        wrong |= closed & (
            (width > step + blur) | (np.abs(count - np.rint(count)) > _CLOSE * (1 + np.abs(count)))
        )
    if "at_most" in steps:
        wrong |= closed & (width > float(steps["at_most"]) + blur)
    return np.asarray(wrong)


def _wrong_periods(cells: pl.Series, steps: Mapping[str, object]) -> Mask:
    ends = moment_ends(cells)
    if isinstance(ends.dtype, pl.Datetime) and ends.dtype.time_zone is not None:
        ends = ends.dt.replace_time_zone(None)
    days = ends.dtype == pl.Date
    low, high = (part.cast(pl.Datetime("us")) for part in (ends[: len(cells)], ends[len(cells) :]))
    after = high.dt.offset_by("1d") if days else high.dt.offset_by("1s").dt.truncate("1s")
    wrong = low.is_null() | high.is_null()
    for setting in ("at_least", "bands"):
        if setting in steps:
            every = CALENDAR_STEPS[str(steps[setting])]
            wrong |= (low.dt.truncate(every) != low) | (after.dt.truncate(every) != after)
    for setting in ("at_most", "bands"):
        if setting in steps:
            every = CALENDAR_STEPS[str(steps[setting])]
            wrong |= low.dt.truncate(every) != high.dt.truncate(every)
    return wrong.fill_null(value=True).to_numpy()


def _wrong_beginnings(cells: pl.Series, steps: Mapping[str, Any], longest: int) -> Mask:
    most = int(steps["prefix"]) if "prefix" in steps else longest - int(steps.get("at_least", 0))
    least = longest - int(steps.get("at_most", longest))
    wrong = []
    for text in cells:
        cell = read_cell(text)
        if isinstance(cell, Prefix):
            wrong.append(not least <= len(cell.beginning) <= most)
        else:
            wrong.append(not isinstance(cell, Exact) or len(cell.text) > most)
    return np.array(wrong, np.bool_)


def _wrong_levels(cells: pl.Series, steps: Mapping[str, Any], tree: Hierarchy) -> Mask:
    least, most = int(steps.get("at_least", 0)), int(steps.get("at_most", tree.levels - 1))
    allowed = pl.concat([tree.cells(level) for level in range(least, most + 1)])
    return cells.is_in(allowed.implode()).not_().to_numpy()
