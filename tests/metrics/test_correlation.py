from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mahrem.errors import InvalidParameter
from mahrem.metrics import correlation


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=12))
def test_both_are_what_scipy_says(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, np.float64).T
    found = correlation(first, second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert found.pearson is None
        assert found.spearman is None
    else:
        assert found.pearson == pytest.approx(stats.pearsonr(first, second).statistic, abs=1e-9)
        assert found.spearman == pytest.approx(stats.spearmanr(first, second).statistic, abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [([1, 2], [1, 2]), ([1, 2, 3], [1, 2])])
def test_fewer_than_three_runs_are_refused(first: list[float], second: list[float]) -> None:
    with pytest.raises(InvalidParameter, match="points"):
        correlation(np.array(first), np.array(second))
