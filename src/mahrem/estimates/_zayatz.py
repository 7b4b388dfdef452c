"""Population uniques by equivalence classes: Zayatz' estimator."""

from __future__ import annotations

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.estimates._rising import log_rising
from mahrem.types import Integers, Sizes


def zayatz_uniques(sizes: Sizes, population: int) -> float:
    """Estimate how many people of the population stand alone, from the classes of a sample.

    Range: from 0 to ``population``. The chance that a sample unique is a population unique comes from Bayes'
    rule with the sample's class sizes in place of the population's, and hypergeometric chances; it is then
    scaled up by the sampling fraction.

    Args:
        sizes: ``(c,)`` rows in each class of the sample.
        population: How many people there are, at least as many as rows.

    References:
        Zayatz: Estimation of the number of unique population elements using a sample, 1991.

    Example:
        >>> zayatz_uniques(np.array([1, 1, 2]), 4)
        2.0
    """
    size, times, rows = size_histogram(sizes, population)
    if not rows or size[0] != 1:
        return 0.0
    rest = float(population - rows)
    possible = size - 1 <= rest  # the others of the class must be outside the sample
    outside = np.where(possible, size - 1, 0).astype(np.float64)
    # one of j in a sample of n: j n (N-n) … (N-n-j+2) / (N … (N-j+1))
    log_chance = (
        np.log(size.astype(np.float64))
        + np.log(rows)
        + log_rising(np.asarray(rest - outside + 1.0, np.float64), outside)
        - log_rising(np.asarray(population - size + 1.0, np.float64), size)
    )
    chance = np.where(possible, np.exp(log_chance), 0.0)
    sure = times[0] * chance[0] / float(times @ chance)
    return float(min(times[0] * sure * population / rows, population))


def size_histogram(sizes: Sizes, population: int) -> tuple[Integers, Integers, int]:
    """Give the different class sizes, how many classes have each, and all rows; empty classes are left out.

    Raises:
        InvalidParameter: If the population is smaller than the sample.
    """
    exact = np.asarray(sizes, np.int64)
    size, times = np.unique(exact[exact > 0], return_counts=True)
    rows = int(size @ times)
    if population < rows:
        raise InvalidParameter(
            f"population={population} must be at least the rows of the table, {rows}: a sample is a part"
        )
    return size, times.astype(np.int64), rows
