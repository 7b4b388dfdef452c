"""The classes of one tile while they are repaired: what they cost, and what a change would do to that.

Records lie as columns, so that a question about one record against all others runs over contiguous numbers.
The cost of a class is ``|E| * (sum of the widths of its box)`` (NCP; in a column with a tree the width is the
share of the lowest node over the class) or the sum of squared distances to its mean (SSE). A class keeps its
box (``low``, ``high``) or its sum (``low``); a record keeps those of its class without itself, so that taking
it out or exchanging it needs no look at the other members.
"""

# ruff: noqa: FURB136 - max() and min() of floats keep Numba's loops out of wide registers
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner, inner_with
from mahrem.arrays.tiling._trees import Trees, add_boxes, add_values, wide
from mahrem.types import Floats, Integers, Labels, Sizes

__all__ = ["NCP", "SSE", "Tile", "absorb", "additions", "exchanges", "join", "leave", "open_tile", "refresh"]

NCP = 0
SSE = 1
_NO_NAN = {
    "nnan",
    "nsz",
    "contract",
}  # lets a least number be found in wide registers; infinity stays allowed


class Tile(NamedTuple):
    """Records and classes of one tile; arrays have room for more than there are."""

    trees: Trees  # of the columns, for NCP
    values: Floats  # (d, m) records as columns; seats where there is a tree
    squares: Floats  # (m,) squared length of a record, for SSE
    label: Labels  # (m,) class of a record; -1 = none
    after: Integers  # (m,) next member of the same class; -1 = the last
    head: Integers  # (c,) first member of a class; -1 = the class is empty
    size: Sizes  # (c,) members of a class
    low: Floats  # (d, c) least values of a class (NCP) or sums (SSE)
    high: Floats  # (d, c) greatest values of a class (NCP)
    inner: Floats  # (c,) sum of the squares of a class (SSE)
    cost: Floats  # (c,) cost of a class
    low_without: Floats  # (d, m) as low, of a record's class without the record
    high_without: Floats  # (d, m)
    cost_without: Floats  # (m,) cost of a record's class without the record
    of_size: Floats  # (m,) size of a record's class
    of_cost: Floats  # (m,) cost of a record's class
    mine: Floats  # (m,) scratch: what changing places with each record does
    into: Floats  # (c,) scratch: what joining each class costs
    ones: Floats  # (c,)
    touched: Integers  # (c,) when a class last changed
    journal: Integers  # (2, 4m) records moved for a trial and the classes they came from
    counts: Integers  # (5,) moves, swaps, classes dissolved, formed, and dissolved to form another


@inner
def open_tile(columns: int, records: int, classes: int, trees: Trees) -> Tile:
    """Make room for a tile."""
    return Tile(
        trees,
        np.empty((columns, records)),
        np.empty(records),
        np.empty(records, np.int64),
        np.empty(records, np.int64),
        np.empty(classes, np.int64),
        np.empty(classes, np.int64),
        np.empty((columns, classes)),
        np.empty((columns, classes)),
        np.empty(classes),
        np.empty(classes),
        np.empty((columns, records)),
        np.empty((columns, records)),
        np.empty(records),
        np.empty(records),
        np.empty(records),
        np.empty(records),
        np.empty(classes),
        np.ones(classes),
        np.empty(classes, np.int64),
        np.empty((2, 4 * records), np.int64),
        np.zeros(5, np.int64),
    )


@inner
def join(tile: Tile, record: int, group: int) -> None:
    """Put a record into a class; what the class costs is not worked out."""
    tile.label[record] = group
    tile.after[record] = tile.head[group]
    tile.head[group] = record
    tile.size[group] += 1


@inner
def leave(tile: Tile, record: int) -> None:
    """Take a record out of its class; what the class costs is not worked out."""
    group = tile.label[record]
    previous, one = -1, tile.head[group]
    while one != record:
        previous, one = one, tile.after[one]
    if previous < 0:
        tile.head[group] = tile.after[record]
    else:
        tile.after[previous] = tile.after[record]
    tile.size[group] -= 1
    tile.label[record] = -1


@inner
def _refresh_box(tile: Tile, group: int) -> None:
    head, size = tile.head[group], tile.size[group]
    width = 0.0
    one = head
    while one >= 0:
        tile.cost_without[one] = 0.0
        one = tile.after[one]
    for column in range(tile.values.shape[0]):
        values, plain = tile.values[column], tile.trees.forest.first[column] < 0
        least, second, greatest, last = np.inf, np.inf, -np.inf, -np.inf
        one = head
        while one >= 0:
            value = values[one]
            second = min(second, max(least, value))
            least = min(least, value)
            last = max(last, min(greatest, value))
            greatest = max(greatest, value)
            one = tile.after[one]
        low_without, high_without = tile.low_without[column], tile.high_without[column]
        one = head
        while one >= 0:
            value = values[one]
            bottom = second if value == least else least
            top = last if value == greatest else greatest
            low_without[one], high_without[one] = bottom, top
            if plain:
                tile.cost_without[one] += top - bottom
            elif size > 1:  # alone, there is no box without it
                tile.cost_without[one] += wide(tile.trees, column, bottom, top)
            one = tile.after[one]
        tile.low[column, group], tile.high[column, group] = least, greatest
        width += greatest - least if plain else wide(tile.trees, column, least, greatest)
    tile.cost[group] = size * width
    one = head
    while one >= 0:
        tile.cost_without[one] = (size - 1) * tile.cost_without[one] if size > 1 else 0.0
        one = tile.after[one]


