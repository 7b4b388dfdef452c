from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.tiling import Trees, class_tiles, merge_in_tiles, plant, seated
from mahrem.arrays.tiling import _trees as mosaic_trees
from mahrem.arrays.tiling._classes import NCP, SSE, Tile, absorb, additions, exchanges, open_tile, refresh
from mahrem.arrays.tiling._growth import grow_classes
from mahrem.arrays.tiling._repair import fill_tile, repair
from mahrem.arrays.tiling._tiles import record_tiles
from mahrem.arrays.tiling._trees import no_trees, wide
from mahrem.partition.cutting._forest import forest_of
from mahrem.table import Hierarchy
from mahrem.types import Labels, Points

BOTH = pytest.mark.parametrize("objective", [NCP, SSE])
TABLES = pytest.mark.parametrize("largest", [512, 3])  # with 3, all trees below are climbed
SEEDS = st.integers(0, 2**32 - 1)


def cost(members: Points, objective: int) -> float:
    if len(members) == 0:
        return 0.0
    if objective == NCP:
        return len(members) * float(np.ptp(members, axis=0).sum())
    return float(((members - members.mean(axis=0)) ** 2).sum())


def total(points: Points, labels: Labels, objective: int) -> float:
    return sum(cost(points[labels == group], objective) for group in np.unique(labels))


def draw_points(seed: int, rows: int) -> Points:
    rng = np.random.default_rng(seed)
    points = rng.random((rows, 1 + seed % 4))
    return np.round(points, 1) if seed % 2 else points**4


def filled(points: Points, k: int, objective: int, trees: Trees | None = None) -> tuple[Tile, int]:
    rows, columns = points.shape
    trees = no_trees(columns) if trees is None else trees
    tile = open_tile(columns, rows, rows // k + 1, trees)
    tile.values[:] = seated(points, trees).T
    waiting, who = np.empty((columns, rows)), np.empty(rows, np.int64)
    classes = grow_classes(tile.values, rows, k, objective, waiting, who, tile.label, trees)
    fill_tile(tile, rows, classes, objective)
    return tile, classes


@BOTH
@given(seed=SEEDS, rows=st.integers(4, 60), k=st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_a_tile_knows_the_costs_of_all_changes(objective: int, seed: int, rows: int, k: int) -> None:
    points = draw_points(seed, rows)
    tile, classes = filled(points, k, objective)
    labels, record = tile.label.copy(), seed % rows
    own = int(labels[record])
    assert np.allclose(
        tile.cost[:classes], [cost(points[labels == group], objective) for group in range(classes)]
    )
    without = points[(labels == own) & (np.arange(rows) != record)]
    assert tile.cost_without[record] == pytest.approx(cost(without, objective), abs=1e-9)
    additions(tile, record, classes, objective)
    before = total(points, labels, objective)
    for group in set(range(classes)) - {own}:
        grown = np.concatenate([points[labels == group], points[[record]]])
        added = cost(grown, objective) - cost(points[labels == group], objective)
        assert tile.into[group] == pytest.approx(added, abs=1e-9)
    least = exchanges(tile, record, 0, rows, objective)
    assert least == tile.mine[:rows].min()
    for other in np.flatnonzero(labels != own):
        swapped = labels.copy()
        swapped[record], swapped[other] = labels[other], own
        assert tile.mine[other] == pytest.approx(total(points, swapped, objective) - before, abs=1e-9)
    assert np.isinf(tile.mine[:rows][labels == own]).all()


@BOTH
@given(seed=SEEDS)
@settings(max_examples=20, deadline=None)
def test_a_trial_widens_a_class_and_refreshing_undoes_it(objective: int, seed: int) -> None:
    points = draw_points(seed, 30)
    tile, _ = filled(points, 3, objective)
    labels, kept = tile.label.copy(), tile.cost.copy()
    record = int(np.flatnonzero(labels != 0)[0])
    absorb(tile, record, 0, objective)
    grown = np.concatenate([points[labels == 0], points[[record]]])
    assert tile.cost[0] == pytest.approx(cost(grown, objective), abs=1e-9)
    tile.size[0] -= 1
    refresh(tile, 0, objective)
    assert tile.cost[0] == pytest.approx(kept[0], abs=1e-12)


@BOTH
@given(seed=SEEDS, rows=st.integers(4, 90), k=st.integers(2, 5), reach=st.sampled_from([0.0, 1.0, 2.0, 9.0]))
@settings(max_examples=50, deadline=None)
def test_repair_keeps_its_books_and_never_raises_the_total(
    objective: int, seed: int, rows: int, k: int, reach: float
) -> None:
    rows = max(rows, k)
    points = draw_points(seed, rows)
    tile, classes = filled(points, k, objective)
    before = total(points, tile.label, objective)
    repair(tile, rows, classes, k, objective, 3, True, reach)
    after = total(points, tile.label, objective)
    assert after <= before + 1e-9
    assert tile.cost[:classes].sum() == pytest.approx(after, abs=1e-8)
    sizes = np.bincount(tile.label, minlength=classes)
    assert (sizes == tile.size[:classes]).all()
    assert sizes[sizes > 0].min() >= k


def test_growing_takes_the_record_that_widens_least() -> None:
    values = np.array([[0.0, 0.1, 0.5, 0.55, 1.0, 0.95]])
    label = np.empty(6, np.int64)
    classes = grow_classes(values, 6, 2, NCP, np.empty((1, 6)), np.empty(6, np.int64), label, no_trees(1))
    assert classes == 3
    assert label[0] == label[1]
    assert label[2] == label[3]
    assert label[4] == label[5]


def test_a_hopeless_class_is_dissolved() -> None:
    points = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [0.0], [1.0]])
    tile = open_tile(1, 8, 4, no_trees(1))
    tile.values[:] = points.T
    tile.label[:] = [0, 0, 0, 1, 1, 1, 2, 2]
    fill_tile(tile, 8, 3, NCP)
    repair(tile, 8, 3, 2, NCP, 2, False, 1.0)
    assert total(points, tile.label, NCP) == 0.0


