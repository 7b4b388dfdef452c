from __future__ import annotations

import numpy as np
import pytest

from mahrem.experiments import reproduce
from mahrem.experiments._federated_shapes import LEAKS, SHAPES, guess_labels


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_every_shape_stands_beside_one_place() -> None:
    rows = reproduce("federated-shapes", ["shapes"], quick=True)
    assert {row.method for row in rows} == set(SHAPES)
    held = {(row.method, row.metric): row.ours for row in rows}
    for shape in SHAPES:
        ours, central = held[shape, "accuracy"], held[shape, "accuracy_central"]
        apart = held[shape, "accuracy_difference"]
        assert ours is not None
        assert central is not None
        assert apart == pytest.approx(ours - central, abs=2e-4)


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_slopes_tell_labels_unless_they_are_randomised() -> None:
    rows = reproduce("federated-shapes", ["leaks"], quick=True)
    guessed = [row.ours or 0.0 for row in rows if row.metric == "labels_guessed"]
    assert len(guessed) == len(LEAKS)
    # of 1,050 labels three quarters are kept at epsilon 1; six deviations of coins: false alarm < 1e-8
    assert guessed[0] > 0.99
    assert guessed[-1] < 0.731 + 6 * np.sqrt(0.731 * 0.269 / 1050)


def test_a_guess_is_the_side_of_the_main_direction() -> None:
    slopes = np.outer([1, 2, 3, -1, -2], [0.3, -0.4]).astype(np.float32)
    assert guess_labels(slopes, np.array([0, 0, 0, 1, 1])) == 1
    assert guess_labels(-slopes, np.array([0, 0, 0, 1, 1])) == 1
    assert guess_labels(slopes, np.array([0, 1, 0, 1, 0])) == pytest.approx(0.6)