@inner
def _refresh_sum(tile: Tile, group: int) -> None:
    head, size = tile.head[group], tile.size[group]
    inner = 0.0
    one = head
    while one >= 0:
        inner += tile.squares[one]
        tile.cost_without[one] = 0.0
        one = tile.after[one]
    outer = 0.0
    for column in range(tile.values.shape[0]):
        values, without = tile.values[column], tile.low_without[column]
        total = 0.0
        one = head
        while one >= 0:
            total += values[one]
            one = tile.after[one]
        one = head
        while one >= 0:
            without[one] = total - values[one]
            tile.cost_without[one] += without[one] * without[one]
            one = tile.after[one]
        tile.low[column, group] = total
        outer += total * total
    tile.inner[group] = inner
    tile.cost[group] = max(0.0, inner - outer / size)
    one = head
    while one >= 0:
        rest = inner - tile.squares[one] - tile.cost_without[one] / max(1, size - 1)
        tile.cost_without[one] = max(0.0, rest)
        one = tile.after[one]


@inner
def refresh(tile: Tile, group: int, objective: int) -> None:
    """Work out a class anew from its members."""
    if tile.size[group] == 0:
        tile.cost[group] = 0.0
        for column in range(tile.values.shape[0]):
            plain = tile.trees.forest.first[column] < 0
            tile.low[column, group] = np.inf if plain else 0.0  # a seat, as its number is looked up
            tile.high[column, group] = -np.inf if plain else 0.0
        return
    if objective == NCP:
        _refresh_box(tile, group)
    else:
        _refresh_sum(tile, group)
    one = tile.head[group]
    while one >= 0:
        tile.of_size[one], tile.of_cost[one] = tile.size[group], tile.cost[group]
        one = tile.after[one]


@inner
def additions(tile: Tile, record: int, classes: int, objective: int) -> None:
    """Write into ``into`` what it costs each class to take a record; infinity for its own and empty ones."""
    into = tile.into[:classes]
    into[:] = 0.0
    for column in range(tile.values.shape[0]):
        value = tile.values[column, record]
        low, high = tile.low[column], tile.high[column]
        if objective == NCP and tile.trees.forest.first[column] >= 0:
            add_boxes(tile.trees, column, value, low, high, tile.ones, into)
        elif objective == NCP:
            for group in range(classes):
                top, bottom = high[group], low[group]
                top = value if value > top else top
                bottom = value if value < bottom else bottom
                into[group] += top - bottom
        else:
            for group in range(classes):
                total = low[group] + value
                into[group] += total * total
    for group in range(classes):
        size = tile.size[group] + 1
        if size == 1 or group == tile.label[record]:
            into[group] = np.inf
        elif objective == NCP:
            into[group] = size * into[group] - tile.cost[group]
        else:
            inner = tile.inner[group] + tile.squares[record]
            into[group] = max(0.0, inner - into[group] / size) - tile.cost[group]


@inner
def absorb(tile: Tile, record: int, group: int, objective: int) -> None:
    """Widen a class by a record that has not joined it: for a trial, undone by :func:`refresh`."""
    tile.size[group] += 1
    size, broad = tile.size[group], 0.0
    for column in range(tile.values.shape[0]):
        value = tile.values[column, record]
        if objective == NCP:
            tile.low[column, group] = min(tile.low[column, group], value)
            tile.high[column, group] = max(tile.high[column, group], value)
            broad += wide(tile.trees, column, tile.low[column, group], tile.high[column, group])
        else:
            tile.low[column, group] += value
            broad += tile.low[column, group] ** 2
    if objective == NCP:
        tile.cost[group] = size * broad
    else:
        tile.inner[group] += tile.squares[record]
        tile.cost[group] = max(0.0, tile.inner[group] - broad / size)


@inner
def _rule_out(tile: Tile, group: int) -> None:
    """Write infinity into ``mine`` for the members of a class."""
    one = tile.head[group]
    while one >= 0:
        tile.mine[one] = np.inf
        one = tile.after[one]


@inner_with(fastmath=_NO_NAN, error_model="numpy")  # no class is empty here: nothing to check
def exchanges(tile: Tile, record: int, first: int, records: int, objective: int) -> float:
    """Write into ``mine`` what changing places does, with others from ``first`` on; gives the least."""
    mine, sizes = (
        tile.mine[first:records],
        tile.of_size[first:records],
    )  # slices: no check for negative places
    costs, labels = tile.of_cost[first:records], tile.label[first:records]
    many = len(mine)
    group = tile.label[record]
    size, base = float(tile.size[group]), tile.cost[group]
    if objective == NCP:
        for other in range(many):
            mine[other] = -base - costs[other]
    else:
        base -= tile.inner[group]
        for other in range(many):
            mine[other] = tile.inner[labels[other]] - base - costs[other]
    for column in range(tile.values.shape[0]):
        value, low = tile.values[column, record], tile.low_without[column, record]
        high = tile.high_without[column, record]
        values, lows = tile.values[column, first:records], tile.low_without[column, first:records]
        highs = tile.high_without[column, first:records]
        if objective == NCP and tile.trees.forest.first[column] >= 0:
            add_values(tile.trees, column, values, low, high, size, mine)
            add_boxes(tile.trees, column, value, lows, highs, sizes, mine)
        elif objective == NCP:
            for other in range(many):
                another, top, bottom = values[other], highs[other], lows[other]
                here = (another if another > high else high) - (another if another < low else low)
                there = (value if value > top else top) - (value if value < bottom else bottom)
                mine[other] += size * here + sizes[other] * there
        else:
            for other in range(many):
                here, there = low + values[other], lows[other] + value
                mine[other] -= here * here / size + there * there / sizes[other]
    _rule_out(tile, group)
    least = np.inf
    for other in range(many):
        least = mine[other] if mine[other] < least else least
    return least
