"""Values numbered by which are the same, against NumPy's way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.counting import _different, number_different


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 2**63, 2**64 - 1, 1 << 32, 77]), max_size=60), st.integers(0, 1))
def test_values_share_a_number_exactly_where_they_are_the_same(values: list[int], tried: int) -> None:
    words = np.array(values, np.uint64)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_different, "_TRIED", 8 if tried else 1 << 16)
        numbered = number_different(words)
    if numbered is None:
        assert 4 * len(np.unique(words)) > len(words) or tried
        return
    firsts, codes = numbered
    assert np.array_equal(words[firsts][codes], words)
    assert len(np.unique(words)) == len(firsts)
    assert np.array_equal(firsts, np.sort(firsts))
