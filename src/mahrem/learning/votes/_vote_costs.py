"""What votes cost where they were clear: less than is promised, itself private, published with noise."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mahrem import check
from mahrem.dp import Relation
from mahrem.dp.accounting import Event
from mahrem.dp.noise import SmoothLaplace, SmoothSensitivity
from mahrem.errors import InvalidParameter
from mahrem.types import Floats, Integers

MOVES = 2  # a record moves one vote, so a lead by two at most
FAR = 14  # standard deviations of noise that are computed; beyond lies less than REST
REST = 1e-30
FINE = 1 << 20  # steps of the figure that is published, in the cost of one question at its worst
TRIED = np.geomspace(1.01, 1e4, 400)  # orders that a bound is minimised over


@dataclass(frozen=True, kw_only=True)
class PublishedCost:
    """A cost that depends on the votes, after noise was added to it. It is no promise.

    It bounds how far the answers on *this* table can be told from those on a neighbour, not on every table:
    what is promised and paid stays the data-independent cost.

    Attributes:
        epsilon: The bound, at ``delta``.
        delta: The delta.
        order: The Renyi order it was computed at.
        confidence: How often such a figure lies above the true one, at least.
        paid: Epsilon and delta that publishing it cost.
    """

    epsilon: float
    delta: float
    order: float
    confidence: float
    paid: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class SanitisedCost:
    """Settings of the data-dependent cost of GNMax and of the noise it is published with.

    Args:
        epsilon: What publishing it may cost, beside the votes.
        delta: The same; below the ledger's.
        order: The Renyi order, chosen before a vote is seen.
        confidence: How often the figure must lie above the true one, at least.

    Guarantees:
        - Publishing the figure is ``(epsilon, delta)``-DP: noise is fitted to a smooth bound on how far a
          record can move it.
        - The figure lies above the data-dependent cost with the confidence.

    References:
        Papernot et al.: Scalable private learning with PATE, 2018, theorem 6 and appendix B (here the lead of
        the winner alone is used, and Laplace noise instead of Gaussian).
    """

    epsilon: float = 0.5
    delta: float = 1e-7
    order: float = 20.0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check.promised(epsilon=self.epsilon)
        check.above_zero(delta=self.delta)
        if check.finite(order=self.order) <= 1:
            raise InvalidParameter(f"order={self.order!r} must be above 1")
        if not 0.5 <= check.finite(confidence=self.confidence) < 1:
            raise InvalidParameter(f"confidence={self.confidence!r} must be at least 0.5 and below 1")
        if self._width * math.expm1(self._noise.beta) >= 1:
            raise InvalidParameter(
                f"epsilon={self.epsilon!r} and confidence={self.confidence!r} do not go together; ask for "
                f"less confidence or give more"
            )

    @property
    def event(self) -> Event:
        """What publishing reveals."""
        return self._noise.event

    @property
    def _noise(self) -> SmoothLaplace:
        return SmoothLaplace(epsilon=self.epsilon, delta=self.delta)

    @property
    def _width(self) -> float:
        """How far below its middle noise falls at most, at the confidence, in smooth sensitivities."""
        next_to = math.exp(-self.epsilon / 2)  # of two neighbouring values of noise, at the least scale
        return 2 / self.epsilon * max(0.0, -math.log((1 - self.confidence) * (1 + next_to)))

    def __call__(self, votes: Integers, sigma: float, relation: Relation, delta: float) -> PublishedCost:
        """Publish what answering these votes with GNMax cost.

        Args:
            votes: ``(questions, classes)`` counts.
            sigma: Of the noise on counts.
            relation: Which tables are neighbours.
            delta: The delta that epsilon is said at.
        """
        costs = lead_costs(sigma, votes.shape[1], self.order)
        beta = self._noise.beta
        reach = smooth_costs(votes, costs, beta)
        # The figure is raised by a multiple of its reach, which moves it, and so its reach, a little further.
        lift = self._width / (1 - self._width * math.expm1(beta))
        unit = costs[0] / FINE
        value = math.ceil((costs[_leads(votes, len(costs))].sum() + lift * reach) / unit + self._width)
        moves = reach * (1 + lift * math.expm1(beta)) / unit + 1
        sensitivity = SmoothSensitivity(relation=relation, value=float(moves), beta=beta)
        noisy = self._noise.release(value, sensitivity) * unit
        whole = len(votes) * float(costs[0])  # known beforehand, so it never has to be more
        return PublishedCost(
            epsilon=_converted(min(max(noisy, 0.0), whole), self.order, delta),
            delta=delta,
            order=self.order,
            confidence=self.confidence,
            paid=(self.epsilon, self.delta),
        )


def lead_costs(sigma: float, classes: int, order: float) -> Floats:
    """Bound the Renyi divergence of one answer of GNMax, by the lead of the winner before noise.

    Args:
        sigma: Of the discrete Gaussian noise on every count.
        classes: How many counts.
        order: Of the divergence.

    Guarantees:
        - Entry m bounds it for every neighbour of a table whose winner leads by m votes; the last entry holds
          for every longer lead. Never more than the data-independent cost, never rising with the lead.

    Why: with a lead of m the winner loses with a chance of at most ``q``, the tail of the difference of two
    noises, times the other classes. Any mechanism of Renyi cost ``e(mu)`` then has at this table, for all
    ``mu >= order`` and ``nu > 1`` (Hoelder; and how far chances move between neighbours)::

        log((1 - (q exp(e(nu)))^(1 - 1/nu))^(1 - order)
            + q^(1 - (order - 1) / (mu - 1)) exp((order - 1) e(mu))) / (order - 1)

    Both terms rise with q, so a bound on q will do.

    Example:
        >>> costs = lead_costs(20.0, 10, 8.0)
        >>> bool(costs[0] == 8.0 / 20.0**2), bool(costs[-1] < costs[0] / 100)
        (True, True)
    """
    lost = np.minimum(1.0, (classes - 1) * (_tails(sigma) + REST))
    whole, logs = order / sigma**2, np.log(lost)
    higher = order - 1 + TRIED
    with np.errstate(divide="ignore", invalid="ignore"):
        power = (logs[:, None] + TRIED / sigma**2) * (1 - 1 / TRIED)
        kept = np.where(power < 0, -np.log(-np.expm1(np.minimum(power, -1e-300))), np.inf).min(axis=1)
    rare = (1 - (order - 1) / (higher - 1)) * logs[:, None] + (order - 1) * higher / sigma**2
    bound = np.logaddexp((order - 1) * kept, rare.min(axis=1)) / (order - 1)
    return np.asarray(np.maximum.accumulate(np.minimum(bound, whole)[::-1])[::-1])


@lru_cache(maxsize=8)
def _tails(sigma: float) -> Floats:
    """Give the chance that one discrete Gaussian noise lies at least m above another, for m = 0, 1, ..."""
    far = math.ceil(FAR * sigma)
    mass = np.exp(-(np.arange(-far, far + 1, dtype=np.float64) ** 2) / (2 * sigma**2))
    both = np.convolve(mass / mass.sum(), mass / mass.sum())
    tails = np.cumsum(both[::-1])[::-1]
    return np.asarray(tails[2 * far :])


def smooth_costs(votes: Integers, costs: Floats, beta: float) -> float:
    """Bound how far one record can move the sum of the costs of all questions, smoothly.

    Guarantees:
        - At least the change between this table and any neighbour; between neighbours its logarithm changes
          by at most ``beta``.

    Why: a record moves every lead by at most two. At a distance of d records a lead lies within 2d of where
    it is, so the largest step of the costs in that reach bounds the change there; these sums, discounted by
    ``exp(-beta d)``, have a largest one, and a neighbour is one step closer at most.

    Example:
        >>> costs = np.array([1.0, 1.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
        >>> smooth_costs(np.array([[2, 0], [9, 0]]), costs, beta=100.0) # the second is far from any step
        0.6
    """
    leads, places = _leads(votes, len(costs)), np.arange(len(costs))
    higher, lower = costs[np.maximum(places - MOVES, 0)], costs[np.minimum(places + MOVES, places[-1])]
    reach = np.maximum(higher - costs, costs - lower)
    most = len(votes) * float(reach.max())
    largest, distance = 0.0, 0
    while most * math.exp(-beta * distance) > largest:
        largest = max(largest, float(reach[leads].sum()) * math.exp(-beta * distance))
        around = sliding_window_view(np.pad(reach, MOVES, mode="edge"), 2 * MOVES + 1)
        reach, distance = around.max(axis=1), distance + 1
    return largest


def _leads(votes: Integers, most: int) -> Integers:
    ordered = np.sort(votes, axis=1)
    return np.asarray(np.minimum(ordered[:, -1] - ordered[:, -2], most - 1), dtype=np.int64)


def _converted(divergence: float, order: float, delta: float) -> float:
    """Turn a Renyi divergence into epsilon (Canonne, Kamath, Steinke 2020, proposition 12)."""
    more = math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
    return max(0.0, divergence + more)