@given(SEEDS, st.integers(8, 40))
@settings(max_examples=20, deadline=None)
def test_tiles_hold_every_row_and_stay_small(seed: int, least: int) -> None:
    points = np.round(np.random.default_rng(seed).random((900, 2)) ** 6, 1)
    labels, tiles = record_tiles(points, least)
    sizes = np.bincount(labels, minlength=tiles)
    assert len(sizes) == tiles
    assert sizes.min() >= least
    assert sizes.max() <= 4 * least


@pytest.mark.parametrize("columns", [1, 3])
def test_tiles_of_classes_have_other_borders_every_turn(columns: int) -> None:
    centres = np.random.default_rng(0).random((1000, columns))
    first, count = class_tiles(centres, 16, 1)
    second, _ = class_tiles(centres, 16, 2)
    assert len(np.unique(first)) == count
    pairs = len(np.unique(np.stack([first, second]), axis=1).T)
    assert pairs > 1.4 * count


def test_a_refused_class_joins_the_near_one() -> None:
    low = high = np.array([[0.0], [0.1], [0.9]])
    low, high, sizes, target = low.copy(), high.copy(), np.array([2, 2, 2]), np.arange(3)
    grown = np.zeros(3, np.bool_)
    refused = np.array([True, False, False])
    members, starts = np.arange(3, dtype=np.int32), np.array([0, 3])
    merge_in_tiles(members, starts, refused, low, high, sizes, target, grown, no_trees(1))
    assert target.tolist() == [1, 1, 2]
    assert sizes.tolist() == [0, 4, 2]
    assert grown.tolist() == [False, True, False]
    assert (low[1], high[1]) == (0.0, 0.1)


def draw_trees(seed: int, columns: int) -> list[Hierarchy | None]:
    """Trees of three or four levels for some of the columns; leaves hang in clumps of one to four."""
    rng = np.random.default_rng(seed)
    trees: list[Hierarchy | None] = []
    for column in range(columns):
        parents = np.sort(rng.integers(0, 5, int(rng.integers(5, 12))))
        rows = [[f"v{i}", f"p{p}", f"g{p // 2}"] for i, p in enumerate(parents.tolist())]
        trees.append(Hierarchy.from_rows(rows) if column else None)
    return trees


def draw_leaves(seed: int, rows: int, trees: list[Hierarchy | None]) -> Points:
    """Places of leaves, one value in ten missing; numbers in columns without a tree."""
    rng = np.random.default_rng(seed)
    points = rng.random((rows, len(trees)))
    for column, tree in enumerate(trees):
        if tree is not None:
            places = rng.integers(0, tree.leaves, rows) / (tree.leaves - 1)
            points[:, column] = np.where(rng.random(rows) < 0.1, -1.0, places)
    return points


