from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.cutting._layout import lay_out
from mahrem.arrays.cutting._select import nth
from mahrem.errors import InvalidInput


@given(
    size=st.integers(1, 3000),
    distinct=st.sampled_from([1, 2, 3, 50, 10**9]),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_the_key_of_a_rank_is_the_one_sorting_finds(
    size: int, distinct: int, share: float, seed: int
) -> None:
    keys = np.random.default_rng(seed).integers(-distinct, distinct, size + 5)
    before = keys.copy()
    rank = min(int(share * size), size - 1)
    found = nth(keys, 5, size, rank, np.empty((3, size), np.int64))
    assert found == np.sort(keys[5:])[rank]
    assert (keys == before).all()


@pytest.mark.parametrize("shape", [np.sort, lambda keys: np.sort(keys)[::-1].copy(), lambda keys: keys % 7])
def test_selection_takes_sorted_and_repetitive_keys(shape: object) -> None:
    keys = shape(np.random.default_rng(0).integers(0, 10**6, 100_000))  # type: ignore[operator]
    found = nth(keys, 0, len(keys), 49_999, np.empty((3, len(keys)), np.int64))
    assert found == np.sort(keys)[49_999]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_keys_lie_in_the_order_of_the_numbers(numbers: list[float]) -> None:
    points = np.array(numbers)[:, None]
    work, low, high = lay_out(points, 1, None, 1)
    keys = work.keys[0]
    assert ((keys[:, None] < keys) == (points < points.T)).all()
    assert (low[0], high[0]) == (keys.min(), keys.max())


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(strange: float) -> None:
    with pytest.raises(InvalidInput, match="1 numbers that are not finite"):
        lay_out(np.array([[0.0], [strange], [1.0]]), 1, None, 1)
