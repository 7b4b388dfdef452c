"""Promises: what a table makes of a privacy model, and what it could make of it at best."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem import models
from mahrem.models import Counts, Promise, counts_of, judge


def table() -> Counts:
    return counts_of(np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 1, 2, 1, 1, 1, 2]), 2, 4)


def test_the_worst_class_is_what_a_table_has_reached() -> None:
    counts = table()
    assert judge(Promise(models.KAnonymity(3)), counts).reached == 3
    assert judge(Promise(models.DistinctDiversity(3), "disease"), counts).reached == 2
    assert judge(Promise(models.AlphaK(0.5, 3), "disease"), counts).reached == 0.75


def test_violating_classes_and_rows_are_counted() -> None:
    outcome = judge(Promise(models.DistinctDiversity(3), "disease"), table())
    assert not outcome.holds
    assert (outcome.violating_classes, outcome.violating_rows) == (1, 4)


def test_the_keys_are_those_of_the_contract() -> None:
    outcome = judge(Promise(models.KAnonymity(3)), table())
    assert outcome.as_dict() == {
        "model": "k-anonymity",
        "wanted": 3,
        "reached": 3,
        "holds": True,
        "column": None,
        "violating_classes": 0,
        "violating_rows": 0,
    }
    assert json.dumps(outcome.as_dict()).count("3.0") == 0


def test_infinity_becomes_null_in_json() -> None:
    outcome = judge(Promise(models.DeltaDisclosure(1), "disease"), table())
    assert outcome.reached is not None
    assert math.isinf(outcome.reached)
    assert not outcome.holds
    assert json.loads(json.dumps(outcome.as_dict(), allow_nan=False))["reached"] is None


def test_without_classes_nothing_is_broken_and_nothing_reached() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    outcome = judge(Promise(models.KAnonymity(5)), Counts(nobody, nobody, nobody, nobody, np.zeros(0)))
    assert outcome.holds
    assert outcome.reached is None


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_partition_beats_the_whole_table_under_a_monotone_model(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 25))
    codes = np.array(data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)))
    labels = np.unique(
        data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)), return_inverse=True
    )[1]
    counts = counts_of(labels, codes, int(labels.max()) + 1, 4)
    for model in (
        models.KAnonymity(3),
        models.DistinctDiversity(2),
        models.EntropyDiversity(2),
        models.RecursiveDiversity(2, 2),
        models.OrderedCloseness(0.2),
        models.AlphaK(0.6, 2),
        models.BasicLikeness(0.5),
    ):
        if judge(Promise(model, "x"), counts).holds:
            whole = counts_of(np.zeros(rows, np.int64), codes, 1, 4)
            assert judge(Promise(model, "x"), whole).holds
