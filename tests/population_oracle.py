"""What a sample is thought to tell of the population, from the definitions: slow, and no code of mahrem.

Classes are given by their sizes, in rows or people; the population by how many there are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

_Root = tuple[float, float, float]  # what is left of the second equation, alpha, beta
_FAR = 400  # people beyond the rows of a class, for series that die out


def k_map_rows(k: int, fraction: float) -> int:
    """The fewest rows that all but a hundredth of classes of k people (Poisson) stay below; at most k."""
    for rows in range(1, k):
        below = sum(math.exp(-k * fraction) * (k * fraction) ** i / math.factorial(i) for i in range(rows))
        if below >= 0.99:
            return rows
    return k


def journalist(size: int, fraction: float) -> float:
    """The expected one over the people of a class of whom ``size`` are in the table (negative binomial)."""
    if fraction == 1:
        return 1 / size
    total, chance = 0.0, fraction**size  # that the people are exactly those in the table
    for others in range(int(_FAR / fraction)):
        total += chance / (size + others)
        chance *= (1 - fraction) * (size + others) / (others + 1)
    return total


def marketer(sizes: Sequence[int], fraction: float) -> float:
    return sum(size * journalist(size, fraction) for size in sizes) / sum(sizes)


def average(sizes: Sequence[int]) -> float:
    return len(sizes) / sum(sizes)


def uniqueness(sizes: Sequence[int], fraction: float) -> float:
    """The share of the population that stands alone by Dankar's rule, or a little less: grids are coarse."""
    rows, alone = sum(sizes), list(sizes).count(1)
    people = max(rows, round(rows / fraction))
    if not alone:
        return 0.0
    if people == rows:
        return alone / people
    by_class = zayatz(sizes, people)
    if rows / people <= 0.1:
        by_pitman = pitman(sizes, people)
        return (by_class if by_pitman is None else by_pitman) / people
    return min([by_class, *slide(sizes, people)]) / people


def zayatz(sizes: Sequence[int], people: int) -> float:
    """Bayes' rule with hypergeometric chances: a class of j shows one row in the table."""
    rows, times = sum(sizes), Counter(sizes)

    def one_of(j: int) -> Fraction:
        if j - 1 > people - rows:
            return Fraction(0)
        return Fraction(j * math.comb(people - j, rows - 1), math.comb(people, rows))

    sure = times[1] * one_of(1) / sum(n * one_of(size) for size, n in times.items())
    return float(min(times[1] * sure * Fraction(people, rows), people))


def pitman(sizes: Sequence[int], people: int) -> float | None:
    """The likelihood's greatest value, found by ever finer grids; None where it lies on the border."""
    if len(sizes) < 2 or len(sizes) == sum(sizes):
        return None

    def likely(alpha: float, theta: float) -> float:
        found = sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
        found -= sum(math.log(theta + i) for i in range(1, sum(sizes)))
        return found + sum(math.log(j - alpha) for size in sizes for j in range(1, size))

    def best_theta(alpha: float) -> float:
        log = _greatest(lambda log: likely(alpha, math.exp(log) - alpha), -30, 45)
        return math.exp(log) - alpha

    alpha = _greatest(lambda alpha: likely(alpha, best_theta(alpha)), 1e-6, 1 - 1e-6)
    if not 1e-4 < alpha < 1 - 1e-4:
        return None
    theta = best_theta(alpha)
    logs = (math.log(theta + alpha + i - 1) - math.log(theta + i) for i in range(1, people))
    return min(people * math.exp(sum(logs)), people)


def _greatest(figure: Callable[[float], float], low: float, high: float) -> float:
    """Where a function of one hill is greatest, by thirds of what is left."""
    for _ in range(90):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (first, high) if figure(first) < figure(second) else (low, second)
    return (low + high) / 2


def slide(sizes: Sequence[int], people: int) -> list[float]:
    """Uniques by every slide negative binomial that explains the classes of one and of two rows.

    Of K classes the sizes less one are negative binomial; how many show one row and how many two is added up
    over all sizes of a class in the population.
    """
    fraction, times = sum(sizes) / people, Counter(sizes)
    if not times[2]:
        return []
    classes = _classes(times, fraction)
    found: list[float] = []

    def alphas(beta: float) -> list[float]:
        grid = [math.exp(step / 12) for step in range(-120, 249)]
        return _roots(lambda alpha: _showing(fraction, alpha, beta, 1) - times[1] / classes, grid)

    def excess(place: float) -> list[_Root]:
        beta = 1 / (1 + math.exp(-place))
        return [
            (_showing(fraction, alpha, beta, 2) - times[2] / classes, alpha, beta) for alpha in alphas(beta)
        ]

    def follow(places: list[float], finer: int) -> None:
        """Look for changes of sign along both branches of alphas; two that begin together met in between."""
        for (low, left), (high, right) in pairwise([(place, excess(place)) for place in places]):
            if {len(left), len(right)} == {0, 2} and finer:
                follow([low + (high - low) * step / 12 for step in range(13)], finer - 1)
                continue
            for one, other in _going_on(left, right):
                if one[0] * other[0] <= 0:
                    found.append(min(classes * one[2] ** one[1], classes * other[2] ** other[1]))

    follow([step / 12 for step in range(-192, 193)], 3)
    return found


def _showing(fraction: float, alpha: float, beta: float, rows: int) -> float:
    """The share of classes that show so many rows: in closed form, after the sum over their sizes."""
    outside = (1 - fraction) * (1 - beta)
    scale = (beta / (1 - outside)) ** alpha
    if rows == 1:
        return fraction * scale * (1 + alpha * outside / (1 - outside))
    inner = alpha * (1 - beta) / (1 - outside)
    return fraction**2 * scale * inner * (1 + (alpha + 1) * outside / (2 * (1 - outside)))


def _going_on(left: list[_Root], right: list[_Root]) -> Iterable[tuple[_Root, _Root]]:
    """Pair the roots of two steps; two that begin together met in between, one of two may leave the grid."""
    few, many = sorted((left, right), key=len)
    if len(few) == len(many):
        return zip(left, right, strict=True)
    if not few:
        return [(many[0], many[1])] if len(many) == 2 else []
    (own,) = few
    return [(own, min(many, key=lambda other: abs(math.log(other[1] / own[1]))))]


def _classes(times: Counter[int], fraction: float) -> float:
    """Shlosser's third estimator of how many classes the population has (Haas and Stokes)."""
    q, square = fraction, fraction**2
    first = sum(i * square * (1 - square) ** (i - 1) * n for i, n in times.items())
    second = sum((1 - q) ** i * ((1 + q) ** i - 1) * n for i, n in times.items())
    third = sum((1 - q) ** i * n for i, n in times.items())
    fourth = sum(i * q * (1 - q) ** (i - 1) * n for i, n in times.items())
    return sum(times.values()) + times[1] * first / second * (third / fourth) ** 2


def _roots(figure: Callable[[float], float], grid: Sequence[float]) -> list[float]:
    found, values = [], [figure(place) for place in grid]
    for place, (one, other) in enumerate(pairwise(values)):
        if one * other <= 0:
            low, high = grid[place], grid[place + 1]
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if figure(middle) * one > 0 else (low, middle)
            found.append((low + high) / 2)
    return found
