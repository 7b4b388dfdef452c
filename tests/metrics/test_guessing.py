"""Guesses within classes: who was chosen for a value is found, who was not is not."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.metrics import box_shrinks, guess_within_classes, take_first


def test_members_that_tell_nothing_are_guessed_by_chance() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(4_000), 5)
    guesses = guess_within_classes(rng.random((20_000, 3)), labels, rng.integers(0, 2, 20_000), 1)
    # 10,000 holders, guesses right with a share near .6: five deviations are .025
    assert abs(guesses.extremes - guesses.chance) < 0.025
    assert abs(guesses.model - guesses.chance) < 0.025
    assert abs(guesses.extremes - guesses.chance) < 5 * guesses.spread  # which is what luck does


def test_members_from_afar_are_found_among_the_extreme_ones() -> None:
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(500), 4)
    codes = np.tile([0, 0, 0, 1], 500)
    points = np.repeat(rng.random((500, 2)), 4, axis=0) + 0.01 * rng.random((2_000, 2)) + 0.5 * codes[:, None]
    guesses = guess_within_classes(points, labels, codes, 1)
    assert guesses.chance == 0.25
    assert guesses.extremes > 0.9
    assert guesses.gain > 0.6


def test_suppressed_rows_and_values_that_nobody_has_count_for_nothing() -> None:
    points, codes = np.zeros((4, 1)), np.array([0, 0, 1, 1])
    assert guess_within_classes(points, np.array([0, 0, -1, -1]), codes, 1).gain == 0.0
    assert guess_within_classes(points, np.array([0, 0, 0, 0]), codes, 1).chance == 0.5


def test_each_value_that_enough_people_have_and_not_most_is_guessed() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1, 2, -1], [600, 300, 20, 80])
    points, labels = rng.random((1_000, 2)), rng.integers(0, 100, 1_000)
    assert guess_within_classes(points, labels, codes) == guess_within_classes(points, labels, codes, 1)
    assert guess_within_classes(points, np.full(1_000, -1), codes).gain == 0.0
    codes = np.repeat([0, 1, 2, 3], [300, 400, 280, 20])
    both = [guess_within_classes(points, labels, codes, value) for value in (0, 1, 2)]
    found = guess_within_classes(points, labels, codes)
    assert found.model == pytest.approx(np.mean([one.model for one in both]))
    assert found.chance == pytest.approx(np.mean([one.chance for one in both]))
    assert guess_within_classes(points, labels, np.arange(1_000)).gain == 0.0  # a handful each says nothing
    assert guess_within_classes(points, labels, np.repeat([0, 1], [970, 30])).chance > 0.9  # nothing rarer


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_among_equals_anybody_may_be_taken(seed: int) -> None:
    """The share that is right is the mean over all orders of those that look alike."""
    rng = np.random.default_rng(seed)
    labels, points = np.repeat([0, 1, 2], 4), rng.integers(0, 2, (12, 1)).astype(float)
    codes = rng.integers(0, 2, 12)
    codes[0] = 1
    has, held = codes == 1, np.bincount(labels[codes == 1], minlength=3)
    shrinks = box_shrinks(points, labels)
    right = [
        int((take_first(shrinks, labels, held, rng.random(12)) & has).sum()) / held.sum() for _ in range(400)
    ]
    found = guess_within_classes(points, labels, codes, 1)
    # a mean of 400 draws from at most three classes of four: six of its deviations
    assert found.extremes == pytest.approx(np.mean(right), abs=6 * 0.5 / 20)


def test_the_order_of_rows_changes_no_guess() -> None:
    rng = np.random.default_rng(4)
    points, labels = rng.integers(0, 4, (200, 2)) / 4, rng.integers(0, 30, 200)
    codes, order = rng.integers(0, 5, 200), rng.permutation(200)
    once, again = (
        guess_within_classes(points[rows], labels[rows], codes[rows]) for rows in (np.arange(200), order)
    )
    assert (once.extremes, once.model) == pytest.approx((again.extremes, again.model))


ROWS = st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 2))


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(ROWS, min_size=2, max_size=5))
def test_among_equals_all_ways_count_alike_however_rows_stand(rows: list[tuple[int, int, int]]) -> None:
    labels, codes, places = np.array(rows).T
    guesses = guess_within_classes(places[:, None].astype(float), labels, codes, 1)
    held, right = np.bincount(labels[codes == 1], minlength=2), []
    for ties in permutations(range(len(rows))):
        turned = list(ties)
        points = places[turned, None].astype(float)
        assert guess_within_classes(points, labels[turned], codes[turned], 1) == guesses
        taken = take_first(
            box_shrinks(places[:, None].astype(float), labels), labels, held, np.array(ties, float)
        )
        right.append(int((codes[taken] == 1).sum()))
    assert guesses.extremes == pytest.approx(np.mean(right) / max(held.sum(), 1))
