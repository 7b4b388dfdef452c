"""A filter: what may still be asked when every cost is chosen by the answers so far.

Renyi divergences of an order that was fixed beforehand add up whoever chooses what comes next, and so do
plain epsilons. A ledger goes on as long as one of a few such sums stays within its total. Every order has its
part of a tenth of delta; the rest is for events that need one. Where a ledger passed all orders, the plain
sum bounds the loss of every single outcome. One whose first spend fits only the plain sum, with more of
delta, keeps to that sum: no answer had a say in what came first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from mahrem.dp._relation import Relation
from mahrem.dp.accounting._accounting import Spend, epsilon_of, plain_sum, renyi_divergence
from mahrem.dp.accounting._calibrate import rho_for
from mahrem.dp.accounting._events import Approximate, Composed, Event, Repeated, pure_epsilon

ROUNDING = 1e-9
CONVERTED = 0.1  # share of delta that turns divergences into epsilon
WHOLE = 16  # orders from which on whole ones are taken: divergences of samples are exact there
# How far above the best order for the whole total further ones lie, for less, and their parts of delta.
FURTHER = ((1.0, 1 / 2), (3.0, 1 / 6), (10.0, 1 / 6), (40.0, 1 / 6))


@lru_cache(maxsize=64)
def filter_orders(epsilon: float, delta: float) -> tuple[tuple[float, float], ...]:
    """Give the orders of a ledger's filter with the delta of each: the best for Gaussian noise comes first.

    Example:
        >>> [round(order) for order, _ in filter_orders(1.0, 1e-6)]
        [23, 68, 224, 893]
    """
    rho = rho_for(epsilon, delta * FURTHER[0][1])
    grid = 1 + np.geomspace(1e-3, 1e6, 4000)
    logs = (grid - 1) * (grid * rho - epsilon) - np.log(grid - 1) + grid * np.log1p(-1 / grid)
    best = float(grid[int(logs.argmin())])
    orders = (1 + (best - 1) * factor for factor, _ in FURTHER)
    whole = (float(round(order)) if order >= WHOLE else order for order in orders)
    return tuple((order, delta * part) for order, (_, part) in zip(whole, FURTHER, strict=True))


def filtered_epsilon(spends: Sequence[Spend], total: float, delta: float, relation: Relation) -> float:
    """Say what spends cost together by the filter of a ledger, costs chosen in any way.

    Args:
        spends: What happened.
        total: The ledger's epsilon, which fixes the order.
        delta: The ledger's delta; nine tenths are for events that need one, the rest for the conversion.
        relation: Which tables are neighbours.

    Guarantees:
        - It grows with every spend, and never lies above their plain sum where nine tenths of delta cover
          theirs.

    References:
        Feldman, Zrnic: Individual privacy accounting via a Renyi filter, 2021. Lecuyer: Practical privacy
        filters and odometers with Renyi differential privacy, 2021. Canonne, Kamath, Steinke: The discrete
        Gaussian for differential privacy, 2020 (conversion). The proof is in
        docs/theory/differential-privacy.md.

    Example:
        >>> from mahrem.dp.accounting import Pure
        >>> many = [Spend(Pure(0.05), 0.05)] * 100
        >>> round(filtered_epsilon(many, 5.0, 1e-6, Relation.ADD_REMOVE), 2)
        3.14
    """
    if not spends:
        return 0.0
    if _either(spends[:1], total, delta, relation) > total * (1 + ROUNDING):
        return plain_sum(spends, delta)
    return _either(spends, total, delta, relation)


def _either(spends: Sequence[Spend], total: float, delta: float, relation: Relation) -> float:
    """Give the smallest of the plain sum and of what the sums of divergences are worth."""
    rest = delta * (1 - CONVERTED)
    best = plain_sum(spends, rest)
    if math.isinf(best):  # deltas that were noted are too large: each place of the sum has a part of its own
        parted = [_at_part(spend, rest / 2 ** (place + 1), relation) for place, spend in enumerate(spends)]
        best = plain_sum(parted, rest)
    for order, part in filter_orders(total, delta * CONVERTED):
        parts = [_divergence(spend.event, spend, order, relation) for spend in spends]
        if math.fsum(rare for _, rare in parts) > rest:
            continue
        loss = math.fsum(divergence for divergence, _ in parts)
        converted = loss + math.log1p(-1 / order) - (math.log(part) + math.log(order)) / (order - 1)
        best = min(best, max(0.0, converted))
    return best


def _at_part(spend: Spend, part: float, relation: Relation) -> Spend:
    """Note a spend at a smaller delta, where its mechanism says what it costs there."""
    if spend.delta <= part or isinstance(spend.event, Approximate):
        return spend
    return Spend(spend.event, epsilon_of(spend.event, part, relation), part)


def _divergence(event: Event, spend: Spend, order: float, relation: Relation) -> tuple[float, float]:
    """Give the divergence of an event and the delta it needs; else what the spend promises."""
    match event:
        case Approximate(epsilon, delta):
            return _of_pure(epsilon, order), delta
        case Composed(events):
            parts = [_divergence(part, spend, order, relation) for part in events]
            if not any(math.isinf(divergence) for divergence, _ in parts):
                return math.fsum(part for part, _ in parts), math.fsum(rare for _, rare in parts)
        case Repeated(inner, times):
            divergence, rare = _divergence(inner, spend, order, relation)
            if math.isfinite(divergence):
                return divergence * times, rare * times
    pure = pure_epsilon(event)
    own = renyi_divergence(event, order, relation)
    known = [value for value in (own, None if pure is None else _of_pure(pure, order)) if value is not None]
    return (min(known), 0.0) if known else (_of_pure(spend.epsilon, order), spend.delta)


def _of_pure(epsilon: float, order: float) -> float:
    """Bound the divergence of a pure promise.

    References:
        Bun, Steinke: Concentrated differential privacy, 2016, proposition 3.3.
    """
    return min(epsilon, order * epsilon**2 / 2)
