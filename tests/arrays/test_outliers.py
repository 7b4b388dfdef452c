from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays import cutting, tiling
from mahrem.types import Floats, Offsets, Points, Rows

TIGHTEST, LOF, DISTANCE, KNN = range(4)
SEEDS = st.integers(0, 2**32 - 1)


def factors_by_hand(group: Points, neighbours: int) -> Floats:
    """Breunig's definition with scikit-learn's conventions, slowly."""
    if len(group) < 2:
        return np.ones(len(group))
    count = max(1, min(neighbours, len(group) - 1))
    apart = np.sqrt(((group[:, None] - group) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1, kind="stable")[:, :count]
    far = np.take_along_axis(apart, near, axis=1)
    density = 1 / (np.maximum(far, far[near, -1]).mean(axis=1) + 1e-10)
    return density[near].mean(axis=1) / density


def groups_of(rng: np.random.Generator, rows: int, most: int) -> tuple[Rows, Offsets]:
    borders = np.unique(np.append(rng.integers(0, rows, max(1, 2 * rows // most)), [0, rows]))
    return rng.permutation(rows).astype(np.int32), borders


@given(seed=SEEDS, rows=st.integers(1, 120), columns=st.integers(1, 4), neighbours=st.integers(1, 9))
@settings(max_examples=50, deadline=None)
def test_factors_are_those_of_the_definition_in_every_group(
    seed: int, rows: int, columns: int, neighbours: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((rows, columns))
    points[rows // 2 :] = points[: rows - rows // 2] if seed % 3 == 0 else points[rows // 2 :]  # doubles
    order, offsets = groups_of(rng, rows, 20)
    scores = tiling.local_outlier_factors(points, order, offsets, neighbours)
    for start, stop in pairwise(offsets):
        expected = factors_by_hand(points[order[start:stop]], neighbours)
        assert scores[start:stop] == pytest.approx(expected, rel=1e-6)


def test_a_lone_record_and_equal_records_are_normal() -> None:
    rows, offsets = np.arange(6, dtype=np.int32), np.array([0, 1, 6])
    assert tiling.local_outlier_factors(np.zeros((6, 2)), rows, offsets, 4) == pytest.approx(1.0)


def test_threads_do_not_change_factors() -> None:
    points = np.random.default_rng(0).random((20_000, 3))
    rows, offsets = np.arange(20_000, dtype=np.int32), np.arange(0, 20_001, 8)
    once = tiling.local_outlier_factors(points, rows, offsets, 4, threads=1)
    assert (tiling.local_outlier_factors(points, rows, offsets, 4, threads=3) == once).all()


def references_by_hand(part: Points, k: int, rule: int, neighbours: int) -> list[int]:
    """Give every record with the lowest score: sums in another order may decide between them."""
    squares = ((part[:, None] - part) ** 2).sum(axis=2)
    nearest = np.argsort(squares, axis=1, kind="stable")
    if rule == TIGHTEST:
        scores = np.array([np.ptp(part[some[:k]], axis=0).sum() for some in nearest])
    elif rule == LOF:
        scores = factors_by_hand(part, neighbours)
    else:
        count = len(part) if rule == DISTANCE else min(neighbours + 1, len(part))
        scores = np.sort(np.sqrt(squares), axis=1)[:, :count].sum(axis=1)
    return np.flatnonzero(scores <= scores.min() + 1e-9).tolist()


@given(seed=SEEDS, rows=st.integers(1, 90), k=st.integers(1, 6), rule=st.integers(0, 3), sort=st.booleans())
@settings(max_examples=50, deadline=None)
def test_normal_records_are_the_reference_and_its_nearest(
    seed: int,
    rows: int,
    k: int,
    rule: int,
    sort: bool,  # noqa: FBT001
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((rows, 3))
    order, offsets = groups_of(rng, rows, 12)
    before, neighbours = order.copy(), max(1, k - 1)
    widths = tiling.normals_first(points, order, offsets, k, rule=rule, neighbours=neighbours, sort=sort)
    for part, (start, stop) in enumerate(pairwise(offsets)):
        old, new = points[before[start:stop]], points[order[start:stop]]
        taken = min(k, len(old))
        assert sorted(order[start:stop]) == sorted(before[start:stop])
        assert widths[part] == pytest.approx([np.ptp(new[:taken], axis=0).sum(), np.ptp(old, axis=0).sum()])
        possible = [
            old[np.argsort(((old - old[one]) ** 2).sum(axis=1), kind="stable")]
            for one in references_by_hand(old, taken, rule, neighbours)
        ]
        if rule == TIGHTEST:  # sets of several references may be as tight
            assert widths[part, 0] == pytest.approx(np.ptp(possible[0][:taken], axis=0).sum())
        elif taken < len(old):
            chosen = {tuple(point) for point in new[:taken]}
            assert any(chosen == {tuple(point) for point in nearest[:taken]} for nearest in possible)
            if sort and rule in {LOF, KNN}:
                assert any((new == nearest).all() for nearest in possible)


@pytest.mark.parametrize("rule", [TIGHTEST, LOF, DISTANCE, KNN])
def test_large_parts_and_equal_records_simply_work(rule: int) -> None:
    points = np.round(np.random.default_rng(1).random((3000, 2)), 1)
    points[1000:2000] = 0.5
    rows, offsets = np.arange(3000, dtype=np.int32), np.array([0, 1000, 2000, 3000])
    widths = tiling.normals_first(points, rows, offsets, 5, rule=rule, neighbours=4)
    assert sorted(rows) == list(range(3000))
    assert (widths[:, 0] <= widths[:, 1]).all()
    assert widths[1].tolist() == [0.0, 0.0]


@given(seed=SEEDS, rows=st.integers(0, 400), classes=st.integers(1, 9))
@settings(max_examples=25, deadline=None)
def test_rows_lie_one_class_after_the_other(seed: int, rows: int, classes: int) -> None:
    labels = np.random.default_rng(seed).integers(-1, classes, rows)
    order, offsets = tiling.rows_by_label(labels, classes)
    for label in range(classes):
        assert order[offsets[label] : offsets[label + 1]].tolist() == np.flatnonzero(labels == label).tolist()


@given(seed=SEEDS, rows=st.integers(1, 700), k=st.integers(1, 7), kinds=st.sampled_from([1, 3, 10**6]))
@settings(max_examples=30, deadline=None)
def test_leftovers_form_classes_of_k_and_one_with_the_rest(seed: int, rows: int, k: int, kinds: int) -> None:
    points = np.random.default_rng(seed).integers(0, kinds, (rows, 2)) / kinds
    labels = np.full(rows, -1, np.int64)
    classes = cutting.group_nearest(points, k, labels)
    sizes = np.bincount(labels, minlength=classes)
    assert classes == max(1, rows // k)
    assert labels.min() == 0
    assert sizes.max() < 2 * k
    assert np.count_nonzero(sizes != k) <= 1


def test_far_groups_are_found_nearest_first() -> None:
    points = np.array([[0.0], [0.5], [1.0], [0.01], [0.51], [0.99]])
    labels = np.empty(6, np.int64)
    assert cutting.group_nearest(points, 2, labels) == 3
    assert labels[0] == labels[3]
    assert labels[1] == labels[4]
    assert labels[2] == labels[5]


def test_a_leftover_joins_the_class_that_grows_least() -> None:
    points = np.array([[0.0, 0.0], [0.4, 0.0], [1.0, 1.0], [0.6, 0.0]])
    low, high = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0.4, 0.0], [1.0, 1.0]])
    labels = np.array([0, 0, 1, -1])
    cutting.join_least(points, np.array([3], np.int32), low, high, labels)
    assert labels.tolist() == [0, 0, 1, 0]
    assert high[0].tolist() == [0.6, 0.0]


def spread_of(points: Points, labels: Rows | Offsets) -> float:
    parts = [points[labels == label] for label in np.unique(labels)]
    return float(sum(len(part) * np.ptp(part, axis=0).sum() for part in parts))


@given(seed=SEEDS, classes=st.integers(1, 60), k=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_swaps_keep_sizes_and_never_widen_the_classes(seed: int, classes: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((classes * k, 2))
    labels = rng.permutation(np.repeat(np.arange(classes), k))
    swapped, tiles = tiling.swap_rows(points, labels, classes)
    assert (np.bincount(swapped) == k).all()
    assert (tiles[swapped] == tiles[labels]).all()
    assert spread_of(points, swapped) <= spread_of(points, labels) + 1e-9


def test_two_mixed_up_classes_are_sorted_out() -> None:
    points = np.array([[0.0], [0.1], [0.9], [1.0]])
    swapped, _ = tiling.swap_rows(points, np.array([0, 1, 0, 1]), 2)
    assert swapped[0] == swapped[1] != swapped[2] == swapped[3]
