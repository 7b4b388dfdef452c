"""Equal keys get one number, whatever the keys are and however often the table of them grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.arrays.counting import number_keys


def numbered(keys: np.ndarray) -> tuple[list[int], int]:
    numbers = np.empty(len(keys), np.int64)
    count = number_keys(keys, numbers)
    return numbers.tolist(), count


@given(st.lists(st.sampled_from([0, 1, 2**32, 2**64 - 1, 7]) | st.integers(0, 2**64 - 1), max_size=80))
def test_numbers_follow_the_order_in_which_keys_first_come(keys: list[int]) -> None:
    order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    assert numbered(np.array(keys, np.uint64)) == ([order[key] for key in keys], len(order))


@pytest.mark.parametrize("different", [1, 2_047, 2_049, 30_000])
@pytest.mark.parametrize("step", [1, 2**32, 2**52 + 1])
def test_a_table_that_grows_loses_no_key(different: int, step: int) -> None:
    keys = np.arange(different, dtype=np.uint64) * np.uint64(step)
    rows = np.concatenate([keys, keys[::-1]])
    numbers, count = numbered(rows)
    assert count == len(np.unique(keys))
    first = dict(zip(rows.tolist(), numbers, strict=True))
    assert all(first[key] == number for key, number in zip(rows.tolist(), numbers, strict=True))
    assert len(set(first.values())) == count
