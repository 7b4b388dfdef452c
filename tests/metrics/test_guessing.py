"""Guesses within classes: who was chosen for a value is found, who was not is not."""

from __future__ import annotations

import numpy as np

from mahrem.metrics import guess_within_classes


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


def test_the_rarest_value_that_enough_people_have_is_guessed() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1, 2, -1], [600, 300, 20, 80])
    points, labels = rng.random((1_000, 2)), rng.integers(0, 100, 1_000)
    assert guess_within_classes(points, labels, codes) == guess_within_classes(points, labels, codes, 1)
    assert guess_within_classes(points, np.full(1_000, -1), codes).gain == 0.0
