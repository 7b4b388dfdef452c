from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.models import (
    AlphaK,
    BasicLikeness,
    DistinctDiversity,
    EqualCloseness,
    KAnonymity,
    counts_of,
    people_counts,
)
from mahrem.models.people import PeopleHoldings, holdings_of
from mahrem.partition import Admission
from mahrem.table import Values
from mahrem.verify import people_per_class

PEOPLE = np.array([0, 0, 1, 2, 2, 2, -1, 3], np.int32)
ALL = np.arange(8, dtype=np.int32)
HALVES = np.array([0, 4, 8])


def test_sizes_count_rows_unless_something_else_is_said() -> None:
    k = (KAnonymity(3), None)
    members = np.array([1, 1, 1, 0, 1, 1, 0, 0], np.bool_)
    assert Admission((k,), rows=8)(ALL, HALVES).tolist() == [True, True]
    assert Admission((k,), rows=8, subjects=PEOPLE)(ALL, HALVES).tolist() == [True, False]
    assert Admission((k,), rows=8, members=members)(ALL, HALVES).tolist() == [True, False]
    assert Admission((k,), rows=8, subjects=PEOPLE, members=members)(ALL, HALVES).tolist() == [False, False]


def test_only_k_in_rows_is_plain() -> None:
    k = (KAnonymity(3), None)
    disease = Values("disease", np.zeros(8, np.int32), 1)
    assert Admission((k, (KAnonymity(5), None)), rows=8).plain
    assert not Admission((k, (DistinctDiversity(2), disease)), rows=8).plain
    assert not Admission((k,), rows=8, subjects=PEOPLE).plain
    assert not Admission((k,), rows=8, members=PEOPLE > 0).plain


def test_the_minimum_is_the_largest_of_the_promises() -> None:
    disease = Values("disease", np.zeros(8, np.int32), 1)
    assert Admission(((KAnonymity(3), None), (DistinctDiversity(7), disease)), rows=8).minimum == 7
    assert Admission((), rows=8).minimum == 1


def test_its_repr_shows_no_data() -> None:
    disease = Values("disease", np.array([7, 7], np.int32), 8)
    text = repr(Admission(((DistinctDiversity(2), disease),), rows=2, subjects=PEOPLE[:2]))
    assert "array" not in text
    assert "disease" in text


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=20),
    values=st.sampled_from([1, 3, 200]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_it_agrees_with_the_models_on_sorted_counts(sizes: list[int], values: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rows = rng.permutation(len(labels)).astype(np.int32)
    codes = rng.integers(-1, values, len(labels)).astype(np.int32)
    of_row = np.empty(len(labels), np.int64)
    of_row[rows] = labels
    counts = counts_of(of_row, codes, len(sizes), values)
    column = Values("disease", codes, values)
    models = (DistinctDiversity(2), EqualCloseness(0.6))
    admits = Admission((*((model, column) for model in models), (KAnonymity(3), None)), rows=len(labels))
    expected = counts.sizes >= 3
    for model in models:
        expected &= model.holds(counts)
    assert (admits(rows, np.concatenate([[0], np.cumsum(sizes)])) == expected).all()


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    people=st.integers(1, 40),
    shown=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_people_are_judged_as_the_models_judge_what_they_show(
    sizes: list[int], people: int, *, shown: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rows = rng.permutation(len(labels)).astype(np.int32)
    codes = rng.integers(-1, 4, len(labels)).astype(np.int32)
    subjects = rng.integers(-1, people, len(labels)).astype(np.int32)
    of_row = np.empty(len(labels), np.int64)
    of_row[rows] = labels
    compared = rng.random(len(labels)) < 0.8 if shown else np.ones(len(labels), np.bool_)
    everybody = np.where(compared, 0, -1)
    held = PeopleHoldings(
        holdings_of(of_row, subjects, codes, len(sizes), 4), holdings_of(everybody, subjects, codes, 1, 4)
    )
    known = subjects >= 0
    counts = people_counts(held, people_per_class(of_row[known], subjects[known], len(sizes)))
    column = Values("disease", codes, 4)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for model in (
        DistinctDiversity(2),
        AlphaK(0.6, 2),
        EqualCloseness(0.6),
        BasicLikeness(2.0),
        KAnonymity(3),
    ):
        about = None if isinstance(model, KAnonymity) else column
        admits = Admission(((model, about),), rows=len(labels), subjects=subjects, compared=compared)
        assert (admits(rows, offsets) == model.holds(counts)).all()


def test_a_union_of_classes_may_gather_the_values_of_one_person() -> None:
    disease = Values("disease", np.array([0, 1, 1, 0], np.int32), 2)
    people = np.array([7, 8, 7, 8], np.int32)  # each has one value in the first half, the other in the second
    admits = Admission(((DistinctDiversity(2), disease),), rows=4, subjects=people)
    rows = np.arange(4, dtype=np.int32)
    assert admits(rows, np.array([0, 2, 4])).tolist() == [True, True]
    assert admits(rows, np.array([0, 4])).tolist() == [False]  # both may be said to have the same
    assert not admits.monotone
    assert not admits.growing
    assert Admission(((KAnonymity(2), None),), rows=4, subjects=people).growing


def test_many_rows_in_several_blocks_are_judged_as_one_by_one() -> None:
    rng = np.random.default_rng(4)
    rows = rng.permutation(400_000).astype(np.int32)
    column = Values("disease", rng.integers(0, 6, 400_000).astype(np.int32), 6)
    offsets = np.concatenate(
        [[0], np.sort(rng.choice(np.arange(1, 400_000), 60_000, replace=False)), [400_000]]
    )
    admits = Admission(((DistinctDiversity(3), column),), rows=400_000)
    labels = np.empty(400_000, np.int64)
    labels[rows] = np.repeat(np.arange(60_001), np.diff(offsets))
    counts = counts_of(labels, column.codes, 60_001, 6)
    assert (admits(rows, offsets) == DistinctDiversity(3).holds(counts)).all()
