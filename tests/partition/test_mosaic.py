from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import AtLeast
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.metrics import cell_losses
from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity
from mahrem.partition import Admission, Mondrian, Mosaic, Partition, build_method
from mahrem.recode import Nodes
from mahrem.table import Axis, Hierarchy, Leaves, Values
from mahrem.types import Labels, Points

BOTH = pytest.mark.parametrize("objective", ["ncp", "sse"])
BEST_PUBLISHED = {5: 2505, 10: 4174, 20: 6097, 30: 7406, 40: 8885, 50: 9248}


@st.composite
def tables(draw: st.DrawFn) -> tuple[Points, int]:
    k = draw(st.integers(1, 6))
    rows, columns = draw(st.integers(k, 300)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    match draw(st.sampled_from(["smooth", "coarse", "skewed"])):
        case "smooth":
            points = rng.random((rows, columns))
        case "coarse":
            points = rng.integers(0, 3, (rows, columns)) / 2
        case _:
            points = np.maximum(0.0, rng.random((rows, columns)) ** 8 - 0.1)
    return points, k


def loss(points: Points, labels: Labels, objective: str = "ncp") -> float:
    """The total over all classes, slowly."""
    total = 0.0
    for group in range(int(labels.max()) + 1):
        members = points[labels == group]
        if objective == "ncp":
            total += len(members) * float(np.ptp(members, axis=0).sum())
        else:
            total += float(((members - members.mean(axis=0)) ** 2).sum())
    return total


def check_contract(partition: Partition, rows: int, k: int) -> None:
    assert partition.labels.shape == (rows,)
    assert partition.labels.dtype == np.int64
    assert partition.sizes.sum() == rows
    assert len(partition.sizes) == partition.classes
    assert partition.sizes.min() >= k


@BOTH
@given(table=tables(), tile=st.sampled_from([None, 1, 8, 20]), rounds=st.sampled_from([None, 0, 1, 3]))
@settings(max_examples=40, deadline=None)
def test_every_row_gets_a_class_of_at_least_k(
    table: tuple[Points, int], objective: str, tile: int | None, rounds: int | None
) -> None:
    points, k = table
    partition = Mosaic(tile=tile, rounds=rounds, objective=objective)(points, AtLeast(k))
    check_contract(partition, len(points), k)


@BOTH
@given(table=tables(), tile=st.sampled_from([8, 20, 64]))
@settings(max_examples=30, deadline=None)
def test_repair_never_raises_the_loss(table: tuple[Points, int], objective: str, tile: int) -> None:
    points, k = table
    losses = [
        loss(
            points,
            Mosaic(tile=tile, rounds=rounds, reach=2.0, objective=objective)(points, AtLeast(k)).labels,
            objective,
        )
        for rounds in (0, 1, 2)
    ]
    assert losses[2] <= losses[1] + 1e-9
    assert losses[1] <= losses[0] + 1e-9


@given(tables(), st.integers(2, 4))
@settings(max_examples=30, deadline=None)
def test_any_promise_is_kept(table: tuple[Points, int], values: int) -> None:
    points, k = table
    codes = (np.arange(len(points)) * 7919 % 31 % values).astype(np.int32)
    disease = Values("disease", codes, values)
    model = DistinctDiversity(min(2, len(np.unique(codes))))
    admits = Admission(((KAnonymity(k), None), (model, disease)), rows=len(points))
    partition = Mosaic()(points, admits)
    check_contract(partition, len(points), k)
    order = np.argsort(partition.labels, kind="stable").astype(np.int32)
    assert admits(order, np.concatenate([[0], np.cumsum(partition.sizes)])).all()


def test_promises_beyond_size_hold_on_a_larger_table() -> None:
    rng = np.random.default_rng(2)
    points = rng.random((4000, 3))
    disease = Values("disease", rng.integers(0, 4, 4000).astype(np.int32), 4)
    for model in (DistinctDiversity(3), EqualCloseness(0.3)):
        admits = Admission(((KAnonymity(4), None), (model, disease)), rows=4000)
        partition = Mosaic()(points, admits)
        check_contract(partition, 4000, 4)
        assert partition.classes > 20
        order = np.argsort(partition.labels, kind="stable").astype(np.int32)
        assert admits(order, np.concatenate([[0], np.cumsum(partition.sizes)])).all()


def test_the_general_path_gives_what_the_plain_one_gives() -> None:
    points = np.random.default_rng(3).random((2000, 3))
    plain, general = (Mosaic()(points, AtLeast(5, one)).labels for one in (True, False))
    assert (plain == general).all()


@BOTH
def test_threads_do_not_change_anything(objective: str) -> None:
    points = np.round(np.random.default_rng(5).random((12_000, 3)), 2)
    once = Mosaic(objective=objective, rounds=3)(points, AtLeast(7), threads=1).labels
    for threads in (2, 3):
        other = Mosaic(objective=objective, rounds=3)(points, AtLeast(7), threads=threads).labels
        assert (other == once).all()


def test_two_clouds_become_two_classes() -> None:
    points = np.array([[0.0, 0.0], [1.0, 1.0], [0.1, 0.0], [0.9, 1.0], [0.0, 0.1], [1.0, 0.9]])
    labels = Mosaic()(points, AtLeast(3)).labels
    assert labels.tolist() in ([0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0])


def test_an_outlier_is_handed_to_the_class_that_grows_least() -> None:
    points = np.array([[0.0], [0.01], [0.5], [0.51], [0.52], [1.0], [1.01]])
    partition = Mosaic()(points, AtLeast(2))
    assert loss(points, partition.labels) == pytest.approx(0.02 + 3 * 0.02 + 0.02)


def test_equal_rows_and_constant_columns_simply_work() -> None:
    partition = Mosaic()(np.full((5_000, 3), 0.25), AtLeast(5))
    check_contract(partition, 5_000, 5)
    assert partition.classes > 980
    points = np.random.default_rng(0).random((500, 3))
    points[:, 1] = 0.0
    check_contract(Mosaic()(points, AtLeast(5)), 500, 5)


@BOTH
def test_small_and_odd_shapes_simply_work(objective: str) -> None:
    assert Mosaic(objective=objective)(np.zeros((1, 2)), AtLeast(1)).labels.tolist() == [0]
    check_contract(Mosaic(objective=objective)(np.zeros((4, 0)), AtLeast(2)), 4, 2)
    wide = np.random.default_rng(0).random((40, 3_000))
    check_contract(Mosaic(objective=objective, rounds=3)(wide, AtLeast(5)), 40, 5)
    check_contract(Mosaic()(np.random.default_rng(0).random((9_000, 1)), AtLeast(3_000)), 9_000, 3_000)


@pytest.mark.parametrize("rows", [0, 3])
def test_too_few_rows_are_infeasible(rows: int) -> None:
    with pytest.raises(Infeasible, match=f"rows={rows} must be at least 4"):
        Mosaic()(np.zeros((rows, 2)), AtLeast(4))


def test_a_table_that_may_not_stand_as_one_class_is_infeasible() -> None:
    disease = Values("disease", np.zeros(6, np.int32), 1)
    with pytest.raises(Infeasible, match="even as one class"):
        Mosaic()(np.zeros((6, 1)), Admission(((DistinctDiversity(2), disease),), rows=6))


def test_numbers_that_are_not_finite_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="not finite"):
        Mosaic()(np.array([[0.0], [np.nan], [1.0]]), AtLeast(2))


