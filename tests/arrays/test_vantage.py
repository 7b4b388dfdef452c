from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.averaging import Vantage, grow_balls
from mahrem.arrays.averaging._vantage import draw, measure_from
from mahrem.errors import InvalidInput
from mahrem.types import Floats, Labels, Points

EUCLID, MANHATTAN, MINKOWSKI, HAMMING, MIXED = range(5)


def settings_of(
    columns: int, *, distance: int = EUCLID, far: bool = False, seed: int = 0, minimum: int = 2
) -> Vantage:
    category = np.zeros(columns, np.bool_)
    category[:1] = distance == MIXED
    return Vantage(
        distance,
        3.0,
        np.full(columns, 0.5),
        category,
        far=far,
        share=0.5,
        seed=np.uint64(seed),
        minimum=minimum,
    )


def by_hand(rows: Points, origin: Floats, distance: int) -> Floats:
    apart = np.abs(rows - origin)
    match distance:
        case 0:
            return (apart**2).sum(axis=1)
        case 1:
            return apart.sum(axis=1)
        case 2:
            return (apart**3).sum(axis=1)
        case 3:
            return (apart > 0).sum(axis=1).astype(float)
        case _:
            return (apart[:, 0] > 0) + apart[:, 1:].sum(axis=1) / 2


@given(
    distance=st.integers(0, 4),
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 60),
    columns=st.integers(1, 4),
)
@settings(max_examples=40, deadline=None)
def test_distances_are_those_of_the_definition(distance: int, seed: int, size: int, columns: int) -> None:
    points = np.random.default_rng(seed).integers(0, 4, (size + 3, columns)) / 3
    found = np.empty(size)
    measure_from(
        np.ascontiguousarray(points.T), 3, size, size - 1, settings_of(columns, distance=distance), found
    )
    assert found == pytest.approx(by_hand(points[3:], points[-1], distance))


def slowly(points: Points, k: int, seed: int, *, far: bool) -> Labels:
    """The rule once more, with sorting and lists of rows."""
    stack, done = [(0, np.arange(len(points)))], {}
    while stack:
        start, rows = stack.pop()
        done[start] = rows
        if len(rows) < 2 * k:
            continue
        with np.errstate(over="ignore"):  # as in registers
            place = draw(np.uint64(seed), start, len(rows))
        apart = by_hand(points[rows], points[rows[place]], EUCLID)
        for _ in range(2 * far):
            apart = by_hand(points[rows], points[rows[apart.argmax()]], EUCLID)
        middle = np.sort(apart)[(len(rows) - 1) // 2]
        left = next((s for s in (apart <= middle, apart < middle) if k <= s.sum() <= len(rows) - k), None)
        if left is not None:
            stack += [(start, rows[left]), (start + int(left.sum()), rows[~left])]
    labels = np.empty(len(points), np.int64)
    for label, start in enumerate(sorted(done)):
        labels[done[start]] = label
    return labels


@given(
    rows=st.integers(1, 200),
    far=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    kinds=st.sampled_from([2, 5, 1000]),
)
@settings(max_examples=40, deadline=None)
def test_the_tree_is_the_one_of_the_slow_rule(rows: int, far: bool, seed: int, kinds: int) -> None:  # noqa: FBT001
    points = np.random.default_rng(seed).integers(0, kinds, (rows, 2)) / kinds
    labels, classes = grow_balls(points, settings_of(2, far=far, seed=seed))
    assert (labels == slowly(points, 2, seed, far=far)).all()
    assert classes == labels.max() + 1


def test_draws_are_spread_over_all_places() -> None:
    with np.errstate(over="ignore"):
        drawn = np.array([draw(np.uint64(7), start, 10) for start in range(5000)])
    assert drawn.min() == 0
    assert drawn.max() == 9
    # seed fixed; each count is binomial with mean 500 and deviation 21: five deviations fail once in 10^6
    assert np.abs(np.bincount(drawn, minlength=10) - 500).max() < 107


@pytest.mark.parametrize("strange", [np.nan, np.inf])
def test_numbers_that_are_not_finite_have_no_distance(strange: float) -> None:
    with pytest.raises(InvalidInput, match="1 numbers that are not finite"):
        grow_balls(np.array([[0.0], [strange]]), settings_of(1))
