"""Objective perturbation: its formulas by integration, its density by hand, its promise by counting.

Random tables have fixed seeds. The one test that counts runs of the mechanism itself has no seed; it raises a
false alarm with probability below 1e-6.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import mahrem.learning.private.regressions._private_linear as linear
from mahrem.dp import Ledger, Relation, assert_dp
from mahrem.dp.accounting import composed_cost, gaussian_delta, gaussian_multiplier
from mahrem.errors import BudgetExceeded, InvalidParameter
from mahrem.learning.private import ObjectivePerturbation, OutputPerturbation
from mahrem.learning.private.inputs import clip_rows
from mahrem.learning.private.regressions._convex import (
    LOGISTIC,
    HuberHinge,
    MarginLoss,
    Objective,
    minimise,
    proven_minimum,
)
from mahrem.learning.private.regressions._objective_analysis import objective_delta, objective_rdp
from mahrem.learning.private.regressions._objective_perturbation import (
    RELEASE,
    ObjectivePlan,
    objective_perturbation,
)
from mahrem.learning.private.regressions._private_margin import MarginProblem
from mahrem.types import Floats

HINGE = HuberHinge()
SEED = 7


def table(n: int, width: int, seed: int = SEED) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    rows = clip_rows(rng.normal(size=(n, width)), 1.0)
    return rows, np.where(rng.random(n) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize(("epsilon", "multiplier", "curvature"), [(1.0, 4.0, 0.1), (0.2, 20.0, 0.05)])
def test_the_profile_is_the_integral_it_bounds(epsilon: float, multiplier: float, curvature: float) -> None:
    shift, rest = 1 / multiplier, epsilon - math.log1p(curvature)

    def lost(w: float) -> float:
        loss = max(0.0, shift**2 / 2 + shift * w)
        return float(max(0.0, -math.expm1(rest - loss)) * stats.norm.pdf(w))

    start = (rest - shift**2 / 2) / shift  # where the loss exceeds epsilon
    by_hand = integrate.quad(lost, start, start + 40, epsabs=1e-14)[0]
    assert objective_delta(epsilon, multiplier, curvature) == pytest.approx(by_hand, rel=1e-5)


def test_an_epsilon_below_the_curvature_promises_nothing() -> None:
    assert objective_delta(0.1, 100.0, 0.2) == 1.0


def test_an_exchanged_row_costs_two_gradients() -> None:
    both = gaussian_delta(0.9, 5.0) + 2 * gaussian_delta(0.9, 10.0)
    found = objective_delta(0.9 + math.log1p(0.3), 10.0, 0.3, Relation.REPLACE)
    assert found == pytest.approx(both, rel=1e-9)


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
def test_the_renyi_divergence_is_the_integral_it_bounds(order: float) -> None:
    shift = 0.3

    def power(w: float) -> float:
        loss = max(0.0, shift**2 / 2 + shift * w)
        return math.exp((order - 1) * loss) * float(stats.norm.pdf(w))

    by_hand = math.log(integrate.quad(power, -30, 30, points=[-shift / 2], limit=200)[0]) / (order - 1)
    assert objective_rdp(order, 1 / shift, 0.25) == pytest.approx(by_hand + math.log1p(0.25), rel=1e-6)


def test_the_noise_is_what_the_formula_says() -> None:
    plan = ObjectivePlan.of(MarginProblem(epsilon=1.0, delta=1e-9, width=50, norm=2.0, regularisation=40.0))
    rest = (1 - RELEASE) - math.log1p(0.25 * 4 / 40)  # a logistic loss bends by a quarter of the squared norm
    assert plan.scale == pytest.approx(2.0 * gaussian_multiplier(rest, 1e-9 * (1 - RELEASE)), rel=1e-9)
    assert plan.distance == 2 * plan.problem.tolerance / 40
    pure = ObjectivePlan.of(MarginProblem(epsilon=1.0, delta=0.0, width=50, norm=2.0, regularisation=40.0))
    assert pure.scale == pytest.approx(2.0 / rest, rel=1e-9)


@pytest.mark.parametrize("relation", list(Relation))
def test_a_plan_keeps_its_promise(relation: Relation) -> None:
    for epsilon in (0.1, 1.0, 8.0):
        plan = ObjectivePlan.of(MarginProblem(epsilon=epsilon, delta=1e-6, width=9, relation=relation))
        curvature = 0.25 / plan.regularisation
        found = objective_delta(epsilon * (1 - RELEASE), plan.scale, curvature, relation)
        assert found <= 1e-6 * (1 - RELEASE)


def log_density(
    point: Floats, rows: Floats, signs: Floats, loss: MarginLoss, weight: float, sigma: float
) -> float:
    """Density of the exact minimum, by the change of variables from the linear term, up to a constant."""
    margin = signs * (rows @ point)
    linear_term = -(rows.T @ (signs * loss.slope(margin)) + weight * point)
    bends = (rows * loss.curve(margin)[:, None]).T @ rows + weight * np.eye(rows.shape[1])
    return float(-(linear_term @ linear_term) / (2 * sigma**2) + np.linalg.slogdet(bends)[1])


@pytest.mark.parametrize("loss", [LOGISTIC, HINGE], ids=lambda loss: loss.name)
@pytest.mark.parametrize("added", [True, False])
def test_the_density_of_neighbours_differs_by_no_more_than_the_profile(
    *, loss: MarginLoss, added: bool
) -> None:
    rows, signs = table(12, 3)
    sigma, weight = 1.2, 2.0
    one, two = slice(None), slice(None, -1)  # the neighbour lacks the last row
    if added:
        one, two = two, one
    rng = np.random.default_rng(SEED)
    longest = float(np.linalg.norm(rows[-1]))
    curvature = loss.most_curve * longest**2 / weight
    lost = []
    for linear_term in rng.normal(0, sigma, size=(400, 3)):
        point = minimise(Objective(rows[one], signs[one], loss, weight, linear_term), tolerance=1e-9).point
        here = log_density(point, rows[one], signs[one], loss, weight, sigma)
        there = log_density(point, rows[two], signs[two], loss, weight, sigma)
        way = signs[-1] * float(rows[-1] @ linear_term) / longest * (1 if added else -1)
        gauss = max(0.0, (longest**2 / 2 + longest * way) / sigma**2)
        assert here - there <= gauss + math.log1p(curvature) + 1e-6
        lost.append(max(0.0, -math.expm1(0.6 - (here - there))))
    # Hoeffding for 400 draws: a false alarm has probability 1e-7, and the seed is fixed.
    slack = math.sqrt(math.log(1e7) / (2 * len(lost)))
    assert np.mean(lost) <= objective_delta(0.6, sigma / longest, curvature) + slack


def test_an_exchanged_row_moves_the_density_by_no_more_than_its_corners() -> None:
    rows, signs = table(9, 3)
    other, other_sign = -rows[-1] * 0.7 + 0.2, -signs[-1]
    swapped, swapped_signs = rows.copy(), signs.copy()
    swapped[-1], swapped_signs[-1] = other, other_sign
    sigma, weight = 1.5, 2.0
    for linear_term in np.random.default_rng(SEED).normal(0, sigma, size=(200, 3)):
        point = minimise(Objective(rows, signs, LOGISTIC, weight, linear_term), tolerance=1e-9).point
        here = log_density(point, rows, signs, LOGISTIC, weight, sigma)
        there = log_density(point, swapped, swapped_signs, LOGISTIC, weight, sigma)
        gone, come = signs[-1] * rows[-1], other_sign * other
        corners = [a * gone - b * come for a in (0, 1) for b in (0, 1)]
        most = max(float(h @ h - 2 * h @ linear_term) / (2 * sigma**2) for h in corners)
        assert here - there <= most + math.log1p(0.25 / weight) + 1e-6


RUNS = 500


def exceeds(plan: ObjectivePlan, epsilon: float) -> bool:
    """Count how often the coefficient is high on two neighbours that differ in the heaviest row there is."""
    rows, signs = np.zeros((1, 1)), np.ones(1)
    more = np.ones((1, 1)) * (1 - 1e-9)
    edge = 0.25 / plan.regularisation
    high = [
        np.mean([objective_perturbation(which, signs, plan)[0] > edge for _ in range(RUNS)])
        for which in (more, rows)
    ]
    slack = (1 + math.exp(epsilon)) * math.sqrt(math.log(2e6) / (2 * RUNS))
    return bool(high[0] > math.exp(epsilon) * high[1] + plan.problem.delta + slack)


def test_counting_runs_finds_no_breach_and_would_find_one() -> None:
    plan = ObjectivePlan.of(MarginProblem(epsilon=0.5, delta=1e-3, width=1, regularisation=5.0))
    assert not exceeds(plan, 0.5)
    assert exceeds(replace(plan, scale=plan.scale / 50), 0.5)


def test_a_minimum_that_is_not_proven_becomes_zeros_and_never_an_error() -> None:
    rows, signs = table(200, 4)
    objective = Objective(rows, signs, LOGISTIC, 0.1, np.full(4, 3.0))
    assert minimise(objective, tolerance=1e-9, steps=1).gradient_norm > 1e-9
    assert not proven_minimum(objective, longest=1.0, tolerance=1e-18).any()
    assert proven_minimum(objective, longest=1.0, tolerance=1e-3).all()


@pytest.mark.parametrize("model", [ObjectivePerturbation, OutputPerturbation])
def test_a_tolerance_that_rounding_hides_is_refused_before_paying(model: Any) -> None:
    rows, signs = table(200, 4)
    ledger = Ledger.temporary(epsilon=1, delta=1e-6)
    with pytest.raises(InvalidParameter, match="rounding"):
        model(epsilon=1, delta=1e-6, classes=(-1, 1), tolerance=1e-12).fit(rows, signs, ledger=ledger)
    assert ledger.spent().epsilon == 0


def test_one_long_row_among_short_ones_decides_nothing() -> None:
    short = np.tile([[0.01, 0.0], [0.0, 0.01]], (10_000, 1))
    signs = np.tile([1.0, -1.0], 10_000)
    long = np.vstack([short, [[1.0, 0.0]]])
    for rows, sides in ((short, signs), (long, np.append(signs, 1.0))):
        model = ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(-1, 1))
        model.fit(rows, sides, ledger=Ledger.temporary(epsilon=1, delta=1e-6))
        assert model.coef_.shape == (1, 3)


@given(st.integers(0, 10_000), st.sampled_from([LOGISTIC, HINGE]), st.floats(0.01, 10))
@settings(max_examples=20, deadline=None)
def test_a_minimum_is_as_near_as_its_gradient_says(seed: int, loss: MarginLoss, weight: float) -> None:
    rows, signs = table(40, 3, seed)
    objective = Objective(rows, signs, loss, weight, np.random.default_rng(seed).normal(size=3))
    rough, fine = minimise(objective, tolerance=1e-2), minimise(objective, tolerance=1e-9)
    apart = float(np.linalg.norm(rough.point - fine.point))
    assert apart <= (rough.gradient_norm + fine.gradient_norm) / weight


@given(st.integers(0, 10_000), st.sampled_from([LOGISTIC, HINGE]))
@settings(max_examples=20, deadline=None)
def test_derivatives_are_those_of_the_value(seed: int, loss: MarginLoss) -> None:
    rows, signs = table(30, 3, seed)
    objective = Objective(rows, signs, loss, 0.7, np.ones(3))
    point, step = np.random.default_rng(seed).normal(size=3), 1e-6
    gradient, _ = objective.derivatives(point)
    by_steps = [
        (objective.value(point + e) - objective.value(point - e)) / (2 * step) for e in step * np.eye(3)
    ]
    assert gradient == pytest.approx(by_steps, abs=1e-5)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_rounding_is_bounded_from_above(seed: int) -> None:
    rows, signs = table(500, 4, seed)
    objective = Objective(rows, signs, HINGE, 0.7, np.ones(4))
    point = np.random.default_rng(seed).normal(size=4)
    exact = [Fraction(0.7) * Fraction(entry) + 1 for entry in point]
    for row, side in zip(rows, signs, strict=True):
        cells = [Fraction(side) * Fraction(cell) for cell in row]
        margin = sum((a * Fraction(b) for a, b in zip(cells, point, strict=True)), Fraction(0))
        slope = min(max(Fraction(3, 2) - margin, Fraction(0)), Fraction(1))  # of a hinge half as wide
        exact = [total - slope * cell for total, cell in zip(exact, cells, strict=True)]
    apart = [
        abs(Fraction(*got.as_integer_ratio()) - true)
        for got, true in zip(objective.gradient(point), exact, strict=True)
    ]
    assert math.hypot(*map(float, apart)) <= objective.rounding(point)


@pytest.mark.parametrize("loss", ["logistic", "svm"])
def test_it_learns_what_there_is_to_learn(loss: str) -> None:
    rng = np.random.default_rng(SEED)
    inputs = rng.normal(size=(3000, 3))
    y = np.where(inputs[:, 0] - inputs[:, 1] > 0, "yes", "no")
    model = ObjectivePerturbation(epsilon=2, delta=1e-9, classes=("no", "yes"), loss=loss)
    model.fit(inputs, y, ledger=Ledger.temporary(epsilon=2, delta=1e-9))
    assert np.mean(model.predict(inputs) == y) > 0.93
    assert "(2, 1e-09)-differentially private" in model.guarantee_


def test_pure_privacy_needs_no_delta() -> None:
    inputs = np.repeat([[1.0], [-1.0]], 1000, axis=0)
    ledger = Ledger.temporary(epsilon=1)
    model = ObjectivePerturbation(epsilon=1, classes=(0, 1)).fit(inputs, inputs[:, 0] > 0, ledger=ledger)
    assert ledger.spent().epsilon == 1.0
    assert "Idealised" in model.guarantee_


def test_several_classes_share_the_budget() -> None:
    rng = np.random.default_rng(SEED)
    labels = rng.integers(3, size=3000)
    inputs = np.eye(3)[labels] + 0.2 * rng.normal(size=(3000, 3))
    ledger = Ledger.temporary(epsilon=6, delta=1e-6)
    model = ObjectivePerturbation(epsilon=6, delta=1e-6, classes=(0, 1, 2)).fit(inputs, labels, ledger=ledger)
    assert model.coef_.shape == (3, 4)
    assert model.plan_.problem.epsilon == 2.0
    assert np.mean(model.predict(inputs) == labels) > 0.9
    assert model.predict_proba(inputs).sum(axis=1) == pytest.approx(1.0)


def test_what_it_costs_is_what_the_accountant_says_by_hand() -> None:
    from dp_accounting.pld import common, privacy_loss_distribution

    inputs, y = table(50, 2)
    ledger = Ledger.temporary(epsilon=3, delta=1e-5)
    for _ in range(2):
        ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(-1, 1)).fit(inputs, y, ledger=ledger)
    one = privacy_loss_distribution.from_privacy_parameters(common.DifferentialPrivacyParameters(1, 1e-6))
    by_hand = one.self_compose(2).get_epsilon_for_delta(1e-5)
    assert ledger.spent(cross_check=True).pld == pytest.approx(by_hand, rel=1e-6)


def test_nothing_is_computed_when_the_budget_does_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the data was read")

    monkeypatch.setattr(linear, "given_rows", never)
    model = ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(0, 1))
    with pytest.raises(BudgetExceeded):
        model.fit(np.ones((5, 2)), np.ones(5), ledger=Ledger.temporary(epsilon=0.5, delta=1e-6))
    assert not hasattr(model, "coef_")


def test_a_whole_fit_passes_the_neighbour_test() -> None:
    inputs, y = table(60, 3)

    def pipeline(rows: int) -> Floats:
        ledger = Ledger.temporary(epsilon=1, delta=1e-6)
        model = ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(-1, 1))
        return model.fit(inputs[:rows], y[:rows], ledger=ledger).coef_

    evidence = assert_dp(pipeline, 60, 59)
    assert composed_cost(evidence.spends, 1e-6, Relation.ADD_REMOVE).epsilon == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1.5}, "delta"),
        ({"norm": 0}, "norm"),
        ({"loss": "squared"}, "loss"),
        ({"regularisation": 1e-6}, "too small"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"classes": None}, "classes=0"),
        ({"classes": (1, 1)}, "classes=1"),
    ],
)
def test_settings_that_promise_nothing_are_refused(settings_: dict[str, object], message: str) -> None:
    said: dict[str, object] = {"epsilon": 1, "delta": 1e-6, "classes": (0, 1), **settings_}
    ledger = Ledger.temporary(epsilon=1, delta=1e-6)
    with pytest.raises(InvalidParameter, match=message):
        ObjectivePerturbation(**said).fit(np.ones((5, 2)), np.ones(5), ledger=ledger)  # type: ignore[arg-type]
    assert ledger.spent().epsilon == 0


def test_an_svm_has_no_probabilities() -> None:
    inputs, y = table(100, 2)
    model = ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(-1, 1), loss="svm")
    model.fit(inputs, y, ledger=Ledger.temporary(epsilon=1, delta=1e-6))
    with pytest.raises(InvalidParameter, match="decision_function"):
        model.predict_proba(inputs)


def test_a_fitted_model_can_be_kept_and_copied() -> None:
    inputs, signs = table(100, 2)
    model = ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(-1, 1), loss="svm")
    model.fit(inputs, signs, ledger=Ledger.temporary(epsilon=1, delta=1e-6))
    kept = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert np.array_equal(kept.predict(inputs), model.predict(inputs))
    assert kept.plan_ == model.plan_


def test_ten_million_rows_leave_room_for_the_tolerance() -> None:
    """The bound on rounding alone must lie below the default tolerance; rows are one, seen many times."""
    rows = np.broadcast_to(np.full((1, 10), 0.316), (10_000_000, 10))
    objective = Objective(rows[:1], np.ones(1), LOGISTIC, 1.0, np.zeros(10))
    many = Objective(rows, np.broadcast_to(1.0, 10_000_000), LOGISTIC, 1.0, np.zeros(10))
    point = np.full(10, 2.0)
    assert objective.rounding(point) < many.rounding(point) < 1e-5
