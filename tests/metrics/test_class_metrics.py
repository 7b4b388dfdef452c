"""Metrics on sizes of classes: worked examples, ranges and directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.metrics import (
    average_risk,
    c_avg,
    discernibility,
    highest_risk,
    mean_class_size,
    share_at_risk,
    unique_share,
)

SIZES = st.lists(st.integers(1, 100), min_size=1, max_size=20).map(np.array)
NOTHING = np.zeros(0, dtype=np.int64)


def test_two_relaxed_classes_of_5_and_4_cost_41_and_three_of_3_cost_27() -> None:
    assert discernibility(np.array([5, 4])) == 41
    assert discernibility(np.array([3, 3, 3])) == 27


def test_a_suppressed_row_costs_all_rows() -> None:
    assert discernibility(np.array([5, 4]), suppressed=2, rows=11) == 41 + 22


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_class_over_46341_rows_does_not_overflow(dtype: type) -> None:
    assert discernibility(np.array([60_000, 60_000], dtype=dtype)) == 7_200_000_000


def test_squares_beyond_64_bits_stay_exact() -> None:
    assert discernibility(np.array([4_000_000_000, 1])) == 16 * 10**18 + 1


def test_c_avg_divides_by_the_k_that_was_asked_for() -> None:
    assert mean_class_size(np.array([5, 4])) == 4.5
    assert c_avg(np.array([5, 4]), 3) == 1.5


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_c_avg_refuses_a_k_that_is_none(k: int) -> None:
    with pytest.raises(InvalidParameter):
        c_avg(np.array([5, 4]), k)


def test_relaxed_mondrian_on_adult_at_k_5_has_the_published_mean() -> None:
    sizes = np.full(4096, 30162 // 4096)
    sizes[: 30162 % 4096] += 1  # exact halving leaves sizes 7 and 8
    assert discernibility(sizes) == 223054
    assert mean_class_size(sizes) == pytest.approx(7.3638, abs=1e-4)


def test_risks_of_a_table_done_by_hand() -> None:
    sizes = np.array([1, 1, 2, 6])
    assert highest_risk(sizes) == 1.0
    assert average_risk(sizes) == 0.4
    assert unique_share(sizes) == 0.2
    assert share_at_risk(sizes, 0.5) == 0.2  # a risk of one half is not above one half
    assert share_at_risk(sizes, 0.2) == 0.4


@pytest.mark.parametrize("size", range(1, 60))
def test_a_risk_at_the_threshold_is_not_above_it(size: int) -> None:
    assert share_at_risk(np.array([size]), 1 / size) == 0.0


def test_classes_without_rows_put_nobody_at_risk() -> None:
    assert highest_risk(np.array([0, 4])) == average_risk(np.array([0, 4])) == 0.25
    assert share_at_risk(np.array([0, 4]), 0.3) == unique_share(np.array([0, 4])) == 0.0


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_probability_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidParameter):
        share_at_risk(np.array([3]), threshold)


def test_nothing_published_costs_and_risks_nothing() -> None:
    assert discernibility(NOTHING) == 0
    assert discernibility(NOTHING, suppressed=4, rows=4) == 16
    assert mean_class_size(NOTHING) == c_avg(NOTHING, 5) == 0.0
    assert highest_risk(NOTHING) == average_risk(NOTHING) == 0.0
    assert share_at_risk(NOTHING, 0.2) == unique_share(NOTHING) == 0.0


@given(sizes=SIZES)
def test_discernibility_lies_between_rows_and_their_square(sizes: np.ndarray) -> None:
    assert sizes.sum() <= discernibility(sizes) <= sizes.sum() ** 2


@given(sizes=SIZES)
def test_risks_are_probabilities_in_order(sizes: np.ndarray) -> None:
    assert 0 < average_risk(sizes) <= highest_risk(sizes) <= 1
    assert unique_share(sizes) <= share_at_risk(sizes, 0.2) <= 1
    assert share_at_risk(sizes, 1) == 0


@given(sizes=SIZES, low=st.floats(0, 1), high=st.floats(0, 1))
def test_a_higher_threshold_puts_fewer_at_risk(sizes: np.ndarray, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert share_at_risk(sizes, high) <= share_at_risk(sizes, low)


@given(sizes=SIZES.filter(lambda sizes: len(sizes) > 1))
def test_joining_two_classes_costs_utility_and_lowers_risk(sizes: np.ndarray) -> None:
    joined = np.append(sizes[2:], sizes[0] + sizes[1])
    assert discernibility(joined) >= discernibility(sizes)
    assert mean_class_size(joined) >= mean_class_size(sizes)
    assert c_avg(joined, 3) >= c_avg(sizes, 3)
    assert highest_risk(joined) <= highest_risk(sizes)
    assert average_risk(joined) <= average_risk(sizes)
    assert unique_share(joined) <= unique_share(sizes)


@given(sizes=SIZES, data=st.data())
def test_the_order_of_classes_does_not_matter(sizes: np.ndarray, data: st.DataObject) -> None:
    other = np.array(data.draw(st.permutations(sizes.tolist())))
    for metric in (discernibility, mean_class_size, highest_risk, average_risk, unique_share):
        assert metric(other) == pytest.approx(metric(sizes))
