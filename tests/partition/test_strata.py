from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible
from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import Admission, Mondrian
from mahrem.partition.judging import within_patterns
from mahrem.table import Values
from mahrem.types import Mask, Points


def k_rows(k: int, rows: int) -> Admission:
    return Admission(((KAnonymity(k), None),), rows=rows)


def points_with(missing: Mask, seed: int = 0) -> Points:
    return np.where(missing, -1.0, np.random.default_rng(seed).random(missing.shape))


def test_without_missing_values_it_is_the_method_itself() -> None:
    points = np.random.default_rng(0).random((40, 2))
    alone = Mondrian()(points, k_rows(3, 40))
    within = within_patterns(Mondrian(), points, np.zeros((40, 2), np.bool_), k_rows(3, 40))
    assert (within.labels == alone.labels).all()
    assert within.how is not None


def test_patterns_that_may_stand_are_not_mixed() -> None:
    missing = np.zeros((60, 3), np.bool_)
    missing[10:30, 0] = True
    missing[30:50, 1:] = True
    missing = np.random.default_rng(1).permutation(missing)
    partition = within_patterns(Mondrian(), points_with(missing), missing, k_rows(4, 60))
    assert partition.sizes.min() >= 4
    assert partition.sizes.sum() == 60
    assert partition.how is None
    for label in range(partition.classes):
        assert len(np.unique(missing[partition.labels == label], axis=0)) == 1


def test_a_small_pattern_joins_the_nearest_one() -> None:
    missing = np.zeros((21, 3), np.bool_)
    missing[10:20] = True  # all missing
    missing[20, :2] = True  # two of three: one column from "all", two from "none"
    points = np.where(missing, -1.0, 0.0)
    partition = within_patterns(Mondrian(), points, missing, k_rows(5, 21))
    assert partition.labels.tolist() == [0] * 10 + [1] * 11


def test_small_patterns_join_one_another_before_they_join_a_large_one() -> None:
    missing = np.zeros((16, 6), np.bool_)
    missing[10:13, :5] = True
    missing[13:] = True
    points = np.where(missing, -1.0, 0.0)
    partition = within_patterns(Mondrian(), points, missing, k_rows(6, 16))
    assert partition.labels.tolist() == [0] * 10 + [1] * 6


def test_a_promise_about_values_sees_the_rows_of_the_whole_table() -> None:
    missing = np.zeros((8, 1), np.bool_)
    missing[::2] = True
    disease = Values("disease", np.array([0, 0, 0, 1, 1, 2, 1, 3], np.int32), 4)
    admits = Admission(((DistinctDiversity(2), disease),), rows=8)
    partition = within_patterns(Mondrian(), np.where(missing, -1.0, 0.0), missing, admits)
    assert partition.labels.tolist() == [1, 0] * 4


def test_a_table_that_may_not_stand_is_infeasible() -> None:
    missing = np.array([[True], [False], [False]])
    with pytest.raises(Infeasible):
        within_patterns(Mondrian(), np.zeros((3, 1)), missing, k_rows(4, 3))


@given(
    rows=st.integers(1, 80),
    columns=st.integers(1, 12),
    share=st.floats(0, 1),
    k=st.integers(1, 6),
    strict=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_no_row_is_lost_and_every_class_may_stand(
    rows: int,
    columns: int,
    share: float,
    k: int,
    strict: bool,  # noqa: FBT001
    seed: int,
) -> None:
    k = min(k, rows)
    missing = np.random.default_rng(seed).random((rows, columns)) < share
    points = points_with(missing, seed)
    partition = within_patterns(Mondrian(strict), points, missing, k_rows(k, rows))
    assert partition.labels.min() >= 0
    assert len(partition.sizes) == partition.classes
    assert partition.sizes.min() >= k
    order = np.random.default_rng(seed).permutation(rows)
    if strict:
        again = within_patterns(Mondrian(strict), points[order], missing[order], k_rows(k, rows))
        assert (again.labels == partition.labels[order]).all()
