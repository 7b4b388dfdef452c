from __future__ import annotations

import json
import math

import dp_accounting as da
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as distributions
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Relation
from mahrem.dp.accounting import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    Pure,
    Repeated,
    Spend,
    composed_cost,
    discrete_gaussian_delta,
    discrete_gaussian_sigma,
    epsilon_of,
    event_from_dict,
    event_to_dict,
    foreign,
    gaussian_delta,
    gaussian_multiplier,
    rho_for,
    zcdp_delta,
)
from mahrem.dp.accounting._accounting import proves
from mahrem.dp.accounting._composition import total_cost
from mahrem.errors import InvalidParameter

ADD, SWAP = Relation.ADD_REMOVE, Relation.REPLACE
STEP = da.PoissonSampledDpEvent(0.01, da.GaussianDpEvent(1.0))
TRAINING = da.SelfComposedDpEvent(STEP, 1000)


def by_hand(event: da.DpEvent, delta: float) -> float:
    accountant = da.pld.PLDAccountant()
    accountant.compose(event)
    return float(accountant.get_epsilon(delta))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Gaussian(2.0), da.GaussianDpEvent(2.0)),
        (Repeated(Laplace(5.0), 40), da.SelfComposedDpEvent(da.LaplaceDpEvent(5.0), 40)),
        (foreign(TRAINING), TRAINING),
    ],
)
def test_epsilon_is_what_dp_accounting_says_by_hand(ours: Event, theirs: da.DpEvent) -> None:
    found = composed_cost([Spend(ours, math.inf, 1.0)], 1e-5, ADD).epsilon
    assert found == pytest.approx(by_hand(theirs, 1e-5), rel=1e-9)


def test_a_mixture_is_what_dp_accounting_says_by_hand() -> None:
    delta = 1e-6
    whole = distributions.from_discrete_laplace_mechanism(0.5, sensitivity=1)
    whole = whole.compose(distributions.from_discrete_gaussian_mechanism(7.0, sensitivity=2).self_compose(3))
    spends = [Spend(DiscreteLaplace(2.0, 1), 0.5)]
    spends += [Spend(DiscreteGaussian(7.0, 2), 9.0, 1e-3)] * 3
    assert composed_cost(spends, delta, ADD).epsilon == pytest.approx(
        whole.get_epsilon_for_delta(delta), rel=1e-9
    )


def test_a_known_training_costs_what_the_literature_says() -> None:
    # q=0.01, sigma=1, T=1000: PLD 1.828, RDP 2.101; the central limit theorem would claim 1.618
    cost = composed_cost([Spend(foreign(TRAINING), 9.0, 1.0)], 1e-5, ADD, cross_check=True)
    assert cost.epsilon == pytest.approx(1.828, abs=0.002)
    assert cost.rdp == pytest.approx(2.101, abs=0.002)


provable = st.one_of(
    st.builds(Gaussian, st.floats(1, 20)),
    st.builds(DiscreteGaussian, st.floats(3, 30), st.integers(1, 4)),
    st.builds(Approximate, st.floats(0.05, 1), st.floats(1e-9, 1e-6)),
    st.builds(DiscreteLaplace, st.floats(2, 30), st.integers(1, 4)),
)


@given(
    event=provable | st.builds(Composed, st.lists(provable, min_size=1, max_size=3).map(tuple)),
    epsilon=st.floats(0.05, 3),
    exponent=st.floats(-8, -3),
)
@settings(max_examples=40, deadline=None)
def test_what_a_formula_proves_the_distribution_confirms(
    event: Event, epsilon: float, exponent: float
) -> None:
    delta = 10**exponent
    if proves(event, epsilon, delta):
        assert epsilon_of(event, delta, ADD) <= epsilon * 1.01 + 1e-3


@pytest.mark.parametrize(
    ("event", "epsilon", "delta", "holds"),
    [
        (Pure(0.5), 0.5, 0.0, True),
        (Pure(0.5), 0.499, 0.0, False),
        (Gaussian(3.7307), 1.0, 1e-5, True),
        (Gaussian(3.73), 1.0, 1e-5, False),
        (Gaussian(100.0), 5.0, 0.0, False),
        (Approximate(0.5, 1e-6), 0.5, 1e-7, False),
        (Repeated(Pure(0.1), 5), 0.5, 0.0, True),
        (Composed((Pure(0.3), Pure(0.1))), 0.4, 0.0, True),
        (foreign(TRAINING), 9.0, 1e-5, False),
        (DiscreteGaussian(1e7, 1), 1.0, 1e-5, False),  # holds, but not by a sum that can be formed
    ],
)
def test_a_claim_is_proven_by_hand(event: Event, epsilon: float, delta: float, *, holds: bool) -> None:
    assert proves(event, epsilon, delta) == holds


