"""One budget and one noise: however a private model is made, copied, stored or fitted again."""

from __future__ import annotations

import copy
import inspect
import pickle
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from mahrem.dp import Ledger, assert_dp
from mahrem.errors import BudgetExceeded, Infeasible, InvalidParameter
from mahrem.federated.weights._perturbation import Payments
from mahrem.learning import private
from mahrem.learning.private import (
    FunctionalLogistic,
    ObjectivePerturbation,
    PaidScore,
    PrivateBoosting,
    PrivateBoostingRegressor,
    PrivateClassifier,
    PrivateSearch,
)
from mahrem.learning.synthesis import SyntheticSchema, make_synthesiser
from mahrem.learning.votes import GaussianVotes, Pate

ROWS = np.random.default_rng(0).random((60, 2))
LABELS = np.where(ROWS[:, 0] > 0.5, "yes", "no")
CLASSES = ("no", "yes")


def book(epsilon: float = 3.0) -> Ledger:
    return Ledger.temporary(epsilon=epsilon, delta=1e-5, rows=len(ROWS))


def models(**more: Any) -> dict[str, Any]:
    return {
        "network": PrivateClassifier(
            network="logistic", classes=CLASSES, epsilon=1.0, epochs=1, batch=30, **more
        ),
        "boosting": PrivateBoosting(classes=CLASSES, epsilon=1.0, rounds=2, **more),
        "objective": ObjectivePerturbation(classes=CLASSES, epsilon=1.0, **more),
        "functional": FunctionalLogistic(classes=CLASSES, epsilon=1.0, **more),
    }


def teachers(**more: Any) -> Pate:
    return Pate(
        teacher=LogisticRegression,
        student=LogisticRegression,
        classes=CLASSES,
        teachers=4,
        votes=GaussianVotes(8.0),
        questions=3,
        **more,
    )


@pytest.mark.parametrize("name", models())
def test_a_ledger_may_be_named_when_a_model_is_made_or_fitted_but_once(name: str) -> None:
    told = book()
    model = models(ledger=told)[name]
    assert model.get_params()["ledger"] is told
    model.fit(ROWS, LABELS)
    assert 0.9 < told.spent().epsilon < 1.1
    assert "ledger" not in repr(model)
    model.fit(ROWS, LABELS, ledger=told)  # the same one twice is one
    with pytest.raises(InvalidParameter, match="ledger"):
        model.fit(ROWS, LABELS, ledger=book())
    with pytest.raises(InvalidParameter, match="ledger"):
        models()[name].fit(ROWS, LABELS)


def test_teachers_and_searches_may_be_told_their_ledger_too() -> None:
    told = book(10.0)
    with suppress(Infeasible):  # answers of one class, by chance: they are paid for all the same
        teachers(ledger=told).fit(ROWS, LABELS, public=ROWS)
    assert len(told.history()) == 1
    candidate = PrivateBoosting(classes=CLASSES, noise_multiplier=4.0, rounds=2, widths=(1, 1))
    search = PrivateSearch(candidates=[candidate], repeats=1, ledger=told)
    assert search.plan().epsilon > 0
    search.fit(ROWS, LABELS)
    assert len(told.history()) == 2
    assert "ledger" not in repr(search) + repr(teachers(ledger=told))
    for model in (teachers(ledger=told), replace(search)):
        with pytest.raises(InvalidParameter, match="made with another"):
            model.fit(ROWS, LABELS, ledger=book(), **({"public": ROWS} if isinstance(model, Pate) else {}))


@pytest.mark.parametrize("name", ["network", "boosting"])
def test_a_score_is_paid_for_or_said_to_be_open(name: str) -> None:
    told = book(10.0)
    model = models(ledger=told)[name].fit(ROWS, LABELS)
    for asked in ({}, {"epsilon": 1.0, "openly": True}):
        with pytest.raises(InvalidParameter, match="nobody's secret"):
            model.score(ROWS, LABELS, **asked)
    assert len(told.history()) == 1
    right = model.score(ROWS, LABELS, openly=True)
    assert right == np.mean(model.predict(ROWS) == LABELS)
    assert len(told.history()) == 1
    assert abs(model.score(ROWS, LABELS, epsilon=8.0) - right) < 0.1  # farther once in 10^8
    assert 8.5 < told.spent().epsilon < 9.1
    with pytest.raises(BudgetExceeded):
        model.score(ROWS, LABELS, epsilon=8.0)
    # The last label is none: it counts as wrong, and fails nothing.
    odd = [*LABELS[:-1].tolist(), ["x"]]

    def pipeline(given: tuple[Any, Any]) -> float:
        return float(model.score(*given, ledger=told, epsilon=0.1))

    assert_dp(pipeline, (ROWS, odd), (ROWS[:-1], LABELS[:-1]))


