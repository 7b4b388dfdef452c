from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays import class_tiles, merge_in_tiles
from mahrem.arrays._mosaic_classes import NCP, SSE, Tile, absorb, additions, exchanges, open_tile, refresh
from mahrem.arrays._mosaic_growth import grow_classes
from mahrem.arrays._mosaic_repair import fill_tile, repair
from mahrem.arrays._mosaic_tiles import record_tiles
from mahrem.types import Labels, Points

BOTH = pytest.mark.parametrize("objective", [NCP, SSE])
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


def filled(points: Points, k: int, objective: int) -> tuple[Tile, int]:
    rows, columns = points.shape
    tile = open_tile(columns, rows, rows // k + 1)
    tile.values[:] = points.T
    classes = grow_classes(
        tile.values, rows, k, objective, np.empty((columns, rows)), np.empty(rows, np.int64), tile.label
    )
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
    classes = grow_classes(values, 6, 2, NCP, np.empty((1, 6)), np.empty(6, np.int64), label)
    assert classes == 3
    assert label[0] == label[1]
    assert label[2] == label[3]
    assert label[4] == label[5]


def test_a_hopeless_class_is_dissolved() -> None:
    points = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [0.0], [1.0]])
    tile = open_tile(1, 8, 4)
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
    merge_in_tiles(members, starts, refused, low, high, sizes, target, grown)
    assert target.tolist() == [1, 1, 2]
    assert sizes.tolist() == [0, 4, 2]
    assert grown.tolist() == [False, True, False]
    assert (low[1], high[1]) == (0.0, 0.1)
