from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.networks import Network
from mahrem.federated.networks._network import scores_of
from mahrem.federated.networks._stack import LayerStack, cross_entropy_slope
from mahrem.federated.runs import dirichlet_rows
from mahrem.federated.sums._fixed_point import from_fixed, to_fixed
from mahrem.federated.weights import LearningPlan, weighted_average
from mahrem.federated.weights._average import FedAvg
from mahrem.federated.weights._krum import Krum, krum
from mahrem.federated.weights._trimmed import CoordinateMedian, TrimmedMean, trimmed_mean

numbers = st.floats(-100, 100, width=32)


@settings(max_examples=30, deadline=None)
@given(arrays(np.float64, (4, 3), elements=numbers), arrays(np.int64, 4, elements=st.integers(1, 1000)))
def test_an_average_lies_between_the_clients(weights: Any, rows: Any) -> None:
    found = weighted_average(weights, rows)
    assert (found >= weights.min(axis=0)).all()
    assert (found <= weights.max(axis=0)).all()
    assert np.allclose(found, sum(w * n for w, n in zip(weights, rows, strict=True)) / rows.sum())


@settings(max_examples=30, deadline=None)
@given(arrays(np.float64, (5, 3), elements=numbers), st.integers(0, 4), st.floats(-1e30, 1e30))
def test_one_liar_does_not_move_robust_rules_out_of_the_honest_range(
    weights: Any, liar: int, lie: float
) -> None:
    honest = np.delete(weights, liar, axis=0)
    weights[liar] = lie
    for rule in (CoordinateMedian(), TrimmedMean(cut=1)):
        found = rule(weights, np.ones(5))
        assert (found >= honest.min(axis=0) - 1e-9).all()
        assert (found <= honest.max(axis=0) + 1e-9).all()


@settings(max_examples=20, deadline=None)
@given(arrays(np.float64, (6, 3), elements=numbers))
def test_krum_is_the_slow_definition(weights: Any) -> None:
    near = 6 - 1 - 2
    scores = [
        sum(sorted(float(((a - b) ** 2).sum()) for j, b in enumerate(weights) if j != i)[:near])
        for i, a in enumerate(weights)
    ]
    assert scores[int(krum(weights, 1)[0])] == pytest.approx(min(scores))


def test_krum_never_takes_a_far_liar() -> None:
    weights = np.array([[0.0], [0.1], [0.2], [0.3], [1e6]])
    assert Krum(malicious=1)(weights, np.array([1, 1, 1, 1, 1e9]))[0] < 1


@pytest.mark.parametrize(
    ("rule", "least"),
    [
        (FedAvg(), 1),
        (CoordinateMedian(), 3),
        (TrimmedMean(cut=2), 5),
        (Krum(malicious=1), 5),
        (Krum(keep=8), 9),
    ],
)
def test_too_few_clients_are_refused(rule: Any, least: int) -> None:
    rule.require(least)
    with pytest.raises(Infeasible) as error:
        rule.require(least - 1)
    assert error.value.reached == least - 1
    with pytest.raises(Infeasible):
        trimmed_mean(np.zeros((2, 1)), 1)


@pytest.mark.parametrize(
    "bad",
    [
        {"sum": "masked", "aggregate": "krum"},
        {"sum": "masked", "aggregate": "median"},
        {"sum": "masked", "aggregate": "trimmed"},
        {"sum": "masked", "least_clients": 1},
        {"aggregate": "median", "proximal": 0.1},
        {"model": "boosting", "aggregate": "krum"},
        {"model": "boosting", "fraction": 0.5},
        {"model": "forest"},
        {"sum": "homomorphic", "aggregate": "krum"},
        {"sum": "homomorphic", "least_clients": 1},
        {"sum": "open"},
        {"fraction": 0},
        {"fraction": float("nan")},
        {"rounds": 0},
        {"rate": -1.0},
        {"hidden": (0,)},
        {"aggregate": "trimmed", "malicious": 0},
    ],
)
def test_switches_that_contradict_each_other_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        LearningPlan(**bad)


def test_fixed_point_sums_are_those_of_the_numbers() -> None:
    rng = np.random.default_rng(1)
    parts = rng.normal(size=(50, 20))
    total = sum(to_fixed(part, 100.0) for part in parts)
    assert np.abs(from_fixed(np.asarray(total)) - parts.sum(axis=0)).max() < 50 * 2.0**-24
    for bad in (np.nan, np.inf, 101.0):
        with pytest.raises(InvalidInput):
            to_fixed(np.array([bad]), 100.0)


@pytest.mark.parametrize("hidden", [(), (5,), (7, 6, 5)])
def test_gradients_are_those_of_small_differences(hidden: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    network = Network(hidden=hidden)
    rows, labels = rng.normal(size=(9, 4)), rng.integers(0, 3, 9)
    weights = rng.normal(size=network.size(4, 3)) * 0.5

    def loss(at: Any) -> float:
        return float(-np.log(scores_of(network, at, rows.astype(np.float32), 3)[np.arange(9), labels]).mean())

    stack = LayerStack(weights, network.shapes(4, 3))
    stack.back(cross_entropy_slope(stack.forward(rows), np.eye(3)[labels]), further=False)
    slope = stack.gradient
    for place in rng.permutation(len(weights))[:8]:
        shift = np.zeros(len(weights))
        shift[place] = 1e-3
        about = (loss(weights + shift) - loss(weights - shift)) / 2e-3
        assert slope[place] == pytest.approx(about, abs=2e-3)


def test_training_repeats_itself_and_the_pull_of_fedprox_keeps_it_near() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    network = Network(hidden=(8,), rate=0.1)
    start = network.start(4, 2, 0)
    free = network.train(start, rows, labels, 2, seed=1)
    assert np.array_equal(free, network.train(start, rows, labels, 2, seed=1))
    held = network.train(start, rows, labels, 2, seed=1, proximal=5.0)
    assert np.linalg.norm(held - start) < 0.5 * np.linalg.norm(free - start)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 12), st.floats(0.01, 100), st.integers(0, 9))
def test_a_dirichlet_split_gives_each_row_to_one_client(
    rows: int, clients: int, alpha: float, seed: int
) -> None:
    labels = np.arange(rows) % 3
    parts = dirichlet_rows(labels, clients, alpha, seed=seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    assert len(parts) == clients
    assert rows < clients or all(len(part) for part in parts)


def test_a_small_alpha_is_uneven() -> None:
    labels = np.repeat([0, 1], 500)
    spread = {
        alpha: np.std([labels[part].mean() for part in dirichlet_rows(labels, 5, alpha, seed=1)])
        for alpha in (0.1, 100.0)
    }
    assert spread[0.1] > 3 * spread[100.0]
