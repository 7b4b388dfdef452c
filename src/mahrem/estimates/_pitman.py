"""Population uniques by Pitman's sampling formula."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np

from mahrem.estimates._rising import digamma_rise, find_root, log_rising
from mahrem.estimates._zayatz import size_histogram
from mahrem.types import Floats, Integers, Sizes

_LEAST: Final = 1e-6  # alphas nearer to 0 or 1 are the border, not a maximum
_LOGS: Final = (-30.0, 45.0)  # where log(theta + alpha) is looked for


def pitman_uniques(sizes: Sizes, population: int) -> float:
    """Estimate how many people of the population stand alone, from the classes of a sample.

    Range: from 0 to ``population``; NaN where the likelihood has no maximum with alpha between 0 and 1, as
    when all rows stand alone: then there is nothing to estimate from. With theta and alpha of greatest
    likelihood the expected number is ``N`` times the product of ``(theta + alpha + i - 1) / (theta + i)``
    over ``i = 1 .. N-1``; Hoshino and ARX print its limit for large N,
    ``gamma(theta + 1) / gamma(theta + alpha) * N ** alpha``, which may exceed N.

    Args:
        sizes: ``(c,)`` rows in each class of the sample.
        population: How many people there are, at least as many as rows.

    References:
        Hoshino: Applying Pitman's sampling formula to microdata disclosure risk assessment, 2001.

    Example:
        >>> bool(np.isnan(pitman_uniques(np.array([1, 1, 1]), 100)))
        True
        >>> 5 < pitman_uniques(np.array([1] * 8 + [2] * 3 + [3, 5, 9]), 1000) < 200
        True
    """
    size, _, rows = size_histogram(sizes, population)
    if not rows or size[0] != 1:
        return 0.0
    parameters = pitman_parameters(sizes)
    if parameters is None:
        return math.nan
    theta, alpha = parameters
    shift = float(log_rising(theta + alpha, population - 1) - log_rising(theta + 1.0, population - 1))
    return float(min(population * math.exp(shift), population))


def pitman_parameters(sizes: Sizes) -> tuple[float, float] | None:
    """Give theta and alpha of greatest likelihood, ``0 < alpha < 1``, ``theta > -alpha``; None without one.

    For every alpha the best theta is a root of one equation; the best alpha is the root of the other along
    them. Nested brackets always end, where Newton's method in two dimensions may run away.

    Args:
        sizes: ``(c,)`` rows in each class of the sample.

    Example:
        >>> theta, alpha = pitman_parameters(np.array([1] * 8 + [2] * 3 + [3, 5, 9]))
        >>> round(theta, 3), round(alpha, 3)
        (6.403, 0.204)
    """
    exact = np.asarray(sizes, np.int64)
    size, times = np.unique(exact[exact > 0], return_counts=True)
    classes, rows = int(times.sum()), int(size @ times)
    if classes < 2 or classes == rows:
        return None

    def along(alpha: float) -> float:
        theta = _best_theta(alpha, classes, rows)
        if theta is None:
            return math.nan
        rise = float(digamma_rise(theta / alpha + 1.0, classes - 1)) / alpha
        slope = (classes - 1 - theta * rise) / alpha - float(_within(size, alpha) @ times)
        return slope * alpha * (1.0 - alpha)

    alpha = find_root(along, _LEAST, 1.0 - _LEAST)
    if alpha is None:
        return None
    theta = _best_theta(alpha, classes, rows)
    return None if theta is None else (theta, alpha)


def _best_theta(alpha: float, classes: int, rows: int) -> float | None:
    root = find_root(partial(_slope, alpha=alpha, classes=classes, rows=rows), *_LOGS)
    return None if root is None else math.exp(root) - alpha


def _slope(log: float, *, alpha: float, classes: int, rows: int) -> float:
    """Give the likelihood's slope in theta at ``log(theta + alpha)``, scaled to stay near 1."""
    above = math.exp(log)
    theta = above - alpha
    rise = digamma_rise(above / alpha, classes - 1) / alpha - digamma_rise(theta + 1.0, rows - 1)
    return float(rise) * above


def _within(size: Integers, alpha: float) -> Floats:
    """Add up ``1 / (i - alpha)`` over the rows of a class after its first."""
    return digamma_rise(1.0 - alpha, size - 1)
