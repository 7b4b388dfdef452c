"""The exact interval and what a finding says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mahrem.attacks import clopper_pearson
from mahrem.attacks._finding import counted_finding, not_done
from mahrem.errors import InvalidParameter


@given(st.integers(0, 3000), st.integers(0, 3000), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
@settings(max_examples=50, deadline=None)
def test_the_interval_is_clopper_and_pearsons(some: int, more: int, confidence: float) -> None:
    low, high = clopper_pearson(some, some + more, confidence=confidence)
    if some + more == 0:
        assert (low, high) == (0.0, 1.0)
        return
    exact = stats.binomtest(some, some + more).proportion_ci(confidence_level=confidence, method="exact")
    assert low == pytest.approx(exact.low, abs=1e-9)
    assert high == pytest.approx(exact.high, abs=1e-9)


def test_a_million_trials_are_no_trouble() -> None:
    low, high = clopper_pearson(300_000, 1_000_000)
    assert low == pytest.approx(0.2991, abs=1e-4)
    assert high == pytest.approx(0.3009, abs=1e-4)


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        clopper_pearson(3, 2)


def test_a_finding_is_alarming_only_beyond_doubt_and_goes_into_json() -> None:
    sure = counted_finding("linkage", 50, 100, baseline=0.1, meaning="x", expected=0.5)
    doubtful = counted_finding("linkage", 2, 10, baseline=0.1, meaning="x")
    assert sure.alarming
    assert not doubtful.alarming
    assert json.loads(json.dumps(sure.as_dict()))["details"] == {"expected": 0.5}
    skipped = not_done("inference", "no model")
    assert not skipped.done
    assert not skipped.alarming
    assert not counted_finding("linkage", 0, 0, baseline=0.0, meaning="x").done
