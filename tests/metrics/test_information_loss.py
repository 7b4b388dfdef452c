from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.metrics import information_loss, standardised


def test_two_pairs_by_hand() -> None:
    points = np.array([[0.0], [2.0], [8.0], [10.0]])
    # within: 1 + 1 + 1 + 1; around the mean 5: 25 + 9 + 9 + 25
    assert information_loss(points, np.array([0, 0, 1, 1])) == pytest.approx(4 / 68)


def test_rows_alone_lose_nothing_and_one_class_loses_all() -> None:
    points = np.random.default_rng(0).random((20, 3))
    assert information_loss(points, np.arange(20)) == 0
    assert information_loss(points, np.zeros(20, np.int64)) == pytest.approx(1)
    assert information_loss(points, np.full(20, -1)) == pytest.approx(1)


def test_a_suppressed_row_loses_all_it_adds() -> None:
    points = np.array([[0.0], [2.0], [8.0], [10.0]])
    assert information_loss(points, np.array([0, 0, -1, 1])) == pytest.approx((1 + 1 + 9) / 68)


def test_equal_rows_and_empty_tables_lose_nothing() -> None:
    assert information_loss(np.full((7, 2), 0.1), np.zeros(7, np.int64)) == 0
    assert information_loss(np.empty((0, 2)), np.empty(0, np.int64)) == 0
    assert information_loss(np.empty((3, 0)), np.zeros(3, np.int64)) == 0
    assert standardised(np.array([[3.0, 4.0]])).tolist() == [[0, 0]]


def test_labels_must_be_as_many_as_rows() -> None:
    with pytest.raises(InvalidParameter, match="labels=2"):
        information_loss(np.zeros((3, 1)), np.zeros(2, np.int64))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_it_agrees_with_the_definition_and_merging_never_lowers_it(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    points, labels = rng.normal(size=(40, 3)), rng.integers(0, classes, 40)
    within = sum(
        ((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels)
    )
    loss = information_loss(points, labels)
    assert loss == pytest.approx(within / ((points - points.mean(axis=0)) ** 2).sum())
    assert information_loss(points, labels // 2) >= loss - 1e-12
    moved = points * 3 + 100
    assert information_loss(moved, labels) == pytest.approx(loss)
