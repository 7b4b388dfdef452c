"""Rows that stand for a distribution, against slow and obvious twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mahrem.arrays.counting import Heights, count_tables, redraw_cells, round_weights, sweep_tables
from mahrem.learning.synthesis._byte_rows import laid_out
from mahrem.types import Floats, Integers

SEEDS = st.integers(0, 2**32 - 1)


def redrawn_by_hand(
    rows: Integers, sizes: Integers, tables: dict[tuple[int, ...], Floats], order: Integers, drawn: Floats
) -> Integers:
    found = rows.copy()
    for row, points in zip(found, drawn, strict=True):
        for column, point in zip(order, points, strict=True):
            chances = np.zeros(sizes[column])
            for value in range(sizes[column]):
                row[column] = value
                chances[value] = sum(heights[tuple(row[list(one)])] for one, heights in tables.items())
            chances = np.exp(chances - chances.max())
            row[column] = np.searchsorted(np.cumsum(chances), point * chances.sum(), side="right")
    return found


@given(seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_cells_are_drawn_given_the_rest_of_their_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 4)
    sets = [(0,), (1,), (2,), (3,), (0, 2), (2, 1), (3, 0, 1)]
    tables = {one: rng.normal(0, 2, tuple(sizes[list(one)])) for one in sets}
    rows = (rng.random((30, 4)) * sizes).astype(np.int64)
    order, drawn, layout = rng.permutation(4), rng.random((30, 4)), laid_out(sets, sizes.tolist())
    values = np.ascontiguousarray(rows.T, dtype=np.uint8)
    expected = redrawn_by_hand(rows, sizes, tables, order, drawn)
    redraw_cells(
        values,
        sizes,
        layout,
        np.concatenate([table.ravel() for table in tables.values()]),
        order,
        np.ascontiguousarray(drawn.T),
    )
    assert (expected == values.T).all()


@given(seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_weights_are_rounded_up_or_down_and_tables_come_nearer_than_by_chance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 4)
    rows = (rng.random((4000, 4)) ** 2 * sizes).astype(np.int64)
    weights = rng.random(4000) * 2
    layout = laid_out(list(combinations(range(4), 2)), sizes.tolist())
    off, times = np.zeros(layout.starts[-1]), np.zeros(4000, np.int64)
    round_weights(rows, weights, layout, rng.permutation(4000), off, times)
    assert (np.abs(times - weights) < 1).all()
    cells = layout.starts[:-1, None] + (rows[:, layout.columns] * layout.strides).sum(axis=2).T
    told = np.bincount(cells.ravel(), np.tile(times - weights, len(cells)), layout.starts[-1])
    assert off == pytest.approx(told, abs=1e-6)
    by_chance = np.bincount(
        cells.ravel(),
        np.tile((rng.random(4000) < weights % 1) - weights % 1, len(cells)),
        layout.starts[-1],
    )
    assert (off**2).sum() < (by_chance**2).sum() / 4


@given(seed=SEEDS, rows=st.sampled_from([0, 1, 2, 1023, 1024, 1025, 3000]))
@settings(max_examples=25, deadline=None)
def test_weights_are_added_up_in_every_cell_of_every_table(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 5)
    sets = [one for width in range(1, 5) for one in combinations(range(5), width)]
    values = (rng.random((5, rows)) * sizes[:, None]).astype(np.uint8)
    weights, tables = rng.random(rows), laid_out(sets, sizes.tolist())
    counts = np.zeros(tables.starts[-1])
    count_tables(values, weights, tables, counts)
    for one, first, end in zip(sets, tables.starts, tables.starts[1:], strict=False):
        shape = tuple(sizes[list(one)])
        cells = np.ravel_multi_index(tuple(values[list(one)].astype(np.int64)), shape)
        assert counts[first:end] == pytest.approx(np.bincount(cells, weights, int(np.prod(shape))))


def swept_by_hand(
    values: NDArray[np.uint8],
    weights: Floats,
    sets: list[tuple[int, ...]],
    sizes: Integers,
    known: Heights,
    order: Integers,
) -> tuple[Floats, Floats]:
    weights, heights, starts = weights.copy(), known.heights.copy(), laid_out(sets, sizes.tolist()).starts
    for table in order:
        part, one = slice(starts[table], starts[table + 1]), list(sets[table])
        cells = np.ravel_multi_index(tuple(values[one].astype(np.int64)), tuple(sizes[one]))
        now = np.bincount(cells, weights, starts[table + 1] - starts[table])
        pull, variance = known.pull[table], known.variance[part]
        slope = now * (known.counts[part] - now) / variance - pull * heights[part]
        step = np.clip(0.5 * slope / (now**2 / variance + pull), -1.0, 1.0)
        heights[part] += step
        weights *= np.exp(step)[cells]
    return weights, heights


@given(seed=SEEDS, rows=st.sampled_from([1, 1023, 1024, 2500]))
@settings(max_examples=25, deadline=None)
def test_a_sweep_moves_weights_towards_each_table_in_turn(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 4)
    sets = [(0,), (1, 2), (0, 2, 3), (1, 3), (0, 1, 2, 3)]
    tables = laid_out(sets, sizes.tolist())
    cells, order = int(tables.starts[-1]), rng.permutation(len(sets))
    values = (rng.random((4, rows)) * sizes[:, None]).astype(np.uint8)
    weights = rng.random(rows)
    known = Heights(rng.random(cells) * 9, rng.random(cells) + 0.1, rng.normal(0, 1, cells), rng.random(5))
    expected = swept_by_hand(values, weights, sets, sizes, known, order)
    sweep_tables(values, weights, tables, known, order, 0.5, 1.0)
    assert weights == pytest.approx(expected[0])
    assert known.heights == pytest.approx(expected[1])
