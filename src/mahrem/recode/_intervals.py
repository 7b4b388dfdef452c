"""Intervals of numbers, days and moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.recode._number_grid import lines_around, number_grid
from mahrem.recode._recoding import class_ends
from mahrem.table import Axis, Cells, Moments, Numbers
from mahrem.table.cells import SUPPRESSED, write_ranges
from mahrem.types import Floats, Labels

Bounds = Literal["grid", "exact"]
_SHARED = 10_000  # classes from which on many show the same
_EXACT = 2.0**53  # whole numbers up to here are exact as floats


@dataclass(frozen=True)
class Intervals:
    """Show each class's range ``[low, high]``, both ends inside.

    Args:
        bounds: ``grid`` moves both ends out to a round number (or the first and last day of a month ...),
            ``exact`` shows the real extremes of the class.
        step: Distance of the grid's lines (a number; for dates ``day``, ``week``, ``month``, ``quarter``,
            ``year``, for date-times also ``minute`` and ``hour``); without it about 32 lines cross it.
        shifted: Put the lines half a step off the round numbers: for columns whose values are heaped there
            (see :func:`mahrem.recode.heaped`).

    Guarantees:
        - Every value of a class lies in its interval, also after the text is read back.
        - With ``grid``, an end is a real extreme only if that extreme lies on the grid.
        - A class with missing and present values shows ``*``; one with only missing values shows none.

    References:
        LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, 2006.

    Example:
        >>> axis = Axis("age", np.array([18.0, 23.0, 64.0]), Numbers(18, 64, True))
        >>> Intervals(bounds="exact")(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['[18, 23]', '64']
        >>> Intervals(step=5)(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['[15, 25]', '[60, 65]']
    """

    bounds: Bounds = "grid"
    step: float | str | None = None
    shifted: bool = False

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        check.one_of(("grid", "exact"), bounds=self.bounds)
        low, high, missing = class_ends(axis, labels, classes)
        empty = np.isnan(low)
        suppressed = ~empty & (missing > 0)
        shown = np.flatnonzero(~empty & (missing == 0))
        match axis.domain:
            case Numbers():
                first, last = self._number_ends(axis.domain, low[shown], high[shown])
            case Moments():
                first, last = self._moment_ends(axis.domain, low[shown], high[shown])
            case _:
                raise InvalidParameter(
                    f"recoding='intervals' needs numbers or dates; column={axis.name!r} has words"
                )
        text = _spread(_texts(first, last), shown, classes).set(pl.Series(suppressed), SUPPRESSED)
        return Cells(
            text=text.alias("text"),
            low=_spread(first, shown, classes).alias("low"),
            high=_spread(last, shown, classes).alias("high"),
            suppressed=suppressed,
        )

    def _number_ends(self, domain: Numbers, low: Floats, high: Floats) -> tuple[pl.Series, pl.Series]:
        whole = domain.whole
        if self.bounds == "grid":
            grid = number_grid(domain, self.step)
            low, high = lines_around(grid, low, high, shifted=self.shifted, whole=whole)
            # On a grid of whole numbers, bounds are written as such, whatever lies between them.
            fits = bool(np.all(np.maximum(np.abs(low), np.abs(high)) < _EXACT))
            whole = fits and (grid.exponent >= 0 if not self.shifted else whole)
        kind = pl.Int64 if whole else pl.Float64
        return pl.Series("low", low).cast(kind), pl.Series("high", high).cast(kind)

    def _moment_ends(self, domain: Moments, low: Floats, high: Floats) -> tuple[pl.Series, pl.Series]:
        first, last = domain.typed(pl.Series("low", low)), domain.typed(pl.Series("high", high))
        if self.bounds == "exact" or len(first) == 0:  # nobody knows whether no value is a day or a moment
            return first, last
        from mahrem.recode._moment_grid import moment_step, snap_moments

        return snap_moments(first, last, moment_step(domain, self.step), shifted=self.shifted)


def _texts(first: pl.Series, last: pl.Series) -> pl.Series:
    """Write ranges, those that many classes share only once."""
    if len(first) < _SHARED:
        return write_ranges(first, last)
    keys = pl.DataFrame({"low": _bits(first), "high": _bits(last)})
    grouped = keys.with_row_index("row").group_by("low", "high").agg("row")
    rows = grouped["row"].explode().to_numpy()
    sizes = grouped["row"].list.len().to_numpy()
    place = np.empty(len(first), np.int64)
    place[rows] = np.repeat(np.arange(len(sizes)), sizes)
    one = rows[np.cumsum(sizes) - sizes]
    return write_ranges(first.gather(one), last.gather(one)).gather(place)


def _bits(ends: pl.Series) -> pl.Series:
    """Give numbers by which texts differ: 0.0 and -0.0 are one number and two texts."""
    plain = ends.to_physical()
    return pl.Series(plain.to_numpy().view(np.int64)) if plain.dtype == pl.Float64 else plain


def _spread(series: pl.Series, places: np.ndarray[tuple[int], np.dtype[np.int64]], size: int) -> pl.Series:
    """Put values at their places in a longer series of nulls."""
    if len(series) == size:
        return series
    index = np.full(size, -1)
    index[places] = np.arange(len(places))
    return series.gather(pl.Series(index).replace(-1, None))
