"""Merging classes that may not stand with near ones, in tiles of classes, so that n log n holds."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.tiling._trees import Trees, wide
from mahrem.types import Floats, Integers, Mask, Matrix, Rows, Sizes, Written

__all__ = ["merge_in_tiles"]


@inner
def _nearest(
    members: Rows, first: int, last: int, one: int, low: Floats, high: Floats, sizes: Sizes, trees: Trees
) -> int:
    """Give the class of a tile whose union with another costs least, in rows times widths; -1 = none left."""
    best, least = -1, np.inf
    for i in range(first, last):
        group = members[i]
        if group == one or sizes[group] == 0:
            continue
        both, own = 0.0, 0.0
        for column in range(low.shape[1]):
            bottom = min(low[group, column], low[one, column])
            both += wide(trees, column, bottom, max(high[group, column], high[one, column]))
            own += wide(trees, column, low[group, column], high[group, column])
        cost = both * (sizes[group] + sizes[one]) - own * sizes[group]
        if cost < least:
            best, least = group, cost
    return best


@kernel
def merge_in_tiles(
    members: Rows,
    starts: Integers,
    refused: Mask,
    low: Written[Matrix[Floats]],
    high: Written[Matrix[Floats]],
    sizes: Written[Sizes],
    target: Written[Integers],
    grown: Written[Mask],
    trees: Trees,
) -> None:
    """Merge each refused class with the one of its tile that costs least; what has grown waits to be judged.

    Args:
        members: Classes, tile by tile.
        starts: Tile ``i`` holds ``members[starts[i]:starts[i + 1]]``.
        refused: ``(c,)`` classes that may not stand.
        low: ``(c, d)`` least values; changed.
        high: ``(c, d)`` greatest values; changed.
        sizes: ``(c,)`` rows; 0 for a class that went into another. Changed.
        target: ``(c,)`` the class a class went into, or itself. Changed.
        grown: ``(c,)`` classes that took another one. Changed.
        trees: Of the columns.
    """
    for tile in range(len(starts) - 1):
        first, last = starts[tile], starts[tile + 1]
        for i in range(first, last):
            one = members[i]
            if not refused[one] or grown[one] or sizes[one] == 0:
                continue
            into = _nearest(members, first, last, one, low, high, sizes, trees)
            if into < 0:
                continue
            target[one] = into
            sizes[into] += sizes[one]
            sizes[one] = 0
            grown[into] = True
            for column in range(low.shape[1]):
                low[into, column] = min(low[into, column], low[one, column])
                high[into, column] = max(high[into, column], high[one, column])
