"""Top and bottom coding: beyond a declared number, cells are open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.recode._recoding import Recoding, class_ends
from mahrem.table import Axis, Cells, Numbers
from mahrem.types import Floats, Labels


@dataclass(frozen=True)
class OpenEnded:
    """Show classes that reach a declared end as open there: ``[85, inf]``.

    Args:
        inner: Writes all other ends.
        bottom: Values from here down are one; None leaves that end alone.
        top: Values from here up are one.

    Guarantees:
        - Every value of a class lies in its cell, also those that were moved.
        - No cell has a finite end beyond a declared one.

    References:
        Hundepool et al.: Statistical Disclosure Control, 2012, section 3.2 on top and bottom coding.

    Example:
        >>> from mahrem.recode import Intervals
        >>> axis = Axis("age", np.array([84.0, 90.0, 90.0]), Numbers(84, 97, True))
        >>> OpenEnded(Intervals(step=5), None, 90)(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['[80, inf]', '[90, inf]']
    """

    inner: Recoding
    bottom: float | None = None
    top: float | None = None

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        cells = self.inner(axis, labels, classes)
        if not isinstance(axis.domain, Numbers) or cells.low is None or cells.high is None:
            raise InvalidParameter(f"top and bottom need a column of numbers; column={axis.name!r} is none")
        least, most, missing = class_ends(axis, labels, classes)
        shown = ~np.isnan(least) & (missing == 0) & ~cells.suppressed
        low, high = (
            end.cast(pl.Float64).fill_null(np.nan).to_numpy(writable=True) for end in (cells.low, cells.high)
        )
        over = np.zeros(classes, np.bool_) if self.top is None else shown & (most >= self.top)
        under = np.zeros(classes, np.bool_) if self.bottom is None else shown & (least <= self.bottom)
        if self.top is not None:
            low, high = (
                np.where(shown, np.minimum(low, self.top), low),
                np.where(shown, np.minimum(high, self.top), high),
            )
        if self.bottom is not None:
            low, high = (
                np.where(shown, np.maximum(low, self.bottom), low),
                np.where(shown, np.maximum(high, self.bottom), high),
            )
        text = _texts(low, high, under, over)
        return Cells(
            text=cells.text.zip_with(~pl.Series(shown), text).alias("text"),
            low=_typed(np.where(under, -np.inf, low), cells.low.dtype).alias("low"),
            high=_typed(np.where(over, np.inf, high), cells.high.dtype).alias("high"),
            suppressed=cells.suppressed,
        )


def _texts(low: Floats, high: Floats, under: np.ndarray, over: np.ndarray) -> pl.Series:
    first = pl.Series(_written(low)).zip_with(
        ~pl.Series(under), pl.Series(["-inf"]).new_from_index(0, len(low))
    )
    last = pl.Series(_written(high)).zip_with(
        ~pl.Series(over), pl.Series(["inf"]).new_from_index(0, len(high))
    )
    frame = pl.DataFrame({"low": first, "high": last})
    ranged = pl.format("[{}, {}]", "low", "high")
    same = pl.col("low") == pl.col("high")
    return frame.select(cell=pl.when(same).then("low").otherwise(ranged))["cell"]


def _written(ends: Floats) -> pl.Series:
    finite = ends[np.isfinite(ends)]
    series = pl.Series(ends).fill_nan(None)
    if np.all(finite == np.floor(finite)) and np.all(np.abs(finite) < 2.0**53):
        return series.cast(pl.Int64).cast(pl.String)
    return series.cast(pl.String)


def _typed(ends: Floats, kind: pl.DataType) -> pl.Series:
    series = pl.Series(ends).fill_nan(None)
    return series if np.isinf(ends).any() or kind.is_float() else series.cast(pl.Int64)