def test_settings_that_do_not_fit_are_refused() -> None:
    points = np.zeros((4, 1))
    for wrong in (Mosaic(tile=0), Mosaic(rounds=-1), Mosaic(reach=-1.0), Mosaic(objective="beauty")):
        with pytest.raises(InvalidParameter):
            wrong(points, AtLeast(2))


def test_settings_can_be_printed_compared_and_called() -> None:
    assert repr(Mosaic(tile=64)) == (
        "Mosaic(tile=64, rounds=None, reach=None, objective='ncp', seconds=None, blind=False)"
    )
    assert build_method("mosaic", options={"rounds": 1}) == Mosaic(rounds=1)
    points = np.random.default_rng(1).random((50, 2))
    assert (Mosaic()(points, AtLeast(3)).labels == Mosaic()(points, AtLeast(3)).labels).all()


def test_a_large_uniform_table_loses_a_fifth_less_than_with_mondrian() -> None:
    points = np.random.default_rng(0).random((60_000, 5))
    ours, cut = Mosaic()(points, AtLeast(5)).labels, Mondrian()(points, AtLeast(5)).labels
    assert fast_loss(points, ours) <= 0.8 * fast_loss(points, cut)


def fast_loss(points: Points, labels: Labels) -> float:
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))[:-1]])
    widths = np.maximum.reduceat(points[order], starts) - np.minimum.reduceat(points[order], starts)
    return float((np.bincount(labels) * widths.sum(axis=1)).sum())


@pytest.mark.data
@pytest.mark.parametrize(("k", "most"), [(5, 0.60), (10, 0.64), (20, 0.70), (50, 0.78)])
def test_adult_loses_far_less_than_the_best_published(benchmark_data: Path, k: int, most: float) -> None:
    names = ["age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"]
    with (benchmark_data / "adult_train.csv").open(encoding="utf-8") as file:
        kept = [row for row in csv.DictReader(file) if "?" not in row.values()]
    points = np.array([[float(row[name]) for name in names] for row in kept])
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    assert len(points) == 30_162
    partition = Mosaic()(points, AtLeast(k))
    check_contract(partition, 30_162, k)
    assert fast_loss(points, partition.labels) <= most * BEST_PUBLISHED[k]


