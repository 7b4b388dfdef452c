"""One budget and one noise: however a private model is made, copied, stored or fitted again."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from mahrem.dp import Ledger
from mahrem.errors import BudgetExceeded, InvalidParameter
from mahrem.federated.weights._perturbation import Payments
from mahrem.learning import private
from mahrem.learning.private import (
    FunctionalLogistic,
    ObjectivePerturbation,
    PrivateBoosting,
    PrivateClassifier,
)

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
