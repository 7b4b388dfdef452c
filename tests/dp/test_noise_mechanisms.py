"""Every mechanism against its formula.

Noise comes from a secure generator and has no seed. Each test is a chi-square test that rejects at 1e-7, so a
false alarm comes about once in ten million runs of a test.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mahrem.dp import Relation, Unit
from mahrem.dp._tape import Tape, listening
from mahrem.dp.noise import (
    Exponential,
    GaussianNoise,
    GlobalSensitivity,
    IntegerNoise,
    LaplaceNoise,
    PermuteAndFlip,
    SmoothLaplace,
    gaussian_integers,
    global_sensitivity,
    laplace_integers,
    smooth_median,
)
from mahrem.errors import InvalidParameter
from mahrem.types import Floats, Integers

ALARM = 1e-7
DRAWS = 20_000
ONE = global_sensitivity(0, 1, Relation.ADD_REMOVE, Unit(), grouped=False, optional=False)
THREE = GlobalSensitivity(relation=Relation.ADD_REMOVE, l1=3, l2_squared=9, linf=3, single=True)


def fits(drawn: Integers, support: Integers, density: Floats) -> bool:
    """Compare counts with a density over integers; rare ends are put together."""
    expected = density / density.sum() * len(drawn)
    keep = expected >= 10
    seen = np.array([np.count_nonzero(drawn == value) for value in support[keep]])
    rest = len(drawn) - seen.sum()
    seen, expected = np.append(seen, rest), np.append(expected[keep], expected[~keep].sum())
    if expected[-1] < 10:
        seen, expected = np.append(seen[:-2], seen[-2:].sum()), np.append(expected[:-2], expected[-2:].sum())
    return float(stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue) > ALARM


def discrete(noise: IntegerNoise, support: Integers) -> Floats:
    if noise.kind == "laplace":
        return np.exp(-np.abs(support) / noise.scale)
    return np.exp(-(support**2) / (2 * noise.scale**2))


@pytest.mark.parametrize(
    "noise",
    [
        laplace_integers(ONE, epsilon=0.5),
        laplace_integers(THREE, epsilon=1.0),
        gaussian_integers(ONE, epsilon=1.0, delta=1e-3),
        gaussian_integers(THREE, epsilon=2.0, delta=1e-2),
    ],
    ids=lambda noise: f"{noise.kind}-{noise.scale:.2f}",
)
def test_integer_noise_follows_its_formula(noise: IntegerNoise) -> None:
    drawn = np.array(noise([7] * DRAWS)) - 7
    support = np.arange(-400, 401)
    assert fits(drawn, support, discrete(noise, support))


def test_the_test_sees_a_scale_that_is_a_tenth_off() -> None:
    noise = laplace_integers(ONE, epsilon=0.5)
    support = np.arange(-400, 401)
    wrong = IntegerNoise(kind="laplace", scale=noise.scale * 1.1, sensitivity=ONE, event=noise.event)
    drawn = np.array(noise([0] * DRAWS))
    assert not fits(drawn, support, discrete(wrong, support))


@pytest.mark.parametrize(
    ("noise", "formula"),
    [(LaplaceNoise(scale=3.0), stats.laplace(scale=3.0)), (GaussianNoise(sigma=3.0), stats.norm(scale=3.0))],
    ids=["laplace", "gaussian"],
)
def test_noise_on_floats_follows_its_formula(noise: LaplaceNoise | GaussianNoise, formula: object) -> None:
    drawn = np.array([noise(100.0) for _ in range(5000)]) - 100.0
    assert stats.kstest(drawn, formula.cdf).pvalue > ALARM  # type: ignore[attr-defined]


SCORES = [0, 1, 2, 5, 5]


def test_the_exponential_mechanism_follows_its_formula() -> None:
    mechanism = Exponential(epsilon=1.0, sensitivity=ONE)
    drawn = np.array([mechanism(SCORES) for _ in range(DRAWS // 2)])
    assert fits(drawn, np.arange(5), np.exp(1.0 * np.array(SCORES) / 2))


def permute_and_flip_density(scores: list[int], epsilon: float, sensitivity: int) -> Floats:
    """Add up over all orders: candidates are visited in turn and taken with exp(eps (q - best) / 2 l1)."""
    from itertools import permutations

    take = np.exp(epsilon * (np.array(scores) - max(scores)) / (2 * sensitivity))
    chance = np.zeros(len(scores))
    for order in permutations(range(len(scores))):
        left = 1.0
        for place in order:
            chance[place] += left * take[place]
            left *= 1 - take[place]
    return chance / chance.sum()


def test_permute_and_flip_follows_its_formula() -> None:
    mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=ONE)
    drawn = np.array([mechanism(SCORES) for _ in range(DRAWS // 2)])
    assert fits(drawn, np.arange(5), permute_and_flip_density(SCORES, 1.0, 1))


@pytest.mark.parametrize("miss", [0.5, 0.05, 0.001])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_half_width_is_the_smallest_that_holds(epsilon: float, miss: float) -> None:
    noise = laplace_integers(ONE, epsilon=epsilon)
    grid = np.arange(-2000, 2001)
    density = discrete(noise, grid) / discrete(noise, grid).sum()
    width = noise.half_width(miss)
    assert density[np.abs(grid) > width].sum() <= miss * (1 + 1e-9)
    assert width == 0 or density[np.abs(grid) > width - 1].sum() > miss * (1 - 1e-9)


def test_a_gaussian_half_width_holds() -> None:
    noise = gaussian_integers(ONE, epsilon=1.0, delta=1e-6)
    grid = np.arange(-400, 401)
    density = discrete(noise, grid) / discrete(noise, grid).sum()
    assert density[np.abs(grid) > noise.half_width(0.05)].sum() <= 0.05


def test_noise_never_repeats_a_sequence() -> None:
    noise = laplace_integers(ONE, epsilon=0.01)
    assert noise([0] * 50) != noise([0] * 50)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LaplaceNoise(scale=0.0),
        lambda: GaussianNoise(sigma=-1.0),
        lambda: laplace_integers(ONE, epsilon=1.0)([1.5]),  # type: ignore[list-item]
        lambda: laplace_integers(ONE, epsilon=1.0)([1 << 63]),
        lambda: LaplaceNoise(scale=1.0)(math.nan),
        lambda: LaplaceNoise(scale=1.0).event(),
        lambda: LaplaceNoise(scale=1.0).event(0),
        lambda: GaussianNoise(sigma=1.0, sensitivity=-1.0).event(),
    ],
)
def test_impossible_noise_is_refused(make: object) -> None:
    with pytest.raises(InvalidParameter):
        make()  # type: ignore[operator]


def slow_smooth_median(values: list[int], low: int, high: int, beta: float) -> float:
    """Go through every distance and every window, as the definition says."""
    ordered = sorted(min(max(value, low), high) for value in values)
    n, middle, best = len(ordered), (len(ordered) - 1) // 2, 0.0

    def at(place: int) -> int:
        return low if place < 0 else high if place >= n else ordered[place]

    for k in range(n + 1):
        widest = max(at(middle + t) - at(middle + t - k - 1) for t in range(k + 2))
        best = max(best, math.exp(-beta * k) * widest)
    return best


values = st.lists(st.integers(-2, 12), min_size=1, max_size=9)


@given(table=values, beta=st.floats(0.01, 2))
@settings(max_examples=50, deadline=None)
def test_smooth_sensitivity_is_its_definition(table: list[int], beta: float) -> None:
    found = smooth_median(np.array(table), 0, 10, beta)
    assert found.value == pytest.approx(slow_smooth_median(table, 0, 10, beta))
    assert found.relation is Relation.REPLACE


@given(table=values, place=st.integers(0, 8), other=st.integers(-2, 12), beta=st.floats(0.01, 2))
@settings(max_examples=50, deadline=None)
def test_smooth_sensitivity_bounds_the_change_and_is_smooth(
    table: list[int], place: int, other: int, beta: float
) -> None:
    neighbour = [*table]
    neighbour[place % len(table)] = other
    one, two = (smooth_median(np.array(rows), 0, 10, beta).value for rows in (table, neighbour))
    medians = [sorted(np.clip(rows, 0, 10))[(len(rows) - 1) // 2] for rows in (table, neighbour)]
    assert abs(medians[0] - medians[1]) <= min(one, two) + 1e-9
    assert abs(math.log(one / two)) <= beta + 1e-9


@given(table=values, beta=st.floats(0.01, 2), least=st.floats(0.001, 3))
@settings(max_examples=30, deadline=None)
def test_a_floor_under_the_smooth_sensitivity_changes_nothing_above_it(
    table: list[int], beta: float, least: float
) -> None:
    plain = smooth_median(np.array(table), 0, 10, beta).value
    assert smooth_median(np.array(table), 0, 10, beta, least=least).value == max(plain, least)


def test_many_equal_values_do_not_make_a_smooth_median_slow() -> None:
    counts = np.zeros(4097, dtype=np.int64)
    counts[7] = 1_000_000  # without a floor, a million windows of up to a million values would be looked at
    assert SmoothLaplace(epsilon=1.0, delta=1e-6)(counts) == 7


def test_a_smooth_median_follows_its_formula() -> None:
    counts = np.array([0, 2, 1, 3, 1, 2, 0, 1, 0, 0, 1])
    mechanism = SmoothLaplace(epsilon=2.0, delta=1e-2)
    drawn = np.array([mechanism(counts) for _ in range(4000)])
    wide = smooth_release_density(counts, 2.0, 1e-2)
    middle, top = 3000, len(counts) - 1  # what lies outside is put to the ends
    density = wide[middle : middle + top + 1].copy()
    density[0], density[-1] = wide[: middle + 1].sum(), wide[middle + top :].sum()
    assert fits(drawn, np.arange(top + 1), density)
    assert not fits(drawn, np.arange(top + 1), density[::-1])


def smooth_release_density(counts: Integers, epsilon: float, delta: float) -> Floats:
    """Give the probability of every output of a smooth median, before it is clipped, over a wide grid."""
    mechanism = SmoothLaplace(epsilon=epsilon, delta=delta)
    values = np.repeat(np.arange(len(counts)), counts)
    scale = 2 * smooth_median(values, 0, len(counts) - 1, mechanism.beta).value / epsilon
    grid = np.arange(-3000, 3001)
    density = np.exp(-np.abs(grid - values[(len(values) - 1) // 2]) / scale)
    return density / density.sum()


@given(
    counts=st.lists(st.integers(0, 4), min_size=6, max_size=6).filter(lambda counts: sum(counts) > 1),
    source=st.integers(0, 5),
    target=st.integers(0, 5),
)
@settings(max_examples=40, deadline=None)
def test_a_smooth_median_keeps_its_promise_exactly(counts: list[int], source: int, target: int) -> None:
    if counts[source] == 0:
        return
    neighbour = [*counts]
    neighbour[source] -= 1
    neighbour[target] += 1
    epsilon, delta = 1.0, 1e-3
    one, two = (smooth_release_density(np.array(c), epsilon, delta) for c in (counts, neighbour))
    assert np.maximum(one - math.exp(epsilon) * two, 0).sum() <= delta


@pytest.mark.parametrize(
    "mechanism", [laplace_integers(ONE, epsilon=1.0), Exponential(epsilon=1.0, sensitivity=ONE)]
)
def test_whole_numbers_go_in_as_a_list_or_as_an_array_and_nothing_else_does(
    mechanism: IntegerNoise | Exponential,
) -> None:
    for given_ in ([3, -4, 5], np.array([3, -4, 5])):
        with listening(Tape()) as tape:
            mechanism(given_)
        assert tape.steps[0].values == (3, -4, 5)
        assert {type(value) for value in tape.steps[0].values} == {int}
    for odd in ([3.5], [True], [1 << 63], np.array([1 << 62]) + 1, np.array([-1 << 62]) - 1, np.array([0.5])):
        with pytest.raises(InvalidParameter):
            mechanism(odd)  # type: ignore[arg-type]
