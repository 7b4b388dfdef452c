"""A pass over rows, against counting them one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays import cutting

QUESTIONS, COLUMNS = 3, 2
PLACES = st.one_of(st.just(-1.0), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1))
POINTS = st.lists(st.tuples(PLACES, PLACES), max_size=40)
EDGES = st.lists(PLACES, min_size=1, max_size=30)


def side_of(value: float, low: float, high: float) -> int:
    if value == high:
        return 1
    return 2 if value > high else 3 if value > low else 0


@settings(deadline=None)  # the first call loads the kernel
@given(POINTS, EDGES, EDGES, st.tuples(PLACES, PLACES), st.integers(1, 9), st.randoms(use_true_random=False))
def test_rows_extremes_and_bins_are_those_of_counting_one_by_one(
    rows: list[tuple[float, float]],
    one: list[float],
    other: list[float],
    bracket: tuple[float, float],
    bins: int,
    dice: object,
) -> None:
    points = np.array(rows, np.float64).reshape(-1, COLUMNS)
    edges = np.full((COLUMNS, max(len(one), len(other)) + 1), np.inf)
    for column, values in enumerate((one, other)):
        distinct = np.unique(values)
        edges[column, : len(distinct)] = distinct
    low, high = sorted(bracket)
    nodes = np.array([dice.randrange(QUESTIONS + 1) for _ in rows], np.int64)  # type: ignore[attr-defined]
    asked = cutting.Asked(
        of_node=np.array([0, 1, 2, -1]),
        column=np.array([0, -1, 1]),
        low=np.array([low, np.inf, low]),
        high=np.array([high, np.inf, high]),
        spread=np.array([True, True, False]),
        first=np.zeros((QUESTIONS, COLUMNS), np.int64),
        width=np.full((QUESTIONS, COLUMNS), edges.shape[1]),
    )
    shape = (QUESTIONS, cutting.SIDES, COLUMNS)
    found = cutting.Tally(
        np.zeros(shape[:2], np.int64),
        np.full(shape, np.inf),
        np.full(shape, -np.inf),
        np.zeros((*shape, bins), np.int32),
    )
    side = np.empty(len(points), np.int8)
    undecided = cutting.tally(points, nodes, asked, edges, found, side)

    expected = cutting.Tally(
        np.zeros_like(found.rows),
        np.full(shape, np.inf),
        np.full(shape, -np.inf),
        np.zeros_like(found.bins),
    )
    sides = []
    for point, node in zip(points, nodes, strict=True):
        question = int(asked.of_node[node])
        column = int(asked.column[question]) if question >= 0 else -1
        at = -1 if question < 0 else 0 if column < 0 else side_of(point[column], low, high)
        sides.append(at)
        if at in (-1, 3):
            continue
        expected.rows[question, at] += 1
        for i, value in enumerate(point):
            expected.least[question, at, i] = min(expected.least[question, at, i], value)
            expected.most[question, at, i] = max(expected.most[question, at, i], value)
            if asked.spread[question]:
                place = int(np.searchsorted(edges[i], value))
                expected.bins[question, at, i, place * bins // edges.shape[1]] += 1
    assert undecided == sides.count(3)
    assert side.tolist() == sides
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.least, expected.least)
    assert np.array_equal(found.most, expected.most)
    assert np.array_equal(found.bins, expected.bins)