def test_replacing_costs_more_than_removing() -> None:
    spend = [Spend(foreign(TRAINING), math.inf, 1.0)]
    assert composed_cost(spend, 1e-5, SWAP).epsilon > 1.5 * composed_cost(spend, 1e-5, ADD).epsilon


events = st.recursive(
    st.one_of(
        st.builds(Pure, st.floats(0.01, 1)),
        st.builds(Approximate, st.floats(0.01, 1), st.floats(1e-9, 1e-7)),
        st.builds(Laplace, st.floats(1, 50)),
        st.builds(Gaussian, st.floats(1, 50)),
        st.builds(DiscreteLaplace, st.floats(5, 50), st.integers(1, 4)),
        st.builds(DiscreteGaussian, st.floats(5, 50), st.integers(1, 4)),
        st.just(foreign(TRAINING)),
    ),
    lambda inner: st.one_of(
        st.builds(Repeated, inner, st.integers(1, 3)),
        st.builds(Composed, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=4,
)


@given(event=events)
@settings(max_examples=40, deadline=None)
def test_an_event_written_down_is_read_back(event: Event) -> None:
    assert event_from_dict(json.loads(json.dumps(event_to_dict(event)))) == event


quick = st.one_of(
    st.builds(Pure, st.floats(0.01, 1)),
    st.builds(Laplace, st.floats(2, 50)),
    st.builds(DiscreteLaplace, st.floats(5, 50), st.integers(1, 4)),
    st.builds(DiscreteGaussian, st.floats(20, 50), st.integers(1, 4)),
)


@given(first=quick, second=quick)
@settings(max_examples=20, deadline=None)
def test_more_events_never_cost_less_and_the_order_does_not_matter(first: Event, second: Event) -> None:
    one, two = Spend(first, math.inf, 1.0), Spend(second, math.inf, 1.0)
    alone = composed_cost([one], 1e-5, ADD).epsilon
    both = composed_cost([one, two], 1e-5, ADD).epsilon
    assert both >= alone - 1e-3
    assert composed_cost([two, one], 1e-5, ADD).epsilon == pytest.approx(both, rel=1e-3, abs=1e-3)


def test_growing_by_one_event_gives_the_same_as_composing_anew() -> None:
    spends = [Spend(DiscreteLaplace(float(scale), 1), 1 / scale) for scale in range(5, 25)]
    for size in range(1, 21):
        grown = composed_cost(spends[:size], 1e-6, ADD).pld
    assert grown == pytest.approx(composed_cost(spends[::-1], 1e-6, ADD).pld, rel=1e-6)


@pytest.mark.parametrize(
    "said", [{}, {"event": "Free"}, {"event": "Pure"}, {"event": "Pure", "epsilon": 1, "x": 2}]
)
def test_what_is_no_event_is_refused(said: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        event_from_dict(said)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pure(0.0),
        lambda: Approximate(1.0, 0.0),
        lambda: Approximate(1.0, 1.0),
        lambda: DiscreteLaplace(1.0, 0),
        lambda: Gaussian(-1.0),
        lambda: Composed(()),
        lambda: foreign("nothing"),
        lambda: epsilon_of(Gaussian(1.0), 0.0, ADD),
        lambda: composed_cost([Spend(Gaussian(1.0), 5.0, 1e-5)], 0.0, ADD),
    ],
)
def test_impossible_events_are_refused(make: object) -> None:
    with pytest.raises(InvalidParameter):
        make()  # type: ignore[operator]


@given(epsilon=st.floats(0.05, 5), exponent=st.floats(-10, -2))
@settings(max_examples=10, deadline=None)
def test_gaussian_noise_is_just_enough(epsilon: float, exponent: float) -> None:
    delta = 10**exponent
    sigma = gaussian_multiplier(epsilon, delta)
    assert gaussian_delta(epsilon, sigma) <= delta < gaussian_delta(epsilon, sigma * 0.999)
    by_library = distributions.from_gaussian_mechanism(sigma).get_epsilon_for_delta(delta)
    assert by_library == pytest.approx(epsilon, rel=2e-3)


def naive_discrete_delta(epsilon: float, sigma: float, shift: int) -> float:
    grid = np.arange(-400, 401)
    weight = np.exp(-(grid**2) / (2 * sigma**2))
    here = weight / weight.sum()
    there = np.exp(-((grid - shift) ** 2) / (2 * sigma**2)) / weight.sum()
    return float(np.maximum(here - math.exp(epsilon) * there, 0).sum())


@given(epsilon=st.floats(0.1, 3), sigma=st.floats(0.5, 15), shift=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_the_discrete_formula_is_the_definition(epsilon: float, sigma: float, shift: int) -> None:
    assert discrete_gaussian_delta(epsilon, sigma, shift) == pytest.approx(
        naive_discrete_delta(epsilon, sigma, shift), rel=1e-6, abs=1e-14
    )


@given(epsilon=st.floats(0.1, 3), exponent=st.floats(-9, -3), shift=st.integers(1, 50))
@settings(max_examples=15, deadline=None)
def test_discrete_gaussian_noise_is_enough(epsilon: float, exponent: float, shift: int) -> None:
    sigma = discrete_gaussian_sigma(epsilon, 10**exponent, shift)
    assert discrete_gaussian_delta(epsilon, sigma, shift) <= 10**exponent


def test_zcdp_is_converted_no_better_than_a_gaussian_really_is() -> None:
    # Gaussian noise of multiplier s is 1/(2 s**2)-zCDP; the bound must lie above its exact delta
    for sigma in (1.0, 3.0, 10.0):
        for epsilon in (0.2, 1.0, 4.0):
            assert zcdp_delta(epsilon, 1 / (2 * sigma**2)) >= gaussian_delta(epsilon, sigma)
    assert zcdp_delta(1.0, rho_for(1.0, 1e-6)) <= 1e-6


@given(spends=st.lists(st.builds(Spend, quick, st.floats(0.5, 3), st.just(1e-9)), min_size=1, max_size=6))
@settings(max_examples=20, deadline=None)
def test_rules_for_adaptive_costs_grow_with_every_spend(spends: list[Spend]) -> None:
    for how in ("sum", "zcdp"):
        costs = [total_cost(how, spends[:size], 1e-5, ADD).epsilon for size in range(len(spends) + 1)]
        assert costs == sorted(costs)


def test_zcdp_of_gaussian_noise_is_by_hand() -> None:
    spend = [Spend(Gaussian(10.0), 0.5, 1e-6)] * 100  # rho = 100 / 200, half of delta for the conversion
    found = total_cost("zcdp", spend, 1e-5, ADD).epsilon
    assert zcdp_delta(found, 0.5) <= 5e-6 < zcdp_delta(found * 0.999, 0.5)
    assert found > composed_cost(spend, 1e-5, ADD).epsilon


def test_an_event_without_a_rho_counts_by_its_promise() -> None:
    training = Spend(foreign(TRAINING), 2.0, 1e-6)
    both = Spend(Composed((foreign(TRAINING), Gaussian(10.0))), 2.0, 1e-6)
    wanted = pytest.approx(total_cost("zcdp", [Spend(Approximate(2.0, 1e-6), 2.0, 1e-6)], 1e-5, ADD).epsilon)
    assert total_cost("zcdp", [training], 1e-5, ADD).epsilon == wanted
    assert total_cost("zcdp", [both], 1e-5, ADD).epsilon == wanted
    assert total_cost("zcdp", [training] * 6, 1e-5, ADD).epsilon == math.inf  # half of delta is used up


def test_the_cross_check_of_sampled_noise_stays_quiet_at_large_rates(
    caplog: pytest.LogCaptureFixture,
) -> None:
    step = da.PoissonSampledDpEvent(0.5, da.GaussianDpEvent(2.0))
    event = foreign(da.SelfComposedDpEvent(step, 3))
    cost = composed_cost([Spend(event, 5.0, 1e-6)], 1e-6, Relation.ADD_REMOVE, cross_check=True)
    assert cost.rdp is not None
    assert cost.pld is not None
    assert cost.rdp >= cost.pld
    assert not caplog.records
