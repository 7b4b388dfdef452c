"""k-map: every published row fits at least k people of the population."""

from __future__ import annotations

import math

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.types import Sizes


def k_map(sizes: Sizes, population: Sizes) -> int:
    """Give the k of k-map: the fewest people of the population that a published class fits. Larger is safer.

    Range: from 1; 0 when nothing is published. It is never below the k of k-anonymity.

    Args:
        sizes: ``(c,)`` rows in each published class.
        population: ``(c,)`` people of the population in each of these classes.

    References:
        Sweeney: Computational disclosure control, 2001.

    Example:
        >>> k_map(np.array([1, 3, 0]), np.array([7, 5, 2]))
        5
    """
    shown = np.asarray(sizes, np.int64) > 0
    return int(np.asarray(population, np.int64)[shown].min()) if shown.any() else 0


def k_map_rows(k: int, fraction: float, *, significance: float = 0.01) -> int:
    """Say how many rows a class needs to be thought k-mapped when only the sampling fraction is known.

    Rows of a class with k people are taken as Poisson with mean ``k * fraction``; a class with more rows than
    all but ``significance`` of such classes would show is thought to have more than k people. Never above k,
    for k rows are k people. ARX's plain Poisson estimator asks for one row more.

    Args:
        k: People wanted behind every class.
        fraction: Share of the population that is in the table, above 0 and at most 1.
        significance: Chance of wrongly thinking so.

    References:
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008.

    Example:
        >>> k_map_rows(5, 0.01), k_map_rows(5, 1.0)
        (2, 5)
    """
    check.at_least(1, k=check.whole(k=k))
    check.between(0, 1, fraction=fraction)
    check.between(0, 1, significance=significance)
    if fraction == 0.0 or significance in {0.0, 1.0}:
        raise InvalidParameter(
            f"fraction={fraction!r}, significance={significance!r} must be above 0, and significance below 1"
        )
    mean = k * fraction
    chance = below = math.exp(-mean)
    rows = 1
    while below < 1.0 - significance and rows < k:
        chance *= mean / rows
        below += chance
        rows += 1
    return rows
