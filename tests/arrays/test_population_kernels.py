"""Rows that stand for a distribution, against slow and obvious twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.counting import redraw_cells, round_weights
from mahrem.learning.synthesis._population import Layout
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
    order, drawn, layout = rng.permutation(4), rng.random((30, 4)), Layout.of(sets, sizes.tolist())
    holders = [[place for place, one in enumerate(sets) if column in one] for column in range(4)]
    expected = redrawn_by_hand(rows, sizes, tables, order, drawn)
    redraw_cells(
        rows,
        sizes,
        layout.columns,
        layout.strides,
        layout.starts,
        np.concatenate([table.ravel() for table in tables.values()]),
        np.concatenate(holders),
        np.cumsum([0, *map(len, holders)]),
        order,
        drawn,
    )
    assert (rows == expected).all()


@given(seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_weights_are_rounded_up_or_down_and_tables_come_nearer_than_by_chance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 4)
    rows = (rng.random((4000, 4)) ** 2 * sizes).astype(np.int64)
    weights = rng.random(4000) * 2
    layout = Layout.of(list(combinations(range(4), 2)), sizes.tolist())
    off, times = np.zeros(layout.cells), np.zeros(4000, np.int64)
    round_weights(
        rows, weights, layout.columns, layout.strides, layout.starts, rng.permutation(4000), off, times
    )
    assert (np.abs(times - weights) < 1).all()
    cells = layout.starts[:, None] + (rows[:, layout.columns] * layout.strides).sum(axis=2).T
    told = np.bincount(cells.ravel(), np.tile(times - weights, len(cells)), layout.cells)
    assert off == pytest.approx(told, abs=1e-6)
    by_chance = np.bincount(
        cells.ravel(),
        np.tile((rng.random(4000) < weights % 1) - weights % 1, len(cells)),
        layout.cells,
    )
    assert (off**2).sum() < (by_chance**2).sum() / 4
