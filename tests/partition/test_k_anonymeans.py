from __future__ import annotations

import _thread
import gc
import itertools
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays import averaging
from mahrem.arrays.averaging._lloyd import middles
from mahrem.arrays.averaging._merge import merge_small, split_large
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.metrics import information_loss
from mahrem.models import KAnonymity
from mahrem.partition import Admission, KAnonyMeans, KAnonyMeansStar, OnaStar, Partitioner
from mahrem.partition.clustering._evolve import _Evolution, _Individual
from mahrem.partition.clustering._k_means import k_means
from mahrem.types import Points


def admits(points: Points, k: int) -> Admission:
    return Admission(((KAnonymity(k), None),), rows=len(points))


@pytest.mark.parametrize("start", ["k-means++", "forgy"])
@given(seed=st.integers(0, 2**32 - 1), kappa=st.integers(1, 12))
@settings(max_examples=20, deadline=None)
def test_k_means_ends_with_every_row_at_its_nearest_centre(start: Any, seed: int, kappa: int) -> None:
    points = np.random.default_rng(seed).random((80, 3))
    labels, centres = k_means(points, kappa, start=start, rng=seed)
    apart = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    assert (labels == apart.argmin(axis=1)).all()
    for group in range(kappa):
        if (labels == group).any():
            assert centres[group] == pytest.approx(points[labels == group].mean(axis=0))


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.booleans())
@settings(max_examples=30, deadline=None)
def test_looking_only_at_centres_that_moved_changes_nothing(seed: int, kappa: int, coarse: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (120, 2)) / 4 if coarse else rng.random((120, 3))
    columns = np.ascontiguousarray(points[rng.choice(120, kappa, replace=False)].T)
    slow, labels = columns.copy(), np.full(120, -1)
    averaging.lloyd(points, columns, 100, labels)
    expected = np.full(120, -1)
    while averaging.assign(points, slow, expected):
        middles(points, expected, slow, np.empty(kappa, np.int64))
    assert (labels == expected).all()
    assert (columns == slow).all()


def test_k_means_finds_clusters_that_lie_apart() -> None:
    points = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0)
    labels, centres = k_means(points, 3, rng=0)
    assert len(np.unique(labels)) == 3
    assert {tuple(centre) for centre in centres.tolist()} == {(0, 0), (5, 0), (0, 5)}


@pytest.mark.parametrize("start", ["k-means++", "forgy"])
def test_k_means_on_equal_rows_and_wide_tables_simply_works(start: Any) -> None:
    assert k_means(np.full((9, 2), 0.5), 4, start=start, rng=1)[1].shape == (4, 2)
    assert k_means(np.random.default_rng(0).random((5, 50)), 5, start=start, rng=1)[0].max() < 5
    assert k_means(np.zeros((5, 0)), 2, start=start, rng=1)[0].tolist() == [0] * 5


def test_k_means_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InvalidParameter, match="kappa=5 must be at most rows=4"):
        k_means(np.zeros((4, 1)), 5)
    with pytest.raises(InvalidParameter, match="kappa"):
        k_means(np.zeros((4, 1)), 0)
    with pytest.raises(InvalidParameter, match="start"):
        k_means(np.zeros((4, 1)), 2, start="lucky")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="not finite"):
        k_means(np.array([[np.inf]]), 1)


@pytest.mark.parametrize(
    ("order", "measure", "timing", "start"),
    list(
        itertools.product(
            ["inner", "outer", "none"], ["centre", "sse"], ["after", "inside"], ["k-means++", "forgy"]
        )
    ),
)
def test_every_variant_gives_groups_of_at_least_k(order: Any, measure: Any, timing: Any, start: Any) -> None:
    points = np.random.default_rng(4).random((150, 3))
    for kappa in (None, 1, 7, 150):
        method = KAnonyMeans(kappa=kappa, order=order, measure=measure, timing=timing, start=start, seed=5)
        partition = method(points, admits(points, 5))
        assert partition.sizes.min() >= 5
        if kappa is not None and order != "none":
            assert partition.sizes.max() < 10


def test_small_clusters_are_merged_in_the_order_asked_for() -> None:
    def merged(order: int, by_loss: bool) -> list[int]:  # noqa: FBT001
        centres, sizes = np.array([[0.0, 1.0, 2.5, 6.0]]), np.array([1, 1, 1, 5])
        target: list[int] = merge_small(centres, sizes, 3, order, by_loss).tolist()
        return target

    assert merged(averaging.INNER, True) == [0, 0, 0, 3]  # 0 takes 1, then 2
    assert merged(averaging.OUTER, False) == [2, 2, 2, 3]  # 0 goes to 1, that to 2 (large enough then)
    assert merged(averaging.SINGLE, False) == [3, 3, 3, 3]  # only 3 makes anyone large enough


def test_splitting_gives_the_groups_of_mdav_plus() -> None:
    points = np.random.default_rng(3).random((90, 2))
    labels = np.zeros(90, np.int64)
    count = split_large(points, labels, 1, 7)
    assert count == 12
    assert (labels == averaging.mdav_plus_groups(points, 7)).all()


def test_more_centres_than_rows_and_unknown_choices_are_errors() -> None:
    points = np.random.default_rng(0).random((10, 2))
    for wrong in (
        {"kappa": 11},
        {"kappa": 0},
        {"order": "x"},
        {"measure": "x"},
        {"timing": "x"},
        {"start": "x"},
        {"rounds": 0},
    ):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            KAnonyMeans(**wrong)(points, admits(points, 2))  # type: ignore[arg-type]


