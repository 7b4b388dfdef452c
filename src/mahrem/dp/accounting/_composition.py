"""How a ledger adds up: the rule is chosen when it is made, and refuses what does not fit.

Privacy loss distributions are the tightest, and proven for costs that were fixed beforehand. If whoever asks
decides each epsilon by the answers so far, which is how people work, a ledger is a filter, and the natural
filter by distributions is not valid in general; sums, zCDP and Renyi divergences of one order are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mahrem.dp._relation import Relation
from mahrem.dp.accounting._accounting import Cost, Spend, composed_cost, plain_sum
from mahrem.dp.accounting._calibrate import zcdp_epsilon
from mahrem.dp.accounting._events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Repeated,
    pure_epsilon,
)
from mahrem.dp.accounting._filter import filtered_epsilon


def total_cost(
    composition: str,
    spends: Sequence[Spend],
    delta: float,
    relation: Relation,
    *,
    total: float = 1.0,
    cross_check: bool = False,
) -> Cost:
    """Say what these spends cost together by the rule of a ledger.

    Args:
        composition: ``filter``, ``zcdp`` or ``sum``, which hold however costs were chosen; or ``pld``, for
            costs that were fixed beforehand.
        spends: What happened.
        delta: The ledger's total delta.
        relation: Which tables are neighbours.
        total: The ledger's epsilon; ``filter`` takes its order from it.
        cross_check: Also compute the bounds that the rule does not need.

    Guarantees:
        - ``filter``, ``sum`` and ``zcdp`` grow with every spend.

    References:
        Rogers, Roth, Ullman, Vadhan: Privacy odometers and filters, 2016. Whitehouse, Ramdas, Rogers, Wu:
        Fully-adaptive composition in differential privacy, 2023. arXiv 2602.06756 (why the natural filter by
        distributions is not valid).

    Example:
        >>> from mahrem.dp.accounting import Pure
        >>> many, rules = [Spend(Pure(0.1), 0.1)] * 100, ("pld", "filter", "zcdp", "sum")
        >>> [round(total_cost(rule, many, 1e-6, Relation.ADD_REMOVE, total=6).epsilon, 2) for rule in rules]
        [4.77, 5.38, 5.36, 10.0]
    """
    if composition == "pld" or delta == 0:
        return composed_cost(spends, delta, relation, cross_check=cross_check)
    added = plain_sum(spends, delta)
    match composition:
        case "sum":
            epsilon = added
        case "filter":
            epsilon = filtered_epsilon(spends, total, delta, relation)
        case _:
            epsilon = _concentrated(spends, delta)
    basic = added if math.isfinite(added) else None
    if not cross_check:
        return Cost(epsilon=epsilon, delta=delta, pld=None, basic=basic)
    other = composed_cost(spends, delta, relation, cross_check=True)
    return Cost(epsilon=epsilon, delta=delta, pld=other.pld, basic=basic, rdp=other.rdp)


def _concentrated(spends: Sequence[Spend], delta: float) -> float:
    """Compose as approximate zCDP; one half of delta is for the events, the other for the conversion."""
    parts = [_rho(spend.event, spend) for spend in spends]
    if math.fsum(rare for _, rare in parts) > delta / 2:
        return math.inf
    return zcdp_epsilon(math.fsum(rho for rho, _ in parts), delta / 2)


def _rho(event: Event, spend: Spend) -> tuple[float, float]:  # noqa: PLR0911 - one line per event
    """Give rho and delta of an event; where only ``(epsilon, delta)`` is known, that is epsilon**2 / 2."""
    if _known_by_promise(event):
        return spend.epsilon**2 / 2, spend.delta
    match event:
        case Composed(events):
            parts = [_rho(part, spend) for part in events]
            return math.fsum(rho for rho, _ in parts), math.fsum(rare for _, rare in parts)
        case Repeated(inner, times):
            rho, rare = _rho(inner, spend)
            return rho * times, rare * times
        case Gaussian(multiplier):
            return 1 / (2 * multiplier**2), 0.0
        case DiscreteGaussian(sigma, sensitivity):
            return (sensitivity / sigma) ** 2 / 2, 0.0
        case Approximate(epsilon, delta):
            return epsilon**2 / 2, delta
    return (pure_epsilon(event) or 0.0) ** 2 / 2, 0.0


def _known_by_promise(event: Event) -> bool:
    """Say whether an event has no rho of its own, so that only the promise of the whole spend counts."""
    match event:
        case Composed(events):
            return any(_known_by_promise(part) for part in events)
        case Repeated(inner, _):
            return _known_by_promise(inner)
        case Gaussian() | DiscreteGaussian() | Approximate():
            return False
    return pure_epsilon(event) is None
