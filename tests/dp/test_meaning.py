"""What a budget means for the best attack: against the formulas of noise whose best attack is known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from mahrem.dp import Ledger, Relation
from mahrem.dp.accounting import (
    DiscreteLaplace,
    Event,
    Gaussian,
    Pure,
    Spend,
    composed_gain,
    epsilon_for_advantage,
    epsilon_of,
    promised_gain,
)
from mahrem.dp.accounting._filter import CONVERTED, filter_orders, filtered_epsilon
from mahrem.errors import InvalidParameter
from mahrem.types import Floats

ADD = Relation.ADD_REMOVE


@pytest.mark.parametrize("multiplier", [0.7, 2.0, 10.0])
def test_the_gain_of_gaussian_noise_is_that_of_the_best_test(multiplier: float) -> None:
    times, delta = 5, 1e-6
    shift = math.sqrt(times) / multiplier
    event = Gaussian(multiplier)
    spends = [Spend(event, epsilon_of(event, delta, ADD), delta)] * times
    epsilon = epsilon_of(Gaussian(1 / shift), delta, ADD)
    gain = composed_gain(spends, epsilon, delta, ADD)
    assert gain.advantage == pytest.approx(2 * norm.cdf(shift / 2) - 1, rel=2e-3)
    for alarms, found in gain.detections.items():
        assert found == pytest.approx(norm.cdf(norm.ppf(alarms) + shift), rel=2e-2)
    assert gain.detections[0.01] < promised_gain(epsilon, delta).detections[0.01]


def on_integers(scale: float, sensitivity: int = 1) -> tuple[Floats, Floats]:
    """Give losses and chances of discrete Laplace noise, by its definition."""
    reach = int(60 * scale)
    numbers = np.arange(-reach, reach + 1)
    one, other = (np.exp(-np.abs(numbers - shift) / scale) for shift in (0, sensitivity))
    return np.log(one / other), one / one.sum()


MIXED: dict[str, list[tuple[Event, tuple[Floats, Floats]]]] = {
    "counts": [(DiscreteLaplace(2.0, 1), on_integers(2.0))] * 3,
    "counts and sums": [
        (DiscreteLaplace(2.0, 1), on_integers(2.0)),
        (DiscreteLaplace(5.0, 3), on_integers(5.0, 3)),
        (Pure(0.7), (np.array([0.7, -0.7]), np.exp([0.7, 0.0]) / (np.exp(0.7) + 1))),
    ],
}


@pytest.mark.parametrize("name", MIXED)
def test_the_gain_of_several_mechanisms_is_that_of_the_best_test_by_counting(name: str) -> None:
    losses, chances = np.zeros(1), np.ones(1)
    for _, (loss, chance) in MIXED[name]:  # all outcomes of all mechanisms, equal losses taken together
        sums = np.round(np.add.outer(losses, loss).ravel(), 9)
        losses, where = np.unique(sums, return_inverse=True)
        chances = np.bincount(where.ravel(), np.outer(chances, chance).ravel())
    ranked = np.argsort(losses)[::-1]
    found = np.concatenate([[0], np.cumsum(chances[ranked])])
    alarms = np.concatenate([[0], np.cumsum((chances * np.exp(-losses))[ranked])])
    spends = [Spend(event, epsilon_of(event, 0.0, ADD), 0.0) for event, _ in MIXED[name]]
    gain = composed_gain(spends, sum(spend.epsilon for spend in spends), 0.0, ADD)
    best = float((found - alarms).max())
    assert best - 1e-9 <= gain.advantage <= best + 1e-3
    for share, said in gain.detections.items():
        by_counting = float(np.interp(share, alarms, found))
        assert by_counting - 1e-9 <= said <= by_counting * 1.01 + 1e-4


@given(st.floats(0.001, 30), st.sampled_from([0.0, 1e-9, 1e-3]))
@settings(max_examples=60, deadline=None)
def test_a_promise_bounds_every_attack_it_can_bound(epsilon: float, delta: float) -> None:
    gain = promised_gain(epsilon, delta)
    assert 0 <= gain.advantage <= 1
    assert all(alarms <= found <= 1 for alarms, found in gain.detections.items())
    assert all(prior <= after < 1 for prior, after in gain.posteriors.items())
    alarms, found = np.array(gain.curve).T
    assert (np.diff(found) >= -1e-12).all()
    assert (found - alarms).max() <= gain.advantage + 1e-12
    if max(1e-6, 2.1 * delta) < gain.advantage < 0.999:
        assert epsilon_for_advantage(gain.advantage, delta) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("advantage", [0, 1, -0.1, 2, math.nan])
def test_an_advantage_nobody_can_promise_is_refused(advantage: float) -> None:
    with pytest.raises(InvalidParameter):
        epsilon_for_advantage(advantage)


def test_a_ledger_explains_itself(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    code, _, said = run("ledger", "new", tmp_path / "L", "--data", table, "--advantage", "0.1")
    assert (code, said) == (0, "")
    Ledger.open(tmp_path / "L").spend(Pure(0.1), what="count()")
    code, out, _ = run("ledger", "explain", tmp_path / "L", "--picture", tmp_path / "g.svg", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["spent"]["advantage"] < told["promised"]["advantage"] == pytest.approx(0.1)
    assert told["measured"] == []
    assert "Measured: nothing yet" in run("ledger", "explain", tmp_path / "L")[1]
    Ledger.open(tmp_path / "L").note_audit("a count", claimed=0.1, at_least=0.04)
    assert "epsilon is at least 0.04, where 0.1 was promised" in run("ledger", "explain", tmp_path / "L")[1]
    assert json.loads(run("ledger", "explain", tmp_path / "L", "--json")[1])["spent"] == told["spent"]
    assert (tmp_path / "g.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "members found at 1.0% false alarms" in run("ledger", "explain", "--epsilon", "1")[1]
    for wrong in (["explain"], ["explain", tmp_path / "L", "--epsilon", "1"], ["explain", "--epsilon", "0"]):
        assert run("ledger", *wrong)[0] == 2


@given(
    st.lists(st.one_of(st.floats(0.01, 1).map(Pure), st.floats(1, 50).map(Gaussian)), min_size=1, max_size=6),
    st.floats(0.3, 8),
)
@settings(max_examples=20, deadline=None)
def test_the_filter_grows_and_lies_between_the_exact_cost_and_the_sum(
    events: list[Any], total: float
) -> None:
    delta = 1e-6
    spends = [Spend(one, epsilon_of(one, delta / 20, ADD), 0 if isinstance(one, Pure) else delta / 20)
              for one in events]  # fmt: skip
    costs = [filtered_epsilon(spends[:size], total, delta, ADD) for size in range(len(spends) + 1)]
    assert costs == sorted(costs)
    assert costs[-1] <= math.fsum(spend.epsilon for spend in spends) * (1 + 1e-9)
    exact = composed_gain(spends, costs[-1], delta, ADD)
    assert exact.advantage <= promised_gain(costs[-1], delta).advantage + 1e-12


def test_gaussian_noise_that_uses_up_a_total_loses_next_to_nothing_in_the_filter() -> None:
    total, delta, times = 2.0, 1e-6, 40
    order, part = filter_orders(total, delta * CONVERTED)[0]
    room = total - math.log1p(-1 / order) + (math.log(part) + math.log(order)) / (order - 1)
    multiplier = math.sqrt(times * order / (2 * room))
    event = Gaussian(multiplier)
    spends = [Spend(event, epsilon_of(event, delta / 100, ADD), delta / 100)] * times
    assert filtered_epsilon(spends, total, delta, ADD) == pytest.approx(total, rel=1e-6)
    exact = epsilon_of(Gaussian(multiplier / math.sqrt(times)), delta, ADD)
    assert exact > 0.8 * total
