"""Centroids: what microaggregation publishes, one typical value per class."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from mahrem.recode._intervals import Intervals
from mahrem.recode._nodes import Nodes
from mahrem.recode._recoding import class_ends, word_cells
from mahrem.recode._sets import Sets
from mahrem.table import Axis, Cells, Leaves, Moments, Numbers, Words
from mahrem.table.cells import SUPPRESSED, write_labels, write_ranges
from mahrem.types import Floats, Labels, Mask, Sizes

_FINE = 4  # a mean is rounded to this many digits of the column's width
_MOST = 15  # decimals a float can have


@dataclass(frozen=True)
class Centroids:
    """Show each class's mean (numbers, moments), most frequent value (words) or lowest node (hierarchies).

    Losses are those of the interval or set ``behind`` it, as if that were shown: a mean looks exact and is
    not. A mean is rounded to a ten-thousandth of the column's width, of whole numbers to one
    decimal.

    Guarantees:
        - A mean lies between the least and the greatest value of its class; words are values of the class.
        - A class whose values are all equal shows that value.
        - A class with missing and present values shows ``*``; one with only missing values shows none.

    References:
        Domingo-Ferrer, Mateo-Sanz: Practical data-oriented microaggregation, 2002.

    Example:
        >>> axis = Axis("age", np.array([18.0, 23.0, 64.0]), Numbers(18, 64, True))
        >>> Centroids()(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['20.5', '64.0']
        >>> axis = Axis("job", np.array([0.0, 1.0, 1.0]), Words(("clerk", "nurse")))
        >>> Centroids()(axis, np.array([0, 0, 0]), 1).text.to_list()
        ['nurse']
    """

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        match axis.domain:
            case Leaves():
                return Nodes()(axis, labels, classes)
            case Words():
                return _modes(axis, axis.domain, labels, classes)
            case _:
                return _means(axis, labels, classes)


def _means(axis: Axis, labels: Labels, classes: int) -> Cells:
    low, high, missing = class_ends(axis, labels, classes)
    empty = np.isnan(low)
    suppressed = ~empty & (missing > 0)
    shown = ~empty & ~suppressed
    middle = np.clip(_class_means(axis, labels, low), low, high)
    if isinstance(axis.domain, Moments):
        values = _moments(np.floor(middle), axis.domain, shown)
    else:
        values = pl.Series(_rounded(middle, low, high, axis), nan_to_null=True)
        values = values.set(pl.Series(~shown), None)
    return Cells(
        text=write_ranges(values, values).set(pl.Series(suppressed), SUPPRESSED).alias("text"),
        low=values.alias("low"),
        high=values.alias("high"),
        suppressed=suppressed,
        behind=Intervals()(axis, labels, classes),
    )


def _class_means(axis: Axis, labels: Labels, low: Floats) -> Floats:
    """Give the mean of every class, measured from its least value: sums stay small and exact."""
    kept = (labels >= 0) & ~np.isnan(axis.positions)
    group = labels[kept]
    sizes = np.maximum(np.bincount(group, minlength=len(low)), 1)
    first, last = axis.span
    unit = 0.5 if np.isinf(last - first) else 1.0  # halves, where a difference would overflow
    apart = (axis.positions[kept] * unit - low[group] * unit) / sizes[group]
    return (low * unit + np.bincount(group, weights=apart, minlength=len(low))) / unit


def _rounded(middle: Floats, low: Floats, high: Floats, axis: Axis) -> Floats:
    """Round means where they stay within their class; a class of one value shows it as it is."""
    first, last = axis.span
    width = last / 2 - first / 2
    decimals = 1
    if not (isinstance(axis.domain, Numbers) and axis.domain.whole):
        digits = _FINE - math.floor(math.log10(width) + math.log10(2)) if width > 0 else _MOST
        decimals = min(max(digits, 0), _MOST)
    fits = (low < high) & (np.abs(middle) < 10.0 ** (_MOST - decimals))  # else no decimal is left to round
    near = np.round(np.where(fits, middle, 0.0), decimals) + 0.0
    return np.where(fits & (near >= low) & (near <= high), near, middle)


def _moments(ticks: Floats, domain: Moments, shown: Mask) -> pl.Series:
    typed = domain.typed(pl.Series(np.where(shown, ticks, 0)))
    return typed.zip_with(pl.Series(shown), typed.clear(len(typed)))


def _modes(axis: Axis, domain: Words, labels: Labels, classes: int) -> Cells:
    low, _, missing = class_ends(axis, labels, classes)
    empty = np.isnan(low)
    names, width = pl.Series(domain.labels, dtype=pl.String), max(len(domain.labels), 1)
    kept = (labels >= 0) & ~np.isnan(axis.positions)
    keys, counts = np.unique(labels[kept] * width + axis.positions[kept].astype(np.int64), return_counts=True)
    group, code = np.divmod(keys, width)
    frequent = _first_most(group, counts, classes)
    text = pl.Series([None], dtype=pl.String).new_from_index(0, classes)
    if len(keys):
        text = write_labels(names).gather(code[np.minimum(frequent, len(keys) - 1)])
    cells = word_cells(text, empty=empty, suppressed=~empty & (missing > 0))
    return replace(cells, behind=Sets()(axis, labels, classes))


def _first_most(group: Sizes, counts: Sizes, classes: int) -> Sizes:
    """Give for each class the place of its largest count, the first of equal ones; groups are sorted."""
    order = np.lexsort((-np.arange(len(group)), counts, group))
    last = np.searchsorted(group, np.arange(classes), side="right") - 1
    return order[np.maximum(last, 0)] if len(group) else np.zeros(classes, np.int64)
