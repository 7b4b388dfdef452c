"""Sums over the rows of each node of a tree, in every cell of every column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import kernel
from mahrem.types import Floats, Integers, Matrix, Written

__all__ = ["add_cells", "count_cells"]

Bins = Matrix[NDArray[np.uint8]]  # (n, columns) the bin of each row


@kernel
def add_cells(
    bins: Bins,
    cell: Matrix[Integers],
    node: Integers,
    amounts: Matrix[Floats],
    weight: Floats,
    sums: Written[Matrix[Floats]],
) -> None:
    """Add two amounts of each row to the cells it lies in, and to the whole of its node.

    Args:
        bins: ``(n, columns)`` the bin of each row in each column.
        cell: ``(columns, bins)`` the cell of each bin; -1 is not summed.
        node: ``(n,)`` the node of each row; -1 for rows in none.
        amounts: ``(n, 2)`` what is added up.
        weight: ``(n,)`` what amounts count in cells; in the whole they count fully.
        sums: ``(nodes, 2 * (cells + 1))`` both sums of each cell, the whole last. Added to.
    """
    rows, columns = bins.shape
    last = sums.shape[1] - 2
    for row in range(rows):
        at = node[row]
        if at < 0:
            continue
        first, second = amounts[row, 0], amounts[row, 1]
        sums[at, last] += first
        sums[at, last + 1] += second
        first *= weight[row]
        second *= weight[row]
        for column in range(columns):
            place = cell[column, bins[row, column]]
            if place >= 0:
                sums[at, 2 * place] += first
                sums[at, 2 * place + 1] += second


@kernel
def count_cells(bins: Bins, cell: Matrix[Integers], counts: Written[Integers]) -> None:
    """Count for each row the cells it lies in; ``counts`` is ``(n,)`` and added to."""
    rows, columns = bins.shape
    for row in range(rows):
        for column in range(columns):
            if cell[column, bins[row, column]] >= 0:
                counts[row] += 1
