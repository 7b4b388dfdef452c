"""Repairing the classes of a tile: moves, swaps, and classes dissolved or formed, if the total falls."""

# ruff: noqa: FURB136 - max() and min() of floats keep Numba's loops out of wide registers
from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner
from mahrem.arrays.tiling._classes import NCP, Tile, absorb, additions, exchanges, join, leave, refresh
from mahrem.arrays.tiling._trees import add_values

__all__ = ["fill_tile", "repair"]

_WIDE = 1.5  # times what is usual for a record: with less to save, dissolving a class is not tried
_LEAST = 1e-12  # a fall that rounding could pretend is none


@inner
def fill_tile(tile: Tile, records: int, classes: int, objective: int) -> None:
    """Work out all classes from the labels; records without a class join the one that grows least."""
    tile.head[:classes] = -1
    tile.size[:classes] = 0
    tile.touched[:classes] = 0
    tile.squares[:records] = 0.0
    for column in range(tile.values.shape[0]):
        for record in range(records):
            tile.squares[record] += tile.values[column, record] ** 2
    for record in range(records):
        if tile.label[record] >= 0:
            join(tile, record, tile.label[record])
    for group in range(classes):
        refresh(tile, group, objective)
    for record in range(records):
        if tile.label[record] < 0:
            additions(tile, record, classes, objective)
            group = int(tile.into[:classes].argmin())
            join(tile, record, group)
            refresh(tile, group, objective)


@inner
def _shift(tile: Tile, record: int, group: int, objective: int) -> None:
    """Bring a record into another class."""
    source = tile.label[record]
    leave(tile, record)
    join(tile, record, group)
    refresh(tile, source, objective)
    refresh(tile, group, objective)


@inner
def _move(tile: Tile, records: int, classes: int, minimum: int, objective: int, now: int) -> int:
    """Let records leave classes that can spare them for the class where the total falls most."""
    changed = 0
    for record in range(records):
        source = tile.label[record]
        if tile.size[source] <= minimum:
            continue
        additions(tile, record, classes, objective)
        group = int(tile.into[:classes].argmin())
        if tile.into[group] < tile.cost[source] - tile.cost_without[record] - _LEAST:
            _shift(tile, record, group, objective)
            tile.touched[source] = tile.touched[group] = now
            changed += 1
    tile.counts[0] += changed
    return changed


@inner
def _swap(tile: Tile, records: int, objective: int, now: int) -> int:
    """Let records of classes that changed lately change places where the total falls most."""
    changed = 0
    for record in range(records):
        group = tile.label[record]
        if tile.touched[group] < now - 1 or tile.cost_without[record] >= tile.cost[group]:
            continue  # a pair needs to be looked at from one side only: from one that changed
        first = record + 1 if now == 1 else 0  # at first all changed: from the earlier record's side only
        if not exchanges(tile, record, first, records, objective) < -_LEAST:
            continue
        other = first + int(tile.mine[first:records].argmin())
        target = tile.label[other]
        leave(tile, record)
        leave(tile, other)
        join(tile, record, target)
        join(tile, other, group)
        refresh(tile, group, objective)
        refresh(tile, target, objective)
        tile.touched[group] = tile.touched[target] = now
        changed += 1
    tile.counts[1] += changed
    return changed


@inner
def _hand_out(tile: Tile, group: int, classes: int, objective: int, limit: float) -> float:
    """Find for every member of a class the other one that grows least; gives by how much they grow together.

    Members are looked at one after the other, as if those before had joined. Gives infinity, and stops, when
    the others grow by more than ``limit``. The classes are left as they were.
    """
    added, place, size = 0.0, 0, tile.size[group]
    tile.size[group] = 0  # nobody goes back
    one = tile.head[group]
    while one >= 0 and added <= limit:
        additions(tile, one, classes, objective)
        target = int(tile.into[:classes].argmin())
        added += tile.into[target]
        if added <= limit:
            absorb(tile, one, target, objective)
            tile.journal[0, place], tile.journal[1, place] = one, target
            place += 1
        one = tile.after[one]
    tile.size[group] = size
    for step in range(place):
        tile.size[tile.journal[1, step]] -= 1
    for step in range(place):
        refresh(tile, tile.journal[1, step], objective)
    return added if added <= limit else np.inf


