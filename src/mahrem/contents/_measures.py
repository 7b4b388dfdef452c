"""Measures that many steps of a scale part from each other, and how many people stand on a step.

A weight to 100 grams is one of some hundred values, and nobody knows more of another person than the step and
its neighbours. So rows one step off count as company, where a scale has fewer steps than the table has rows.
A laboratory value with six decimals has a million steps: whoever has it has the person. Numbers that were
given out, to households or cases, come more evenly than chance would have them: they are no measures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.types import Floats, Integers

PLACES = 4  # decimals: nothing is known more finely of others
CROWDED = 1.5  # rows for every step of the middle nine tenths
SPREAD = 3.0  # standard errors by which rows of a step may vary less than by chance
MANY = 20  # steps from which on an even spread means something
LONGEST = 1_000_000  # steps
COARSE = 1000  # steps: longer scales number things


def rows_nearby(values: pl.Series, counts: Integers) -> Integers | None:
    """Count the rows that have a value or one a step off; None where values are no measures on a short scale.

    Args:
        values: All different values of a column.
        counts: How many rows have each.

    Example:
        >>> rows_nearby(pl.Series([1.5, 2.0, 2.5, 4.0]), np.array([9, 1, 4, 7]))
        array([10, 14,  5,  7])
        >>> rows_nearby(pl.Series([1.48302, 2.00194, 2.5]), np.array([3, 3, 3])) is None
        True
        >>> rows_nearby(pl.Series(range(100)), np.full(100, 2)) is None  # numbers of pairs
        True
    """
    scale = _scale(values, counts)
    if scale is None or scale.wide > COARSE or counts.sum() < CROWDED * scale.wide or scale.given_out:
        return None
    near = scale.rows
    return (near[:-2] + near[1:-1] + near[2:])[scale.steps]


def are_given_out(values: pl.Series, counts: Integers) -> bool:
    """Tell whether numbers come more evenly than by chance, as those of households, cases and ranks do.

    Example:
        >>> are_given_out(pl.Series(range(100)), np.full(100, 3))
        True
    """
    scale = _scale(values, counts)
    return scale is not None and MANY <= scale.wide <= len(values) * 2 and scale.given_out


@dataclass(frozen=True)
class _Scale:
    """Numbers as steps of a scale."""

    steps: Integers  # (m,) from 0
    rows: Integers  # (steps + 2,) that stand on each, with an empty one at either end
    low: int
    high: int  # of the middle nine tenths

    @property
    def wide(self) -> int:
        """Steps of the middle."""
        return self.high - self.low + 1

    @property
    def given_out(self) -> bool:
        """Whether rows of a step vary less than by chance."""
        between = self.rows[self.low + 1 : self.high + 2]
        return bool(between.var() < (1 - SPREAD * np.sqrt(2 / self.wide)) * between.mean())


def _scale(values: pl.Series, counts: Integers) -> _Scale | None:
    steps = _in_steps(values)
    if steps is None or int(steps.max()) > LONGEST:
        return None
    rows = np.zeros(int(steps.max()) + 3, np.int64)
    np.add.at(rows, steps + 1, counts)
    below = np.cumsum(rows[1:-1]) / counts.sum()
    low, high = (min(int(np.searchsorted(below, share)), int(steps.max())) for share in (0.05, 0.95))
    return _Scale(steps, rows, low, high)


def _in_steps(values: pl.Series) -> Integers | None:
    """Give numbers as whole steps of the finest scale that all of them keep to."""
    if values.dtype == pl.String:
        values = values.str.strip_chars().str.replace(",", ".", literal=True)
    elif not values.dtype.is_numeric():
        return None
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() or not numbers.is_finite().all() or not len(numbers):
        return None
    scaled: Floats = numbers.to_numpy() * 10**PLACES
    whole = np.round(scaled)
    if np.abs(whole).max() > 2**52 or np.abs(scaled - whole).max() > 1e-3:
        return None
    steps = whole.astype(np.int64) - int(whole.min())
    step = int(np.gcd.reduce(steps))
    return steps // step if step else None
