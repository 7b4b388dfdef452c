"""From the cells of classes to the cells of rows."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import polars as pl

from mahrem import check
from mahrem.table import Cells
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Labels

Form = Literal["text", "pairs", "midpoint"]


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