def test_refining_never_makes_it_worse() -> None:
    points = np.random.default_rng(6).random((300, 3))
    plain, refined = (
        information_loss(
            points, KAnonyMeans(seed=2, refine=refine, standardise=False)(points, admits(points, 4)).labels
        )
        for refine in (False, True)
    )
    assert refined < plain


@pytest.mark.parametrize("refine", [True, False])
def test_evolution_does_not_depend_on_threads_and_more_of_it_is_never_worse(refine: bool) -> None:  # noqa: FBT001
    points = np.random.default_rng(7).random((150, 3))
    losses = []
    for evaluations in (1, 8, 20):
        settings_ = KAnonyMeansStar(evaluations=evaluations, seed=3, refine=refine)
        one = settings_(points, admits(points, 4), threads=1)
        many = settings_(points, admits(points, 4), threads=3)
        assert (one.labels == many.labels).all()
        losses.append(information_loss(points, one.labels))
    assert losses[0] >= losses[1] >= losses[2]
    single = KAnonyMeans(seed=3)(points, admits(points, 4))
    assert losses[2] < information_loss(points, single.labels)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_polishing_keeps_sizes_and_only_shaking_may_raise_the_error(seed: int, k: int, shakes: int) -> None:
    points = np.random.default_rng(seed).random((70, 2))
    labels = np.minimum(np.random.default_rng(seed).permutation(70) // k, 70 // k - 1)
    before = averaging.squared_error(points, labels, 70 // k)
    averaging.polish(points, labels, k, shakes, 20, seed)
    sizes = np.bincount(labels)
    assert sizes.sum() == 70
    assert sizes[sizes > 0].min() >= k
    assert sizes.max() < 2 * k
    assert labels.max() < 70 // k
    if shakes == 0:
        assert averaging.squared_error(points, labels, 70 // k) <= before


def test_the_time_allowed_is_kept() -> None:
    points = np.random.default_rng(1).random((400, 4))
    KAnonyMeansStar(evaluations=1, seed=1)(points, admits(points, 4))  # kernels are compiled or loaded
    begin = time.monotonic()
    KAnonyMeansStar(seconds=0.5, seed=1)(points, admits(points, 4))
    assert time.monotonic() - begin < 20


def test_an_interrupt_gives_the_best_so_far() -> None:
    points = np.random.default_rng(1).random((400, 4))
    KAnonyMeansStar(evaluations=1, seed=1)(points, admits(points, 4))
    timer = threading.Timer(2.0, _thread.interrupt_main)
    timer.start()
    try:
        partition = KAnonyMeansStar(seconds=600, seed=1)(points, admits(points, 4))
    finally:
        timer.cancel()
    assert partition.sizes.min() >= 4
    assert partition.sizes.sum() == 400


def test_an_interrupt_stops_what_is_not_anytime() -> None:
    points = np.random.default_rng(1).random((400, 4))
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            KAnonyMeansStar(seconds=60, seed=1, anytime=False)(points, admits(points, 4))
    finally:
        timer.cancel()


def test_the_parts_of_a_table_share_the_interrupt_and_the_time() -> None:
    points = np.random.default_rng(1).random((300, 3))
    begun = KAnonyMeansStar(seconds=600, seed=1).begin(rows=300)
    begun.stop.set()  # type: ignore[attr-defined] - as ctrl-C in an earlier part does
    begin = time.monotonic()
    assert begun(points, admits(points, 4)).sizes.min() >= 4
    shared = KAnonyMeansStar(seconds=600, seed=1).begin(rows=300_000)
    assert shared(points, admits(points, 4)).sizes.min() >= 4  # a thousandth of the time
    assert time.monotonic() - begin < 60


def test_only_survivors_and_the_best_are_kept() -> None:
    points = np.random.default_rng(1).random((60, 2))
    evolution = _Evolution(points, 3, KAnonyMeansStar(evaluations=60, refine=False, seed=1))
    best = evolution.run(2)
    alive = sum(type(one) is _Individual for one in gc.get_objects())  # asks no odd object for its class
    assert evolution.best is best
    assert alive <= 8 + 3 + 1


@pytest.mark.parametrize("method", [KAnonyMeans(seed=-1), KAnonyMeansStar(seed=-1), OnaStar(seed=-1)])
def test_a_seed_below_zero_is_an_error(method: Partitioner) -> None:
    points = np.random.default_rng(0).random((20, 2))
    with pytest.raises(InvalidParameter, match="seed=-1 must be at least 0"):
        method(points, admits(points, 2))


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": 0},
        {"seconds": -1.0},
        {"evaluations": 0},
        {"population": 1},
        {"survivors": 0},
        {"survivors": 8},
        {"mutants": -1},
        {"strength": -1},
    ],
    ids=str,
)
def test_a_budget_of_zero_and_odd_populations_are_errors(wrong: dict[str, Any]) -> None:
    points = np.random.default_rng(0).random((20, 2))
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        KAnonyMeansStar(**wrong)(points, admits(points, 2))


def test_settings_can_be_printed_and_compared() -> None:
    assert "kappa=7" in repr(KAnonyMeans(kappa=7))
    assert KAnonyMeans(seed=1) == KAnonyMeans(seed=1)
    assert KAnonyMeansStar(seconds=60) != KAnonyMeansStar()
