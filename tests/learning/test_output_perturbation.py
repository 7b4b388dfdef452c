"""Output perturbation and the noise on a grid. Draws without a seed: false alarms below 1e-7 each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mahrem.dp import Ledger, Relation, assert_dp
from mahrem.dp.accounting import rho_for
from mahrem.errors import BudgetExceeded, InvalidParameter
from mahrem.learning.private import OutputPerturbation
from mahrem.learning.private.inputs import clip_rows
from mahrem.learning.private.regressions._convex import LOGISTIC, Objective, minimise
from mahrem.learning.private.regressions._grid_release import gamma_vector, grid_noise, grid_release
from mahrem.learning.private.regressions._output_perturbation import OutputPlan, output_perturbation
from mahrem.learning.private.regressions._private_margin import MarginProblem
from mahrem.types import Floats

ALARM = 1e-7


def table(n: int, width: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    rows = clip_rows(rng.normal(size=(n, width)), 1.0)
    return rows, np.where(rng.random(n) < 0.5, 1.0, -1.0)


def test_the_noise_is_what_the_formula_says() -> None:
    problem = MarginProblem(epsilon=1.0, delta=1e-6, width=4, regularisation=10.0, tolerance=1e-6)
    plan = OutputPlan.of(problem)
    assert plan.distance == pytest.approx(0.1, rel=1e-5)
    assert plan.noise is not None
    step = 2.0 ** math.floor(
        math.log2(plan.distance / 2048)
    )  # 1024 steps for each of two, the root of the width
    sigma = plan.distance / math.sqrt(2 * rho_for(1.0, 1e-6))
    assert plan.noise.scale * step == pytest.approx(sigma, rel=2e-3)
    both = OutputPlan.of(
        MarginProblem(
            epsilon=1.0, delta=1e-6, width=4, regularisation=10.0, tolerance=1e-6, relation=Relation.REPLACE
        )
    )
    assert both.distance == pytest.approx(0.2, rel=1e-5)


@given(st.integers(0, 10_000), st.sampled_from(list(Relation)), st.floats(0.05, 5.0))
@settings(max_examples=25, deadline=None)
def test_minima_of_neighbours_are_no_further_apart_than_claimed(
    seed: int, relation: Relation, weight: float
) -> None:
    rows, signs = table(15, 3, seed)
    plan = OutputPlan.of(
        MarginProblem(epsilon=1, delta=1e-6, width=3, regularisation=weight, relation=relation)
    )
    other, other_signs = rows.copy(), signs.copy()
    if relation is Relation.ADD_REMOVE:
        other, other_signs = rows[:-1], signs[:-1]
    else:
        other[-1], other_signs[-1] = -rows[-1], signs[-1]
    found = [
        minimise(Objective(*one, LOGISTIC, weight, np.zeros(3)), tolerance=plan.problem.tolerance).point
        for one in ((rows, signs), (other, other_signs))
    ]
    assert np.linalg.norm(found[0] - found[1]) <= plan.distance


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("relation", list(Relation))
def test_a_whole_fit_passes_the_neighbour_test(noise: str, relation: Relation) -> None:
    rows, signs = table(40, 3, 1)
    exchanged = rows.copy()
    exchanged[-1] = -1.0
    tables = {"all": rows, "fewer": rows[:-1], "other": exchanged}
    delta = 1e-6 if noise == "gaussian" else 0.0

    def pipeline(which: str) -> Floats:
        ledger = Ledger.temporary(epsilon=1, delta=delta, relation=str(relation))
        model = OutputPerturbation(epsilon=1, delta=delta, classes=(-1, 1), noise=noise)
        taken = tables[which]
        return model.fit(taken, signs[: len(taken)], ledger=ledger).coef_

    neighbour = "fewer" if relation is Relation.ADD_REMOVE else "other"
    evidence = assert_dp(pipeline, "all", neighbour)
    assert 0 < evidence.moved[0] <= evidence.claimed[0]


def test_a_released_vector_has_the_noise_that_was_fitted() -> None:
    noise = grid_noise(1.0, 2000, Relation.ADD_REMOVE, epsilon=1.0, delta=1e-6)
    drawn = grid_release(np.zeros(2000), noise, 1.0)
    step = 2.0 ** math.floor(math.log2(1 / (1024 * math.sqrt(2000))))
    assert stats.kstest(drawn / (noise.scale * step), "norm").pvalue > ALARM


def test_a_vector_of_gamma_norm_has_it_in_every_direction() -> None:
    drawn = np.array([gamma_vector(3, 2.0) for _ in range(2000)])
    assert stats.kstest(np.linalg.norm(drawn, axis=1) / 2.0, "gamma", args=(3,)).pvalue > ALARM
    upright = drawn[:, 0] / np.linalg.norm(drawn, axis=1)  # uniform in three dimensions (Archimedes)
    assert stats.kstest((upright + 1) / 2, "uniform").pvalue > ALARM


@pytest.mark.parametrize(("noise", "delta"), [("gaussian", 1e-8), ("laplace", 0.0), ("gamma", 0.0)])
def test_it_learns_what_there_is_to_learn(noise: str, delta: float) -> None:
    inputs = np.repeat([[1.0], [-1.0]], 5000, axis=0)
    ledger = Ledger.temporary(epsilon=1, delta=delta)
    # so much regularisation that noise turns the line around less than once in 1e9 runs
    model = OutputPerturbation(
        epsilon=1, delta=delta, classes=("no", "yes"), noise=noise, regularisation=10.0
    )
    model.fit(inputs, np.where(inputs[:, 0] > 0, "yes", "no"), ledger=ledger)
    assert model.predict([[1.0], [-1.0]]).tolist() == ["yes", "no"]
    assert ("Idealised" in model.guarantee_) == (noise == "gamma")
    with pytest.raises(BudgetExceeded):
        model.fit(inputs, inputs[:, 0], ledger=ledger)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"noise": "gaussian", "delta": 0.0}, "gaussian noise needs a delta"),
        ({"noise": "laplace", "delta": 1e-6}, "others none"),
        ({"noise": "uniform"}, "noise"),
        ({"regularisation": 0.0}, "above 0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(said: dict[str, object], message: str) -> None:
    noise = str(said.pop("noise", "gaussian"))
    numbers: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "width": 3, **said}
    with pytest.raises(InvalidParameter, match=message):
        OutputPlan.of(MarginProblem(**numbers), noise)


def test_rows_beyond_the_norm_are_refused() -> None:
    plan = OutputPlan.of(MarginProblem(epsilon=1, delta=1e-6, width=2))
    with pytest.raises(InvalidParameter, match="norm"):
        output_perturbation(np.array([[3.0, 0.0]]), np.ones(1), plan)
