"""What events cost together: privacy loss distributions, with two other bounds beside them."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mahrem.dp._extra import accounting
from mahrem.dp._relation import Relation
from mahrem.dp.accounting._calibrate import discrete_gaussian_delta, gaussian_delta
from mahrem.dp.accounting._events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Foreign,
    Gaussian,
    Laplace,
    Pure,
    Repeated,
    pure_epsilon,
    restored,
)
from mahrem.errors import InvalidParameter
from mahrem.types import Floats

LOOSE = 100.0  # above, nothing is promised that would be worth a distribution of millions of points
LARGEST_SIGMA = 1e5
_EXACT = 1 + 1e-9  # sums of quotients end a digit off
LARGEST_SENSITIVITY = 1 << 14  # above, a discrete Laplace event is composed as any pure one


@dataclass(frozen=True)
class Spend:
    """An event and what it was proven to cost alone."""

    event: Event
    epsilon: float
    delta: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What all events cost together at a given delta; every figure is an upper bound.

    Attributes:
        epsilon: The smallest of the bounds below that hold without an outside check.
        pld: By privacy loss distributions.
        basic: The sum of what each event costs alone, where the deltas leave room for it.
        rdp: By Renyi divergences, computed on another way; a cross-check that should not lie below ``pld``.
    """

    epsilon: float
    delta: float
    pld: float | None
    basic: float | None
    rdp: float | None = None


def composed_cost(
    spends: Sequence[Spend], delta: float, relation: Relation, *, cross_check: bool = False
) -> Cost:
    """Say what these spends cost together.

    Args:
        spends: What happened.
        delta: The delta at which epsilon is asked for; 0 admits only pure events.
        relation: Which tables are neighbours; matters for events that sample.
        cross_check: Also compute the Renyi bound.

    Guarantees:
        - Epsilon never lies above the sum of the single epsilons, if their deltas fit.
        - Adding a spend never makes the cost smaller by more than the discretisation of the distributions.

    References:
        Doroshenko, Ghazi, Kamath, Kumar, Manurangsi: Connect the dots: tighter discrete approximations of
        privacy loss distributions, 2022.

    Example:
        >>> one = Spend(Pure(0.1), 0.1)
        >>> round(composed_cost([one] * 100, 1e-6, Relation.ADD_REMOVE).epsilon, 2)
        4.77
    """
    if not spends:
        return Cost(epsilon=0.0, delta=delta, pld=0.0, basic=0.0, rdp=0.0 if cross_check else None)
    basic = _basic(spends, delta)
    if delta == 0:
        if basic is None:
            raise InvalidParameter("delta=0: an event that needs a delta cannot be composed without one")
        return Cost(epsilon=basic, delta=0.0, pld=None, basic=basic)
    if basic is not None and basic > LOOSE:
        return Cost(epsilon=basic, delta=delta, pld=None, basic=basic)
    events = tuple(spend.event for spend in spends)
    pld = float(_whole(events, relation).get_epsilon_for_delta(delta))
    rdp = _renyi(_counted(events), delta, relation) if cross_check else None
    best = pld if basic is None else min(pld, basic)
    return Cost(epsilon=best, delta=delta, pld=pld, basic=basic, rdp=rdp)


def composed_profile(spends: Sequence[Spend], epsilons: Floats, relation: Relation) -> Floats:
    """Give the delta of all spends together at each of these epsilons, by their distributions."""
    whole = _whole(tuple(spend.event for spend in spends), relation)
    return np.asarray(whole.get_delta_for_epsilon(epsilons), dtype=np.float64)


def plain_sum(spends: Sequence[Spend], delta: float) -> float:
    """Add up what each spend costs alone; infinite where the deltas do not fit."""
    basic = _basic(spends, delta)
    return math.inf if basic is None else basic


@lru_cache(maxsize=1_024)  # the same questions are asked again and again, and each is a convolution
def epsilon_of(event: Event, delta: float, relation: Relation) -> float:
    """Say what one event costs alone at this delta."""
    pure = pure_epsilon(event)
    if pure is not None:
        return pure
    if delta <= 0:
        raise InvalidParameter(f"delta={delta!r} must be above 0 for noise that is not pure")
    return float(_whole((event,), relation).get_epsilon_for_delta(delta))


def proves(event: Event, epsilon: float, delta: float) -> bool:
    """Say whether an event is ``(epsilon, delta)``-DP by its own exact formula; False where there is none.

    Distributions are discretised and may claim a little more than an event costs; formulas do not.
    """
    match event:
        case Approximate(own, rare):
            return own <= epsilon * _EXACT and rare <= delta * _EXACT
        case DiscreteGaussian(sigma, sensitivity):
            known = delta > 0 and sigma <= LARGEST_SIGMA  # above, too many terms
            return known and discrete_gaussian_delta(epsilon, sigma, sensitivity) <= delta * _EXACT
        case Gaussian(multiplier):
            return delta > 0 and gaussian_delta(epsilon, multiplier) <= delta * _EXACT
        case Repeated(inner, times):
            return proves(inner, epsilon / times, delta / times)
        case Composed(events) if pure_epsilon(event) is None:
            share = len(events)
            return share > 0 and all(proves(part, epsilon / share, delta / share) for part in events)
    pure = pure_epsilon(event)
    return pure is not None and pure <= epsilon * _EXACT


def _basic(spends: Sequence[Spend], delta: float) -> float | None:
    fits = math.fsum(spend.delta for spend in spends) <= delta
    return math.fsum(spend.epsilon for spend in spends) if fits else None


def _flat(event: Event) -> Iterator[Event]:
    """Take compositions apart; repeats stay together, they are composed at once."""
    if isinstance(event, Composed):
        for part in event.events:
            yield from _flat(part)
    else:
        yield event


