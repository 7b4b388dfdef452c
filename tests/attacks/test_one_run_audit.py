"""The one-run audit: the bound against a slow one, and against mechanisms whose epsilon is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

from mahrem.attacks.on_models import Examples, OneRunAudit, audit_finding, audited_epsilon, guess_chance
from mahrem.errors import InvalidInput, InvalidParameter


def slow_chance(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    known = stats.binom(guesses, 1 / (1 + math.exp(-epsilon)))
    alpha = max(
        ((known.cdf(right - 1) - known.cdf(right - steps - 1)) / steps for steps in range(1, right + 1)),
        default=0.0,
    )
    return float(min(1.0, known.sf(right - 1) + 2 * canaries * delta * alpha))


@given(data=st.data(), epsilon=st.floats(0, 6), delta=st.sampled_from([0.0, 1e-6, 1e-3]))
@settings(max_examples=50, deadline=None)
def test_the_chance_is_the_tail_of_a_binomial(data: st.DataObject, epsilon: float, delta: float) -> None:
    canaries = data.draw(st.integers(1, 120))
    guesses = data.draw(st.integers(1, canaries))
    right = data.draw(st.integers(0, guesses))
    found = guess_chance(canaries, guesses, right, epsilon, delta)
    assert found == pytest.approx(slow_chance(canaries, guesses, right, epsilon, delta), rel=1e-6, abs=1e-12)


@given(guesses=st.integers(1, 200), data=st.data(), delta=st.sampled_from([0.0, 1e-5]))
@settings(max_examples=30, deadline=None)
def test_more_right_guesses_never_show_less(guesses: int, data: st.DataObject, delta: float) -> None:
    right = data.draw(st.integers(0, guesses - 1))
    low, high = (audited_epsilon(guesses, guesses, one, delta=delta) for one in (right, right + 1))
    assert low <= high
    assert high <= audited_epsilon(guesses, guesses, guesses, delta=delta)
    if high > 0:
        assert guess_chance(guesses, guesses, right + 1, high, delta) <= 0.05 + 1e-9


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_randomised_response_is_rarely_overstated_and_nearly_reached(epsilon: float) -> None:
    # Each coin is told rightly with e^eps / (1 + e^eps): epsilon is exactly known. At most 5 % of bounds may
    # lie above it; more than 48 of 600 would have a chance below 1e-3 (seed fixed).
    draws = np.random.default_rng(7)
    audit = OneRunAudit()
    found = []
    for _ in range(600):
        coins = draws.random(400) < 0.5
        honest = draws.random(400) < 1 / (1 + math.exp(-epsilon))
        scores = np.where(honest, coins, ~coins) + draws.normal(0, 1e-3, 400)
        found.append(audit(scores, coins).epsilon)
    assert np.mean(np.array(found) > epsilon) <= 48 / 600
    assert np.mean(found) > 0.25 * epsilon


def test_a_mechanism_that_rarely_tells_all_is_covered_by_its_delta() -> None:
    # With chance delta each coin is told outright, else nothing: (0, delta)-DP. 5 % alarms at most (a seed).
    draws, delta = np.random.default_rng(9), 0.02
    found = []
    for _ in range(200):
        coins = draws.random(300) < 0.5
        told = draws.random(300) < delta
        scores = np.where(told, np.where(coins, 1.0, -1.0), draws.uniform(-0.5, 0.5, 300))
        found.append(OneRunAudit(shares=(0.05,))(scores, coins, delta=delta).epsilon)
    assert np.mean(np.array(found) > 0) <= 0.05
    without = OneRunAudit(shares=(0.05,))(scores, coins, delta=0.0).epsilon
    assert without >= found[-1]


def test_the_ceiling_is_what_perfect_guesses_reach() -> None:
    coins = np.arange(500) % 2 == 0
    audit = OneRunAudit()
    found = audit(coins.astype(float), coins, delta=1e-5)
    assert found.epsilon == found.ceiling == audit.ceiling(500, 1e-5)
    assert (found.right, found.guesses) == (500, 500)
    assert audit.ceiling(1000, 1e-5) > audit.ceiling(100, 1e-5)
    assert audited_epsilon(1000, 1000, 1000) == pytest.approx(math.log(1000 / math.log(20)), abs=0.01)
    worst = audit(~coins, coins)
    assert worst.epsilon == 0


def test_any_model_with_probabilities_can_be_audited() -> None:
    draws = np.random.default_rng(4)
    rows, labels, coins = draws.normal(size=(400, 5)), draws.integers(2, size=400), draws.random(400) < 0.5
    by_heart = DecisionTreeClassifier(random_state=0).fit(rows[coins], labels[coins])
    found = OneRunAudit().of_model(by_heart, Examples(rows, labels), coins)
    assert found.epsilon > 0.5
    beside = audit_finding(found, claimed=0.1)
    assert beside.alarming
    assert beside.as_dict()["bound"]["epsilon"] == found.epsilon
    assert not audit_finding(found, claimed=found.epsilon).alarming
    others = draws.normal(size=(400, 5))
    blind = DecisionTreeClassifier(random_state=0).fit(others, draws.integers(2, size=400))
    nothing = audit_finding(OneRunAudit().of_model(blind, Examples(rows, labels), coins))
    assert not nothing.alarming  # 5 % at most, and not in this draw
    assert nothing.baseline == 0.5


@pytest.mark.parametrize("first", [False, True])
def test_equal_scores_tell_nothing_however_the_canaries_are_listed(*, first: bool) -> None:
    coins = (np.arange(400) < 200) == first
    assert OneRunAudit()(np.zeros(400), coins).epsilon == 0
    assert 150 < OneRunAudit(shares=(1.0,))(np.zeros(400), coins).right < 250


def test_awkward_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="backwards"):
        guess_chance(10, 20, 5, 1.0, 0.0)
    with pytest.raises(InvalidParameter, match="confidence"):
        audited_epsilon(10, 10, 5, confidence=1.0)
    with pytest.raises(InvalidParameter, match="delta"):
        audited_epsilon(10, 10, 5, delta=-0.1)
    with pytest.raises(InvalidParameter, match="shares"):
        OneRunAudit(shares=())
    with pytest.raises(InvalidInput, match="every canary"):
        OneRunAudit()(np.zeros(3), np.zeros(4, dtype=bool))
