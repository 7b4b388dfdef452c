"""Costs that depend on the votes: never below the truth, smooth between neighbours, published with noise."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from mahrem.dp import Ledger, NotPrivate, Relation, assert_dp
from mahrem.dp.accounting import epsilon_of
from mahrem.errors import BudgetExceeded, InvalidParameter
from mahrem.learning.votes import GaussianVotes, LaplaceVotes, Pate, SanitisedCost, lead_costs, smooth_costs

CLEAR = np.array([[190, 10, 0], [200, 0, 0], [5, 180, 15], [120, 80, 0]] * 10)


def winners(votes: tuple[int, ...], sigma: float) -> Any:
    """The exact chances of each winner: every noise on every count; a tie goes to the first."""
    reach = range(-math.ceil(9 * sigma), math.ceil(9 * sigma) + 1)
    mass = {one: math.exp(-(one**2) / (2 * sigma**2)) for one in reach}
    whole = sum(mass.values())
    found = np.zeros(len(votes))
    for noise in product(reach, repeat=len(votes)):
        noisy = [count + one for count, one in zip(votes, noise, strict=True)]
        found[int(np.argmax(noisy))] += math.prod(mass[one] / whole for one in noise)
    return found


@pytest.mark.parametrize("votes", [(9, 1), (12, 0), (6, 5), (7, 2, 1), (10, 0, 0)])
@pytest.mark.parametrize("order", [1.5, 4.0, 16.0])
def test_no_neighbour_is_told_apart_by_more_than_the_cost_of_the_lead(
    votes: tuple[int, ...], order: float
) -> None:
    sigma = 1.3
    here = winners(votes, sigma)
    cost = lead_costs(sigma, len(votes), order)[votes[0] - votes[1]]
    for gives, takes in product(range(len(votes)), repeat=2):
        if gives == takes or votes[gives] == 0:
            continue
        moved = list(votes)
        moved[gives] -= 1
        moved[takes] += 1
        there = winners(tuple(moved), sigma)
        divergence = math.log(float((here**order * there ** (1 - order)).sum())) / (order - 1)
        assert divergence <= cost * (1 + 1e-9)


@given(sigma=st.floats(2, 60), classes=st.integers(2, 20), order=st.floats(1.1, 60))
@settings(max_examples=25, deadline=None)
def test_a_longer_lead_never_costs_more_and_none_costs_what_is_promised(
    sigma: float, classes: int, order: float
) -> None:
    costs = lead_costs(sigma, classes, order)
    assert costs[0] == pytest.approx(order / sigma**2)
    assert (np.diff(costs) <= 0).all()
    assert costs[-1] >= 0


@given(data=st.data(), beta=st.sampled_from([0.01, 0.1, 1.0]))
@settings(max_examples=40, deadline=None)
def test_the_reach_covers_every_neighbour_and_is_smooth(data: st.DataObject, beta: float) -> None:
    costs = lead_costs(4.0, 3, 6.0)
    rows = st.lists(st.integers(0, 40), min_size=3, max_size=3)
    votes = np.array(data.draw(st.lists(rows, min_size=1, max_size=6)))
    moved = votes.copy()
    for row in moved:
        gives, takes = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
        if row[gives]:
            row[gives] -= 1
            row[takes] += 1
    one, two = smooth_costs(votes, costs, beta), smooth_costs(moved, costs, beta)

    def total(counts: Any) -> float:
        ordered = np.sort(counts, axis=1)
        return float(costs[np.minimum(ordered[:, -1] - ordered[:, -2], len(costs) - 1)].sum())

    assert abs(total(votes) - total(moved)) <= min(one, two) * (1 + 1e-9) + 1e-15
    assert abs(math.log(one / two)) <= beta * (1 + 1e-9)


def publish(votes: Any) -> Any:
    chosen = SanitisedCost(epsilon=1.0, order=8.0)
    ledger = Ledger.temporary(epsilon=5.0, delta=1e-5)
    ledger.spend(chosen.event, what="cost of votes", delta=1e-5)
    return chosen(votes, 20.0, ledger.relation, 1e-5)


def test_the_published_cost_tells_neighbours_apart_by_noise_only() -> None:
    moved = CLEAR + np.array([-1, 1, 0]) * (CLEAR[:, :1] > 0)
    assert max(assert_dp(publish, CLEAR, moved).moved) > 0
    with pytest.raises(NotPrivate):
        assert_dp(publish, CLEAR, np.array([[70, 65, 65]] * 40))


def test_the_published_cost_lies_above_the_true_one_nearly_always() -> None:
    # Noise has no seed. Each lies below with 5 % at most; 15 of 60 have a chance of 2e-7.
    costs = lead_costs(20.0, 3, 8.0)
    ordered = np.sort(CLEAR, axis=1)
    true = float(costs[ordered[:, -1] - ordered[:, -2]].sum())
    more = math.log1p(-1 / 8) - (math.log(1e-5) + math.log(8)) / 7
    found = [publish(CLEAR).epsilon for _ in range(60)]
    assert sum(one < true + more for one in found) < 15
    assert min(found) > 0


def book(**said: Any) -> Ledger:
    return Ledger.temporary(**{"epsilon": 20.0, "delta": 1e-5, "rows": 4000, **said})


def taught(ledger: Ledger, **said: Any) -> Pate:
    draws = np.random.default_rng(1)
    rows = draws.normal(size=(4400, 3))
    labels = (rows[:, 0] > 0).astype(int)
    settings = {"teacher": GaussianNB, "student": GaussianNB, "classes": (0, 1), "teachers": 200}
    made = Pate(**{**settings, "votes": GaussianVotes(20.0), "questions": 200, **said})
    return made.fit(rows[:4000], labels[:4000], public=rows[4000:], ledger=ledger)


def test_it_stands_beside_the_promise_and_is_paid_for() -> None:
    plain, ledger = taught(book()), book()
    both = taught(ledger, sanitise=SanitisedCost(epsilon=1.0, order=10.0))
    assert plain.data_dependent_ is None
    assert both.data_dependent_ is not None
    assert both.data_dependent_.epsilon < plain.cost_[0]  # votes of 200 teachers are clear
    assert both.cost_[0] > plain.cost_[0]
    assert ledger.spent().epsilon == pytest.approx(both.cost_[0], rel=1e-6)
    assert "no promise" in both.guarantee_
    assert "no promise" not in plain.guarantee_
    assert both.data_dependent_.as_dict()["paid"] == (1.0, 1e-7)


def test_what_cannot_be_sanitised_is_refused_and_nothing_is_spent() -> None:
    ledger = book()
    with pytest.raises(InvalidParameter, match="LaplaceVotes"):
        taught(ledger, votes=LaplaceVotes(20.0), sanitise=SanitisedCost())
    for said in ({"epsilon": 0.0}, {"order": 1.0}, {"confidence": 1.0}, {"delta": 0.0}):
        with pytest.raises(InvalidParameter, match=next(iter(said))):
            SanitisedCost(**said)
    with pytest.raises(InvalidParameter, match="do not go together"):
        SanitisedCost(epsilon=1e-3, delta=0.5, confidence=1 - 1e-12)
    small = book(epsilon=epsilon_of(GaussianVotes(20.0).event(200), 1e-5, Relation.ADD_REMOVE) + 0.01)
    with pytest.raises(BudgetExceeded):
        taught(small, sanitise=SanitisedCost(epsilon=1.0))
    assert ledger.spent().epsilon == small.spent().epsilon == 0
