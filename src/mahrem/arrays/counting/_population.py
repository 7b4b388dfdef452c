"""Rows that stand for a distribution: tables of them, cells drawn anew, weights moved and rounded."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel, lean
from mahrem.types import Floats, Integers, Matrix, Written

__all__ = ["Heights", "Tables", "count_tables", "redraw_cells", "round_weights", "sweep_tables"]

Bytes = NDArray[np.uint8]
Cells = NDArray[np.int32]
BLOCK = 1024  # rows whose cells are found at a time: they stay next to the processor
LANES = 4  # numbers that are added at once
HARDLY = -60.0  # logarithm of a chance, beside the largest, that is taken for none


class Tables(NamedTuple):
    """Where the cells of many tables lie, one table after the other.

    Attributes:
        columns: ``(t, w)`` columns of each table; -1 behind the last where it has fewer.
        strides: ``(t, w)`` how far apart neighbouring values of each column lie in its table.
        starts: ``(t + 1,)`` where each table begins; the last is where all end.
    """

    columns: Matrix[Integers]
    strides: Matrix[Integers]
    starts: Integers


class Heights(NamedTuple):
    """What a model adds for each cell, and what is known of it.

    Attributes:
        counts: Noisy counts, cell by cell of all tables.
        variance: Of their noise.
        heights: Logarithms that are added up over tables; more is likelier.
        pull: ``(t,)`` towards adding nothing, for each table: an inverse variance.
    """

    counts: Floats
    variance: Floats
    heights: Floats
    pull: Floats


@lean
def _find_cells(values: Matrix[Bytes], tables: Tables, table: int, first: int, cells: Written[Cells]) -> None:
    """Find in which cell of a table rows lie, from a first row on."""
    columns, strides, rows = tables.columns[table], tables.strides[table], len(cells)
    axis = len(columns)
    while axis > 0 and columns[axis - 1] < 0:
        axis -= 1
    if axis >= 3:  # three columns at once: most tables have as many
        axis -= 3
        one, two, three = columns[axis], columns[axis + 1], columns[axis + 2]
        by, along, on = np.int32(strides[axis]), np.int32(strides[axis + 1]), np.int32(strides[axis + 2])
        for row in range(rows):
            cell = np.int32(values[one, first + row]) * by + np.int32(values[two, first + row]) * along
            cells[row] = cell + np.int32(values[three, first + row]) * on
    else:
        for row in range(rows):
            cells[row] = 0
    for left in range(axis):
        column, stride = columns[left], np.int32(strides[left])
        for row in range(rows):
            cells[row] += np.int32(values[column, first + row]) * stride


@lean
def _add_weights(
    cells: Cells, weights: Floats, first: int, even: Written[Floats], odd: Written[Floats]
) -> None:
    """Add the weights of rows to their cells; every other one elsewhere: no sum waits for the last."""
    rows = len(cells)
    for row in range(0, rows - 1, 2):
        even[cells[row]] += weights[first + row]
        odd[cells[row + 1]] += weights[first + row + 1]
    if rows % 2:
        even[cells[rows - 1]] += weights[first + rows - 1]


@inner
def _largest(tables: Tables) -> int:
    most = 0
    for table in range(len(tables.starts) - 1):
        most = max(most, tables.starts[table + 1] - tables.starts[table])
    return most


@kernel
def count_tables(values: Matrix[Bytes], weights: Floats, tables: Tables, counts: Written[Floats]) -> None:
    """Add up the weights of rows in every cell of every table.

    Args:
        values: ``(d, n)`` cells, column by column.
        weights: ``(n,)`` of the rows.
        tables: Which cells there are.
        counts: Zeros; written to.
    """
    rows, odd, cells = values.shape[1], np.zeros(_largest(tables)), np.empty(BLOCK, np.int32)
    for table in range(len(tables.starts) - 1):
        even = counts[tables.starts[table] : tables.starts[table + 1]]
        for first in range(0, rows, BLOCK):
            block = cells[: min(BLOCK, rows - first)]
            _find_cells(values, tables, table, first, block)
            _add_weights(block, weights, first, even, odd)
        for cell in range(len(even)):
            even[cell] += odd[cell]
            odd[cell] = 0.0


@kernel
def sweep_tables(
    values: Matrix[Bytes],
    weights: Written[Floats],
    tables: Tables,
    known: Written[Heights],
    order: Integers,
    pace: float,
    farthest: float,
) -> None:
    """Move weights towards the counts of every table, one table after the other.

    Noise is normal, and so is what a table adds: each cell takes part of a Newton step towards its likeliest
    height.

    Args:
        values: ``(d, n)`` cells, column by column.
        weights: ``(n,)`` of the rows; written to.
        tables: Which cells there are.
        known: What is known of them; heights are written to.
        order: ``(t,)`` in which order tables are taken.
        pace: Which part of a step.
        farthest: How far a height moves at most.
    """
    most, rows = _largest(tables), values.shape[1]
    even, odd, times = np.zeros(most), np.zeros(most), np.ones(most)
    cells = np.zeros(rows, np.int32)  # of the table before: its step is taken on the way to the next
    for table in order:
        start, end = tables.starts[table], tables.starts[table + 1]
        for first in range(0, rows, BLOCK):
            block = cells[first : min(first + BLOCK, rows)]
            _multiply(block, times, first, weights)
            _find_cells(values, tables, table, first, block)
            _add_weights(block, weights, first, even, odd)
        pull = known.pull[table]
        for cell in range(end - start):
            now, variance = even[cell] + odd[cell], known.variance[start + cell]
            slope = now * (known.counts[start + cell] - now) / variance - pull * known.heights[start + cell]
            step = pace * slope / (now * now / variance + pull)
            step = min(max(step, -farthest), farthest)
            known.heights[start + cell] += step
            times[cell] = math.exp(step) if now > 0.0 else 1.0  # no row lies there
            even[cell] = odd[cell] = 0.0
    _multiply(cells, times, 0, weights)


@lean
def _multiply(cells: Cells, times: Floats, first: int, weights: Written[Floats]) -> None:
    for row in range(len(cells)):
        weights[first + row] *= times[cells[row]]


@kernel
def redraw_cells(
    values: Written[Matrix[Bytes]],
    sizes: Integers,
    tables: Tables,
    heights: Floats,
    order: Integers,
    drawn: Matrix[Floats],
) -> None:
    """Draw every cell of every row anew, given the other cells of its row: one round of Gibbs sampling.

    Args:
        values: ``(d, n)`` cells, column by column; written to.
        sizes: ``(d,)`` how many values each column has.
        tables: Tables whose heights make a row likely.
        heights: Logarithms that are added up over tables; more is likelier.
        order: ``(d,)`` in which order columns are drawn.
        drawn: ``(d, n)`` numbers in [0, 1), in that order.
    """
    rows, cells = values.shape[1], np.empty(BLOCK, np.int32)
    for turn in range(len(order)):
        column = order[turn]
        size = sizes[column]
        wide = (size + LANES - 1) // LANES * LANES
        turned, sides = _turned(tables, heights, sizes, column, wide)
        chances = np.empty(BLOCK * wide)
        for first in range(0, rows, BLOCK):
            chances[:] = 0.0
            block = cells[: min(BLOCK, rows - first)]
            for place in range(len(turned.starts) - 1):
                _find_cells(values, turned, place, first, block)
                _add_sides(block, wide, sides[turned.starts[place] :], chances)
            for row in range(len(block)):
                own = chances[row * wide : row * wide + size]
                values[column, first + row] = _drawn_value(own, size, drawn[turn, first + row])


@inner
def _turned(
    tables: Tables, heights: Floats, sizes: Integers, column: int, wide: int
) -> tuple[Tables, Floats]:
    """Lay tables that hold a column out anew: its values lie side by side, in ``wide`` places."""
    columns = np.full(tables.columns.shape, -1, np.int64)
    strides, starts = np.zeros(tables.columns.shape, np.int64), np.zeros(len(tables.starts), np.int64)
    holders, whence = 0, np.empty(len(tables.starts), np.int64)
    for table in range(len(tables.starts) - 1):
        run, others, held = wide, 0, False
        for other in tables.columns[table]:
            held = held or other == column
            if other >= 0 and other != column:
                columns[holders, others], strides[holders, others] = other, run
                run *= sizes[other]
                others += 1
        if held:
            whence[holders] = table
            holders += 1
            starts[holders] = starts[holders - 1] + run
        else:
            columns[holders] = -1
    sides = np.zeros(starts[holders])
    for place in range(holders):
        first, end = tables.starts[whence[place]], tables.starts[whence[place] + 1]
        _turn(
            heights[first:end],
            tables.columns[whence[place]],
            tables.strides[whence[place]],
            sizes,
            strides[place],
            column,
            sides[starts[place] :],
        )
    return Tables(columns[:holders], strides[:holders], starts[: holders + 1]), sides


@lean
def _turn(
    heights: Floats,
    columns: Integers,
    strides: Integers,
    sizes: Integers,
    others: Integers,
    column: int,
    sides: Written[Floats],
) -> None:
    """Lay one table out: ``others`` are the new strides of its other columns, in their order."""
    for cell in range(len(heights)):
        there, other = 0, 0
        for axis in range(len(columns)):
            if columns[axis] >= 0:
                value = cell // strides[axis] % sizes[columns[axis]]
                if columns[axis] == column:
                    there += value
                else:
                    there += value * others[other]
                    other += 1
        sides[there] = heights[cell]


@lean
def _add_sides(cells: Cells, wide: int, sides: Floats, chances: Written[Floats]) -> None:
    for row in range(len(cells)):
        here, there = row * wide, cells[row]
        for _ in range(wide // LANES):
            one, two, three, four = sides[there], sides[there + 1], sides[there + 2], sides[there + 3]
            one += chances[here]
            two += chances[here + 1]
            three += chances[here + 2]
            four += chances[here + 3]
            chances[here], chances[here + 1], chances[here + 2], chances[here + 3] = one, two, three, four
            here += LANES
            there += LANES


@inner
def _drawn_value(chances: Floats, size: int, point: float) -> int:
    """Draw a value by the logarithms of chances, which are overwritten."""
    most = chances[0]
    for value in range(1, size):
        most = max(most, chances[value])
    total = 0.0
    for value in range(size):
        beside = chances[value] - most
        chances[value] = math.exp(beside) if beside > HARDLY else 0.0
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
    tables: Tables,
    order: Integers,
    off: Written[Floats],
    times: Written[Integers],
) -> None:
    """Round weights up or down, each so that counts of all tables stay near the weighted ones.

    Rows are taken in the order given, and once more: the second time every row sees what all others do.

    Args:
        rows: ``(n, d)`` cells.
        weights: ``(n,)`` not negative.
        tables: Tables whose counts are looked at.
        order: ``(n,)`` every row once.
        off: Counts less weighted counts, cell by cell; zeros, written to.
        times: ``(n,)`` written to.
    """
    columns, strides = tables.columns, tables.strides
    many = columns.shape[0]
    cells = np.empty(many, np.int64)
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
            for table in range(many):
                cell = tables.starts[table]
                for axis in range(columns.shape[1]):
                    if columns[table, axis] >= 0:
                        cell += rows[row, columns[table, axis]] * strides[table, axis]
                cells[table] = cell
                tilt += off[cell] - now
            up = 2.0 * tilt + (1.0 - 2.0 * left) * many < 0.0
            times[row] = down + 1 if up else down
            then = times[row] - weights[row]
            if then != now:
                for table in range(many):
                    off[cells[table]] += then - now
