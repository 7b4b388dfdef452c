"""A plan draws, clips, adds noise and pays by the same public numbers."""

from __future__ import annotations

import math
import warnings
from typing import Any

import dp_accounting as da
import numpy as np
import pytest
from dp_accounting import pld
from scipy import stats

from mahrem.dp.accounting import Pure, Repeated
from mahrem.errors import InvalidParameter, PrivacyWarning
from mahrem.learning.private import TrainingPlan, new_stream

RELATIONS = {
    "add-remove": da.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace": da.NeighboringRelation.REPLACE_ONE,
}


def plan(**said: Any) -> TrainingPlan:
    return TrainingPlan.make(
        **{"rows": 1000, "batch": 100, "epochs": 2, "noise_multiplier": 1.1, "delta": 1e-5, **said}
    )


@pytest.mark.parametrize("relation", list(RELATIONS))
def test_epsilon_is_what_dp_accounting_says_by_hand(relation: str) -> None:
    step = da.PoissonSampledDpEvent(0.1, da.GaussianDpEvent(1.1))
    by_hand = pld.PLDAccountant(RELATIONS[relation]).compose(step, 20).get_epsilon(1e-5)
    assert plan(relation=relation).epsilon == pytest.approx(by_hand, rel=1e-9)


def test_without_poisson_every_epoch_costs_one_step_over_all_rows() -> None:
    by_hand = pld.PLDAccountant().compose(da.GaussianDpEvent(1.1), 2).get_epsilon(1e-5)
    found = plan(poisson=False, accept_no_amplification=True)
    assert found.steps == 20
    assert found.epsilon == pytest.approx(by_hand, rel=1e-3)
    assert found.epsilon > plan().epsilon


def test_batches_that_are_no_poisson_samples_must_be_accepted() -> None:
    with pytest.raises(InvalidParameter, match="accept_no_amplification"):
        plan(poisson=False)


def test_without_poisson_each_unit_is_in_one_batch_an_epoch() -> None:
    found, stream = plan(poisson=False, accept_no_amplification=True), new_stream(3)
    for epoch in range(2):
        seen = np.concatenate([found.sample(stream, 10 * epoch + step, 1000) for step in range(10)])
        assert sorted(seen.tolist()) == list(range(1000))


def test_laplace_noise_is_pure_and_costs_its_amplified_epsilon() -> None:
    found = plan(noise="laplace", noise_multiplier=2.0, delta=0.0)
    each = math.log(1 + 0.1 * (math.exp(0.5) - 1))
    assert isinstance(found.event, Repeated)
    assert isinstance(found.event.event, Pure)
    assert found.event.times == 20
    assert found.epsilon == pytest.approx(20 * each)
    both = plan(noise="laplace", noise_multiplier=2.0, delta=0.0, relation="replace")
    assert both.epsilon == pytest.approx(20 * math.log(1 + 0.1 * (math.exp(1.0) - 1)))


@pytest.mark.parametrize(
    ("epsilon", "rate", "noise"),
    [(0.3, 0.1, "gaussian"), (2.0, 0.02, "gaussian"), (1.0, 1.0, "gaussian"), (0.5, 0.1, "laplace")],
)
def test_calibrated_noise_keeps_the_promise_and_wastes_little(
    epsilon: float, rate: float, noise: str
) -> None:
    delta = 0.0 if noise == "laplace" else 1e-6
    found = TrainingPlan.make(
        rows=1000, batch=1000 * rate, steps=30, epsilon=epsilon, delta=delta, noise=noise
    )
    assert found.epsilon <= epsilon * (1 + 1e-9)
    assert found.epsilon >= epsilon * 0.98


def test_epsilon_so_far_grows_and_ends_at_the_whole() -> None:
    found = plan()
    so_far = [found.epsilon_after(step) for step in (0, 1, 5, 10, 19, 20)]
    assert so_far == sorted(so_far)
    assert so_far[0] == 0
    assert so_far[-1] == found.epsilon
    for step in (1, 10):
        exact = TrainingPlan.make(rows=1000, batch=100, steps=step, noise_multiplier=1.1, delta=1e-5).epsilon
        assert found.epsilon_after(step) >= exact


def test_a_plan_can_be_written_and_read() -> None:
    assert TrainingPlan.from_dict(plan().as_dict()) == plan()


@pytest.mark.parametrize(
    "said",
    [
        {"noise_multiplier": 0.0},
        {"noise_multiplier": None, "epsilon": 0.0},
        {"noise_multiplier": None, "epsilon": -1.0},
        {"noise_multiplier": 1.0, "epsilon": 1.0},
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": -0.1},
        {"delta": 1e-6, "noise": "laplace"},
        {"batch": 0},
        {"batch": 1001},
        {"rows": 0},
        {"epochs": 0},
        {"epochs": 1, "steps": 3},
        {"clip": 0.0},
        {"clip": math.nan},
        {"noise": "uniform"},
        {"relation": "sibling"},
    ],
)
def test_numbers_that_promise_nothing_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        plan(**said)


def test_a_delta_of_one_over_rows_warns() -> None:
    with pytest.warns(PrivacyWarning, match="1/rows"):
        plan(delta=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan(delta=9e-4)


def test_the_guarantee_says_what_is_idealised_and_that_a_seed_is_not_private() -> None:
    text = plan().guarantee()
    assert "floating-point" in text
    assert "one row more or less" in text
    assert plan().guarantee(seeded=True).startswith("NOT PRIVATE")


def test_noise_has_the_shape_and_size_the_plan_says() -> None:
    """Kolmogorov-Smirnov on 50,000 fixed draws; the seed is fixed, so the alarm rate (1e-3) is met once."""
    stream = new_stream(5)
    found = plan(clip=0.5)
    drawn = found.draw_noise(stream, 7, 50_000)
    assert stats.kstest(drawn, "norm", args=(0, 0.55)).pvalue > 1e-3
    pure = plan(clip=0.5, noise="laplace", delta=0.0).draw_noise(stream, 7, 50_000)
    assert stats.kstest(pure, "laplace", args=(0, 0.55)).pvalue > 1e-3
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.02


def test_batches_are_poisson_samples_at_the_rate_of_the_public_number_of_rows() -> None:
    """2,000 fixed batches of 500 real rows at the public rate 0.1; 5 standard errors."""
    stream, found = new_stream(6), plan()
    sizes = np.array([len(found.sample(stream, step, 500)) for step in range(2000)])
    assert abs(sizes.mean() - 50) < 5 * math.sqrt(45 / 2000)
    assert abs(sizes.var() / 45 - 1) < 0.2


def test_fresh_streams_differ_and_steps_differ() -> None:
    one, two = new_stream(), new_stream()
    assert one.words("noise", 0, 4).tolist() != two.words("noise", 0, 4).tolist()
    assert one.words("noise", 0, 4).tolist() != one.words("noise", 1, 4).tolist()
    assert one.words("noise", 0, 4).tolist() != one.words("sample", 0, 4).tolist()
    assert one.key.hex() not in repr(one)
