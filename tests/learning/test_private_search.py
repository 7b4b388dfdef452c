"""A private search pays for the choice, and gives out one model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mahrem.dp import Ledger  # noqa: E402 - after the extra was found
from mahrem.errors import BudgetExceeded, InvalidParameter  # noqa: E402
from mahrem.learning.private import (  # noqa: E402
    PrivateBoosting,
    PrivateBoostingRegressor,
    PrivateClassifier,
    PrivateSearch,
    TrainingPlan,
    new_stream,
    search_epsilon,
)
from mahrem.learning.private._private_search import right_answers  # noqa: E402
from mahrem.learning.private.steps import Descent  # noqa: E402

torch.set_num_threads(1)


def candidate(rate: float, **said: Any) -> PrivateClassifier:
    given = {"network": "logistic", "classes": (0, 1), "noise_multiplier": 2.0, "batch": 100, "epochs": 1}
    return PrivateClassifier(**{**given, "descent": Descent(learning_rate=rate), "device": "cpu", **said})


def numbers() -> tuple[Any, Any]:
    rows = np.random.default_rng(1).normal(size=(400, 2)).astype(np.float32)
    return rows, (rows[:, 0] > 0).astype(int)


def test_the_best_settings_come_out_and_are_paid_for() -> None:
    rows, labels = numbers()
    ledger = Ledger.temporary(epsilon=10, delta=1e-5, rows=400)
    search = PrivateSearch(
        candidates=[candidate(1e-6, network="dnn"), candidate(2.0)], repeats=6, score_noise=10.0, seed=3
    )
    best = search.fit(rows, labels, ledger=ledger)
    assert best.descent.learning_rate == 2.0
    assert best.score(rows, labels, openly=True) > 0.9
    assert ledger.spent().epsilon == pytest.approx(best.cost_[0], rel=1e-3)
    assert "choice among 2" in best.guarantee_


def test_one_repeat_costs_what_training_and_scoring_cost_by_hand() -> None:
    import dp_accounting as da
    from dp_accounting import rdp

    plan = TrainingPlan.make(rows=400, batch=100, epochs=1, noise_multiplier=2.0, delta=1e-5)
    orders = [*range(2, 64), 72, 96, 128, 192, 256, 512, 1024]
    hand = rdp.RdpAccountant(orders)
    hand.compose(da.PoissonSampledDpEvent(0.25, da.GaussianDpEvent(2.0)), 4).compose(da.GaussianDpEvent(50.0))
    one = search_epsilon(plan, repeats=1, score_noise=50.0, delta=1e-5)
    assert one >= hand.get_epsilon(1e-5) * 0.999
    many = [search_epsilon(plan, repeats=count, score_noise=50.0, delta=1e-5) for count in (2, 10, 100)]
    assert [one, *many] == sorted([one, *many])


def test_the_number_of_trainings_is_geometric() -> None:
    """2,000 fixed draws with mean 5; five standard errors."""
    search = PrivateSearch(candidates=[candidate(1.0)], repeats=5)
    drawn = [search._count(new_stream(seed)) for seed in range(2000)]
    assert min(drawn) == 1
    assert abs(np.mean(drawn) - 5) < 5 * np.sqrt(20 / 2000)


def test_searches_that_cannot_be_are_refused() -> None:
    rows, labels = numbers()
    ledger = Ledger.temporary(epsilon=10, delta=1e-5, rows=400)
    with pytest.raises(InvalidParameter, match="the same for all"):
        PrivateSearch(candidates=[candidate(1.0), candidate(1.0, epochs=2)]).fit(rows, labels, ledger=ledger)
    with pytest.raises(InvalidParameter):
        PrivateSearch(candidates=[])
    small = Ledger.temporary(epsilon=0.1, delta=1e-5, rows=400)
    with pytest.raises(BudgetExceeded):
        PrivateSearch(candidates=[candidate(1.0)]).fit(rows, labels, ledger=small)
    assert small.history() == []


def test_a_search_that_cannot_run_is_refused_before_it_is_paid() -> None:
    rows, labels = numbers()
    people = Ledger.temporary(epsilon=10, delta=1e-5, rows=400, subject="who", rows_per_person=2)
    with pytest.raises(InvalidParameter, match="person"):
        PrivateSearch(candidates=[candidate(1.0)]).fit(rows, labels, ledger=people)
    ledger = Ledger.temporary(epsilon=10, delta=1e-5, rows=400)
    with pytest.raises(InvalidParameter, match="shape"):
        PrivateSearch(candidates=[candidate(1.0, shape=(3, 3))]).fit(rows, labels, ledger=ledger)
    assert people.history() == ledger.history() == []


def test_a_seeded_search_begins_with_what_it_is() -> None:
    ledger = Ledger.temporary(epsilon=10, delta=1e-5, rows=400)
    best = PrivateSearch(candidates=[candidate(1.0)], repeats=1, seed=1).fit(*numbers(), ledger=ledger)
    assert best.guarantee_.startswith("NOT PRIVATE")


def test_one_odd_label_moves_a_score_by_one_at_most() -> None:
    rows, labels = numbers()
    plain = candidate(2.0).fit(rows, labels, ledger=Ledger.temporary(epsilon=20, delta=1e-5, rows=400))
    odd: list[Any] = labels.tolist()
    before = right_answers(plain, rows, odd)
    for label in ("x", None, float("nan"), [1], 1 - odd[-1]):
        odd[-1] = label
        assert abs(right_answers(plain, rows, odd) - before) <= 1
    number = PrivateBoostingRegressor(epsilon=2, bounds=(-3, 3))
    number.fit((rows + 3) / 6, rows[:, 0], ledger=Ledger.temporary(epsilon=2, delta=1e-5, rows=400))
    truth: list[Any] = rows[:, 0].tolist()
    before = right_answers(number, (rows + 3) / 6, truth)
    for value in ("x", None, 1e300, float("-inf")):
        truth[-1] = value
        assert abs(right_answers(number, (rows + 3) / 6, truth) - before) <= 1


def test_noise_is_found_for_what_a_whole_search_may_cost() -> None:
    ledger = Ledger.temporary(epsilon=10, delta=1e-5, rows=400)
    trees = [PrivateBoosting(epsilon=1, classes=(0, 1), widths=(1, 1), rounds=rounds) for rounds in (5, 9)]
    for candidates in (trees, [candidate(1.0), candidate(2.0, clip=0.1)]):
        plan = PrivateSearch(candidates=candidates, epsilon=1.5, delta=1e-6).plan(ledger)
        assert (plan.epsilon, plan.delta) == (1.5, 1e-6)
        cost = search_epsilon(plan.one, repeats=5, score_noise=50.0, delta=1e-6)
        assert 0.9 * 1.5 < cost <= 1.5
    with pytest.raises(InvalidParameter, match="score_noise"):
        PrivateSearch(candidates=trees, epsilon=0.05, delta=1e-6, score_noise=2.0).plan(ledger)
