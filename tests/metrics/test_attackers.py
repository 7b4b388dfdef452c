"""Prosecutor, journalist, marketer and k-map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from mahrem.errors import InvalidParameter
from mahrem.estimates import (
    expected_risks,
    journalist_risk,
    k_map,
    k_map_rows,
    marketer_risk,
    prosecutor_risk,
)
from mahrem.metrics import average_risk, highest_risk, share_at_risk

SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=20).map(np.array)


@given(SIZES, st.sampled_from([0.05, 0.09, 0.2, 0.5]))
@settings(max_examples=40, deadline=None)
def test_the_prosecutor_is_the_three_single_figures(sizes: np.ndarray, threshold: float) -> None:
    risk = prosecutor_risk(sizes, threshold=threshold)
    assert risk.at_risk == share_at_risk(sizes, threshold)
    assert risk.highest == highest_risk(sizes)
    assert risk.average == pytest.approx(average_risk(sizes))


@given(SIZES)
@settings(max_examples=40, deadline=None)
def test_a_population_that_is_the_table_makes_the_journalist_a_prosecutor(sizes: np.ndarray) -> None:
    known = prosecutor_risk(sizes)
    for found in (journalist_risk(sizes, population=sizes), journalist_risk(sizes, fraction=1.0)):
        assert found.as_dict() == pytest.approx(known.as_dict())
    assert marketer_risk(sizes) == pytest.approx(known.average)
    assert marketer_risk(sizes, population=sizes) == pytest.approx(known.average)


@given(SIZES, st.integers(0, 30))
@settings(max_examples=40, deadline=None)
def test_a_larger_population_is_never_more_dangerous(sizes: np.ndarray, more: int) -> None:
    near, far = (journalist_risk(sizes, population=sizes + extra) for extra in (more, more + 3))
    assert far.highest <= near.highest
    assert far.average <= near.average
    assert far.at_risk <= near.at_risk
    assert marketer_risk(sizes, population=sizes + more) <= near.average + 1e-12


def test_the_journalist_takes_the_larger_of_two_averages() -> None:
    sizes, population = np.array([1, 9]), np.array([100, 9])
    risk = journalist_risk(sizes, population=population)
    assert risk.average == pytest.approx(max(2 / 109, (1 / 100 + 9 / 9) / 10))
    assert risk.highest == pytest.approx(1 / 9)
    assert risk.at_risk == 0.0
    assert marketer_risk(sizes, population=population) == pytest.approx((1 / 100 + 1) / 10)
    wide = journalist_risk(np.array([1, 1]), population=np.array([1, 3]))
    assert wide.average == pytest.approx((1 + 1 / 3) / 2)


@pytest.mark.parametrize("fraction", [0.0005, 0.03, 0.2, 0.49, 0.5, 0.8, 1.0])
def test_the_expected_risk_is_the_integral(fraction: float) -> None:
    sizes = np.array([1, 2, 3, 7, 40, 999, 1000, 1001, 2500])
    odds = 1 / fraction - 1
    for size, risk in zip(sizes, expected_risks(sizes, fraction), strict=True):
        points = [0.5 ** (1 / size), min(1 / max(odds, 1.0), 0.5)]
        whole, _ = integrate.quad(
            lambda v, s=size: v ** (s - 1) / (1 + odds * v), 0, 1, points=points, epsabs=0
        )
        assert risk == pytest.approx(whole, rel=1e-6)


def test_the_expected_risk_is_that_of_a_negative_binomial() -> None:
    fraction, size = 0.3, 4
    people = np.arange(size, 400)
    chances = stats.nbinom.pmf(people - size, size, fraction)
    assert expected_risks(np.array([size]), fraction)[0] == pytest.approx(float(chances @ (1 / people)))


def test_nothing_published_has_no_risk() -> None:
    nobody = np.zeros(3, np.int64)
    assert prosecutor_risk(nobody).as_dict() == {
        "at_risk": 0.0,
        "highest": 0.0,
        "average": 0.0,
        "threshold": 0.2,
    }
    assert journalist_risk(nobody, population=np.array([1, 2, 3])).highest == 0.0
    assert marketer_risk(nobody) == 0.0
    assert k_map(nobody, np.array([5, 6, 7])) == 0


def test_a_population_smaller_than_the_table_is_refused_without_its_numbers_of_people() -> None:
    with pytest.raises(InvalidParameter, match="1 classes have fewer people"):
        journalist_risk(np.array([3, 2]), population=np.array([2, 9]))
    with pytest.raises(InvalidParameter, match="exactly one"):
        journalist_risk(np.array([3, 2]))
    with pytest.raises(InvalidParameter, match="as many as the classes"):
        marketer_risk(np.array([3, 2]), population=np.array([5]))
    with pytest.raises(InvalidParameter, match="above 0"):
        expected_risks(np.array([1]), 0.0)


@given(st.integers(1, 40), st.floats(0.001, 1.0), st.sampled_from([0.001, 0.01, 0.05, 0.2]))
@settings(max_examples=50, deadline=None)
def test_rows_for_k_map_are_the_first_that_a_class_of_k_seldom_reaches(
    k: int, fraction: float, significance: float
) -> None:
    rows = k_map_rows(k, fraction, significance=significance)
    assert 1 <= rows <= k
    seldom = stats.poisson(k * fraction)
    assert rows == k or seldom.sf(rows - 1) <= significance * (1 + 1e-9)
    assert rows == 1 or seldom.sf(rows - 2) > significance * (1 - 1e-9)
