"""Figures from noisy totals, with error bars carried along. All of it is post-processing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A noisy figure; the truth lies within ``error`` of it, as likely as was asked for."""

    value: float
    error: float


def _ratio(total: Estimate, rows: Estimate, most: float) -> Estimate:
    """Divide; the truth is known to lie in ``[-most, most]``."""
    count = max(rows.value, 1.0)
    raw = total.value / count
    value = min(max(raw, -most), most)
    least = rows.value - rows.error
    if least <= 0:
        return Estimate(value, 2 * most)
    return Estimate(value, min((total.error + abs(raw) * rows.error) / least, 2 * most))


def mean_of(centred: Estimate, rows: Estimate, middle: float, half: float) -> Estimate:
    """Give the mean from the total of distances to the middle of the bounds.

    Example:
        >>> mean_of(Estimate(-200.0, 10.0), Estimate(100.0, 0.0), middle=50.0, half=50.0)
        Estimate(value=48.0, error=0.1)
    """
    ratio = _ratio(centred, rows, half)
    return Estimate(middle + ratio.value, ratio.error)


def mean_between(above: Estimate, below: Estimate, *, lower: float, upper: float) -> Estimate:
    """Give the mean from totals of the shares of the way from the lower bound, and of the rest of the way.

    The noise of the mean is that of ``above`` times one less the share, less that of ``below`` times the
    share, over the noisy number: no wider than the noise of one total, wherever the mean lies.

    Example:
        >>> mean_between(Estimate(75.0, 2.0), Estimate(25.0, 2.0), lower=0.0, upper=100.0)
        Estimate(value=75.0, error=2.0)
    """
    rows = max(above.value + below.value, 1.0)
    share = min(max(above.value / rows, 0.0), 1.0)
    width = upper - lower
    return Estimate(lower + width * share, min(max(above.error, below.error) / rows, 1.0) * width)


def variance_of(centred: Estimate, squares: Estimate, rows: Estimate, half: float) -> Estimate:
    """Give the variance from totals of distances and of ``2 y**2 - 1``, y the distance in halves."""
    mean = _ratio(Estimate(centred.value / half, centred.error / half), rows, 1.0)
    square = _ratio(squares, rows, 1.0)
    spread = (square.value + 1) / 2 - mean.value**2
    error = square.error / 2 + 2 * abs(mean.value) * mean.error + mean.error**2
    largest = half**2
    return Estimate(min(max(spread, 0.0), 1.0) * largest, min(error, 1.0) * largest)
