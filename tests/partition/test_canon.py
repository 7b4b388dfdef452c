from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import AtLeast
from mahrem.arrays import cutting, tiling
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity
from mahrem.partition import Admission, Canon, Partition, build_method
from mahrem.partition.cutting import InheritedMondrian
from mahrem.table import Values
from mahrem.types import Points
from strategies import points_and_k

DISTANCES = ["euclid", "manhattan", "minkowski", "hamming", "mixed"]


def check_contract(partition: Partition, rows: int, k: int) -> None:
    assert partition.labels.shape == (rows,)
    assert partition.labels.dtype == np.int64
    assert partition.sizes.sum() == rows
    assert len(partition.sizes) == partition.classes
    assert partition.sizes.min() >= k


def loss(points: Points, partition: Partition) -> float:
    """Sum over rows of the widths of their class: gcp_sum."""
    widths = np.zeros(partition.classes)
    for column in points.T:
        low, high, _ = cutting.class_extremes(column, partition.labels, partition.classes)
        widths += high - low
    return float((partition.sizes * widths).sum())


@pytest.mark.parametrize("distance", DISTANCES)
@given(table=points_and_k(), vantage=st.sampled_from(["random", "far"]), seed=st.integers(0, 2**70))
@settings(max_examples=20, deadline=None)
def test_every_row_has_a_class_and_equal_rows_the_same(
    distance: str, table: tuple[Points, int], vantage: str, seed: int
) -> None:
    points, k = table
    method = Canon(distance=distance, vantage=vantage, seed=seed, categorical=(0,))
    partition = method(points, AtLeast(k))
    check_contract(partition, len(points), k)
    _, same = np.unique(points, axis=0, return_inverse=True)
    assert len(np.unique(np.stack([same, partition.labels]), axis=1).T) == same.max() + 1
    assert (method(points, AtLeast(k)).labels == partition.labels).all()


