"""Rows that are tied together: the same classes, the same number of times."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.models import KAnonymity, Promise, TrajectoryAnonymity
from mahrem.verify import Claims, trajectories, verify


@given(rows=st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 4)), max_size=12))
def test_links_share_a_trajectory_when_they_show_the_same_as_often(rows: list[tuple[int, int]]) -> None:
    labels, links = (np.array([row[side] for row in rows], np.int64) for side in (0, 1))
    shown: dict[int, Counter[int]] = {}
    for label, link in rows:
        if label >= 0 and link >= 0:
            shown.setdefault(link, Counter())[label] += 1
    found = trajectories(labels, links)
    for first, (label, link) in enumerate(rows):
        assert (found[first] >= 0) == (label >= 0 and link >= 0)
        for second, other in enumerate(rows):
            if found[first] >= 0 and found[second] >= 0:
                assert (found[first] == found[second]) == (shown[link] == shown[other[1]])
    assert set(found[found >= 0].tolist()) == set(range(int(found.max(initial=-1)) + 1))


def test_untied_rows_promise_nothing_about_trajectories() -> None:
    frame = pl.DataFrame({"age": ["[1, 2]"] * 4, "name": ["x", "x", "y", None]})
    tied = (Promise(TrajectoryAnonymity(2)),)
    claims = Claims(quasi=["age"], promises=(Promise(KAnonymity(2)), *tied), linked=["name"])
    verdict = verify(frame.lazy(), claims)
    assert [outcome.holds for outcome in verdict.outcomes] == [True, False]
    assert verdict.trajectories is not None
    assert verdict.trajectories.tolist() == [1, 1]  # x twice, y once; the last row is nobody's
    with pytest.raises(InvalidParameter, match="ties rows"):
        verify(frame.lazy(), Claims(quasi=["age"], promises=tied))
    with pytest.raises(InvalidParameter, match="must be 0"):
        verify(frame.lazy(), claims, passes=2)