def tree_cost(members: Points, trees: list[Hierarchy | None]) -> float:
    """Rows times what the published cells cost: nodes by walking up, ``*`` beside missing values."""
    if len(members) == 0:
        return 0.0
    total = 0.0
    for values, tree in zip(members.T, trees, strict=True):
        if tree is None:
            total += float(np.ptp(values))
            continue
        leaves = np.unique(np.rint(values[values >= 0] * (tree.leaves - 1)).astype(np.int64))
        if len(leaves) and (values < 0).any():
            total += 1.0
        elif len(leaves) > 1:
            level = next(one for one in tree.nodes if len(set(one[leaves])) == 1)
            total += int((level == level[leaves[0]]).sum()) / tree.leaves
    return len(members) * total


@TABLES
@given(seed=SEEDS, rows=st.integers(6, 60), k=st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_a_tile_with_trees_knows_the_costs_of_all_changes(largest: int, seed: int, rows: int, k: int) -> None:
    hierarchies = draw_trees(seed, 3)
    points = draw_leaves(seed, rows, hierarchies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mosaic_trees, "_LARGEST", largest)
        trees = plant(forest_of(hierarchies, 3))
    assert (trees.start[1:] >= 0).all() == (largest == 512)
    tile, classes = filled(points, k, NCP, trees)
    labels, record = tile.label.copy(), seed % rows
    own = int(labels[record])

    def all_costs(labels: Labels) -> float:
        return sum(tree_cost(points[labels == group], hierarchies) for group in range(classes))

    costs = [tree_cost(points[labels == group], hierarchies) for group in range(classes)]
    assert np.allclose(tile.cost[:classes], costs)
    without = points[(labels == own) & (np.arange(rows) != record)]
    assert tile.cost_without[record] == pytest.approx(tree_cost(without, hierarchies), abs=1e-9)
    additions(tile, record, classes, NCP)
    for group in set(range(classes)) - {own}:
        grown = tree_cost(np.concatenate([points[labels == group], points[[record]]]), hierarchies)
        assert tile.into[group] == pytest.approx(grown - costs[group], abs=1e-9)
    exchanges(tile, record, 0, rows, NCP)
    for other in np.flatnonzero(labels != own):
        swapped = labels.copy()
        swapped[record], swapped[other] = labels[other], own
        assert tile.mine[other] == pytest.approx(all_costs(swapped) - all_costs(labels), abs=1e-9)
    repair(tile, rows, classes, k, NCP, 3, True, 2.0)
    after = all_costs(tile.label)
    assert after <= sum(costs) + 1e-9
    assert tile.cost[:classes].sum() == pytest.approx(after, abs=1e-8)


def test_growing_takes_the_record_under_the_same_node() -> None:
    tree = Hierarchy.from_rows([["a", "x"], ["b", "y"], ["c", "y"], ["d", "y"]])
    trees = plant(forest_of([tree], 1))
    values = seated(np.array([[3.0], [2.0], [0.0], [1.0], [0.0]]) / 3, trees).T.copy()
    label = np.empty(5, np.int64)
    classes = grow_classes(values, 5, 2, NCP, np.empty((1, 5)), np.empty(5, np.int64), label, trees)
    assert classes == 2
    assert label[2] == label[4]
    assert -1 in label[[0, 1, 3]]


@TABLES
@given(seed=SEEDS)
@settings(max_examples=20, deadline=None)
def test_widths_of_a_class_are_those_of_its_cell(largest: int, seed: int) -> None:
    hierarchies = draw_trees(seed, 2)
    points = draw_leaves(seed, 4, hierarchies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mosaic_trees, "_LARGEST", largest)
        trees = plant(forest_of(hierarchies, 2))
    places = seated(points, trees)
    widths = [wide(trees, column, places[:, column].min(), places[:, column].max()) for column in range(2)]
    assert 4 * sum(widths) == pytest.approx(tree_cost(points, hierarchies))


def test_a_refused_class_joins_the_one_under_the_same_node() -> None:
    tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "x"], ["d", "y"]])
    trees = plant(forest_of([tree], 1))
    low = seated(np.array([[0.0], [1.0], [2 / 3]]), trees)
    sizes, target, grown = np.array([2, 2, 2]), np.arange(3), np.zeros(3, np.bool_)
    members, starts, refused = np.arange(3, dtype=np.int32), np.array([0, 3]), np.array([False, False, True])
    merge_in_tiles(members, starts, refused, low, low.copy(), sizes, target, grown, trees)
    assert target.tolist() == [0, 1, 0]