@inner
def _spare(tile: Tile, group: int, records: int, minimum: int, objective: int) -> int:
    """Find the record that a new class should take next, cheap there and dear here; -1 = none to spare."""
    mine = tile.mine[:records]
    size = tile.size[group]
    mine[:] = 0.0
    if size > 0:
        for column in range(tile.values.shape[0]):
            low, high, values = tile.low[column, group], tile.high[column, group], tile.values[column]
            if objective == NCP and tile.trees.forest.first[column] >= 0:
                add_values(tile.trees, column, values, low, high, float(minimum), mine)
            elif objective == NCP:
                for record in range(records):
                    value = values[record]
                    wide = (value if value > high else high) - (value if value < low else low)
                    mine[record] += minimum * wide
            else:
                for record in range(records):
                    apart = values[record] - low / size
                    mine[record] += apart * apart
    best, chosen = np.inf, -1
    for record in range(records):
        change = mine[record] + tile.cost_without[record] - tile.of_cost[record]
        if change < best and tile.of_size[record] > minimum and tile.label[record] != group:
            best, chosen = change, record
    return chosen


@inner
def _form(
    tile: Tile, group: int, records: int, minimum: int, objective: int, steps: int
) -> tuple[float, int]:
    """Fill an empty class with what others can spare; gives the change of the total and the journal's end."""
    change = 0.0
    for _ in range(minimum):
        chosen = _spare(tile, group, records, minimum, objective)
        if chosen < 0:
            return np.inf, steps
        source = tile.label[chosen]
        tile.journal[0, steps], tile.journal[1, steps] = chosen, source
        steps += 1
        change -= tile.cost[source] + tile.cost[group]
        _shift(tile, chosen, group, objective)
        change += tile.cost[source] + tile.cost[group]
    return change, steps


@inner
def _settle(tile: Tile, first: int, last: int, now: int) -> None:
    """Note that the classes in a stretch of the journal have changed."""
    for step in range(first, last):
        tile.touched[tile.journal[1, step]] = now
        tile.touched[tile.label[tile.journal[0, step]]] = now


@inner
def _undo(tile: Tile, first: int, last: int, objective: int) -> None:
    """Send the records in a stretch of the journal back, the latest first."""
    for step in range(last - 1, first - 1, -1):
        _shift(tile, tile.journal[0, step], tile.journal[1, step], objective)


@inner
def _reform(
    tile: Tile, records: int, classes: int, minimum: int, objective: int, reach: float, now: int
) -> int:
    """Dissolve classes, and form others from what can be spared then, where the total falls."""
    changed = 0
    usual = tile.cost[:classes].sum() / records
    for group in range(classes):
        saved = tile.cost[group]
        # members will cost others what is usual there: a class that costs less is not worth a try
        if tile.touched[group] < now - 1 or reach * saved <= _WIDE * usual * tile.size[group]:
            continue
        added = _hand_out(tile, group, classes, objective, reach * saved)
        if added == np.inf:
            continue
        handed = tile.size[group]
        for step in range(handed):
            target = tile.journal[1, step]
            tile.journal[1, step] = group
            _shift(tile, tile.journal[0, step], target, objective)
        gone = added < saved - _LEAST  # worth it already
        change, steps = _form(tile, group, records, minimum, objective, handed)
        if change < -_LEAST and added - saved + change < -_LEAST:
            _settle(tile, 0, steps, now)
            tile.counts[4] += 1
            changed += 1
            continue
        _undo(tile, handed, steps, objective)
        if gone:
            _settle(tile, 0, handed, now)
            tile.counts[2] += 1
            changed += 1
        else:
            _undo(tile, 0, handed, objective)
    return changed


@inner
def repair(
    tile: Tile,
    records: int,
    classes: int,
    minimum: int,
    objective: int,
    passes: int,
    swaps: bool,  # noqa: FBT001 - kernels take arguments by position
    reach: float,
) -> None:
    """Change the classes of a filled tile as long as the total cost falls; some may end up empty.

    Args:
        tile: Records and classes.
        records: How many records.
        classes: How many classes.
        minimum: Members that every class must have.
        objective: NCP or SSE.
        passes: How often to go over all records at most.
        swaps: Let records of different classes change places.
        reach: Try to dissolve a class when that adds at most so many times its cost to others; 0 = never.
    """
    for turn in range(passes):
        now = turn + 1
        changed = _move(tile, records, classes, minimum, objective, now)
        if swaps:
            changed += _swap(tile, records, objective, now)
        if reach > 0.0:
            changed += _reform(tile, records, classes, minimum, objective, reach, now)
        if changed == 0:
            break
