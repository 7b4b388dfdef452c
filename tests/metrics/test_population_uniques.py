"""Pitman, Zayatz, the slide negative binomial and the rule that chooses between them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from mahrem.errors import InvalidParameter
from mahrem.estimates import (
    expected_classes,
    pitman_parameters,
    pitman_uniques,
    population_uniques,
    snb_uniques,
    zayatz_uniques,
)
from mahrem.estimates._rising import digamma_rise, find_root, log_rising
from mahrem.estimates._slide_negative_binomial import _alpha, _pairs

SIZES = st.lists(st.integers(1, 9), min_size=2, max_size=40).map(np.array)


def chinese_restaurant(theta: float, alpha: float, people: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a population from Pitman's model, one person after the other."""
    seated = [0]
    sizes = [1]
    for number in range(1, people):
        if rng.random() * (theta + number) < theta + alpha * len(sizes):
            seated.append(len(sizes))
            sizes.append(1)
        else:
            while True:  # a person already there, whose class is joined unless alpha objects
                table = seated[rng.integers(number)]
                if rng.random() * sizes[table] >= alpha:
                    break
            seated.append(table)
            sizes[table] += 1
    return np.array(seated)


@given(st.floats(1e-6, 1e6), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_rising_products_agree_with_gamma(start: float, steps: int) -> None:
    log = special.gammaln(start + steps) - special.gammaln(start)
    assert float(log_rising(start, steps)) == pytest.approx(float(log), rel=1e-9, abs=1e-6)
    rise = special.digamma(start + steps) - special.digamma(start)
    assert float(digamma_rise(start, steps)) == pytest.approx(float(rise), rel=1e-9, abs=1e-9)


def test_a_root_is_found_from_either_side_and_not_invented() -> None:
    assert find_root(lambda x: x**3 - 2, 0.0, 100.0) == pytest.approx(2 ** (1 / 3))
    assert find_root(lambda x: 5 - math.exp(x), -50.0, 50.0) == pytest.approx(math.log(5))
    assert find_root(lambda x: x * x + 1, -1.0, 1.0) is None


@given(SIZES, st.integers(0, 200))
@settings(max_examples=50, deadline=None)
def test_zayatz_is_bayes_rule_with_hypergeometric_chances(sizes: np.ndarray, more: int) -> None:
    rows = int(sizes.sum())
    population = rows + more
    size, times = np.unique(sizes, return_counts=True)
    chance = stats.hypergeom(population, size, rows).pmf(1)
    ones = times[size == 1].sum()
    wanted = 0.0
    if ones:
        single = chance[size == 1][0]
        wanted = ones * (ones * single / float(times @ chance)) * population / rows
    assert zayatz_uniques(sizes, population) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    "sizes",
    [[1] * 8 + [2] * 3 + [3, 5, 9], [1] * 40 + [2] * 3 + [3], [1, 1, 2, 30], [1] * 5 + [2] * 2 + [60] * 4],
)
def test_pitman_parameters_have_the_greatest_likelihood(sizes: list[int]) -> None:
    counts = np.array(sizes)
    classes, rows = len(counts), int(counts.sum())

    def unlikely(where: np.ndarray) -> float:
        theta_above, alpha = math.exp(where[0]), 1 / (1 + math.exp(-where[1]))
        theta = theta_above - alpha
        log = np.log(theta + alpha * np.arange(1, classes)).sum()
        log -= np.log(theta + np.arange(1, rows)).sum()
        log += sum(np.log(np.arange(1, size) - alpha).sum() for size in sizes)
        return -float(log)

    starts = [(a, b) for a in (-1.0, 1.0, 4.0) for b in (-2.0, 0.0, 2.0)]
    best = min(
        (optimize.minimize(unlikely, start, method="Nelder-Mead", tol=1e-12) for start in starts),
        key=lambda found: found.fun,
    )
    found = pitman_parameters(counts)
    if found is None:
        assert 1 / (1 + math.exp(-best.x[1])) < 1e-3  # the maximum lies on the border
        return
    theta, alpha = found
    own = unlikely(np.array([math.log(theta + alpha), math.log(alpha / (1 - alpha))]))
    assert own <= best.fun + 1e-6


