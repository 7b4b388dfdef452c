"""How much noise a promise needs: exact formulas for Gaussian noise, solved by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from mahrem.errors import InvalidParameter

MARGIN = 1 + 1e-9  # more noise than the bisection asks for: covers its last digits
MOST_TERMS = 1 << 24


def laplace_scale(sensitivity: int, epsilon: float) -> float:
    """Give the scale of Laplace noise, rounded up so that the quotient never exceeds ``epsilon``."""
    return math.nextafter(sensitivity / epsilon, math.inf)


def gaussian_delta(epsilon: float, noise_multiplier: float) -> float:
    """Give the exact delta of Gaussian noise at this epsilon (the analytic Gaussian mechanism).

    References:
        Balle, Wang: Improving the Gaussian mechanism for differential privacy, 2018, theorem 8.

    Example:
        >>> round(gaussian_delta(1.0, 3.73063), 8)
        1e-05
    """
    half, slope = 0.5 / noise_multiplier, epsilon * noise_multiplier
    return max(0.0, _normal(half - slope) - math.exp(epsilon + _log_normal(-half - slope)))


@lru_cache(maxsize=256)
def gaussian_multiplier(epsilon: float, delta: float) -> float:
    """Give the smallest noise multiplier of Gaussian noise for ``(epsilon, delta)``.

    Example:
        >>> round(gaussian_multiplier(1.0, 1e-5), 4)
        3.7306
    """
    return _smallest(lambda sigma: gaussian_delta(epsilon, sigma) <= delta, 1.0)


@lru_cache(maxsize=256)
def gaussian_epsilon(noise_multiplier: float, delta: float) -> float:
    """Give the smallest epsilon that Gaussian noise has at this delta, by the exact formula.

    So many releases of the same noise cost as much as one with the root of that number less.

    Example:
        >>> round(gaussian_epsilon(3.7306, 1e-5), 4)
        1.0
    """
    if gaussian_delta(0.0, noise_multiplier) <= delta:
        return 0.0
    return _smallest(lambda epsilon: gaussian_delta(epsilon, noise_multiplier) <= delta, 1.0)


def discrete_gaussian_delta(epsilon: float, sigma: float, sensitivity: int) -> float:
    """Give the exact delta of discrete Gaussian noise on one integer.

    References:
        Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy, 2020, theorem 7.
    """
    reach = math.ceil(20 * sigma) + 2 * sensitivity  # beyond lies less than 1e-80
    if reach > MOST_TERMS:
        raise InvalidParameter(f"sigma={sigma:g} is too large to be summed up")
    threshold = epsilon * sigma**2 / sensitivity - sensitivity / 2
    first = max(-reach, math.floor(threshold) + 1)
    if first > reach:
        return 0.0
    grid = np.arange(first, reach + 1, dtype=np.float64)
    loss = (2 * grid * sensitivity + sensitivity**2) / (2 * sigma**2)
    density = np.exp(-(grid**2) / (2 * sigma**2)) / _mass(sigma, reach)
    return float(max(0.0, -(density * np.expm1(epsilon - loss)).sum()))


def _mass(sigma: float, reach: int) -> float:
    grid = np.arange(1, reach + 1, dtype=np.float64)
    return 1 + 2 * float(np.exp(-(grid**2) / (2 * sigma**2)).sum())


@lru_cache(maxsize=256)
def discrete_gaussian_sigma(epsilon: float, delta: float, sensitivity: int) -> float:
    """Give the smallest sigma of discrete Gaussian noise on one integer for ``(epsilon, delta)``."""
    guess = gaussian_multiplier(epsilon, delta) * sensitivity
    return _smallest(lambda sigma: discrete_gaussian_delta(epsilon, sigma, sensitivity) <= delta, guess)


def zcdp_delta(epsilon: float, rho: float) -> float:
    """Bound the delta of a ``rho``-zCDP mechanism at this epsilon.

    References:
        Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy, 2020, corollary 13.
    """
    orders = 1 + np.geomspace(1e-3, 1e6, 4000)
    logs = (orders - 1) * (orders * rho - epsilon) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    return min(1.0, float(np.exp(min(0.0, logs.min()))))  # every order gives a bound; take the best


@lru_cache(maxsize=256)
def zcdp_epsilon(rho: float, delta: float) -> float:
    """Bound the epsilon of a ``rho``-zCDP mechanism at this delta."""
    if rho == 0:
        return 0.0
    return _smallest(lambda epsilon: zcdp_delta(epsilon, rho) <= delta, rho + math.sqrt(rho))


@lru_cache(maxsize=256)
def rho_for(epsilon: float, delta: float) -> float:
    """Give the largest rho such that every ``rho``-zCDP mechanism is ``(epsilon, delta)``-DP."""
    inverse = _smallest(lambda inverse: zcdp_delta(epsilon, 1 / inverse) <= delta, 1.0)
    return 1 / inverse


def _smallest(enough: Callable[[float], bool], guess: float) -> float:
    """Find the smallest number that is enough, from above; what is enough once stays so."""
    low, high = guess / 2, guess
    while not enough(high):
        low, high = high, high * 2
    while enough(low):
        low, high = low / 2, low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
        if high - low <= 1e-10 * high:
            break
    least = high * MARGIN
    while not enough(least):
        least *= MARGIN
    return least


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _log_normal(x: float) -> float:
    """Logarithm of the normal distribution function, also where the function itself is 0."""
    if x > -30:
        return math.log(_normal(x))
    tail = 1 - 1 / x**2 + 3 / x**4
    return -(x**2) / 2 - math.log(-x * math.sqrt(2 * math.pi)) + math.log(tail)
