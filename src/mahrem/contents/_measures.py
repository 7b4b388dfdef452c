"""Measures that many steps of a scale part from each other, and how many people stand on a step.

A weight to 100 grams is one of some hundred values, and nobody knows more of another person than the step and
its neighbours. So rows one step off count as company, where a scale has fewer steps than the table has rows.
A laboratory value with six decimals has a million steps: whoever has it has the person. Numbers that are given
out, to households or cases, come more evenly than chance would have them: they are no measures.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.types import Floats, Integers

PLACES = 4  # decimals: nothing is known more finely of others
CROWDED = 1.5  # rows for every step of the middle nine tenths
SPREAD = 3.0  # standard errors by which rows of a step may vary less than by chance
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
    steps = _in_steps(values)
    if steps is None:
        return None
    order = np.argsort(steps)
    low, high = _middle(steps[order], counts[order])
    wide = high - low + 1
    if wide > COARSE or counts.sum() < CROWDED * wide:
        return None
    near = np.zeros(int(np.ptp(steps)) + 3, np.int64)
    np.add.at(near, steps - steps.min() + 1, counts)
    between = near[low - steps.min() + 1 : high - steps.min() + 2]
    if between.var() < (1 - SPREAD * np.sqrt(2 / wide)) * between.mean():
        return None
    return (near[:-2] + near[1:-1] + near[2:])[steps - steps.min()]


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


def _middle(steps: Integers, counts: Integers) -> tuple[int, int]:
    """Give the ends of the middle nine tenths of the rows."""
    below = np.cumsum(counts) / counts.sum()
    return int(steps[np.searchsorted(below, 0.05)]), int(steps[min(len(steps) - 1, np.searchsorted(below, 0.95))])
