"""The exponential mechanism accounted as a Gaussian: never less than it costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Relation
from mahrem.dp.accounting import gaussian_delta
from mahrem.dp.noise import (
    Exponential,
    GlobalSensitivity,
    RangedExponential,
    bounded_range_epsilon,
    bounded_range_multiplier,
)


@settings(max_examples=40, deadline=None)
@given(epsilon=st.floats(0.001, 8.0), seed=st.integers(0, 10_000), asked=st.floats(0.0, 4.0))
def test_no_exponential_mechanism_loses_more_than_its_gaussian(
    epsilon: float, seed: int, asked: float
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 3, 8)
    moved = scores + rng.uniform(-1, 1, 8)  # sensitivity 1
    first, second = (np.exp(epsilon * (one - one.max()) / 2) for one in (scores, moved))
    first, second = first / first.sum(), second / second.sum()
    lost = np.maximum(first - math.exp(asked) * second, 0).sum()
    assert lost <= gaussian_delta(asked, bounded_range_multiplier(epsilon)) + 1e-12


def test_the_worst_pair_touches_its_bound() -> None:
    """Two outcomes with losses of plus and minus epsilon/2: the corner lies on the Gaussian's curve."""
    epsilon = 1.0
    likely = 1 / (1 + math.exp(-epsilon / 2))
    multiplier = bounded_range_multiplier(epsilon)
    # By hand: mu is twice the normal quantile of the likelier outcome.
    from statistics import NormalDist

    assert 1 / multiplier == pytest.approx(2 * NormalDist().inv_cdf(likely), rel=1e-5)


@pytest.mark.parametrize("multiplier", [0.5, 4.0, 60.0, 2000.0])
def test_epsilon_and_multiplier_undo_each_other(multiplier: float) -> None:
    epsilon = bounded_range_epsilon(multiplier)
    assert bounded_range_multiplier(epsilon) >= multiplier
    assert bounded_range_multiplier(epsilon) == pytest.approx(multiplier, rel=1e-6)


def test_it_selects_as_the_exponential_mechanism_does() -> None:
    reach = GlobalSensitivity(relation=Relation.ADD_REMOVE, l1=1, l2_squared=1, linf=1, single=True)
    ranged, plain = (kind(epsilon=2.0, sensitivity=reach) for kind in (RangedExponential, Exponential))
    assert ranged.scale == plain.scale
    picks = [ranged([0, 3]) for _ in range(400)]
    share = 1 / (1 + math.exp(-3.0))  # 0.953; a deviation is 0.011, so this fails once in 10**9 runs
    assert abs(np.mean(picks) - share) < 0.08
