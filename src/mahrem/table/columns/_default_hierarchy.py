"""A hierarchy for a column that was given none: round intervals, calendar, beginnings, neighbours."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from mahrem.table._axis import Axis, Leaves, Moments, Numbers, Words
from mahrem.table._grammar import write_ranges
from mahrem.table._hierarchy import Hierarchy
from mahrem.table._ladders import group_ladder, moment_ladder, number_ladder, prefix_ladder, tree
from mahrem.table._number_grid import NumberGrid
from mahrem.types import Floats

__all__ = [
    "default_grids",
    "default_hierarchy",
    "default_lengths",
    "default_sizes",
    "useful",
    "with_default_hierarchy",
]

_BINS = 20  # at most about so many intervals at the lowest level
_LEVELS = 4  # between the values and the root
_FINEST = 1e-300  # a finer step would leave the range of normal floats
_PERIODS = {"D": ("month", "quarter", "year", "decade"), "us": ("day", "month", "quarter", "year", "decade")}


def default_hierarchy(axis: Axis) -> Hierarchy:
    """Make a hierarchy that knows nothing of the column but its kind and how wide it is.

    Numbers get intervals whose width doubles from 1 or 5 times a power of ten; dates the calendar; ordinals
    groups of 2, 4, 8 and 16 neighbours; codes ever shorter beginnings; words nothing but the root. A level
    that would put everything into one node is left to the root.

    Args:
        axis: The column on its axis; one that already lies on a hierarchy gives that one.

    Guarantees:
        - Every value lies in the set that each of its labels names, when the label is read as a cell.
        - Bounds of intervals lie on round numbers or calendar days; the column's extremes are no label
          above the values themselves.
        - Leaves ascend with the axis, one for each distinct position (for words: each label).

    Example:
        >>> axis = Axis("age", np.array([20.0, 34.0, 71.0]), Numbers(20, 71, True))
        >>> default_hierarchy(axis).rows()[0]
        ('20', '[20, 24]', '[20, 29]', '[20, 39]', '[0, 39]', '*')
    """
    match axis.domain:
        case Leaves(hierarchy):
            return hierarchy
        case Numbers(whole=whole):
            values = _distinct(axis)
            text = pl.Series(values).cast(pl.Int64 if whole else pl.Float64)
            ladder = number_ladder(values, default_grids(values, whole=whole))
            return tree(write_ranges(text, text), useful(ladder))
        case Moments(unit=unit) as domain:
            moments = domain.typed(pl.Series(_distinct(axis)))
            return tree(write_ranges(moments, moments), useful(moment_ladder(moments, _PERIODS[unit])))
        case Words(labels, ordered=ordered, prefixes=prefixes):
            words = pl.Series(labels, dtype=pl.String).str.strip_chars().unique(maintain_order=True)
            if ordered:
                return tree(words, useful(group_ladder(words.to_list(), default_sizes(len(words)))))
            if prefixes:
                return tree(words, useful(prefix_ladder(words, default_lengths(words))))
            return tree(words, [])


def with_default_hierarchy(axis: Axis) -> Axis:
    """Lay a column on the leaves of its default hierarchy.

    Guarantees:
        - Rows that were missing stay missing; rows with equal values share a leaf.

    Example:
        >>> axis = Axis("age", np.array([71.0, np.nan, 20.0]), Numbers(20, 71, True))
        >>> with_default_hierarchy(axis).positions.tolist()
        [1.0, nan, 0.0]
    """
    if isinstance(axis.domain, Leaves):
        return axis
    hierarchy = default_hierarchy(axis)
    absent = np.isnan(axis.positions)
    if isinstance(axis.domain, Words):
        leaf = hierarchy.codes(pl.Series(axis.name, axis.domain.labels, dtype=pl.String))
        leaves = (
            leaf[np.where(absent, 0, axis.positions).astype(np.int64)] if len(leaf) else np.zeros(len(absent))
        )
    else:
        leaves = np.searchsorted(_distinct(axis), axis.positions)
    return Axis(axis.name, np.where(absent, np.nan, leaves), Leaves(hierarchy))


def default_grids(values: Floats, *, whole: bool) -> list[NumberGrid]:
    """Choose widths that double, from 1 or 5 times a power of ten, about twenty intervals at the lowest."""
    if len(values) == 0 or values.min() == values.max():
        return []
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    width = high / _BINS - low / _BINS
    target = max(width, 2 * float(np.spacing(largest)), _FINEST, 1.0 if whole else 0.0)
    exponent = math.floor(math.log10(target))
    steps = (NumberGrid(m, e) for e in (exponent - 1, exponent, exponent + 1) for m in (1, 5))
    base = next(grid for grid in steps if grid.step >= target and not (whole and grid.exponent < 0))
    first = int(whole and base.step == 1)  # intervals of one whole number are the values themselves
    return [NumberGrid(base.mantissa << power, base.exponent) for power in range(first, first + _LEVELS)]


def default_lengths(codes: pl.Series) -> list[int]:
    """Choose which beginnings of codes to keep: every length, or a few evenly spread ones of long codes."""
    longest = int(codes.str.len_chars().max() or 0)  # type: ignore[arg-type]
    lengths = np.linspace(longest - 1, 1, min(longest - 1, _LEVELS + 1)) if longest > 1 else np.empty(0)
    return [int(length) for length in np.unique(np.rint(lengths))[::-1]]


def default_sizes(count: int) -> list[int]:
    """Choose sizes of groups of neighbours: 2, 4, 8 and 16, as long as there are two groups."""
    return [2**power for power in range(1, _LEVELS + 1) if 2**power < count]


def useful(ladder: list[pl.Series]) -> list[pl.Series]:
    """Leave out levels at which all values are one: the root says as much."""
    return [rung for rung in ladder if rung.n_unique() > 1]


def _distinct(axis: Axis) -> Floats:
    return np.unique(axis.positions[~np.isnan(axis.positions)])
