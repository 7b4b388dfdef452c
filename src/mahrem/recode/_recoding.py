"""What a recoding is, which one a column gets, and the way from cells of classes to cells of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
import polars as pl

from mahrem import check
from mahrem.arrays import cutting
from mahrem.table import Axis, Cells, Leaves, Words
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Floats, Integers, Labels, Mask, Sizes

if TYPE_CHECKING:
    from mahrem.recode._intervals import Bounds


Form = Literal["text", "pairs", "midpoint"]


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


def render(cells: Cells, labels: Labels, how: Form, name: str) -> list[pl.Series]:
    """Give every row what its class shows.

    Args:
        cells: What each class shows in one column.
        labels: Class of each row; -1 = suppressed.
        how: ``text`` writes cells as text; ``pairs`` gives ``name_min`` and ``name_max``; ``midpoint`` gives
            the middle of the interval. Words have neither ends nor middle and are written as text.
        name: The column.

    Guarantees:
        - A suppressed row shows ``*`` as text and null as ends or middle.
        - The middle of a cell that is open on one side is its other end; of one open on both sides, null.

    Example:
        >>> cells = Cells(
        ...     text=pl.Series(["[18, 25]"]),
        ...     low=pl.Series([18]),
        ...     high=pl.Series([25]),
        ...     suppressed=np.zeros(1, bool),
        ... )
        >>> render(cells, np.array([0, -1]), "text", "age")[0].to_list()
        ['[18, 25]', '*']
        >>> [series.to_list() for series in render(cells, np.array([0, -1]), "pairs", "age")]
        [[18, None], [25, None]]
    """
    check.one_of(get_args(Form), how=how)
    if how == "text" or cells.low is None or cells.high is None:
        return [_gather(cells.text, labels, SUPPRESSED).alias(name)]
    if how == "pairs":
        ends = zip((cells.low, cells.high), shown_names(cells, how, name), strict=True)
        return [_gather(end, labels, None).alias(title) for end, title in ends]
    return [_gather(_middle(cells.low, cells.high), labels, None).alias(name)]


def shown_names(cells: Cells, how: Form, name: str) -> list[str]:
    """Give the names of the columns that :func:`render` makes of one.

    Example:
        >>> cells = Cells(text=pl.Series(["flu"]), low=None, high=None, suppressed=np.zeros(1, bool))
        >>> shown_names(cells, "pairs", "illness")
        ['illness']
    """
    if how != "pairs" or cells.low is None or cells.high is None:
        return [name]
    return [f"{name}_min", f"{name}_max"]


def _gather(series: pl.Series, labels: Labels, hidden: str | None) -> pl.Series:
    if len(labels) and labels.min() < 0:
        series = pl.concat([series, pl.Series([hidden], dtype=series.dtype)])
        labels = np.where(labels < 0, len(series) - 1, labels)
    if series.dtype == pl.String and len(labels) > len(series) > 1:
        # Many classes show the same: a text that they share stays near at hand when rows are written.
        numbered = series.to_frame("cell").with_row_index("place")
        labels = numbered.select(pl.col("place").first().over("cell")).to_series().to_numpy()[labels]
    return series.gather(labels)


def _middle(low: pl.Series, high: pl.Series) -> pl.Series:
    if low.dtype.is_temporal():
        first, last = low.to_physical().cast(pl.Int64), high.to_physical().cast(pl.Int64)
        return (first + (last - first) // 2).cast(low.to_physical().dtype).cast(low.dtype)
    first, last = low.cast(pl.Float64), high.cast(pl.Float64)
    if first.is_infinite().any() or last.is_infinite().any():  # an open cell is shown by its other end
        first, last = first.zip_with(first.is_finite(), last), last.zip_with(last.is_finite(), first)
        first, last = (end.zip_with(end.is_finite(), end.clear(len(end))) for end in (first, last))
    middle = (first + last) / 2
    return middle.zip_with(middle.is_finite(), first / 2 + last / 2)  # the sum of two huge ends overflows