def test_pitman_finds_back_the_uniques_of_its_own_model() -> None:
    # Seed 11; of the seeds 0 to 19, 18 lie within 15 per cent and all within 21.
    rng = np.random.default_rng(11)
    everybody = chinese_restaurant(40.0, 0.6, 30_000, rng)
    alone = int((np.bincount(everybody) == 1).sum())
    sample = np.bincount(rng.choice(everybody, 3_000, replace=False))
    assert pitman_uniques(sample, 30_000) == pytest.approx(alone, rel=0.15)
    assert population_uniques(sample, 30_000).chosen == "pitman"


def test_the_slide_negative_binomial_finds_back_its_own_model() -> None:
    # Seed 5; classes of the population are drawn from the model itself, so both equations nearly hold.
    rng = np.random.default_rng(5)
    alpha, beta, classes = 1.5, 0.35, 40_000
    people = 1 + rng.negative_binomial(alpha, beta, classes)
    fraction = 0.4
    sample = rng.binomial(people, fraction)
    population = int(sample.sum() / fraction)
    found = snb_uniques(sample[sample > 0], population)
    assert found == pytest.approx(int((people == 1).sum()), rel=0.25)


@given(st.floats(0.05, 6), st.floats(0.02, 0.95), st.floats(0.02, 0.9))
@settings(max_examples=50, deadline=None)
def test_both_equations_are_expectations_over_the_model(alpha: float, beta: float, fraction: float) -> None:
    size = np.arange(1, 4000)
    shares = stats.nbinom.pmf(size - 1, alpha, beta)
    ones = float(shares @ stats.binom.pmf(1, size, fraction)) / fraction
    twos = float(shares @ stats.binom.pmf(2, size, fraction))
    assert _pairs(alpha, beta, fraction) == pytest.approx(twos, rel=1e-6)
    again = [_alpha(beta, ones, fraction, late=late) for late in (False, True)]
    assert any(found is not None and found == pytest.approx(alpha, rel=1e-4) for found in again)


def test_expected_classes_are_shlossers_as_corrected() -> None:
    size, times, q = np.array([1, 2, 5]), np.array([6, 3, 2]), 0.25
    first = sum(i * q**2 * (1 - q**2) ** (i - 1) * f for i, f in zip(size, times, strict=True))
    second = sum((1 - q) ** i * ((1 + q) ** i - 1) * f for i, f in zip(size, times, strict=True))
    third = sum((1 - q) ** i * f for i, f in zip(size, times, strict=True))
    fourth = sum(i * q * (1 - q) ** (i - 1) * f for i, f in zip(size, times, strict=True))
    wanted = 11 + 6 * first / second * (third / fourth) ** 2
    assert expected_classes(size, times, q) == pytest.approx(wanted)


@given(SIZES, st.integers(0, 3000))
@settings(max_examples=50, deadline=None)
def test_every_estimate_is_possible_or_said_to_be_missing(sizes: np.ndarray, more: int) -> None:
    population = int(sizes.sum()) + more
    found = population_uniques(sizes, population)
    for estimate in (found.pitman, found.zayatz, found.snb, found.uniques):
        assert estimate is None or 0.0 <= estimate <= population
    assert found.share == pytest.approx(found.uniques / population)
    if not (sizes == 1).any():
        assert (found.chosen, found.uniques) == ("none", 0.0)
    elif more == 0:
        assert (found.chosen, found.uniques) == ("census", float((sizes == 1).sum()))


def test_the_rule_takes_pitman_for_small_samples_and_the_smaller_of_two_for_large_ones() -> None:
    sizes = np.repeat([1, 2, 3, 4, 5, 6], [30, 20, 14, 9, 5, 2])
    rows = int(sizes.sum())
    assert population_uniques(sizes, rows * 10).chosen in {"pitman", "zayatz"}
    large = population_uniques(sizes, rows * 3)
    assert large.snb is not None
    assert large.zayatz is not None
    assert large.uniques == min(large.snb, large.zayatz)


def test_without_an_answer_of_pitman_zayatz_is_taken() -> None:
    found = population_uniques(np.ones(20, np.int64), 1000)
    assert found.pitman is None
    assert (found.chosen, found.uniques) == ("zayatz", 1000.0)


def test_a_population_smaller_than_the_table_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="at least the rows"):
        population_uniques(np.array([3, 1]), 3)
