"""What Poisson-sampled Gaussian steps cost, and how much noise a cost needs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from mahrem.check import extra
from mahrem.dp import Relation
from mahrem.dp.accounting import Composed, Event, epsilon_of, foreign
from mahrem.errors import InvalidParameter

CLOSE = 0.004  # calibrated noise costs at most this share less than it may
ORDERS = (*range(2, 64), 72, 96, 128, 192, 256, 512, 1024)  # whole ones: fractional ones may not converge
SMALLEST, LARGEST = 1e-2, 1e4
TYPICAL = -1.3  # cost falls about as this power of the noise


@lru_cache(maxsize=256)
def gaussian_steps(rate: float, multiplier: float, times: int) -> Event:
    """Give the event of so many steps over Poisson samples."""
    try:
        import dp_accounting
    except ImportError:
        raise extra("train", needed_for="private training") from None
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
    return foreign(dp_accounting.SelfComposedDpEvent(step, times))


def renyi_epsilon(rate: float, multiplier: float, times: int, delta: float, relation: Relation) -> float:
    """Give a bound by Renyi divergences, quickly; infinite where the accountant has none."""
    from dp_accounting import rdp

    one = _renyi_step(rate, multiplier, relation)
    if one is None:
        return math.inf
    orders, divergences = one
    return float(rdp.compute_epsilon(orders, divergences * times, delta)[0])


@lru_cache(maxsize=8)
def _renyi_step(rate: float, multiplier: float, relation: Relation) -> Any:
    import dp_accounting
    from dp_accounting import rdp

    kinds = dp_accounting.NeighboringRelation
    kind = kinds.ADD_OR_REMOVE_ONE if relation is Relation.ADD_REMOVE else kinds.REPLACE_ONE
    accountant = rdp.RdpAccountant(list(ORDERS), neighboring_relation=kind)
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
    if not accountant.supports(step):
        return None
    accountant.compose(step)
    return accountant._orders, accountant._rdp  # noqa: SLF001 - the accountant keeps them to itself in 0.6


@lru_cache(maxsize=64)  # public numbers only; runs of one recipe ask again and again
def least_gaussian(
    rate: float,
    times: int,
    epsilon: float,
    delta: float,
    relation: Relation,
    *,
    beside: tuple[Event, ...] = (),
) -> float:
    """Find the least noise multiplier whose cost by PLD is at most ``epsilon``, to a few thousandths.

    Args:
        rate: The chance of a unit to join a batch.
        times: How many steps.
        epsilon: What they may cost.
        delta: The same.
        relation: Which tables are neighbours.
        beside: What else the same epsilon pays for.

    Guarantees:
        - What it gives costs at most ``epsilon``, together with what is beside it.

    Example:
        >>> round(least_gaussian(0.01, 100, 1.0, 1e-6, Relation.ADD_REMOVE), 1)
        1.0
    """

    @lru_cache(maxsize=64)
    def cost(multiplier: float) -> float:
        steps = gaussian_steps(rate, multiplier, times)
        return epsilon_of(Composed((*beside, steps)) if beside else steps, delta, relation)

    low, high = 0.0, math.inf  # cost(low) is too much, cost(high) is not
    aim, now, slope = epsilon * (1 - CLOSE / 2), 1.0, TYPICAL
    for _ in range(60):
        paid = cost(now)
        low, high = (now, high) if paid > epsilon else (low, now)
        if paid <= epsilon and (paid >= epsilon * (1 - CLOSE) or high / max(low, 1e-9) < 1 + 1e-6):
            return now
        jump = min(max(now * (max(paid, 1e-12) / aim) ** (-1 / slope), now / 4), now * 4)
        new = jump if low < jump < high else math.sqrt(low * high)
        if not SMALLEST < new < LARGEST:
            break
        then = cost(new)
        change = (
            math.log(then / paid) / math.log(new / now) if min(then, paid) > 0 and new != now else TYPICAL
        )
        now, slope = new, min(-0.2, max(-20.0, change))
    if math.isfinite(high):
        return high
    raise InvalidParameter(f"epsilon={epsilon!r} is too small for {times} steps; take fewer")
