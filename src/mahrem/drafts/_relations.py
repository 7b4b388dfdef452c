"""How numbers go together before and after: the pairs an analyst would look at first."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from mahrem.disclosed import of_crowd
from mahrem.drafts._crowd import Crowd
from mahrem.drafts._draft import Draft
from mahrem.report import ReportRelation
from mahrem.table import Cells, Kind, Numbers, Role, read_kind
from mahrem.types import Floats, Integers

_ROWS = 50_000
_PAIRS = 12
_FEWEST = 30  # rows that a correlation must rest on
_COLUMNS = 12


def relations(draft: Draft, crowd: Crowd, *, floor: int) -> tuple[ReportRelation, ...]:
    """Give the strongest correlations between numeric columns before, and the same after.

    Before, a value stands for its step of the published grid; after, a cell stands for its middle. Sensitive
    columns are published as they are and count on both sides. Figures rest on a sample of a large table and
    are rounded to two places.
    """
    some = crowd.sample(_ROWS)
    own = draft.partition.labels[some.rows]
    before, after = {}, {}
    for axis in some.axes:
        if isinstance(axis.domain, Numbers):
            before[axis.name] = axis.positions
            after[axis.name] = _middles(draft.cells[axis.name])[own]
    for name, values in _sensitive_numbers(draft, some.rows).items():
        before[name] = after[name] = values
    pairs = []
    for first, second in combinations(list(before)[:_COLUMNS], 2):
        both = [_pearson(side[first], side[second], max(floor, _FEWEST)) for side in (before, after)]
        if both[0] is not None:
            pairs.append(
                ReportRelation(columns=(first, second), before=of_crowd(both[0]), after=of_crowd(both[1]))
            )
    return tuple(sorted(pairs, key=lambda pair: (-abs(pair.before), pair.columns))[:_PAIRS])


def _middles(cells: Cells) -> Floats:
    """Give the middle of each class's cell, NaN for one that says nothing; that is also label -1's."""
    if cells.low is None or cells.high is None:
        return np.full(len(cells.suppressed) + 1, np.nan)
    low, high = (ends.cast(pl.Float64).fill_null(np.nan).to_numpy() for ends in (cells.low, cells.high))
    low, high = np.where(np.isinf(low), high, low), np.where(np.isinf(high), low, high)
    low, high = (np.where(np.isinf(end), np.nan, end) for end in (low, high))  # open on both sides
    middle = np.where(cells.suppressed, np.nan, low / 2 + high / 2)
    return np.append(middle, np.nan)


def _sensitive_numbers(draft: Draft, rows: Integers) -> dict[str, Floats]:
    prepared = draft.prepared
    names = [
        name
        for name, column in prepared.columns.items()
        if column.role is Role.SENSITIVE and column.kind is Kind.NUMERIC
    ]
    if not names:
        return {}
    shown = np.flatnonzero(prepared.keep)[~prepared.suppress][rows]
    taken = prepared.source.take(names)[shown]
    read = {name: read_kind(taken[name], decimal=draft.policy.decimal) for name in names}
    return {
        name: series.cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name, (kind, series) in read.items()
        if kind is Kind.NUMERIC
    }


def _pearson(first: Floats, second: Floats, fewest: int) -> float | None:
    known = np.isfinite(first) & np.isfinite(second)
    if int(known.sum()) < fewest:
        return None
    # By their own size, so that neither sums nor squares leave the range of floats.
    one, other = (side[known] / (np.abs(side[known]).max() or 1.0) for side in (first, second))
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    with np.errstate(all="ignore"):  # what is all but constant has no correlation: not a number
        correlation = float(np.corrcoef(one, other)[0, 1])
    return round(correlation, 2) + 0.0 if np.isfinite(correlation) else None
