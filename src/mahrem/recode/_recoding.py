"""What a recoding is, and what all of them share."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import polars as pl

from mahrem import arrays
from mahrem.table import Axis, Cells, Leaves, Words
from mahrem.types import Floats, Integers, Labels, Mask, Sizes

SUPPRESSED = "*"


class Recoding(Protocol):
    """A way to write what classes show in one column: a frozen dataclass of settings that can be called."""

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class, so that it holds the values of all of the class's rows.

        Args:
            axis: The column.
            labels: Class of each row, -1 = suppressed.
            classes: How many classes there are.
        """
        ...


def class_ends(axis: Axis, labels: Labels, classes: int) -> tuple[Floats, Floats, Sizes]:
    """Give lowest and highest position of each class, NaN where it has none, and how many are missing."""
    low, high, missing = arrays.class_extremes(axis.positions, labels, classes)
    none = low > high
    return np.where(none, np.nan, low), np.where(none, np.nan, high), missing


def covered_share(low: Floats, high: Floats, axis: Axis) -> Floats:
    """Say how much of the domain each cell covers; halves are subtracted so that no difference overflows."""
    first, last = axis.span
    domain = last / 2 - first / 2
    return np.zeros(len(low)) if domain == 0 else np.minimum((high / 2 - low / 2) / domain, 1.0)


def leaf_cells(text: pl.Series, leaves: Integers, everything: int, *, empty: Mask, suppressed: Mask) -> Cells:
    """Make cells over a finite set of values, with their losses.

    Args:
        text: ``(c,)`` the cells; null where a class has only missing values.
        leaves: ``(c,)`` how many values each cell covers.
        everything: How many values there are.
        empty: ``(c,)`` classes with only missing values: nothing is lost there.
        suppressed: ``(c,)`` cells that say nothing.
    """
    covered = np.where(suppressed, everything, leaves).astype(np.float64)
    total = max(everything, 1)
    ncp = np.where(covered > 1, np.minimum(covered / total, 1.0), 0.0)
    iloss = np.clip((covered - 1) / total, 0.0, 1.0)
    ncp = np.where(suppressed, 1.0, np.where(empty, 0.0, ncp))
    return Cells(
        text=text.set(pl.Series(suppressed), SUPPRESSED)
        .set(pl.Series(empty & ~suppressed), None)
        .alias("text"),
        low=None,
        high=None,
        ncp=ncp,
        iloss=np.where(empty & ~suppressed, 0.0, iloss),
        exact=(empty | (leaves == 1)) & ~suppressed,
        suppressed=suppressed,
    )


def first_cells(cells: Cells, classes: int) -> Cells:
    """Give the cells of the first classes alone."""
    return Cells(
        text=cells.text.head(classes),
        low=None if cells.low is None else cells.low.head(classes),
        high=None if cells.high is None else cells.high.head(classes),
        ncp=cells.ncp[:classes],
        iloss=cells.iloss[:classes],
        exact=cells.exact[:classes],
        suppressed=cells.suppressed[:classes],
    )


def with_more(cells: Cells, more: Cells) -> Cells:
    """Put the cells of further classes, which have no ends, after those of a column."""

    def ends(typed: pl.Series | None) -> pl.Series | None:
        return None if typed is None else typed.extend_constant(None, len(more.text))

    return Cells(
        text=pl.concat([cells.text, more.text]),
        low=ends(cells.low),
        high=ends(cells.high),
        ncp=np.concatenate([cells.ncp, more.ncp]),
        iloss=np.concatenate([cells.iloss, more.iloss]),
        exact=np.concatenate([cells.exact, more.exact]),
        suppressed=np.concatenate([cells.suppressed, more.suppressed]),
    )


def whole_numbers(floats: Floats) -> Integers:
    """Give positions as whole numbers, 0 where there is none."""
    return np.where(np.isnan(floats), 0, floats).astype(np.int64)


def domain_size(axis: Axis) -> int | None:
    """How many values a column of words or leaves knows; None for numbers and moments."""
    match axis.domain:
        case Words(names):
            return len(names)
        case Leaves(hierarchy):
            return hierarchy.leaves
        case _:
            return None
