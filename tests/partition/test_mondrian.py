from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import AtLeast
from mahrem.arrays import cutting
from mahrem.errors import Infeasible, InvalidInput
from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity
from mahrem.partition import Admission, Mondrian, Partition
from mahrem.table import Values
from mahrem.types import Labels, Points

BOTH = pytest.mark.parametrize("strict", [True, False])


@st.composite
def tables(draw: st.DrawFn) -> tuple[Points, int]:
    k = draw(st.integers(1, 6))
    rows, columns = draw(st.integers(k, 400)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    match draw(st.sampled_from(["smooth", "coarse", "mixed"])):
        case "smooth":
            points = rng.random((rows, columns))
        case "coarse":
            points = rng.integers(-2, 3, (rows, columns)) / 2
        case _:
            points = np.round(rng.normal(size=(rows, columns)), rng.integers(0, 3))
    return points, k


def by_hand(points: Points, k: int) -> Labels:
    """The strict rule once more, slowly."""
    labels, stack, classes = np.full(len(points), -1), [np.arange(len(points))], 0
    while stack:
        rows = stack.pop()
        widths = np.ptp(points[rows], axis=0)
        for column in np.argsort(-widths, kind="stable"):
            values = points[rows, column]
            middle = np.sort(values)[(len(rows) - 1) // 2]
            left = next(
                (s for s in (values <= middle, values < middle) if k <= s.sum() <= len(rows) - k), None
            )
            if left is not None:
                stack += [rows[left], rows[~left]]
                break
        else:
            labels[rows] = classes
            classes += 1
    return labels


def same_classes(one: Labels, other: Labels) -> bool:
    return len(np.unique(np.stack([one, other]), axis=1).T) == len(np.unique(one)) == len(np.unique(other))


def check_contract(partition: Partition, rows: int, k: int) -> None:
    assert partition.labels.shape == (rows,)
    assert partition.labels.dtype == np.int64
    assert partition.sizes.sum() == rows
    assert len(partition.sizes) == partition.classes
    assert partition.sizes.min() >= k


@given(tables())
@settings(max_examples=80, deadline=None)
def test_strict_gives_the_classes_of_the_slow_rule(table: tuple[Points, int]) -> None:
    points, k = table
    partition = Mondrian()(points, AtLeast(k))
    check_contract(partition, len(points), k)
    assert same_classes(partition.labels, by_hand(points, k))


@given(tables())
@settings(max_examples=60, deadline=None)
def test_relaxed_classes_hold_k_to_2k_minus_1_rows(table: tuple[Points, int]) -> None:
    points, k = table
    partition = Mondrian(strict=False)(points, AtLeast(k))
    check_contract(partition, len(points), k)
    assert partition.sizes.max() <= 2 * k - 1
    assert partition.how is None


@BOTH
@given(table=tables())
@settings(max_examples=60, deadline=None)
def test_the_general_path_gives_what_the_kernel_gives(table: tuple[Points, int], strict: bool) -> None:  # noqa: FBT001
    points, k = table
    kernel = Mondrian(strict=strict)(points, AtLeast(k))
    general = Mondrian(strict=strict)(points, AtLeast(k, plain=False))
    assert (kernel.labels == general.labels).all()
    if strict:
        assert kernel.how is not None
        assert general.how is not None
        for name in ("column", "value", "below", "depth"):
            assert (getattr(kernel.how, name) == getattr(general.how, name)).all()


@given(tables(), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_strict_keeps_equal_rows_together_and_does_not_see_their_order(
    table: tuple[Points, int], seed: int
) -> None:
    points, k = table
    labels = Mondrian()(points, AtLeast(k)).labels
    _, same = np.unique(points, axis=0, return_inverse=True)
    assert len(np.unique(np.stack([same, labels]), axis=1).T) == same.max() + 1
    order = np.random.default_rng(seed).permutation(len(points))
    assert (Mondrian()(points[order], AtLeast(k)).labels == labels[order]).all()


@given(tables())
@settings(max_examples=60, deadline=None)
def test_the_cuts_lead_every_row_to_its_class(table: tuple[Points, int]) -> None:
    points, k = table
    partition = Mondrian()(points, AtLeast(k))
    cuts = partition.how
    assert cuts is not None
    assert len(cuts.depth) == partition.classes - 1
    for point, label in zip(points, partition.labels, strict=True):
        first, last = 0, partition.classes - 1
        while first < last:
            cut = first + int(np.argmin(cuts.depth[first:last]))
            value, limit = point[cuts.column[cut]], cuts.value[cut]
            goes_left = value < limit if cuts.below[cut] else value <= limit
            first, last = (first, cut) if goes_left else (cut + 1, last)
        assert first == label


@BOTH
def test_threads_do_not_change_anything(strict: bool) -> None:  # noqa: FBT001
    points = np.round(np.random.default_rng(5).random((60_000, 3)), 3)
    for admits in (AtLeast(7), AtLeast(7, plain=False)):
        once = Mondrian(strict=strict)(points, admits, threads=1).labels
        for threads in (2, 3):
            assert (Mondrian(strict=strict)(points, admits, threads=threads).labels == once).all()


def test_every_class_keeps_every_promise() -> None:
    rng = np.random.default_rng(2)
    points = rng.random((3000, 3))
    disease = Values("disease", rng.integers(0, 4, 3000).astype(np.int32), 4)
    for model in (DistinctDiversity(3), EqualCloseness(0.3)):
        admits = Admission(((KAnonymity(4), None), (model, disease)), rows=3000)
        for strict in (True, False):
            partition = Mondrian(strict=strict)(points, admits)
            check_contract(partition, 3000, 4)
            assert partition.classes > 20
            order = np.argsort(partition.labels, kind="stable").astype(np.int32)
            offsets = np.concatenate([[0], np.cumsum(partition.sizes)])
            assert admits(order, offsets).all()


@BOTH
def test_sixty_thousand_equal_rows_simply_work(strict: bool) -> None:  # noqa: FBT001
    points = np.full((60_000, 3), 0.25)
    partition = Mondrian(strict=strict)(points, AtLeast(5))
    check_contract(partition, 60_000, 5)
    assert partition.classes == (1 if strict else 8192)


@BOTH
@pytest.mark.parametrize("plain", [True, False])
def test_small_and_odd_shapes_simply_work(strict: bool, plain: bool) -> None:  # noqa: FBT001
    assert Mondrian(strict=strict)(np.zeros((1, 2)), AtLeast(1, plain)).labels.tolist() == [0]
    assert Mondrian(strict=strict)(np.zeros((4, 0)), AtLeast(2, plain)).classes == 1
    wide = np.random.default_rng(0).random((40, 10_000))
    check_contract(Mondrian(strict=strict)(wide, AtLeast(5, plain)), 40, 5)
    one_column = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
    assert Mondrian(strict=strict)(one_column, AtLeast(2, plain)).labels.tolist() == [0, 0, 1, 1]


def test_the_second_cut_saves_a_column_full_of_ties() -> None:
    points = np.array([[0.0], [0.1], [1.0], [1.0], [1.0], [1.0]])
    partition = Mondrian()(points, AtLeast(2))
    assert partition.labels.tolist() == [0, 0, 1, 1, 1, 1]
    assert partition.how is not None
    assert partition.how.below.tolist() == [True]


def test_relaxed_ties_go_by_the_other_columns() -> None:
    points = np.array([[0.0, 0.4], [1.0, 0.0], [0.0, 0.0], [0.0, 0.1]])
    assert Mondrian(strict=False)(points, AtLeast(2)).labels.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("rows", [0, 3])
def test_too_few_rows_are_infeasible(rows: int) -> None:
    with pytest.raises(Infeasible, match=f"rows={rows} must be at least 4"):
        Mondrian()(np.zeros((rows, 2)), AtLeast(4))


def test_a_table_that_may_not_stand_as_one_class_is_infeasible() -> None:
    disease = Values("disease", np.zeros(6, np.int32), 1)
    with pytest.raises(Infeasible, match="even as one class"):
        Mondrian()(np.zeros((6, 1)), Admission(((DistinctDiversity(2), disease),), rows=6))


@BOTH
def test_numbers_that_are_not_finite_are_an_error_without_their_place(strict: bool) -> None:  # noqa: FBT001
    with pytest.raises(InvalidInput, match="not finite"):
        Mondrian(strict=strict)(np.array([[0.0], [np.nan]]), AtLeast(1))


def test_settings_can_be_printed_compared_and_called() -> None:
    assert repr(Mondrian(strict=False)) == "Mondrian(strict=False, cut='median')"
    assert Mondrian() == Mondrian(strict=True)
    points = np.random.default_rng(1).random((50, 2))
    assert (Mondrian()(points, AtLeast(3)).labels == Mondrian()(points, AtLeast(3)).labels).all()


@pytest.fixture(scope="module")
def adult(benchmark_data: Path) -> Points:
    names = ["age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"]
    with (benchmark_data / "adult_train.csv").open(encoding="utf-8") as file:
        kept = [row for row in csv.DictReader(file) if "?" not in row.values()]
    points = np.array([[float(row[name]) for name in names] for row in kept])
    return (points - points.min(axis=0)) / np.ptp(points, axis=0)


def loss(points: Points, partition: Partition) -> float:
    """Sum over rows of the widths of their class: gcp_sum."""
    widths = np.zeros(partition.classes)
    for column in points.T:
        low, high, _ = cutting.class_extremes(column, partition.labels, partition.classes)
        widths += high - low
    return float((partition.sizes * widths).sum())


@pytest.mark.data
@pytest.mark.parametrize(
    ("k", "classes", "dm"),
    [(5, 4096, 223054), (10, 2048, 444618), (20, 1024, 888678)] + [(k, 512, 1776890) for k in (30, 40, 50)],
)
def test_relaxed_gives_the_published_figures_on_adult(adult: Points, k: int, classes: int, dm: int) -> None:
    assert len(adult) == 30_162
    partition = Mondrian(strict=False)(adult, AtLeast(k))
    assert (partition.classes, int((partition.sizes**2).sum())) == (classes, dm)


@pytest.mark.data
def test_losses_on_adult_stay_where_they_are(adult: Points) -> None:
    assert 2200 < loss(adult, Mondrian()(adult, AtLeast(5))) <= 2300
    assert loss(adult, Mondrian(strict=False)(adult, AtLeast(5))) <= 3230
