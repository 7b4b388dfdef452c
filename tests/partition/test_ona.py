from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays import averaging
from mahrem.errors import InvalidParameter
from mahrem.metrics import information_loss
from mahrem.models import KAnonymity
from mahrem.partition import Admission, MdavPlus, OnaStar
from mahrem.types import Labels, Points


def admits(points: Points, k: int) -> Admission:
    return Admission(((KAnonymity(k), None),), rows=len(points))


def error(points: Points, labels: Labels) -> float:
    return sum(
        float(((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum())
        for g in set(labels.tolist())
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([0, 1, 4]))
@settings(max_examples=30, deadline=None)
def test_improving_keeps_sizes_and_leaves_no_move_that_lowers_the_error(
    seed: int, k: int, tries: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((60, 2))
    labels = np.minimum(rng.permutation(60) // k, 60 // k - 1)
    before = error(points, labels)
    left = averaging.improve(points, labels, k, tries, 1000)
    sizes = np.bincount(labels)
    assert sizes[sizes > 0].min() >= k
    assert sizes.max() < 2 * k
    assert left == pytest.approx(error(points, labels))
    assert left <= before
    groups = np.flatnonzero(sizes)
    for row in np.flatnonzero(sizes[labels] > k):
        for group in groups:
            moved = labels.copy()
            moved[row] = group
            assert error(points, moved) >= left * (1 - 1e-9)


def test_swaps_lower_the_error_where_moves_cannot() -> None:
    points = np.array([[0.0], [0.1], [1.0], [1.1]])
    labels = np.array([0, 1, 0, 1])
    assert averaging.improve(points, labels.copy(), 2, 0, 10) == pytest.approx(1)
    assert averaging.improve(points, labels, 2, 1, 10) == pytest.approx(0.01)


def test_dissolving_lowers_the_error_where_moves_cannot() -> None:
    points = np.array([[0.0], [0.0], [0.0], [9.0], [9.0], [9.0], [0.0], [9.0], [0.0]])
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    averaging.improve(points, labels, 3, 0, 10)
    assert error(points, labels) == 0


def test_it_is_better_than_mdav_plus_and_restarts_never_hurt() -> None:
    points = np.random.default_rng(1).random((600, 4))
    losses = [
        information_loss(points, OnaStar(restarts=restarts, seed=3)(points, admits(points, 5)).labels)
        for restarts in (1, 4)
    ]
    assert losses[1] <= losses[0] < information_loss(points, MdavPlus()(points, admits(points, 5)).labels)


def test_groups_hold_k_to_2k_minus_1_rows_and_a_seed_gives_them_again() -> None:
    points = np.random.default_rng(2).random((203, 3))
    one = OnaStar(seed=9)(points, admits(points, 4))
    assert one.sizes.max() < 8
    assert (one.labels == OnaStar(seed=9)(points, admits(points, 4)).labels).all()


@pytest.mark.parametrize("restarts", [0, 1.5])
def test_restarts_are_a_number_above_zero(restarts: int) -> None:
    with pytest.raises(InvalidParameter, match="restarts"):
        OnaStar(restarts=restarts)(np.zeros((4, 1)), admits(np.zeros((4, 1)), 2))
