"""Intervals of numbers, days and moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.recode._moment_grid import moment_step, snap_moments
from mahrem.recode._number_grid import number_grid
from mahrem.recode._recoding import SUPPRESSED, class_ends, covered_share
from mahrem.table import Axis, Cells, Moments, Numbers
from mahrem.table.cells import write_ranges
from mahrem.types import Floats, Labels

Bounds = Literal["grid", "exact"]
_EXACT = 2.0**53  # whole numbers up to here are exact as floats


@dataclass(frozen=True)
class Intervals:
    """Show each class's range ``[low, high]``, both ends inside.

    Args:
        bounds: ``grid`` moves both ends out to a round number (or the first and last day of a month ...),
            ``exact`` shows the real extremes of the class.
        step: Distance of the grid's lines (a number; for dates ``day``, ``week``, ``month``, ``quarter``,
            ``year``, for date-times also ``minute`` and ``hour``); without it about 32 lines cross it.

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

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        check.one_of(("grid", "exact"), bounds=self.bounds)
        low, high, missing = class_ends(axis, labels, classes)
        empty = np.isnan(low)
        suppressed = ~empty & (missing > 0)
        shown = np.flatnonzero(~empty & (missing == 0))
        match axis.domain:
            case Numbers():
                first, last = _number_ends(axis.domain, low[shown], high[shown], self.bounds, self.step)
            case Moments():
                first, last = _moment_ends(axis.domain, low[shown], high[shown], self.bounds, self.step)
            case _:
                raise InvalidParameter(
                    f"recoding='intervals' needs numbers or dates; column={axis.name!r} has words"
                )
        ncp = np.where(suppressed, 1.0, 0.0)
        start, end = (series.to_physical().cast(pl.Float64).to_numpy() for series in (first, last))
        ncp[shown] = covered_share(start, end, axis)
        exact = empty.copy()
        exact[shown] = (first == last).to_numpy()
        text = _spread(write_ranges(first, last), shown, classes).set(pl.Series(suppressed), SUPPRESSED)
        return Cells(
            text=text.alias("text"),
            low=_spread(first, shown, classes).alias("low"),
            high=_spread(last, shown, classes).alias("high"),
            ncp=ncp,
            iloss=ncp.copy(),
            exact=exact,
            suppressed=suppressed,
        )


def _number_ends(
    domain: Numbers, low: Floats, high: Floats, bounds: Bounds, step: float | str | None
) -> tuple[pl.Series, pl.Series]:
    whole = domain.whole
    if bounds == "grid":
        grid = number_grid(domain, step)
        low, high = grid.below(low), grid.above(high)
        # On a grid of whole numbers, bounds are written as such, whatever lies between them.
        whole = grid.exponent >= 0 and bool(np.all(np.maximum(np.abs(low), np.abs(high)) < _EXACT))
    kind = pl.Int64 if whole else pl.Float64
    return pl.Series("low", low).cast(kind), pl.Series("high", high).cast(kind)


def _moment_ends(
    domain: Moments, low: Floats, high: Floats, bounds: Bounds, step: float | str | None
) -> tuple[pl.Series, pl.Series]:
    first, last = domain.typed(pl.Series("low", low)), domain.typed(pl.Series("high", high))
    if bounds == "exact" or len(first) == 0:  # without a value nobody knows whether these are days or moments
        return first, last
    return snap_moments(first, last, moment_step(domain, step))


def _spread(series: pl.Series, places: np.ndarray[tuple[int], np.dtype[np.int64]], size: int) -> pl.Series:
    """Put values at their places in a longer series of nulls."""
    if len(series) == size:
        return series
    index = np.full(size, -1)
    index[places] = np.arange(len(places))
    return series.gather(pl.Series(index).replace(-1, None))
