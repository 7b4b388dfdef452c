"""A hierarchy for a column that was given none: round intervals, calendar, beginnings, neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from mahrem.table._schema import Kind
from mahrem.table.cells import NumberGrid, all_whole, write_ranges
from mahrem.table.columns._axis import Axis, Leaves, Moments, Numbers, Words
from mahrem.table.hierarchies import (
    Hierarchy,
    build_tree,
    distinct_text,
    group_ladder,
    moment_ladder,
    moment_leaves,
    number_ladder,
    number_leaves,
    prefix_ladder,
)
from mahrem.types import Floats, Integers

_BINS = 20  # at most about so many intervals at the lowest level
_LEVELS = 4  # between the values and the root
_FINEST = 1e-300  # a finer step would leave the range of normal floats
_PERIODS = ("month", "quarter", "year", "decade")


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
            return _over_numbers(write_ranges(text, text), values, whole=whole)
        case Moments() as domain:
            moments = domain.typed(pl.Series(_distinct(axis)))
            return _over_moments(write_ranges(moments, moments), moments)
        case Words(labels, ordered=ordered, prefixes=prefixes):
            words = pl.Series(labels, dtype=pl.String)  # as they stand: a cell must hold its blanks, too
            if ordered:
                return _over_ordinals(words)
            return _over_codes(words) if prefixes else build_tree(words, [])


def plain_hierarchy(
    values: pl.Series, kind: Kind, *, order: Sequence[str] = (), decimal: str | None = None
) -> Hierarchy:
    """Make the hierarchy a column gets when nothing is said, over the very texts of its values.

    The same levels as :func:`default_hierarchy`, which works on an axis and knows no texts.

    Example:
        >>> plain_hierarchy(pl.Series(["b", "a"]), Kind.CATEGORICAL).rows()
        [('a', '*'), ('b', '*')]
    """
    match kind:
        case Kind.NUMERIC:
            leaves, numbers = number_leaves(values, decimal)
            return _over_numbers(leaves, numbers, whole=all_whole(numbers))
        case Kind.DATE:
            return _over_moments(*moment_leaves(values))
        case Kind.ORDINAL:
            names = dict.fromkeys(order)
            return _over_ordinals(pl.Series(list(names), dtype=pl.String))
        case Kind.CODE:
            return _over_codes(distinct_text(values))
        case Kind.CATEGORICAL:
            return build_tree(distinct_text(values), [])


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
        leaf = _leaves_of(axis.domain.labels, hierarchy)
        leaves = (
            leaf[np.where(absent, 0, axis.positions).astype(np.int64)] if len(leaf) else np.zeros(len(absent))
        )
    else:
        leaves = np.searchsorted(_distinct(axis), axis.positions)
    return Axis(axis.name, np.where(absent, np.nan, leaves), Leaves(hierarchy))


def _leaves_of(labels: Sequence[str], hierarchy: Hierarchy) -> Integers:
    """Give the leaf of each label."""
    leaves = pl.Series(hierarchy.labels[0], dtype=pl.String)
    places = pl.Series(labels, dtype=pl.String).replace_strict(leaves, pl.int_range(len(leaves), eager=True))
    return places.to_numpy() if len(places) else np.empty(0, np.int64)


def _over_numbers(leaves: pl.Series, values: Floats, *, whole: bool) -> Hierarchy:
    return build_tree(leaves, _useful(number_ladder(values, _grids(values, whole=whole))))


def _over_moments(leaves: pl.Series, moments: pl.Series) -> Hierarchy:
    units = _PERIODS if moments.dtype == pl.Date else ("day", *_PERIODS)
    return build_tree(leaves, _useful(moment_ladder(moments, units)))


def _over_ordinals(words: pl.Series) -> Hierarchy:
    """Put neighbours into groups of 2, 4, 8 and 16, as long as there are two groups."""
    sizes = [2**power for power in range(1, _LEVELS + 1) if 2**power < len(words)]
    return build_tree(words, _useful(group_ladder(words.to_list(), sizes)))


def _over_codes(codes: pl.Series) -> Hierarchy:
    """Keep beginnings of every length, or of long codes a few evenly spread ones."""
    longest = int(codes.str.len_chars().max() or 0)  # type: ignore[arg-type]
    spread = np.linspace(longest - 1, 1, min(longest - 1, _LEVELS + 1)) if longest > 1 else np.empty(0)
    lengths = [int(length) for length in np.unique(np.rint(spread))[::-1]]
    return build_tree(codes, _useful(prefix_ladder(codes, lengths)))


def _grids(values: Floats, *, whole: bool) -> list[NumberGrid]:
    """Choose widths that double, from 1 or 5 times a power of ten, about twenty intervals at the lowest."""
    if len(values) == 0 or values.min() == values.max():
        return []
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    width = high / _BINS - low / _BINS
    target = max(width, 2 * math.ulp(largest), _FINEST, 1.0 if whole else 0.0)
    exponent = math.floor(math.log10(target))
    steps = (NumberGrid(m, e) for e in (exponent - 1, exponent, exponent + 1) for m in (1, 5))
    base = next(grid for grid in steps if grid.step >= target and not (whole and grid.exponent < 0))
    first = int(whole and base.step == 1)  # intervals of one whole number are the values themselves
    return [NumberGrid(base.mantissa << power, base.exponent) for power in range(first, first + _LEVELS)]


def _useful(ladder: list[pl.Series]) -> list[pl.Series]:
    """Leave out levels at which all values are one: the root says as much."""
    return [rung for rung in ladder if rung.n_unique() > 1]


def _distinct(axis: Axis) -> Floats:
    return np.unique(axis.positions[~np.isnan(axis.positions)])