TOWNS = Hierarchy.from_rows([[f"t{i}", f"p{i // 4}", f"r{i // 16}"] for i in range(48)])
JOBS = Hierarchy.from_rows([[f"j{i}", "office" if i < 5 else "yard"] for i in range(9)])


def leaves_and_numbers(seed: int, rows: int) -> Points:
    """Towns, jobs and a number; a few towns are missing."""
    rng = np.random.default_rng(seed)
    towns = np.where(rng.random(rows) < 0.05, -1.0, rng.integers(0, 48, rows) / 47)
    return np.stack([towns, rng.integers(0, 9, rows) / 8, rng.random(rows)], axis=1)


def published_loss(points: Points, partition: Partition) -> float:
    """What the cells of a release cost: nodes for towns and jobs, an interval for the number."""
    total = np.ptp(points[:, 2]) * 0
    for column, tree in ((0, TOWNS), (1, JOBS)):
        places = np.where(points[:, column] < 0, np.nan, np.rint(points[:, column] * (tree.leaves - 1)))
        cells = Nodes()(Axis("column", places, Leaves(tree)), partition.labels, partition.classes)
        total += float((partition.sizes * cell_losses(cells, tree).ncp).sum())
    return float(total) + fast_loss(points[:, 2:], partition.labels)


@BOTH
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(6, 250), k=st.integers(1, 6), l=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_every_promise_is_kept_with_trees(objective: str, seed: int, rows: int, k: int, l: int) -> None:  # noqa: E741
    points = leaves_and_numbers(seed, rows)
    disease = Values("disease", (np.arange(rows) % 3).astype(np.int32), 3)
    admits = Admission(((KAnonymity(k), None), (DistinctDiversity(l), disease)), rows=rows)
    method = Mosaic(objective=objective, hierarchies=(TOWNS, JOBS, None))
    partition = method(points, admits)
    check_contract(partition, rows, k)
    order = np.argsort(partition.labels, kind="stable").astype(np.int32)
    assert admits(order, np.concatenate([[0], np.cumsum(partition.sizes)])).all()


def test_repair_with_trees_lowers_what_the_published_cells_cost() -> None:
    points = leaves_and_numbers(0, 3000)
    trees = (TOWNS, JOBS, None)
    losses = [
        published_loss(points, Mosaic(rounds=rounds, hierarchies=trees)(points, AtLeast(5)))
        for rounds in (0, 1, 3)
    ]
    assert losses[2] < losses[1] < losses[0]


@pytest.mark.parametrize("k", [3, 10])
def test_knowing_the_trees_loses_less_than_ignoring_them(k: int) -> None:
    points = leaves_and_numbers(1, 4000)
    knowing = Mosaic(hierarchies=(TOWNS, JOBS, None))(points, AtLeast(k))
    ignorant, cuts = Mosaic()(points, AtLeast(k)), Mondrian()(points, AtLeast(k))
    loss_of = {name: published_loss(points, one) for name, one in (("i", ignorant), ("c", cuts))}
    assert published_loss(points, knowing) < 0.9 * min(loss_of.values())


def test_columns_without_trees_are_sorted_as_ever() -> None:
    points = np.round(np.random.default_rng(4).random((3000, 3)), 2)
    once = Mosaic()(points, AtLeast(4)).labels
    for none in ((), (None, None, None)):
        assert (Mosaic(hierarchies=none)(points, AtLeast(4)).labels == once).all()


def test_squared_distances_do_not_look_at_trees() -> None:
    points = leaves_and_numbers(2, 800)
    once = Mosaic(objective="sse")(points, AtLeast(4)).labels
    other = Mosaic(objective="sse", hierarchies=(TOWNS, JOBS, None))(points, AtLeast(4)).labels
    assert (once == other).all()


def test_threads_do_not_change_anything_with_trees() -> None:
    points = leaves_and_numbers(3, 6000)
    once, other = (
        Mosaic(rounds=2, hierarchies=(TOWNS, JOBS, None))(points, AtLeast(5), threads=threads).labels
        for threads in (1, 3)
    )
    assert (once == other).all()


def test_trees_and_points_must_fit_each_other() -> None:
    with pytest.raises(InvalidParameter, match="hierarchies=1"):
        Mosaic(hierarchies=[JOBS])(np.zeros((6, 2)), AtLeast(2))
    with pytest.raises(InvalidInput, match="1 places above 1"):
        Mosaic(hierarchies=[JOBS])(np.array([[0.0], [0.5], [1.0], [1.5]]), AtLeast(2))


def test_a_method_built_by_name_knows_the_trees() -> None:
    built = build_method("mosaic", hierarchies=(JOBS, None))
    assert built == Mosaic(hierarchies=(JOBS, None))
