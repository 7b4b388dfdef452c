"""Rows that stand for a distribution: cells drawn anew from a model, weights made whole numbers."""

from __future__ import annotations

import math

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Floats, Integers, Matrix, Written

__all__ = ["redraw_cells", "round_weights"]


@kernel
def redraw_cells(
    rows: Written[Matrix[Integers]],
    sizes: Integers,
    columns: Matrix[Integers],
    strides: Matrix[Integers],
    starts: Integers,
    heights: Floats,
    holders: Integers,
    offsets: Integers,
    order: Integers,
    drawn: Matrix[Floats],
) -> None:
    """Draw every cell of every row anew, given the other cells of its row: one round of Gibbs sampling.

    Args:
        rows: ``(n, d)`` cells; written to.
        sizes: ``(d,)`` how many values each column has.
        columns: ``(t, w)`` columns of each table; -1 where it has fewer.
        strides: ``(t, w)`` how far apart neighbouring values of each column lie in its table.
        starts: ``(t,)`` where each table begins in ``heights``.
        heights: Logarithms that are added up over tables; more is likelier.
        holders: Tables that hold a column, one column after the other.
        offsets: ``(d + 1,)`` where each column begins in ``holders``.
        order: ``(d,)`` in which order columns are drawn.
        drawn: ``(n, d)`` numbers in [0, 1).
    """
    chances = np.empty(sizes.max())
    for row in range(rows.shape[0]):
        for turn in range(len(order)):
            column = order[turn]
            size = sizes[column]
            chances[:size] = 0.0
            for place in range(offsets[column], offsets[column + 1]):
                table = holders[place]
                cell, stride = starts[table], 0
                for axis in range(columns.shape[1]):
                    other = columns[table, axis]
                    if other == column:
                        stride = strides[table, axis]
                    elif other >= 0:
                        cell += rows[row, other] * strides[table, axis]
                for value in range(size):
                    chances[value] += heights[cell + value * stride]
            rows[row, column] = _drawn_value(chances, size, drawn[row, turn])


@inner
def _drawn_value(chances: Floats, size: int, point: float) -> int:
    """Draw a value by the logarithms of chances, which are overwritten."""
    most = chances[0]
    for value in range(1, size):
        most = max(most, chances[value])
    total = 0.0
    for value in range(size):
        chances[value] = math.exp(chances[value] - most)
        total += chances[value]
    point *= total
    last = 0
    for value in range(size):
        if chances[value] > 0.0:
            last = value
            if point < chances[value]:
                return value
            point -= chances[value]
    return last  # rounding must not reach past it


@kernel
def round_weights(
    rows: Matrix[Integers],
    weights: Floats,
    columns: Matrix[Integers],
    strides: Matrix[Integers],
    starts: Integers,
    order: Integers,
    off: Written[Floats],
    times: Written[Integers],
) -> None:
    """Round weights up or down, each so that counts of all tables stay near the weighted ones.

    Rows are taken in the order given, and once more: the second time every row sees what all others do.

    Args:
        rows: ``(n, d)`` cells.
        weights: ``(n,)`` not negative.
        columns: ``(t, w)`` columns of each table; -1 where it has fewer.
        strides: ``(t, w)`` how far apart neighbouring values of each column lie in its table.
        starts: ``(t,)`` where each table begins in ``off``.
        order: ``(n,)`` every row once.
        off: Counts less weighted counts, cell by cell; zeros, written to.
        times: ``(n,)`` written to.
    """
    tables = columns.shape[0]
    cells = np.empty(tables, np.int64)
    for turn in range(2):
        for place in range(len(order)):
            row = order[place]
            down = math.floor(weights[row])
            left = weights[row] - down
            if left == 0.0:
                times[row] = down
                continue
            now = 0.0 if turn == 0 else times[row] - weights[row]
            tilt = 0.0
            for table in range(tables):
                cell = starts[table]
                for axis in range(columns.shape[1]):
                    if columns[table, axis] >= 0:
                        cell += rows[row, columns[table, axis]] * strides[table, axis]
                cells[table] = cell
                tilt += off[cell] - now
            up = 2.0 * tilt + (1.0 - 2.0 * left) * tables < 0.0
            times[row] = down + 1 if up else down
            then = times[row] - weights[row]
            if then != now:
                for table in range(tables):
                    off[cells[table]] += then - now
