"""Randomised response: its epsilon from the matrix, its estimates without bias.

Answers have no seed. Each statistical test raises a false alarm with probability below 1e-6.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mahrem.dp import Ledger, RandomisedResponse, UnaryEncoding, local_event
from mahrem.dp._randomised_response import WHOLE
from mahrem.dp.accounting import Pure, Repeated
from mahrem.errors import InvalidInput, InvalidParameter


@given(st.floats(0.01, 15), st.integers(2, 200))
@settings(max_examples=50, deadline=None)
def test_epsilon_is_the_largest_quotient_of_the_matrix(epsilon: float, values: int) -> None:
    matrix = RandomisedResponse(epsilon=epsilon, values=values).matrix()
    assert matrix.sum(axis=1) == pytest.approx(1.0)
    most = math.log(float((matrix.max(axis=0) / matrix.min(axis=0)).max()))
    assert most <= epsilon * (1 + 1e-9)
    assert most == pytest.approx(epsilon, rel=1e-6)


@given(st.floats(0.01, 15))
@settings(max_examples=30, deadline=None)
def test_two_flags_together_cost_epsilon(epsilon: float) -> None:
    lit = UnaryEncoding(epsilon=epsilon, values=3)._lit / WHOLE
    assert math.log((1 - lit) / lit) == pytest.approx(epsilon, rel=1e-6)
    assert (0.5 / lit) * ((1 - lit) / 0.5) <= math.exp(epsilon) * (1 + 1e-9)


def test_answers_come_as_often_as_the_matrix_says() -> None:
    ask = RandomisedResponse(epsilon=1.0, values=4)
    answers = ask(np.full(20_000, 2))
    seen = np.bincount(answers, minlength=4)
    assert stats.chisquare(seen, 20_000 * ask.matrix()[2]).pvalue > 1e-7


@pytest.mark.parametrize("kind", [RandomisedResponse, UnaryEncoding])
def test_estimates_are_unbiased_and_their_error_bars_hold(
    kind: type[RandomisedResponse | UnaryEncoding],
) -> None:
    ask = kind(epsilon=1.0, values=5)
    true = np.repeat(np.arange(5), [5000, 3000, 1500, 500, 0])
    found = ask.estimate(ask(true), confidence=1 - 1e-7)  # type: ignore[arg-type]
    shares = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
    assert (np.abs(found.shares - shares) <= found.errors).all()
    assert found.answers == 10_000
    assert (found.errors < 0.2).all()


def test_the_estimate_inverts_the_matrix_by_hand() -> None:
    ask = RandomisedResponse(epsilon=math.log(3), values=2)
    found = ask.estimate([0] * 75 + [1] * 25)
    assert found.shares == pytest.approx([1.0, 0.0], abs=1e-9)


def test_many_values_are_better_asked_with_flags() -> None:
    true = np.zeros(20_000, dtype=np.int64)
    k_ary, unary = RandomisedResponse(epsilon=1.0, values=100), UnaryEncoding(epsilon=1.0, values=100)
    assert unary.estimate(unary(true)).errors[50] < k_ary.estimate(k_ary(true)).errors[50] / 2


@pytest.mark.parametrize("kind", [RandomisedResponse, UnaryEncoding])
@pytest.mark.parametrize("codes", [[5], [-1], [0.5], [[1]], ["a"]])
def test_codes_that_are_not_declared_are_refused(
    kind: type[RandomisedResponse | UnaryEncoding], codes: list[object]
) -> None:
    with pytest.raises(InvalidInput, match="codes"):
        kind(epsilon=1.0, values=5)(codes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("epsilon", "values"), [(0, 3), (-1, 3), (math.inf, 3), (1, 1), (1, 2.5)])
def test_settings_that_promise_nothing_are_refused(epsilon: float, values: int) -> None:
    with pytest.raises(InvalidParameter):
        RandomisedResponse(epsilon=epsilon, values=values)


def test_nothing_is_estimated_from_no_answers() -> None:
    with pytest.raises(InvalidInput, match="answers=0"):
        RandomisedResponse(epsilon=1.0, values=2).estimate([])
    with pytest.raises(InvalidInput, match="flags"):
        UnaryEncoding(epsilon=1.0, values=2).estimate(np.zeros((3, 5), dtype=bool))


def test_a_ledger_pays_for_what_is_said_but_not_for_presence() -> None:
    ask = RandomisedResponse(epsilon=0.5, values=2)
    ledger = Ledger.temporary(epsilon=2, relation="replace")
    event = local_event(ask.event(), ledger, 3)
    assert event == Repeated(Pure(0.5), 3)
    ledger.spend(event, what="three questions")
    assert ledger.spent().epsilon == pytest.approx(1.5)
    with pytest.raises(InvalidParameter, match="replace"):
        local_event(ask.event(), Ledger.temporary(epsilon=1))


def test_every_record_of_a_person_is_paid_for() -> None:
    people = Ledger.temporary(epsilon=10, relation="replace", subject="who", rows_per_person=3)
    assert local_event(Pure(0.5), people, 2) == Repeated(Pure(0.5), 6)
    rows = Ledger.temporary(epsilon=10, relation="replace")
    assert local_event(Pure(0.5), rows) == Pure(0.5)
