"""What a recoding is, which one a column gets, and what all of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from mahrem.arrays import cutting
from mahrem.table import Axis, Cells, Leaves, Words
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Floats, Integers, Labels, Mask, Sizes

if TYPE_CHECKING:
    from mahrem.recode._intervals import Bounds


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


def default_recoding(
    axis: Axis, *, bounds: Bounds = "grid", step: float | str | None = None, shifted: bool = False
) -> Recoding:
    """Give intervals for numbers and dates, sets for words, beginnings for codes, nodes for hierarchies.

    Args:
        axis: The column.
        bounds: Of intervals: moved out to a grid, or exact.
        step: Of the grid.
        shifted: Put its lines half a step off round numbers.

    Example:
        >>> import numpy as np
        >>> default_recoding(Axis("job", np.zeros(1), Words(("nurse",))))
        Sets()
    """
    match axis.domain:
        case Leaves():
            from mahrem.recode._nodes import Nodes

            return Nodes()
        case Words(prefixes=True):
            from mahrem.recode._prefixes import Prefixes

            return Prefixes()
        case Words():
            from mahrem.recode._sets import Sets

            return Sets()
        case _:
            from mahrem.recode._intervals import Intervals

            return Intervals(bounds=bounds, step=step, shifted=shifted)


def class_ends(axis: Axis, labels: Labels, classes: int) -> tuple[Floats, Floats, Sizes]:
    """Give lowest and highest position of each class, NaN where it has none, and how many are missing."""
    low, high, missing = cutting.class_extremes(axis.positions, labels, classes)
    none = low > high
    return np.where(none, np.nan, low), np.where(none, np.nan, high), missing


def word_cells(text: pl.Series, *, empty: Mask, suppressed: Mask) -> Cells:
    """Make cells without ends.

    Args:
        text: ``(c,)`` the cells.
        empty: ``(c,)`` classes with only missing values, which show none.
        suppressed: ``(c,)`` cells that say nothing.
    """
    shown = text.set(pl.Series(suppressed), SUPPRESSED).set(pl.Series(empty & ~suppressed), None)
    return Cells(text=shown.alias("text"), low=None, high=None, suppressed=suppressed)


def first_cells(cells: Cells, classes: int) -> Cells:
    """Give the cells of the first classes alone."""
    return Cells(
        text=cells.text.head(classes),
        low=None if cells.low is None else cells.low.head(classes),
        high=None if cells.high is None else cells.high.head(classes),
        suppressed=cells.suppressed[:classes],
        behind=None if cells.behind is None else first_cells(cells.behind, classes),
    )


def with_more(cells: Cells, more: Cells) -> Cells:
    """Put the cells of further classes, which have no ends, after those of a column."""

    def ends(typed: pl.Series | None) -> pl.Series | None:
        return None if typed is None else typed.extend_constant(None, len(more.text))

    return Cells(
        text=pl.concat([cells.text, more.text]),
        low=ends(cells.low),
        high=ends(cells.high),
        suppressed=np.concatenate([cells.suppressed, more.suppressed]),
        behind=None if cells.behind is None else with_more(cells.behind, more),
    )


def whole_numbers(floats: Floats) -> Integers:
    """Give positions as whole numbers, 0 where there is none."""
    return np.where(np.isnan(floats), 0, floats).astype(np.int64)
