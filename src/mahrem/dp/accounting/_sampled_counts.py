"""What counts of a random sample cost that are only shown where they are large: no noise is added.

docs/theory/private-levels.md proves it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.types import Floats

STEPS = 1 << 32  # rates are multiples of one over this, so that a sample is drawn exactly as it is counted
_PARTS = 20
_LARGEST = 200_000  # rows of a class beyond which nothing is tried
_DOWN, _UP = 1 - 1e-12, 1 + 1e-9  # rounding never makes a promise look cheaper


def largest_rate(epsilon: float) -> float:
    """Give the largest rate of a sample at which absence is covered by ``epsilon``: ``1 - exp(-epsilon)``.

    Example:
        >>> round(largest_rate(1.0), 4)
        0.6321
    """
    check.above_zero(epsilon=check.finite(epsilon=epsilon))
    return math.floor(-math.expm1(-epsilon) * _DOWN * STEPS) / STEPS


def sparing_rate(epsilon: float, delta: float) -> float:
    """Give the rate, among twentieths of the largest, at which the smallest classes are shown.

    A class needs about ``k / rate`` rows: at the largest rate k is large, at a small one few rows are drawn.

    Example:
        >>> rate = sparing_rate(1.0, 1e-6)
        >>> sampled_counts_threshold(1.0, 1e-6, rate) / rate <= sampled_counts_threshold(1.0, 1e-6, 0.5) / 0.5
        True
    """
    most = largest_rate(epsilon)
    rates = [math.floor(most * STEPS * part / _PARTS) / STEPS for part in range(1, _PARTS + 1)]
    return min(rates, key=lambda rate: sampled_counts_threshold(epsilon, delta, rate) / rate)


def sampled_counts_threshold(epsilon: float, delta: float, rate: float) -> int:
    """Give the least k such that counts of a sample, shown from k on, are ``(epsilon, delta)``-DP.

    Every row is sampled by itself with probability ``rate``; of classes that do not hang on the data, those
    with at least k sampled rows are shown with their number. Neighbours differ in one row.

    Raises:
        InvalidParameter: If the rate is above :func:`largest_rate`, or no k up to 100,000 or so is enough.

    References:
        Li, Qardaji, Su: On sampling, anonymization, and differential privacy, 2012, theorem 5.
        Bild, Kuhn, Prasser: SafePub: a truthful data anonymization algorithm with strong privacy guarantees,
        2018.

    Example:
        >>> sampled_counts_threshold(1.0, 1e-6, 0.5)
        46
    """
    shown = _violating_share(epsilon, delta, rate)
    last = _last_too_likely(shown, delta, rate)
    # Largest class whose violating counts all lie below k; it and all larger ones must be unlikely enough.
    k = max(1, math.floor((last + 1) * shown * _DOWN))
    while _largest_below(k, shown) <= last:
        k += 1
    return k


def sampled_counts_delta(k: int, epsilon: float, rate: float) -> float:
    """Bound the chance that shown counts of a sample give away more than ``epsilon``.

    Example:
        >>> sampled_counts_delta(46, 1.0, 0.5) <= 1e-6 < sampled_counts_delta(45, 1.0, 0.5)
        True
    """
    check.whole_at_least(1, k=k)
    shown = _violating_share(epsilon, 0.5, rate)
    first = max(1, _largest_below(k, shown))
    worst, size = 0.0, first
    while size <= _LARGEST:
        worst = max(worst, _tail(size, shown, rate))
        if math.exp(-size * _divergence(shown, rate)) <= worst:  # no larger class is worse
            return worst
        size += 1
    raise InvalidParameter(f"k={k} at rate={rate:g}: no bound was found; ask for a larger epsilon")


def _violating_share(epsilon: float, delta: float, rate: float) -> float:
    """Give the share of a class above which a sampled count gives away more than epsilon."""
    check.above_zero(epsilon=check.finite(epsilon=epsilon))
    check.between(0, 1, delta=delta)
    check.above_zero(delta=delta)
    check.above_zero(rate=check.finite(rate=rate))
    most = largest_rate(epsilon)
    if rate > most:
        raise InvalidParameter(f"rate={rate:g} must be at most {most:.6g}, which is 1 - exp(-epsilon)")
    return 1 - (1 - rate) * math.exp(-epsilon)


def _last_too_likely(shown: float, delta: float, rate: float) -> int:
    """Give the largest class in which a violating count is likelier than delta."""
    sure = math.ceil(math.log(1 / delta) / _divergence(shown, rate))  # Chernoff: beyond, none is
    if sure > _LARGEST:
        raise InvalidParameter(
            f"delta={delta:g} at rate={rate:g} asks for classes of more than {_LARGEST:,} rows; "
            f"sample fewer rows, or ask for a larger epsilon"
        )
    for size in range(sure, 0, -1):
        if _tail(size, shown, rate) > delta:
            return size
    return 0


def _largest_below(k: int, shown: float) -> int:
    """Give the largest class all of whose violating counts below k are hidden anyway."""
    size = math.ceil(k / shown) - 1
    while size > 0 and size * shown >= k * _DOWN:
        size -= 1
    return size


def _divergence(shown: float, rate: float) -> float:
    """Give the relative entropy between two coins, which bounds tails of binomials."""
    low = math.log(shown / rate) * shown
    return low + (1 - shown) * math.log((1 - shown) / (1 - rate)) if shown < 1 else low


def _tail(size: int, shown: float, rate: float) -> float:
    """Give the chance that more than the share ``shown`` of so many rows is sampled."""
    counts = np.arange(math.floor(size * shown * _DOWN) + 1, size + 1)
    ways = _log_factorials(_LARGEST)
    logs = ways[size] - ways[counts] - ways[size - counts]
    logs = logs + counts * math.log(rate) + (size - counts) * math.log1p(-rate)
    return float(np.exp(logs).sum()) * _UP


@lru_cache(maxsize=1)
def _log_factorials(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