def _counted(events: Iterable[Event]) -> Counter[Event]:
    return Counter(part for event in events for part in _flat(event))


_NEWEST: dict[tuple[tuple[Event, ...], Relation], Any] = {}  # a ledger grows by one event at a time
_KEPT = 8


def _whole(events: tuple[Event, ...], relation: Relation) -> Any:
    """Compose all events; where all but the last were composed just before, only the last is added."""
    distribution = _NEWEST.pop((events, relation), None)
    if distribution is None:
        before = _NEWEST.get((events[:-1], relation))
        if before is None:
            distribution = _distribution(events, relation)
        else:
            distribution = before.compose(_distribution(events[-1:], relation))
    _NEWEST[events, relation] = distribution
    while len(_NEWEST) > _KEPT:
        _NEWEST.pop(next(iter(_NEWEST)), None)
    return distribution


def _distribution(events: tuple[Event, ...], relation: Relation) -> Any:
    """Compose events from scratch; equal ones are composed with themselves at once."""
    whole = None
    for event, times in _counted(events).items():
        single = _single(event, relation)
        repeated = single if times == 1 else single.self_compose(times)
        whole = repeated if whole is None else whole.compose(repeated)
    return whole


@lru_cache(maxsize=256)
def _single(event: Event, relation: Relation) -> Any:  # noqa: PLR0911 - one line per event
    """Make the privacy loss distribution of one event."""
    home = accounting()
    make, parameters = home.distributions, home.parameters
    match event:
        case Pure(epsilon):
            return make.from_privacy_parameters(parameters(epsilon, 0))
        case Approximate(epsilon, delta):
            return make.from_privacy_parameters(parameters(epsilon, delta))
        case Laplace(multiplier):
            return make.from_laplace_mechanism(multiplier)
        case Gaussian(multiplier):
            return make.from_gaussian_mechanism(multiplier)
        case DiscreteLaplace(scale, sensitivity) if sensitivity > LARGEST_SENSITIVITY:
            return make.from_privacy_parameters(parameters(sensitivity / scale, 0))
        case DiscreteLaplace(scale, sensitivity):
            return make.from_discrete_laplace_mechanism(1 / scale, sensitivity=sensitivity)
        case DiscreteGaussian(sigma, sensitivity):
            return make.from_discrete_gaussian_mechanism(sigma, sensitivity=sensitivity)
        case Repeated(inner, times):
            return _distribution((inner,), relation).self_compose(times)
        case Foreign():
            return _foreign_distribution(event, relation)
    raise InvalidParameter("an event cannot be composed")


def _foreign_distribution(event: Foreign, relation: Relation) -> Any:
    accountant = accounting().pld.PLDAccountant(neighboring_relation=_neighbours(relation))
    inner = restored(event)
    if not accountant.supports(inner):
        raise InvalidParameter(
            f"event={event.name!r} has no privacy loss distribution for the relation {relation}"
        )
    return accountant.compose(inner)._pld  # noqa: SLF001 - the accountant keeps it to itself in 0.6


def _neighbours(relation: Relation) -> Any:
    kinds = accounting().relations
    return kinds.ADD_OR_REMOVE_ONE if relation is Relation.ADD_REMOVE else kinds.REPLACE_ONE


def _renyi(events: Counter[Event], delta: float, relation: Relation) -> float | None:
    """Compose by Renyi divergences; None where an event has none."""
    accountant = accounting().rdp.RdpAccountant(neighboring_relation=_neighbours(relation))
    with _without_excuses():
        for event, times in events.items():
            known = _renyi_event(event)
            if known is None or not accountant.supports(known):
                return None
            accountant.compose(known, times)
    return float(accountant.get_epsilon(delta))


@lru_cache(maxsize=256)
def renyi_divergence(event: Event, order: float, relation: Relation) -> float | None:
    """Bound the Renyi divergence of one event at an order; None where nothing is known of it."""
    accountant = accounting().rdp.RdpAccountant([order], neighboring_relation=_neighbours(relation))
    with _without_excuses():
        known = _renyi_event(event)
        if known is None or not accountant.supports(known):
            return None
        accountant.compose(known)
    divergence = float(accountant._rdp[0])  # noqa: SLF001 - the accountant keeps it to itself in 0.6
    return divergence if math.isfinite(divergence) else None


@contextmanager
def _without_excuses() -> Iterator[None]:
    """Keep dp-accounting from logging each order it leaves out; fewer orders give a bound all the same."""

    def other(record: logging.LogRecord) -> bool:
        return "Excluding this order" not in str(record.msg)

    log = logging.getLogger("absl")
    log.addFilter(other)
    try:
        yield
    finally:
        log.removeFilter(other)


def _renyi_event(event: Event) -> Any:  # noqa: PLR0911 - one line per event
    """Write an event as one that an RDP accountant knows; pure DP is epsilon**2/2-zCDP."""
    home = accounting().events
    match event:
        case Pure(epsilon):
            return home.ZCDpEvent(epsilon**2 / 2)
        case DiscreteLaplace(scale, sensitivity):
            return home.ZCDpEvent((sensitivity / scale) ** 2 / 2)
        case DiscreteGaussian(sigma, sensitivity):
            return home.ZCDpEvent((sensitivity / sigma) ** 2 / 2)
        case Laplace(multiplier):
            return home.LaplaceDpEvent(multiplier)
        case Gaussian(multiplier):
            return home.GaussianDpEvent(multiplier)
        case Foreign():
            return restored(event)
        case Repeated(inner, times):
            parts = [_renyi_event(flat) for flat in _flat(inner)]
            if any(part is None for part in parts):
                return None
            return home.SelfComposedDpEvent(home.ComposedDpEvent(parts), times)
    return None
