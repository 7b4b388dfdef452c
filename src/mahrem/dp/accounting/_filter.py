"""A filter: what may still be asked when every cost is chosen by the answers so far.

Renyi divergences of one order that was fixed beforehand add up whoever chooses what comes next, and so do
plain epsilons. A ledger goes on as long as either sum stays within its total: where it passed the first, the
second bounds the loss of every single outcome, so the two together cost no more than the first alone. Each
has one half of delta. A ledger whose first spend fits only the plain sum, with all of delta, keeps to that
sum: no answer had a say in what came first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from mahrem.dp._relation import Relation
from mahrem.dp.accounting._accounting import Spend, plain_sum, renyi_divergence
from mahrem.dp.accounting._calibrate import rho_for
from mahrem.dp.accounting._events import Approximate, Composed, Event, Repeated, pure_epsilon

ROUNDING = 1e-9
WHOLE = 16  # orders from which on whole ones are taken: divergences of samples are exact there


@lru_cache(maxsize=64)
def filter_order(epsilon: float, delta: float) -> float:
    """Give the order that loses nothing for Gaussian noise that uses up this total.

    Example:
        >>> round(filter_order(1.0, 1e-6))
        22
    """
    rho = rho_for(epsilon, delta)
    orders = 1 + np.geomspace(1e-3, 1e6, 4000)
    logs = (orders - 1) * (orders * rho - epsilon) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    best = float(orders[int(logs.argmin())])
    return float(round(best)) if best >= WHOLE else best


def filtered_epsilon(spends: Sequence[Spend], total: float, delta: float, relation: Relation) -> float:
    """Say what spends cost together by the filter of a ledger, costs chosen in any way.

    Args:
        spends: What happened.
        total: The ledger's epsilon, which fixes the order.
        delta: The ledger's delta; one half is for events that need one, the other for the conversion.
        relation: Which tables are neighbours.

    Guarantees:
        - It grows with every spend, and never lies above their plain sum where half of delta covers theirs.

    References:
        Feldman, Zrnic: Individual privacy accounting via a Renyi filter, 2021. Lecuyer: Practical privacy
        filters and odometers with Renyi differential privacy, 2021. Canonne, Kamath, Steinke: The discrete
        Gaussian for differential privacy, 2020 (conversion). The proof is in
        docs/theory/differential-privacy.md.

    Example:
        >>> from mahrem.dp.accounting import Pure
        >>> many = [Spend(Pure(0.05), 0.05)] * 100
        >>> round(filtered_epsilon(many, 5.0, 1e-6, Relation.ADD_REMOVE), 2)
        2.99
    """
    if not spends:
        return 0.0
    if _either(spends[:1], total, delta, relation) > total * (1 + ROUNDING):
        return plain_sum(spends, delta)
    return _either(spends, total, delta, relation)


def _either(spends: Sequence[Spend], total: float, delta: float, relation: Relation) -> float:
    """Give the smaller of the plain sum and of what the sum of divergences is worth, half of delta each."""
    added = plain_sum(spends, delta / 2)
    order = filter_order(total, delta / 2)
    parts = [_divergence(spend.event, spend, order, relation) for spend in spends]
    if math.fsum(rare for _, rare in parts) > delta / 2:
        return added
    loss = math.fsum(divergence for divergence, _ in parts)
    converted = loss + math.log1p(-1 / order) - (math.log(delta / 2) + math.log(order)) / (order - 1)
    return min(added, max(0.0, converted))


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
