"""Noise on the coefficients of a loss: exact sums, sensitivities, repair, regression, last layer."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Ledger, Relation, assert_dp
from mahrem.dp.accounting import rho_for
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning.private import FunctionalLinear, FunctionalLogistic, PolynomialLastLayer
from mahrem.learning.private.inputs import clip_rows
from mahrem.learning.private.regressions._quadratic import (
    BITS,
    QuadraticPlan,
    quadratic_sensitivity,
    release_moments,
    solve_quadratic,
    whole_rows,
)
from mahrem.types import Floats


def test_the_noise_is_what_the_formula_says() -> None:
    plan = QuadraticPlan.make(epsilon=1, delta=1e-6, width=5, targets=3, relation=Relation.ADD_REMOVE)
    # A row of norm 1 moves the two matrices by at most 1 each: the root of two together.
    assert plan.deviation == pytest.approx(math.sqrt(2 / (2 * rho_for(1, 1e-6))), rel=1e-9)
    pure = QuadraticPlan.make(epsilon=2, delta=0, width=4, targets=1, relation=Relation.ADD_REMOVE)
    assert pure.noise.scale / 4**BITS == pytest.approx((2.5 + 2) / 2, rel=1e-9)


def integers(rows: Floats, targets: Floats) -> Floats:
    left, right = whole_rows(rows), whole_rows(targets)
    return np.concatenate([(left.T @ left)[np.triu_indices(rows.shape[1])], (left.T @ right).ravel()])


@given(st.integers(0, 100_000), st.sampled_from(list(Relation)), st.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_no_row_moves_the_sums_by_more_than_claimed(seed: int, relation: Relation, width: int) -> None:
    rng = np.random.default_rng(seed)
    rows = clip_rows(rng.normal(size=(2, width)) * rng.choice([0.1, 10.0]), 1.0)
    targets = rng.choice([-1.0, 1.0], size=(2, 1))
    reach = quadratic_sensitivity(width, 1, relation)
    one = integers(rows[:1], targets[:1])
    other = integers(rows[1:], targets[1:]) if relation is Relation.REPLACE else np.zeros_like(one)
    change = np.abs(one - other)
    assert change.sum() <= reach.l1
    assert (change**2).sum() <= reach.l2_squared
    assert change.max() <= reach.linf


def test_the_worst_rows_come_close_to_the_claim() -> None:
    reach = quadratic_sensitivity(2, 1, Relation.ADD_REMOVE)
    change = integers(np.array([[1.0, 0.0]]), np.ones((1, 1)))
    assert (change**2).sum() == reach.l2_squared


def test_sums_are_exact_in_any_order() -> None:
    rng = np.random.default_rng(1)
    rows = clip_rows(rng.normal(size=(5000, 4)), 1.0)
    flags = np.eye(3)[rng.integers(3, size=5000)]
    order = rng.permutation(5000)
    assert np.array_equal(integers(rows, flags), integers(rows[order], flags[order]))


def test_repair_is_a_function_of_what_was_released() -> None:
    plan = QuadraticPlan.make(epsilon=0.1, delta=1e-6, width=6, targets=2, relation=Relation.ADD_REMOVE)
    moments, products = release_moments(np.zeros((3, 6)), np.zeros((3, 2)), plan)  # noise alone
    first, again = (solve_quadratic(moments, products, plan.ridge) for _ in range(2))
    assert np.array_equal(first, again)
    assert np.isfinite(first).all()
    assert np.linalg.eigvalsh(moments).min() < 0  # all noise: half of the eigenvalues, but for chance 1e-7


def test_repair_leaves_a_sound_matrix_alone() -> None:
    matrix, right = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([[1.0], [2.0]])
    assert solve_quadratic(matrix, right, 0.0) == pytest.approx(np.linalg.solve(matrix, right))


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("kind", ["logistic", "linear", "last layer"])
def test_a_whole_fit_passes_the_neighbour_test(kind: str, relation: Relation, delta: float) -> None:
    rng = np.random.default_rng(2)
    inputs, labels = rng.normal(size=(30, 3)), rng.integers(2, size=30)
    exchanged, relabelled = inputs.copy(), labels.copy()
    exchanged[-1], relabelled[-1] = 1e9, 1 - labels[-1]
    tables = {
        "all": (inputs, labels),
        "fewer": (inputs[:-1], labels[:-1]),
        "other": (exchanged, relabelled),
    }

    def pipeline(which: str) -> Floats:
        ledger = Ledger.temporary(epsilon=1, delta=delta, relation=str(relation))
        models = {
            "logistic": FunctionalLogistic(epsilon=1, delta=delta, classes=(0, 1)),
            "linear": FunctionalLinear(epsilon=1, delta=delta, bounds=(0, 1)),
            "last layer": PolynomialLastLayer(epsilon=1, delta=delta, classes=(0, 1)),
        }
        return models[kind].fit(*tables[which], ledger=ledger).coef_

    evidence = assert_dp(pipeline, "all", "fewer" if relation is Relation.ADD_REMOVE else "other")
    assert 0 < evidence.moved[0] <= evidence.claimed[0]


def test_a_linear_regression_finds_the_line() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"age": rng.uniform(0, 100, 20_000)}).with_columns(cost=3 * pl.col("age") + 50)
    columns = {"age": {"lower": 0, "upper": 100}, "cost": {"lower": 0, "upper": 400}}
    ledger = Ledger.temporary(epsilon=1, delta=1e-8, columns=columns)
    model = FunctionalLinear(epsilon=1, delta=1e-8, target="cost", norm=1.5).fit(frame, ledger=ledger)
    assert model.predict(pl.DataFrame({"age": [10.0, 90.0]})) == pytest.approx([80.0, 320.0], abs=20)
    assert "squared loss" in model.guarantee_


def test_targets_beyond_their_bounds_are_clipped_and_missing_ones_left_out() -> None:
    inputs = np.ones((3000, 1))
    targets = np.r_[np.full(2998, 0.5), 1e12, np.nan]
    ledger = Ledger.temporary(epsilon=5, delta=1e-8)
    model = FunctionalLinear(epsilon=5, delta=1e-8, bounds=(0, 1)).fit(inputs, targets, ledger=ledger)
    assert model.predict([[1.0]]) == pytest.approx([0.5], abs=0.05)


@pytest.mark.parametrize(("bounds", "message"), [(None, "public bounds"), ((3, 1), "lower=3")])
def test_a_regression_needs_bounds_the_right_way_round(
    bounds: tuple[float, float] | None, message: str
) -> None:
    ledger = Ledger.temporary(epsilon=1)
    with pytest.raises(InvalidParameter, match=message):
        FunctionalLinear(epsilon=1, bounds=bounds).fit(np.ones((2, 1)), [1, 2], ledger=ledger)


def test_a_regression_has_no_probabilities_and_needs_as_many_targets_as_rows() -> None:
    assert not hasattr(FunctionalLinear, "predict_proba")
    with pytest.raises(InvalidInput, match="y must be"):
        FunctionalLinear(epsilon=1, bounds=(0, 1)).fit(
            np.ones((2, 1)), [1, 2, 3], ledger=Ledger.temporary(epsilon=1)
        )


def test_three_classes_are_for_the_last_layer() -> None:
    with pytest.raises(InvalidParameter, match="PolynomialLastLayer"):
        FunctionalLogistic(epsilon=1, classes=(1, 2, 3)).fit(
            np.ones((2, 1)), [1, 2], ledger=Ledger.temporary(epsilon=1)
        )


def test_a_last_layer_says_what_it_does_not_cover() -> None:
    rng = np.random.default_rng(4)
    labels = rng.integers(4, size=4000)
    inputs = np.eye(4)[labels] + 0.3 * rng.normal(size=(4000, 4))
    ledger = Ledger.temporary(epsilon=1, delta=1e-8)
    model = PolynomialLastLayer(epsilon=1, delta=1e-8, classes=(0, 1, 2, 3)).fit(
        inputs, labels, ledger=ledger
    )
    assert np.mean(model.predict(inputs) == labels) > 0.85
    assert "must not have been trained on these records" in model.guarantee_
    assert model.predict_proba(inputs).shape == (4000, 4)


def test_scikit_learn_takes_each_model_for_what_it_is() -> None:
    from sklearn.base import is_classifier, is_regressor

    number, label = FunctionalLinear(epsilon=1), FunctionalLogistic(epsilon=1)
    assert (is_regressor(number), is_classifier(number)) == (True, False)
    assert (is_regressor(label), is_classifier(label)) == (False, True)
