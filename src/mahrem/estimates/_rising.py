"""Differences of log-gamma and digamma that keep their digits, and roots that cannot run away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mahrem.types import Floats, Integers

_SHIFT = 10.0  # from here on Stirling's series is exact to twelve digits
_STEPS = np.arange(_SHIFT)


def log_rising(start: float | Floats, steps: float | Floats | Integers) -> Floats:
    """Give ``log(start (start + 1) … (start + steps - 1))``, also where both gammas would be huge.

    Args:
        start: Above 0.
        steps: Not below 0.

    Example:
        >>> round(float(np.exp(log_rising(3.0, 2))), 9)
        12.0
    """
    low, rise = np.broadcast_arrays(np.asarray(start, np.float64), np.asarray(steps, np.float64))
    base = low + _SHIFT
    high = base + rise
    series = rise * np.log(high) + (base - 0.5) * np.log1p(rise / base) - rise + _tail(high) - _tail(base)
    small = np.log(low[..., None] + _STEPS) - np.log((low + rise)[..., None] + _STEPS)
    return np.asarray(series + small.sum(axis=-1))


def digamma_rise(start: float | Floats, steps: float | Floats | Integers) -> Floats:
    """Give ``1/start + 1/(start + 1) + … + 1/(start + steps - 1)`` without adding them up.

    Args:
        start: Above 0.
        steps: Not below 0.

    Example:
        >>> round(float(digamma_rise(1.0, 4)), 9)
        2.083333333
    """
    low, rise = np.broadcast_arrays(np.asarray(start, np.float64), np.asarray(steps, np.float64))
    base = low + _SHIFT
    high = base + rise
    series = np.log1p(rise / base) - _slope(high) + _slope(base)
    small = 1.0 / (low[..., None] + _STEPS) - 1.0 / ((low + rise)[..., None] + _STEPS)
    return np.asarray(series + small.sum(axis=-1))


def find_root(
    function: Callable[[float], float], low: float, high: float, *, tolerance: float = 1e-12
) -> float | None:
    """Find where a function changes its sign between two ends; None where both ends have the same sign.

    The Illinois rule: as quick as the secant, and never outside its bracket.
    """
    at_low, at_high = function(low), function(high)
    if at_low == 0.0 or at_high == 0.0:
        return low if at_low == 0.0 else high
    if not at_low * at_high < 0.0:
        return None
    for turn in range(200):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        if turn % 3 == 2 or not low < middle < high:
            middle = (low + high) / 2.0  # a bracket that shrinks from one side only must shrink at last
        value = function(middle)
        if value == 0.0 or high - low <= tolerance * max(1.0, abs(middle)):
            return middle
        if value * at_high < 0.0:
            low, at_low = high, at_high
        else:
            at_low /= 2.0
        high, at_high = middle, value
        if low > high:
            low, high, at_low, at_high = high, low, at_high, at_low
    return (low + high) / 2.0


def _tail(place: Floats) -> Floats:
    """Give what Stirling's formula for log-gamma leaves out."""
    inverse = 1.0 / (place * place)
    return np.asarray(
        (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / place
    )


def _slope(place: Floats) -> Floats:
    """Give what the logarithm leaves out of digamma, turned round."""
    inverse = 1.0 / (place * place)
    return np.asarray(
        0.5 / place + inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse / 240)))
    )
