"""The exact confidence interval of a share: Clopper and Pearson's."""

from __future__ import annotations

import math

from mahrem import check
from mahrem.errors import InvalidParameter


def clopper_pearson(successes: int, trials: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Give both ends of the exact confidence interval of a success rate.

    Args:
        successes: How many trials succeeded.
        trials: How many there were; without any the interval is all of [0, 1].
        confidence: How often such an interval holds the true rate, at least.

    References:
        Clopper, Pearson: The use of confidence or fiducial limits illustrated in the case of the binomial,
        1934.

    Example:
        >>> low, high = clopper_pearson(0, 10)
        >>> low, round(high, 4)
        (0.0, 0.3085)
    """
    check.between(0, 1, confidence=confidence)
    if not 0 <= successes <= trials:
        raise InvalidParameter(f"successes={successes} must lie between 0 and trials={trials}")
    if trials == 0:
        return 0.0, 1.0
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if successes == 0 else _quantile(tail, successes, trials - successes + 1)
    high = 1.0 if successes == trials else _quantile(1.0 - tail, successes + 1, trials - successes)
    return low, high


def binomial_tail(successes: int, trials: int, chance: float) -> float:
    """Give how likely so many successes or more are.

    Example:
        >>> round(binomial_tail(2, 2, 0.5), 9)
        0.25
    """
    if successes <= 0:
        return 1.0
    return _beta_below(chance, successes, trials - successes + 1)


def _quantile(chance: float, first: int, second: int) -> float:
    """Find where the beta distribution reaches a chance: Newton's steps, halving where they lead astray."""
    low, high = 0.0, 1.0
    place = first / (first + second)
    scale = math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
    for _ in range(60):
        off = _beta_below(place, first, second) - chance
        if off < 0.0:
            low = place
        else:
            high = place
        steep = math.exp(scale + (first - 1) * math.log(place) + (second - 1) * math.log1p(-place))
        step = place - off / steep if steep > 0.0 else low
        new = step if low < step < high else (low + high) / 2.0
        if not low < new < high or abs(new - place) <= 1e-15 * place:
            break
        place = new
    return place


def _beta_below(place: float, first: float, second: float) -> float:
    """Give the regularised incomplete beta function by its continued fraction."""
    if place <= 0.0 or place >= 1.0:
        return 0.0 if place <= 0.0 else 1.0
    if place > (first + 1.0) / (first + second + 2.0):
        return 1.0 - _beta_below(1.0 - place, second, first)
    front = math.exp(
        math.lgamma(first + second)
        - math.lgamma(first)
        - math.lgamma(second)
        + first * math.log(place)
        + second * math.log1p(-place)
    )
    return front / (first * _fraction(place, first, second))


def _fraction(place: float, first: float, second: float) -> float:
    """Run Lentz' method forwards until the fraction no longer changes."""
    tiny = 1e-300
    value = numerator = 1.0
    denominator = 0.0
    for step in range(1, 20_000):
        half, odd = divmod(step, 2)
        if odd:
            term = -(first + half) * (first + second + half) * place
            term /= (first + 2 * half) * (first + 2 * half + 1)
        else:
            term = half * (second - half) * place / ((first + 2 * half - 1) * (first + 2 * half))
        denominator = 1.0 / ((1.0 + term * denominator) or tiny)
        numerator = (1.0 + term / numerator) or tiny
        value *= numerator * denominator
        if abs(numerator * denominator - 1.0) < 1e-15:
            break
    return value
