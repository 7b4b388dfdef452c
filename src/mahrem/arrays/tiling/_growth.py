"""Growing classes inside a tile: take the record farthest from the last class, add what costs least."""

# ruff: noqa: FURB136 - max() and min() of floats keep Numba's loops out of wide registers
from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner
from mahrem.arrays.tiling._classes import NCP
from mahrem.arrays.tiling._trees import Trees, add_values
from mahrem.types import Floats, Integers, Labels

__all__ = ["grow_classes"]


@inner
def _reach(
    waiting: Floats, left: int, low: Floats, high: Floats, cost: Floats, objective: int, trees: Trees
) -> None:
    """Write how wide a box is with each waiting record (NCP) or how far, squared, they lie apart (SSE)."""
    cost = cost[:left]
    cost[:] = 0.0
    for column in range(waiting.shape[0]):
        values, bottom, top = waiting[column], low[column], high[column]
        if objective == NCP and trees.forest.first[column] >= 0:
            add_values(trees, column, values, bottom, top, 1.0, cost)
        elif objective == NCP:
            for i in range(left):
                value = values[i]
                cost[i] += (value if value > top else top) - (value if value < bottom else bottom)
        else:
            for i in range(left):
                apart = values[i] - bottom
                cost[i] += apart * apart


@inner
def _farthest(waiting: Floats, left: int, low: Floats, high: Floats, cost: Floats, scale: Floats) -> int:
    """Give the waiting record farthest from the middle of a box."""
    cost = cost[:left]
    cost[:] = 0.0
    for column in range(waiting.shape[0]):
        values, middle, step = waiting[column], (low[column] + high[column]) / 2, scale[column]
        for i in range(left):
            cost[i] += step * abs(values[i] - middle)
    return int(cost.argmax())


@inner
def grow_classes(
    values: Floats,
    records: int,
    minimum: int,
    objective: int,
    waiting: Floats,
    who: Integers,
    label: Labels,
    trees: Trees,
) -> int:
    """Give records classes of exactly ``minimum`` members; those too few for one more get -1.

    Args:
        values: ``(d, m)`` records as columns.
        records: How many of them there are.
        minimum: Members of a class.
        objective: NCP or SSE.
        waiting: As ``values``, overwritten.
        who: ``(m,)``, overwritten.
        label: ``(m,)``, the classes.
        trees: Of the columns, for NCP.

    Returns:
        How many classes there are.
    """
    columns = values.shape[0]
    low, high, total = np.empty(columns), np.empty(columns), np.empty(columns)
    cost = np.empty(records)
    for column in range(columns):
        waiting[column, :records] = values[column, :records]
        low[column], high[column] = values[column, :records].min(), values[column, :records].max()
    for i in range(records):
        who[i] = i
    left, classes = records, 0
    while left >= minimum:
        for step in range(minimum):
            if step == 0:
                chosen = _farthest(waiting, left, low, high, cost, trees.scale)
                low[:] = np.inf
                high[:] = -np.inf
                total[:] = 0.0
            else:
                _reach(waiting, left, low, high, cost, objective, trees)
                chosen = int(cost[:left].argmin())
            left -= 1
            for column in range(columns):
                value = waiting[column, chosen]
                waiting[column, chosen] = waiting[column, left]
                total[column] += value
                if objective == NCP:
                    low[column], high[column] = min(low[column], value), max(high[column], value)
                else:
                    low[column] = high[column] = total[column] / (step + 1)
            label[who[chosen]] = classes
            who[chosen] = who[left]
        classes += 1
    for i in range(left):
        label[who[i]] = -1
    return classes
