"""The driver's part of the Spark engine, on counts of rows that lie in this process."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity
from mahrem.partition import Mondrian
from mahrem.spark._judge import CodedColumn, Judge
from mahrem.spark._plan import CutPlan, next_widest, plan_cuts
from mahrem.spark._tally import PassCount, Survey, merge
from mahrem.types import Codes, Floats, Labels, Points


def edges_from(points: Points, draws: int, rng: np.random.Generator) -> Floats:
    """Some values of each column, few enough to make brackets wide."""
    drawn = [np.unique(rng.choice(column, draws)) for column in points.T]
    edges = np.full((len(drawn), draws + 1), np.inf)
    for place, values in enumerate(drawn):
        edges[place, : len(values)] = values
    return edges


def shuffle_rows(
    points: Points, codes: list[Codes], judge: Judge, rng: np.random.Generator, *, target: int, pieces: int
) -> CutPlan:
    """Plan over rows that lie in several places in no order."""
    places = np.array_split(rng.permutation(len(points)), pieces)

    def ask(survey: Survey) -> PassCount:
        counts = [
            survey.count(points[rows], [code[rows].astype(np.int64) for code in codes]) for rows in places
        ]
        return merge(PassCount.unpack(count.pack()) for count in counts)

    edges = edges_from(points, int(rng.integers(1, 60)), rng)
    return plan_cuts(ask, edges, judge, target=target, sizes=[len(points)])


def finish_parts(points: Points, codes: list[Codes], judge: Judge, made: CutPlan) -> Labels:
    leaf = made.number[made.survey().stand(points)]
    labels, classes = np.full(len(points), -1), 0
    for number, (size, whole) in enumerate(zip(made.sizes, made.whole, strict=True)):
        rows = np.flatnonzero(leaf == number)
        assert len(rows) == size
        if whole:
            labels[rows], classes = classes, classes + 1
            continue
        part = Mondrian()(points[rows], judge.admission(len(rows), [code[rows] for code in codes]))
        labels[rows], classes = part.labels + classes, classes + part.classes
    return labels


def same_classes(one: Labels, other: Labels) -> bool:
    return len(np.unique(np.stack([one, other]), axis=1).T) == len(np.unique(one)) == len(np.unique(other))


@st.composite
def tables(draw: st.DrawFn) -> tuple[Points, Codes, Judge, np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, columns = draw(st.integers(8, 500)), draw(st.integers(1, 4))
    points = {
        "smooth": rng.random((rows, columns)),
        "coarse": rng.integers(0, 4, (rows, columns)) / 3,
        "dominated": np.where(rng.random((rows, columns)) < 0.8, 0.0, rng.random((rows, columns))),
        "skewed": np.round(rng.beta(0.3, 3, (rows, columns)), 2),
    }[draw(st.sampled_from(["smooth", "coarse", "dominated", "skewed"]))]
    codes = rng.integers(0, 4, rows).astype(np.int32)
    coded = CodedColumn("illness", "illness", 4)
    promises = draw(
        st.sampled_from(
            [
                ((KAnonymity(3), None),),
                ((KAnonymity(2), None), (DistinctDiversity(2), coded)),
                ((KAnonymity(2), None), (EqualCloseness(0.4), coded)),
            ]
        )
    )
    judge = Judge(promises)
    return points, codes, Judge(promises, (np.bincount(codes, minlength=4) / rows,) * len(judge.columns)), rng


@given(tables(), st.integers(1, 60), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_cuts_from_counts_are_those_of_one_machine(
    table: tuple[Points, Codes, Judge, np.random.Generator], target: int, pieces: int
) -> None:
    points, codes, judge, rng = table
    given_codes = [codes] * len(judge.columns)
    whole = judge.admission(len(points), given_codes)
    if not whole(np.arange(len(points), dtype=np.int32), np.array([0, len(points)])).all():
        return
    made = shuffle_rows(points, given_codes, judge, rng, target=target, pieces=pieces)
    assert same_classes(finish_parts(points, given_codes, judge, made), Mondrian()(points, whole).labels)
    assert ((made.sizes <= target) | made.whole).all()


def test_smooth_columns_need_one_pass_for_each_level_and_one_more() -> None:
    rng = np.random.default_rng(5)
    points, judge = rng.random((40_000, 3)), Judge(((KAnonymity(10), None),))
    edges = np.concatenate([np.tile(np.linspace(0, 1, 4000), (3, 1)), np.full((3, 1), np.inf)], axis=1)
    made = plan_cuts(lambda survey: survey.count(points, []), edges, judge, target=2_500, sizes=[40_000])
    assert made.levels == 4
    assert made.passes == made.levels + 1


def test_many_equal_values_at_the_median_cost_no_pass_of_their_own() -> None:
    rng = np.random.default_rng(6)
    points = np.column_stack([rng.random(400_000), rng.integers(0, 21, 400_000) / 20])
    points[:2] = [[0, 0], [1, 1]]  # as wide as each other: the first goes first
    edges = np.full((2, 4_001), np.inf)
    edges[0, :4_000], edges[1, :21] = np.linspace(0, 1, 4_000), np.linspace(0, 1, 21)
    judge = Judge(((KAnonymity(10), None),))
    made = plan_cuts(lambda survey: survey.count(points, []), edges, judge, target=120_000, sizes=[400_000])
    assert made.levels == 2
    assert made.passes == made.levels + 1


def test_a_table_that_fits_a_worker_needs_no_pass() -> None:
    def ask(_: Survey) -> PassCount:
        pytest.fail("nobody needs to count")

    made = plan_cuts(ask, np.full((2, 1), np.inf), Judge(((KAnonymity(2), None),)), target=9, sizes=[9])
    assert made.passes == 0
    assert made.sizes.tolist() == [9]
    assert not made.whole.any()


def test_a_huge_crowd_of_equal_rows_is_one_class_and_goes_to_no_worker() -> None:
    points = np.concatenate([np.zeros((5_000, 2)), np.ones((2, 2))])
    judge = Judge(((KAnonymity(3), None),))
    made = shuffle_rows(points, [], judge, np.random.default_rng(1), target=100, pieces=2)
    assert made.sizes.tolist() == [5_002]
    assert made.whole.tolist() == [True]


def test_the_first_of_equally_wide_columns_comes_first() -> None:
    widths = np.array([0.5, 1.0, 1.0, 0.0])
    order = [next_widest(widths, previous) for previous in (-1, 1, 2, 0)]
    assert order == [1, 2, 0, -1]
