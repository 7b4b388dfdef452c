"""Blocks: steps of a column that no cell cuts through."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.recode._moment_grid import moment_step, snap_moments
from mahrem.recode._number_grid import number_grid
from mahrem.recode._recoding import class_ends
from mahrem.table import Axis, Cells, Moments, Numbers
from mahrem.table.cells import EXACT, SUPPRESSED, NumberGrid, write_ranges
from mahrem.types import Floats, Labels, Positions


def block_begins(
    positions: Positions, domain: Numbers | Moments, step: float | str, *, centred: bool
) -> Floats:
    """Give where the block of each position begins; NaN stays.

    Args:
        positions: Numbers, days or moments on their axis.
        domain: What they are.
        step: Width of the blocks, or a step of the calendar.
        centred: Blocks lie around the multiples of ``step`` instead of between them.

    Example:
        >>> ages = np.array([24.0, 25.0])
        >>> block_begins(ages, Numbers(24, 25, True), 5, centred=False).tolist()
        [20.0, 25.0]
        >>> block_begins(ages, Numbers(24, 25, True), 10, centred=True).tolist()
        [15.0, 25.0]
    """
    begins = np.full(len(positions), np.nan)
    known = ~np.isnan(positions)
    if not known.any():
        return begins
    if isinstance(domain, Moments):
        typed = domain.typed(pl.Series(positions[known]))
        first, _ = snap_moments(typed, typed, moment_step(domain, step))
        begins[known] = first.cast(typed.dtype).to_physical().cast(pl.Float64).to_numpy()
        return begins
    grid = number_grid(domain, step)
    if not centred:
        begins[known] = grid.below(positions[known])
        return begins
    half = NumberGrid(grid.mantissa * 5, grid.exponent - 1)  # every second of its lines is one of the grid
    count = half.count_below(positions[known])
    begins[known] = half.line(np.where(count % 2 == 0, count - 1, count)) + 0.0
    return begins


def _block_ends(begins: Floats, domain: Numbers, step: float | str) -> tuple[Floats, Floats]:
    """Give the first and the last number of blocks; among whole ones the last before the next block."""
    grid = number_grid(domain, step)
    last = begins + grid.step if grid.exponent >= 0 else grid.line(np.rint(begins / grid.step * 2 + 2) / 2)
    if domain.whole and np.all(np.abs(last) < EXACT):
        return np.ceil(begins) + 0.0, np.ceil(last) - 1.0
    return begins, last + 0.0


@dataclass(frozen=True)
class Blocks:
    """Show each class as the whole blocks its values lie in; positions are the beginnings of blocks.

    Args:
        step: Width of the blocks, or a step of the calendar.
        single: Show a class that lies in several blocks as ``*``: cells are then equal or disjoint.

    Guarantees:
        - Every cell is a row of whole blocks, one of them with ``single``, or says nothing.
        - A class with missing and present values shows ``*``; one with only missing values shows none.

    Example:
        >>> axis = Axis("age", np.array([20.0, 25.0, 30.0]), Numbers(20, 34, True))
        >>> Blocks(step=5)(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['[20, 29]', '[30, 34]']
        >>> Blocks(step=5, single=True)(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['*', '[30, 34]']
    """

    step: float | str
    single: bool = False
    shifted = True  # whole numbers end just before the next block begins

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        low, high, missing = class_ends(axis, labels, classes)
        empty = np.isnan(low)
        suppressed = ~empty & ((missing > 0) | (self.single & (low != high)))
        shown = ~empty & ~suppressed
        first, last = _typed_ends(axis, low[shown], high[shown], self.step)
        place = np.where(shown, np.cumsum(shown) - 1, -1)
        spread = pl.Series(place).replace(-1, None)
        text = write_ranges(first, last).gather(spread).set(pl.Series(suppressed), SUPPRESSED)
        return Cells(
            text=text.alias("text"),
            low=first.gather(spread).alias("low"),
            high=last.gather(spread).alias("high"),
            suppressed=suppressed,
        )


def _typed_ends(axis: Axis, low: Floats, high: Floats, step: float | str) -> tuple[pl.Series, pl.Series]:
    """Give the ends of rows of blocks from where their first and last blocks begin."""
    if isinstance(axis.domain, Moments):
        first, last = axis.domain.typed(pl.Series(low)), axis.domain.typed(pl.Series(high))
        if not len(first):
            return first, last
        return snap_moments(first, last, moment_step(axis.domain, step))
    assert isinstance(axis.domain, Numbers)  # noqa: S101 - others have no blocks of a width
    begins, _ = _block_ends(low, axis.domain, step)
    _, ends = _block_ends(high, axis.domain, step)
    every = np.concatenate([begins, ends])
    kind = pl.Int64 if np.all(every == np.floor(every)) and np.all(np.abs(every) < EXACT) else pl.Float64
    return pl.Series(begins).cast(kind), pl.Series(ends).cast(kind)