def test_a_score_that_no_noise_is_known_for_is_refused() -> None:
    numbers = PrivateBoostingRegressor(epsilon=1, bounds=(0, 1), rounds=2).fit(
        ROWS, ROWS[:, 0], ledger=book()
    )
    with pytest.raises(InvalidParameter, match="evaluate_epsilon"):
        numbers.score(ROWS, ROWS[:, 0], ledger=book(), epsilon=1.0)
    people = Ledger.temporary(epsilon=3, subject="who", rows_per_person=1)
    model = models()["boosting"].fit(ROWS, LABELS, ledger=book())
    with pytest.raises(InvalidParameter, match="person"):
        model.score(ROWS, LABELS, ledger=people, epsilon=1.0)


def test_every_private_model_that_scores_is_paid_for_it() -> None:
    for name in private.__all__:
        entry = getattr(private, name)
        if inspect.isclass(entry) and name.startswith("Private") and hasattr(entry, "score"):
            assert entry.score is PaidScore.score, name
    assert Pate.score is PaidScore.score


def test_what_is_drawn_shows_neither_the_number_of_rows_nor_what_nobody_declared() -> None:
    facts = {"ward": {"categories": ["1", "2"]}, "cost": {"lower": 0, "upper": 10}}
    lengths = []
    for _ in range(12):
        ledger = Ledger.temporary(epsilon=1, delta=1e-6, columns=facts, rows=1000)
        table = pl.DataFrame({"ward": ["1", "2", "9"] * 300, "cost": [1.0, 99.0, None] * 300})
        schema = SyntheticSchema(missing=("ward",))
        drawn = make_synthesiser("marginals", epsilon=1, delta=1e-6, schema=schema).fit(table, ledger=ledger)
        made = drawn.sample(seed=1)
        assert set(made["ward"].to_list()) <= {1, 2, None}
        assert made["cost"].min() >= 0  # type: ignore[operator]
        assert made["cost"].max() <= 10  # type: ignore[operator]
        lengths.append(len(made))
    assert len(set(lengths)) > 1  # all alike less than once in 10^6


@pytest.mark.parametrize("copied", [clone, copy.copy, copy.deepcopy])
def test_copies_of_a_model_pay_from_one_budget(copied: Any) -> None:
    told = book(2.5)
    model = models(ledger=told)["objective"]
    for _ in range(2):
        copied(model).fit(ROWS, LABELS)
    assert 1.9 < told.spent().epsilon < 2.1
    with pytest.raises(BudgetExceeded):
        copied(model).fit(ROWS, LABELS)


def test_a_search_of_scikit_learn_pays_for_every_fit() -> None:
    told = book(9.0)
    search = GridSearchCV(models(ledger=told)["objective"], {"norm": [0.5, 1.0]}, cv=2, scoring="accuracy")
    search.fit(ROWS, LABELS)
    assert len(told.history()) == 2 * 2 + 1


def test_a_stored_ledger_is_the_one_that_lies_there(tmp_path: Path) -> None:
    pl.DataFrame({"age": [1, 2]}).write_csv(tmp_path / "t.csv")
    lies = Ledger.create(
        tmp_path / "L", tmp_path / "t.csv", epsilon=1, columns={"age": {"lower": 0, "upper": 9}}
    )
    again = pickle.loads(pickle.dumps(lies))  # noqa: S301 - our own
    assert again.path == lies.path
    with pytest.raises(TypeError, match="in memory"):
        pickle.dumps(book())


def test_nobody_can_give_the_same_noise_to_two_fits() -> None:
    for name in private.__all__:
        entry = getattr(private, name)
        for verb in ("fit", "__init__"):
            if inspect.isclass(entry) and hasattr(entry, verb):
                assert "stream" not in inspect.signature(getattr(entry, verb)).parameters, f"{name}.{verb}"
    assert "stream" not in inspect.signature(Payments).parameters