@given(table=points_and_k(), vantage=st.sampled_from(["random", "far"]), share=st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_the_general_path_gives_what_the_kernel_gives(
    table: tuple[Points, int], vantage: str, share: float
) -> None:
    points, k = table
    both = [Canon(vantage=vantage, seed=3, share=share)(points, AtLeast(k, plain)) for plain in (True, False)]
    assert (both[0].labels == both[1].labels).all()
    assert both[0].classes == both[1].classes


@pytest.mark.parametrize("plain", [True, False])
def test_threads_do_not_change_the_classes(plain: bool) -> None:  # noqa: FBT001
    points = np.round(np.random.default_rng(5).random((60_000, 3)), 3)
    once = Canon(seed=1)(points, AtLeast(7, plain), threads=1).labels
    for threads in (2, 3):
        assert (Canon(seed=1)(points, AtLeast(7, plain), threads=threads).labels == once).all()


def test_every_class_keeps_every_promise() -> None:
    rng = np.random.default_rng(2)
    points = rng.random((3000, 3))
    disease = Values("disease", rng.integers(0, 4, 3000).astype(np.int32), 4)
    for model in (DistinctDiversity(3), EqualCloseness(0.3)):
        admits = Admission(((KAnonymity(4), None), (model, disease)), rows=3000)
        partition = Canon(seed=0)(points, admits)
        check_contract(partition, 3000, 4)
        assert partition.classes > 20
        assert admits(*tiling.rows_by_label(partition.labels, partition.classes)).all()


def test_seeds_differ_and_no_seed_draws_anew() -> None:
    points = np.random.default_rng(0).random((2000, 3))
    first, second = (Canon(seed=seed)(points, AtLeast(3)).labels for seed in (1, 2))
    assert (first != second).any()
    assert (Canon()(points, AtLeast(3)).labels != Canon()(points, AtLeast(3)).labels).any()


def test_categories_are_equal_or_not_in_the_mixed_distance() -> None:
    words = np.repeat([0.0, 1 / 3, 2 / 3, 1.0], 4)
    points = np.stack([words, np.zeros(16)], axis=1)
    partition = Canon(distance="mixed", categorical=(0,), seed=4)(points, AtLeast(4))
    assert partition.sizes.tolist() == [4, 4, 4, 4]
    assert len(np.unique(np.stack([partition.labels, words]), axis=1).T) == 4


@pytest.mark.parametrize("plain", [True, False])
def test_small_and_odd_shapes_simply_work(plain: bool) -> None:  # noqa: FBT001
    assert Canon(seed=0)(np.zeros((1, 2)), AtLeast(1, plain)).labels.tolist() == [0]
    assert Canon(seed=0)(np.zeros((4, 0)), AtLeast(2, plain)).classes == 1
    assert Canon(seed=0)(np.full((60_000, 3), 0.25), AtLeast(5, plain)).classes == 1
    wide = np.random.default_rng(0).random((40, 5000))
    check_contract(Canon(seed=0)(wide, AtLeast(5, plain)), 40, 5)


@pytest.mark.parametrize(
    ("strange", "message"),
    [
        ({"distance": "cosine"}, "distance='cosine' must be one of euclid"),
        ({"vantage": "near"}, "vantage='near' must be one of random, far"),
        ({"power": 0.5}, r"power=0\.5 must be at least 1"),
        ({"share": 1.5}, r"share=1\.5 must lie between"),
        ({"seed": 1.5}, r"seed=1\.5 must be a whole number"),
    ],
)
def test_settings_that_do_not_fit_are_named(strange: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Canon(**strange)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=message):
        Canon(**strange)(np.zeros((4, 1)), AtLeast(2))  # type: ignore[arg-type]


def test_a_column_that_is_not_there_cannot_be_categorical() -> None:
    with pytest.raises(InvalidParameter, match="categorical=2 must be a column"):
        Canon(categorical=(2,))(np.zeros((4, 2)), AtLeast(2))


def test_what_cannot_be_is_infeasible() -> None:
    for method in (Canon(), InheritedMondrian()):
        with pytest.raises(Infeasible, match="rows=3"):
            method(np.zeros((3, 2)), AtLeast(4))
        disease = Values("disease", np.zeros(6, np.int32), 1)
        with pytest.raises(Infeasible, match="even as one class"):
            method(np.zeros((6, 1)), Admission(((DistinctDiversity(2), disease),), rows=6))
    with pytest.raises(InvalidInput, match="not finite"):
        Canon()(np.array([[0.0], [np.nan]]), AtLeast(1))


def test_a_policy_names_canon_and_its_distance_follows_the_kinds() -> None:
    method = build_method("canon", seed=5, categorical=(1,), options={"vantage": "random"})
    assert method == Canon(distance="mixed", vantage="random", seed=5, categorical=(1,))
    assert build_method("canon") == Canon(vantage="far")


@given(table=points_and_k())
@settings(max_examples=25, deadline=None)
def test_inherited_widths_still_give_classes_that_may_stand(table: tuple[Points, int]) -> None:
    points, k = table
    partition = InheritedMondrian()(points, AtLeast(k))
    check_contract(partition, len(points), k)
    assert (InheritedMondrian()(points, AtLeast(k, plain=False)).labels == partition.labels).all()
    _, same = np.unique(points, axis=0, return_inverse=True)
    assert len(np.unique(np.stack([same, partition.labels]), axis=1).T) == same.max() + 1


@pytest.mark.data
@pytest.mark.parametrize(
    ("k", "published", "far"),
    [(5, 3417, 2941), (10, 5366, 4665), (20, 7943, 0), (30, 10961, 0), (40, 10809, 0), (50, 11079, 10358)],
)
def test_canon_loses_on_adult_what_was_published(adult: Points, k: int, published: int, far: int) -> None:
    # seeds fixed; one run deviates by about 1 %, so the mean of five by half of that
    ours = np.mean([loss(adult, Canon(seed=seed)(adult, AtLeast(k))) for seed in range(5)])
    assert abs(ours / published - 1) < 0.05
    if far:
        assert loss(adult, Canon(vantage="far", seed=0)(adult, AtLeast(k))) == pytest.approx(far, rel=0.05)


@pytest.mark.data
@pytest.mark.parametrize(
    ("k", "classes", "dm", "gcp_sum"),
    [
        (5, 4553, 207996, 3952.62),
        (10, 2222, 425890, 6141.81),
        (20, 1105, 856562, 8582.58),
        (30, 749, 1267990, 10367.28),
        (40, 550, 1725228, 11586.60),
        (50, 438, 2153108, 12664.65),
    ],
)
def test_inherited_widths_give_the_published_figures_on_adult(
    adult: Points, k: int, classes: int, dm: int, gcp_sum: float
) -> None:
    partition = InheritedMondrian()(adult, AtLeast(k))
    assert (partition.classes, int((partition.sizes**2).sum())) == (classes, dm)
    assert loss(adult, partition) == pytest.approx(gcp_sum, abs=0.006)
