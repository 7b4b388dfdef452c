"""Population uniques by the slide negative binomial: class sizes less one are negative binomial."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from mahrem.estimates._rising import find_root
from mahrem.estimates._zayatz import size_histogram
from mahrem.types import Integers, Sizes

_GRID: Final = 400  # betas at which a change of sign is looked for
_HALVINGS: Final = 30  # towards where alphas begin or end
_MOST: Final = 1e9  # alphas above it are the border, not a solution


def snb_uniques(sizes: Sizes, population: int) -> float:
    """Estimate how many people of the population stand alone, from the classes of a sample.

    Range: from 0 to ``population``; NaN where no alpha and beta explain the classes of one and of two rows.
    With K classes in the population (:func:`expected_classes`) whose sizes less one are negative binomial,
    the expected classes of one and two rows in a sample are set equal to those seen; the answer is
    ``K beta ** alpha``. Where several solutions exist the one with most uniques is given. (ARX's second
    equation multiplies where the definition divides, so its figure is another one.)

    Args:
        sizes: ``(c,)`` rows in each class of the sample.
        population: How many people there are, at least as many as rows.

    References:
        Chen, Keller-McNulty: Estimation of identification disclosure risk in microdata, 1998.

    Example:
        >>> sizes = np.repeat([1, 2, 3, 4, 5, 6], [30, 20, 14, 9, 5, 2])
        >>> 0 < snb_uniques(sizes, 600) < 600
        True
    """
    size, times, rows = size_histogram(sizes, population)
    if not rows or size[0] != 1:
        return 0.0
    ones = int(times[0])
    if population == rows:
        return float(ones)
    twos = int(times[1]) if len(size) > 1 and size[1] == 2 else 0
    fraction = rows / population
    classes = expected_classes(size, times, fraction)
    if not twos or not math.isfinite(classes):
        return math.nan
    estimates = [
        classes * beta**alpha
        for branch in (False, True)
        for alpha, beta in _solutions(ones / (classes * fraction), twos / classes, fraction, late=branch)
    ]
    return float(min(max(estimates), population)) if estimates else math.nan


def expected_classes(size: Integers, times: Integers, fraction: float) -> float:
    """Estimate how many classes the population has: Shlosser's estimator as corrected by Haas and Stokes.

    Args:
        size: Different class sizes of the sample, ascending.
        times: How many classes have each.
        fraction: Share of the population that is in the sample, below 1.

    References:
        Haas, Stokes: Estimating the number of classes in a finite population, 1998; the third of the
        Shlosser family there. (ARX takes the one from the wrong product in its second sum.)

    Example:
        >>> round(expected_classes(np.array([1, 2]), np.array([4, 2]), 0.5), 3)
        8.991
    """
    rest, square = 1.0 - fraction, fraction * fraction
    exponent = size.astype(np.float64)
    first = float((exponent * square * (1.0 - square) ** (exponent - 1)) @ times)
    third = float(rest**exponent @ times)
    second = float((1.0 - square) ** exponent @ times) - third  # (1-q)^i ((1+q)^i - 1) in one piece
    fourth = float((exponent * fraction * rest ** (exponent - 1)) @ times)
    ones = int(times[0]) if len(size) and size[0] == 1 else 0
    seen = float(times.sum())
    return seen + ones * (first / second) * (third / fourth) ** 2 if second > 0 and fourth > 0 else math.nan


def _solutions(ones: float, twos: float, fraction: float, *, late: bool) -> list[tuple[float, float]]:
    """Give every (alpha, beta) at which both equations hold, found by a change of sign along beta.

    Args:
        ones: Classes of one row over those expected of K classes all of one person.
        twos: Classes of two rows over K.
        fraction: Share of the population that is in the sample.
        late: Take the larger alpha where two fit the first equation.
    """

    def excess(place: float) -> float:
        beta = 1.0 / (1.0 + math.exp(-place))
        alpha = _alpha(beta, ones, fraction, late=late)
        return math.nan if alpha is None else _pairs(alpha, beta, fraction) / twos - 1.0

    spread = np.linspace(-16.0, 16.0, _GRID)
    values = np.array([excess(float(place)) for place in spread])
    for edge in np.flatnonzero(np.isnan(values[:-1]) != np.isnan(values[1:])).tolist():
        more = _towards_edge(excess, float(spread[edge]), float(spread[edge + 1]))
        spread, values = np.append(spread, more), np.append(values, [excess(place) for place in more])
    order = np.argsort(spread)
    spread, values = spread[order], values[order]
    betas = 1.0 / (1.0 + np.exp(-spread))
    change = np.flatnonzero(values[:-1] * values[1:] < 0)
    solutions = []
    for place in change:
        root = find_root(excess, float(spread[place]), float(spread[place + 1]))
        if root is None:
            continue
        beta = 1.0 / (1.0 + math.exp(-root))
        alpha = _alpha(beta, ones, fraction, late=late)
        if alpha is not None and abs(_pairs(alpha, beta, fraction) / twos - 1.0) < 1e-6:
            solutions.append((alpha, beta))
    solutions += [
        (alpha, float(betas[place]))
        for place in np.flatnonzero(values == 0.0)
        if (alpha := _alpha(float(betas[place]), ones, fraction, late=late)) is not None
    ]
    return solutions


def _towards_edge(excess: Callable[[float], float], low: float, high: float) -> list[float]:
    """Give places ever nearer to where alphas begin or end: branches meet there, and a root may be near."""
    inside, outside = (high, low) if math.isnan(excess(low)) else (low, high)
    places = []
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if math.isnan(excess(middle)):
            outside = middle
        else:
            inside = middle
            places.append(middle)
    return places


def _alpha(beta: float, ones: float, fraction: float, *, late: bool) -> float | None:
    """Solve the first equation for alpha: its logarithm rises, if at all, and then falls for ever."""
    outside = (1.0 - fraction) * (1.0 - beta)
    ratio = outside / (1.0 - outside)
    shrink = math.log(beta / (1.0 - outside))  # below 0
    goal = math.log(ones)

    def excess(alpha: float) -> float:
        return alpha * shrink + math.log1p(alpha * ratio) - goal

    top = max(-1.0 / shrink - 1.0 / ratio, 0.0) if ratio > 0 else 0.0
    if late or goal <= 0.0:
        end = max(2.0 * top, 1.0)
        while excess(end) > 0.0:
            end *= 2.0
            if end > _MOST:
                return None
        return find_root(excess, top, end)
    return find_root(excess, 0.0, top)


def _pairs(alpha: float, beta: float, fraction: float) -> float:
    """Give the expected share of classes that show two rows."""
    outside = (1.0 - fraction) * (1.0 - beta)
    log = alpha * math.log(beta) - (alpha + 2.0) * math.log1p(-outside)
    return alpha * fraction**2 * (1.0 - beta) / 2.0 * (2.0 - (1.0 - alpha) * outside) * math.exp(log)
