"""The exponential mechanism accounted as what it is: of bounded range, hence no worse than some Gaussian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from mahrem import check
from mahrem.dp.accounting import Event, Gaussian
from mahrem.dp.noise._mechanisms import Exponential
from mahrem.errors import InvalidParameter

MARGIN = 1 + 1e-6  # covers what the search over offsets may miss; the maximum is flat there
_OFFSETS = 2_001
_CLOSE = 1e-12  # how near an epsilon comes to the largest that is covered, as a share
_LARGEST = 30.0


@lru_cache(maxsize=256)
def bounded_range_multiplier(epsilon: float) -> float:
    """Give the noise multiplier of Gaussian noise that is at least as revealing as an exponential mechanism.

    The privacy loss of an exponential mechanism lies in an interval of length ``epsilon``, wherever that
    interval is. The worst pair for an offset t has two outcomes, so its trade-off curve has one corner. A
    Gaussian curve that passes below every corner lies below every such curve, and composes with other noise.

    References:
        Durfee, Rogers: Practical differentially private top-k selection, 2019; Dong, Durfee, Rogers: Optimal
        differential privacy composition for exponential mechanisms, 2020; Dong, Roth, Su: Gaussian
        differential privacy, 2022.

    Example:
        >>> round(0.1 * bounded_range_multiplier(0.1), 3)
        1.596
    """
    if not 0 < check.finite(epsilon=epsilon) <= _LARGEST:
        raise InvalidParameter(f"epsilon={epsilon!r} must be above 0 and at most {_LARGEST:g}")
    quantile = NormalDist().inv_cdf
    most = 0.0
    for place in range(1, _OFFSETS // 2 + 1):  # an offset and what it lacks to epsilon have the same corner
        offset = epsilon * place / _OFFSETS
        # Two outcomes with losses t and t - epsilon; both columns of probabilities add up to 1.
        likely = math.expm1(epsilon - offset) / math.expm1(epsilon) * math.exp(offset)
        rare = likely * math.exp(-offset)
        if 0 < rare < likely < 1:
            most = max(most, quantile(likely) - quantile(rare))
    return 1 / (most * MARGIN)


@lru_cache(maxsize=256)
def bounded_range_epsilon(noise_multiplier: float) -> float:
    """Give the epsilon of the exponential mechanism that costs no more than this Gaussian noise."""
    epsilon, before = min(_LARGEST, 2 / noise_multiplier), 0.0
    if bounded_range_multiplier(epsilon) >= noise_multiplier:
        return epsilon
    # Epsilon times its multiplier hardly changes with epsilon.
    while abs(epsilon - before) > _CLOSE * epsilon:
        epsilon, before = epsilon * bounded_range_multiplier(epsilon) / noise_multiplier, epsilon
    while bounded_range_multiplier(epsilon) < noise_multiplier:
        epsilon *= 1 - _CLOSE
    return epsilon


@dataclass(frozen=True, kw_only=True)
class RangedExponential(Exponential):
    """:class:`Exponential`, paid for as the Gaussian noise that covers it: less than half the variance.

    Guarantees:
        - Selects as :class:`Exponential` does; only the event is finer.
    """

    @property
    def event(self) -> Event:
        """What it costs."""
        return Gaussian(bounded_range_multiplier(self.epsilon))
