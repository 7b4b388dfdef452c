"""Cuts by published cells: the column whose two sides lose least, for every part of a level at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import Admission, Mondrian
from mahrem.partition.judging import ColumnCosts
from mahrem.table import Values
from mahrem.types import Integers, Points

WORDS = ColumnCosts("set", np.arange(4) / 3, price=np.array([0, 0, 2, 3, 4, 4, 4]) / 4)


def cost(points: Points) -> float:
    """Price the cells of a class: a range, and a set of up to four words."""
    named = len(np.unique(points[:, 1]))
    return len(points) * (float(np.ptp(points[:, 0])) + (named / 4 if named > 1 else 0.0))


def cut_slowly(points: Points, rows: Integers, k: int) -> list[frozenset[int]]:
    best, sides = np.inf, None
    for column in range(2):
        values = points[rows, column]
        middle = np.sort(values)[(len(rows) - 1) // 2]
        for right in (values > middle, values >= middle):
            if min(right.sum(), (~right).sum()) >= k:
                total = cost(points[rows[~right]]) + cost(points[rows[right]])
                if total < best - 1e-12:
                    best, sides = total, right
    if sides is None:
        return [frozenset(rows.tolist())]
    return cut_slowly(points, rows[~sides], k) + cut_slowly(points, rows[sides], k)


@given(st.lists(st.tuples(st.integers(0, 32), st.integers(0, 3)), min_size=3, max_size=40), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_the_cuts_are_those_of_the_slow_rule(rows: list[tuple[int, int]], k: int) -> None:
    # places of 1/32: sums come out exactly, in whichever order they are added
    points = np.array(rows) / [32, 3]
    method = Mondrian(cut="cells", cells=(ColumnCosts("range", np.empty(0)), WORDS))
    found = method(points, Admission(((KAnonymity(k), None),), rows=len(points)))
    classes = {frozenset(np.flatnonzero(found.labels == one).tolist()) for one in range(found.classes)}
    assert classes == set(cut_slowly(points, np.arange(len(points)), k))


def test_every_class_keeps_its_promises_and_neither_order_nor_threads_change_it() -> None:
    rng = np.random.default_rng(4)
    points, codes = rng.random((400, 3)), rng.integers(0, 3, 400).astype(np.int32)

    def classes(order: Integers, threads: int) -> set[frozenset[int]]:
        values = Values("ill", codes[order], 3)
        admits = Admission(((KAnonymity(4), None), (DistinctDiversity(3), values)), rows=400)
        found = Mondrian(cut="cells")(points[order], admits, threads=threads)
        assert all(len(set(codes[order][found.labels == one])) == 3 for one in range(found.classes))
        return {frozenset(order[found.labels == one].tolist()) for one in range(found.classes)}

    there = classes(np.arange(400), 1)
    assert len(there) > 20
    assert classes(rng.permutation(400), 2) == there


def test_numbers_that_are_not_finite_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        Mondrian(cut="cells")(np.array([[np.nan], [0.0]]), Admission(((KAnonymity(1), None),), rows=2))
