"""Attribute inference and model inversion: what must be found, and the baselines it is held against."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from mahrem.attacks.on_models import AttributeInference, Examples, ModelInversion, invert
from mahrem.attacks.on_models._attribute_inference import _fisher
from mahrem.errors import InvalidInput, InvalidParameter


def hidden(count: int, seed: int) -> Examples:
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(count, 4))
    secret = np.eye(3)[rng.integers(3, size=count)]
    return Examples(np.hstack([known, secret]), rng.integers(8, size=count))


def test_a_model_that_learnt_by_heart_gives_a_hidden_attribute_away() -> None:
    inside, outside = hidden(600, 1), hidden(600, 2)
    model = DecisionTreeClassifier(random_state=0).fit(inside.inputs, inside.labels)
    attack = AttributeInference(places=(4, 5, 6), values=np.eye(3))
    found = attack(model, inside, outside)
    assert found.alarming
    assert found.details["outside"] < (found.rate or 0.0) - 0.05
    nothing = LogisticRegression(C=1e-6).fit(inside.inputs, inside.labels)
    assert not attack(nothing, inside, outside).alarming


def test_what_the_population_tells_is_no_breach() -> None:
    # The label is the attribute: everybody can be guessed, in the table or not.
    inside, outside = hidden(300, 1), hidden(300, 2)
    inside, outside = (Examples(one.inputs, one.inputs[:, 4:].argmax(axis=1)) for one in (inside, outside))
    model = LogisticRegression(C=10).fit(inside.inputs, inside.labels)
    found = AttributeInference(places=(4, 5, 6), values=np.eye(3))(model, inside, outside)
    assert found.rate == 1.0
    assert not found.alarming


def test_the_chance_is_that_of_fishers_test() -> None:
    for hits, trials, others, rest in [
        (9, 30, 4, 25),
        (0, 10, 3, 10),
        (10, 10, 0, 12),
        (700, 1000, 650, 990),
    ]:
        table = [[hits, trials - hits], [others, rest - others]]
        slow = stats.fisher_exact(table, alternative="greater").pvalue
        assert _fisher(hits, trials, others, rest) == pytest.approx(slow, rel=1e-9)


def test_one_attribute_chosen_among_many_alarms_no_oftener() -> None:
    # Nothing leaks: labels are coins and the model is blind. ten attributes, 20 tables: each table may alarm
    # with 2.5 % at most; more than four have a chance below 1e-3 (seed fixed).
    class Blind:
        classes_ = (0, 1)

        def predict_proba(self, rows: Any, /) -> Any:
            said = 0.5 + 0.2 * np.sin(100 * np.asarray(rows).sum(axis=1))
            return np.stack([1 - said, said], axis=1)

    draws, alarms = np.random.default_rng(3), 0
    for _ in range(20):
        inside, outside = (
            Examples(
                np.hstack([draws.integers(0, 2, (200, 10)), draws.normal(size=(200, 1))]),
                draws.integers(2, size=200),
            )
            for _ in range(2)
        )
        found = [
            AttributeInference(places=(place,), values=[[0.0], [1.0]])(Blind(), inside, outside)
            for place in range(10)
        ]
        worst = max(found, key=lambda one: (one.rate or 0.0) - (one.baseline or 0.0))
        alarms += replace(worst, tried=10).alarming
    assert alarms <= 4


def test_values_that_no_row_holds_are_refused() -> None:
    one = hidden(40, 1)
    model = LogisticRegression().fit(one.inputs, one.labels)
    with pytest.raises(InvalidInput, match="no row holds"):
        AttributeInference(places=(0,), values=[[77.0], [78.0]])(model, one, hidden(40, 2))
    with pytest.raises(InvalidParameter, match="at least two"):
        AttributeInference(places=(0,), values=[[77.0]])


def blobs(count: int, seed: int) -> Examples:
    labels = np.arange(count) % 4
    middles = np.sign(np.random.default_rng(1).normal(size=(4, 16)))
    return Examples(0.5 * middles[labels] + np.random.default_rng(seed).normal(0, 0.2, (count, 16)), labels)


def test_a_model_shows_what_its_classes_look_like() -> None:
    inside, outside = blobs(200, 1), blobs(200, 2)
    model = LogisticRegression().fit(inside.inputs, inside.labels)
    found = ModelInversion(steps=60)(model, inside, outside)
    assert found.rate == 1.0
    assert found.baseline == 0.25
    assert float(found.details["likeness"]) > 0.8
    assert 0 <= float(found.details["nearer_members"]) <= 1
    assert not found.alarming  # what a class looks like is no breach


def test_rows_kept_in_memory_alarm() -> None:
    # 12 classes, each with a row of its own that the model is surest at; chance gives one alarm in 40.
    draws = np.random.default_rng(5)
    middles = draws.uniform(-0.8, 0.8, (12, 6))

    class Remembers:
        classes_ = np.arange(12)

        def predict_proba(self, rows: Any, /) -> Any:
            far = np.linalg.norm(np.asarray(rows)[:, None] - middles[None], axis=2)
            near = np.exp(-3 * far)
            return near / near.sum(axis=1, keepdims=True) * np.exp(-far.min(axis=1, keepdims=True))

    inside = Examples(middles, np.arange(12))
    outside = Examples(draws.uniform(-0.8, 0.8, (12, 6)), np.arange(12))
    found = ModelInversion()(Remembers(), inside, outside)
    assert found.nearer >= 11
    assert found.alarming


def test_inverted_rows_lie_within_bounds_and_repeat() -> None:
    model: Any = LogisticRegression().fit(blobs(80, 1).inputs, blobs(80, 1).labels)
    how = ModelInversion(low=-0.3, high=0.2, steps=15, directions=8, seed=3)
    made = invert(model, (16,), (0, 2), how)
    assert made.shape == (2, 16)
    assert made.min() >= -0.3
    assert made.max() <= 0.2
    assert np.array_equal(made, invert(model, (16,), (0, 2), how))
    with pytest.raises(InvalidParameter, match="below"):
        ModelInversion(low=1.0, high=1.0)
