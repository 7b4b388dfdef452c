"""Attacks on what clients send: rows read off gradients, members by gain, models that obey a poisoner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.attacks.on_federations import GradientInversion, Misled, UpdateMembership, rows_behind
from mahrem.attacks.on_models import Examples
from mahrem.errors import InvalidInput, InvalidParameter

rng = np.random.default_rng(11)
STRANGERS = rng.random((200, 12))


def layer_gradient(rows: Any, matrix: Any, upper: Any) -> tuple[Any, Any]:
    """Give the gradient of the sum of upper @ relu(matrix @ row), row by row: slow and obvious."""
    slope, shift = np.zeros_like(matrix), np.zeros(len(matrix))
    for row in rows:
        active = upper * (matrix @ row > 0)
        slope += np.outer(active, row)
        shift += active
    return slope, shift


@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([1e-6, -0.01, 1.0, 300.0]))
@settings(max_examples=40, deadline=None)
def test_one_row_is_read_off_exactly_whatever_factor_it_was_sent_with(seed: int, factor: float) -> None:
    draw = np.random.default_rng(seed)
    row = draw.random((1, 12))
    slope, shift = layer_gradient(row, draw.normal(size=(16, 12)), draw.normal(size=16))
    if np.count_nonzero(shift) < 2:
        assert len(rows_behind(factor * slope, factor * shift)) <= 1
        return
    assert rows_behind(factor * slope, factor * shift) == pytest.approx(row, abs=1e-9)


def test_a_unit_that_one_row_of_a_batch_moves_gives_that_row_away() -> None:
    rows = np.eye(3)
    matrix = np.array([[1.0, -1, -1], [1, -2, -1], [1, 1, 1], [2, 1, 1]])  # two units see the first row alone
    found = rows_behind(*layer_gradient(rows, matrix, np.array([0.5, 2.0, 1.0, -1.0])))
    assert any(np.allclose(claim, rows[0]) for claim in found)
    assert not any(np.allclose(claim, rows[1]) for claim in found)


def test_a_sum_over_many_rows_gives_none_of_them_away() -> None:
    rows = rng.random((160, 12))
    update = layer_gradient(rows, rng.normal(size=(32, 12)), rng.normal(size=32))
    found = GradientInversion()([update], [rows], STRANGERS)
    assert found.successes == 0
    assert not found.alarming


@pytest.mark.parametrize(("noise", "rate"), [(0.0, 1.0), (1e-4, 1.0), (1.0, 0.0)])
def test_noise_as_large_as_the_update_hides_rows_and_clipping_alone_does_not(
    noise: float, rate: float
) -> None:
    # Blind claims hit one input within 0.05 in about one of ten cases, so all 12 of them in 1e-12 (50 rows).
    draw = np.random.default_rng(3)
    rows = draw.random((50, 12))
    updates = []
    for row in rows:
        slope, shift = layer_gradient(row[None], draw.normal(size=(32, 12)), draw.normal(size=32))
        length = np.sqrt(np.square(slope).sum() + np.square(shift).sum())  # clipped to 1
        slope = slope / length + noise * draw.normal(size=slope.shape)
        updates.append((slope, shift / length + noise * draw.normal(size=shift.shape)))
    found = GradientInversion()(updates, list(rows[:, None]), STRANGERS)
    assert found.rate == rate
    assert found.alarming is (rate == 1)
    nearer = float(found.details["distance"]) < float(found.details["distance_of_strangers"])
    assert nearer is (rate == 1)


def test_an_update_that_moved_nothing_tells_nothing() -> None:
    still = np.zeros((4, 12)), np.zeros(4)
    assert rows_behind(*still).shape == (0, 12)
    found = GradientInversion()([still], [STRANGERS[:1]], STRANGERS[1:])
    assert (found.successes, found.details["claims"]) == (0, 0)


def test_updates_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidInput, match="each unit"):
        rows_behind(np.zeros((3, 2)), np.zeros(2))
    with pytest.raises(InvalidParameter, match="tolerance"):
        rows_behind(np.zeros((3, 2)), np.zeros(3), tolerance=0)
    with pytest.raises(InvalidParameter, match="strangers=0"):
        GradientInversion()([(np.zeros((1, 2)), np.zeros(1))], [np.zeros((1, 2))], np.zeros((0, 2)))


class Sure:
    """Says class 1 with a chance that its rows tell: so much more of some rows."""

    classes_ = (0, 1)

    def __init__(self, chances: Any) -> None:
        self.chances = np.asarray(chances)

    def predict_proba(self, rows: Any) -> Any:
        said = self.chances[np.asarray(rows)[:, 0].astype(int)]
        return np.stack([1 - said, said], axis=1)


def numbered(first: int, last: int) -> Examples:
    return Examples(np.arange(first, last, dtype=float)[:, None], np.ones(last - first, dtype=int))


def test_easy_rows_are_no_members_and_rows_that_gained_are() -> None:
    before = np.where(np.arange(200) % 2 == 0, 0.95, 0.3)  # easy and hard rows on both sides
    after = before + np.where(np.arange(200) < 100, 0.03, 0.0)
    inside, outside = numbered(0, 100), numbered(100, 200)
    found = UpdateMembership()([Sure(before)], [Sure(after)], inside, outside)
    assert (found.rate, found.area) == (1.0, 1.0)
    assert found.alarming
    same = UpdateMembership()([Sure(before)], [Sure(before)], inside, outside)
    assert same.area == 0.5
    assert not same.alarming


def test_rounds_add_up() -> None:
    draw = np.random.default_rng(2)
    gain = np.where(np.arange(400) < 200, 0.01, 0.0)
    given_to = [Sure(draw.uniform(0.4, 0.6, 400)) for _ in range(30)]
    sent = [Sure(model.chances + gain + draw.normal(0, 0.02, 400)) for model in given_to]
    inside, outside = numbered(0, 200), numbered(200, 400)
    one = UpdateMembership()(given_to[:1], sent[:1], inside, outside)
    many = UpdateMembership()(given_to, sent, inside, outside)
    assert many.area > 0.95 > one.area
    assert many.details["rounds"] == 30
    with pytest.raises(InvalidParameter, match="given=1, sent=2"):
        UpdateMembership()(given_to[:1], sent[:2], inside, outside)


def test_an_honest_model_never_alarms_against_itself() -> None:
    model = Sure(np.linspace(0, 1, 100))
    rows = Examples(np.arange(100.0)[:, None], np.zeros(100, dtype=int))
    found = Misled(into=1, classes=(0, 1))(model, rows, model)
    assert found.rate == found.baseline
    assert not found.alarming


def test_rows_of_the_wanted_class_do_not_count() -> None:
    rows = Examples(np.arange(100.0)[:, None], (np.arange(100) < 60).astype(int))
    obeys, honest = Sure(np.ones(100)), Sure(np.zeros(100))
    found = Misled(into=1, classes=(0, 1))(obeys, rows, honest)
    assert (found.trials, found.rate, found.baseline) == (40, 1.0, 0.0)
    wrong = Misled(classes=(0, 1))(obeys, rows, honest)
    assert (wrong.trials, wrong.rate, wrong.baseline) == (100, 0.4, 0.6)
    with pytest.raises(InvalidInput, match="rows=0"):
        Misled(into=1, classes=(0, 1))(obeys, rows.take(np.asarray(rows.labels) == 1), honest)
    with pytest.raises(InvalidParameter, match="into"):
        Misled(into=7, classes=(0, 1))
