"""Growth and repair over the whole table: tiles of whole classes with other borders each round."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import kernel
from mahrem.arrays.growing._cells import work_out
from mahrem.arrays.growing._costs import CellCosts, open_workbench, place_records
from mahrem.arrays.growing._growth import grow_in_tile
from mahrem.arrays.growing._members import enter
from mahrem.arrays.growing._promises import Promises
from mahrem.arrays.growing._steps import repair_tile
from mahrem.arrays.tiling import class_tiles, rows_by_label
from mahrem.threads import in_threads
from mahrem.types import Floats, Integers, Labels, Mask, Rows, Sizes, Written

__all__ = ["Thoroughness", "class_costs", "grow_under_promises", "place_waiting", "repair_round"]

_PARTS = 64  # runs of tiles: enough for an even load


class Thoroughness(NamedTuple):
    """How far repair goes in every tile."""

    passes: int  # times over all records
    reach: float  # dissolve a class when that adds at most so many times its cost to others; 0 = never
    blind: bool  # cells alone say where a record should go, promises only whether it may


_NONE = Thoroughness(0, 0.0, blind=False)


@kernel
def work_in_tiles(
    costs: CellCosts,
    promises: Promises,
    thoroughness: Thoroughness,
    rows: Rows,
    starts: Integers,
    slots: Integers,
    first: int,
    last: int,
    labels: Written[Labels],
) -> None:
    """Give every row a class in tiles ``first .. last``, and repair them.

    Tile ``i`` holds ``rows[starts[i]:starts[i + 1]]``. Its classes, the empty ones last, are ``slots[i] ..
    slots[i + 1]`` in ``labels``, before and after. Rows that wait, -1, grow into empty classes or join
    others; those that fit nowhere still wait afterwards.
    """
    most, many = 0, 0
    for i in range(first, last):
        most, many = max(most, starts[i + 1] - starts[i]), max(many, slots[i + 1] - slots[i])
    bench = open_workbench(costs, promises, most, many)
    for i in range(first, last):
        here, slot, classes = rows[starts[i] : starts[i + 1]], slots[i], slots[i + 1] - slots[i]
        place_records(bench, costs, promises, here, classes)
        held, waiting = 0, False
        for record in range(len(here)):
            group = labels[here[record]] - slot
            if labels[here[record]] < 0:
                waiting = True
            else:
                enter(bench, promises, record, group)
                held = max(held, group + 1)
        for group in range(classes):
            work_out(bench, costs, group)
        if waiting:
            grow_in_tile(bench, costs, promises, len(here), held, classes)
        repair_tile(
            bench,
            costs,
            promises,
            len(here),
            classes,
            thoroughness.passes,
            thoroughness.reach,
            thoroughness.blind,
        )
        for record in range(len(here)):
            group = bench.label[record]
            labels[here[record]] = slot + group if group >= 0 else -1


@kernel
def _class_costs(
    costs: CellCosts,
    promises: Promises,
    rows: Rows,
    starts: Integers,
    first: int,
    last: int,
    totals: Written[Floats],
) -> None:
    """Write what each of the classes ``first .. last`` costs."""
    most = 0
    for i in range(first, last):
        most = max(most, starts[i + 1] - starts[i])
    bench = open_workbench(costs, promises, most, 1)
    for i in range(first, last):
        here = rows[starts[i] : starts[i + 1]]
        place_records(bench, costs, promises, here, 1)
        for record in range(len(here)):
            enter(bench, promises, record, 0)
        work_out(bench, costs, 0)
        totals[i] = bench.size[0] * bench.width[0]


def class_costs(
    costs: CellCosts, promises: Promises, labels: Labels, classes: int, threads: int | None = None
) -> Floats:
    """Give what the cells of each class cost, times its rows."""
    rows, starts = rows_by_label(labels, classes)
    totals: Floats = np.zeros(classes)

    def run(first: int, last: int) -> None:
        _class_costs(costs, promises, rows, starts, first, last, totals)

    in_threads(run, np.diff(starts), _PARTS, threads)
    return totals


def grow_under_promises(
    costs: CellCosts,
    promises: Promises,
    tiles: Labels,
    count: int,
    threads: int | None = None,
) -> tuple[Labels, int]:
    """Grow classes in tiles; records that fit nowhere in theirs are labelled -1.

    Args:
        costs: What cells cost.
        promises: What classes keep.
        tiles: ``(n,)`` tile of each row.
        count: How many tiles there are.
        threads: How many; None for one per core. The result does not depend on it.
    """
    room = np.bincount(tiles, minlength=count) // max(1, promises.least) + 1
    labels: Labels = np.full(len(tiles), -1, np.int64)
    return _worked(costs, promises, _NONE, tiles, _ends(room), labels, threads)


def place_waiting(
    costs: CellCosts,
    promises: Promises,
    labels: Labels,
    classes: int,
    centres: Floats,
    *,
    tile: int,
    turn: int,
    threads: int | None = None,
) -> tuple[Labels, int]:
    """Let rows without a class, -1, join the near one that costs least and keeps its promises with them.

    Args:
        costs: What cells cost.
        promises: What classes keep, all of them.
        labels: ``(n,)`` class of each row.
        classes: How many classes there are.
        centres: ``(c + waiting, f)`` where classes lie, and then the waiting rows in their order.
        tile: Rows of a tile, among whose classes one is looked for.
        turn: Which borders.
        threads: How many; None for one per core. The result does not depend on it.
    """
    waiting = labels < 0
    each = np.where(waiting, classes + np.cumsum(waiting) - 1, labels)
    tile_of, count = _tiles(centres, np.bincount(each), tile, turn, threads)
    own = tile_of[:classes]
    slots = _ends(np.bincount(own, minlength=count))
    new = np.where(waiting, -1, _numbered(own, slots)[np.where(waiting, 0, labels)])
    return _worked(costs, promises, _NONE, tile_of[each], slots, new, threads)


def repair_round(
    costs: CellCosts,
    promises: Promises,
    labels: Labels,
    classes: int,
    centres: Floats,
    *,
    tile: int,
    turn: int,
    thoroughness: Thoroughness,
    keeps: Callable[[Labels, int], Mask] | None = None,
    threads: int | None = None,
) -> tuple[Labels, int]:
    """Repair every class once, in tiles of about ``tile`` rows whose borders depend on ``turn``.

    Args:
        costs: What cells cost.
        promises: What classes keep, all of them.
        labels: ``(n,)`` class of each row.
        classes: How many classes there are.
        centres: ``(c, f)`` where classes lie, for tiles of near ones.
        tile: Rows of a tile.
        turn: Which borders.
        thoroughness: How far repair goes.
        keeps: Says of all classes which keep what ``promises`` does not know; a tile with one that does not
            stays as it was.
        threads: How many; None for one per core. The result does not depend on it.
    """
    sizes = np.bincount(labels, minlength=classes)
    tile_of, count = _tiles(centres, sizes, tile, turn, threads)
    rows = np.bincount(tile_of, weights=sizes, minlength=count).astype(np.int64)
    slots = _ends(np.maximum(np.bincount(tile_of, minlength=count), rows // max(1, promises.least)) + 1)
    old, of_row = _numbered(tile_of, slots)[labels], tile_of[labels]
    new, new_classes = _worked(costs, promises, thoroughness, of_row, slots, old.copy(), threads)
    if keeps is None:
        return new, new_classes
    spoilt = np.zeros(count, np.bool_)
    spoilt[of_row[~keeps(new, new_classes)[new]]] = True
    return _renumbered(np.where(spoilt[of_row], int(slots[-1]) + old, new), 2 * int(slots[-1]))


def _worked(
    costs: CellCosts,
    promises: Promises,
    thoroughness: Thoroughness,
    of_row: Labels,
    slots: Integers,
    labels: Labels,
    threads: int | None,
) -> tuple[Labels, int]:
    """Work in tiles, in place; gives labels without gaps, and how many there are."""
    rows, starts = rows_by_label(of_row, len(slots) - 1)

    def run(first: int, last: int) -> None:
        work_in_tiles(costs, promises, thoroughness, rows, starts, slots, first, last, labels)

    in_threads(run, np.diff(starts), _PARTS, threads)
    return _renumbered(labels, int(slots[-1]))


def _tiles(centres: Floats, sizes: Sizes, tile: int, turn: int, threads: int | None) -> tuple[Labels, int]:
    """Sort whole classes into tiles of about so many rows, and not above four times as many."""
    usual = max(4, int(tile / max(1.0, float(sizes.mean()))))
    tile_of = _bounded(*class_tiles(centres, usual, turn, threads), sizes, 4 * tile)
    return tile_of, int(tile_of.max()) + 1


def _ends(sizes: Sizes) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)])


def _numbered(tile_of: Labels, slots: Integers) -> Labels:
    """Number classes tile by tile, from the first slot of each on."""
    held = np.bincount(tile_of, minlength=len(slots) - 1)
    order = np.argsort(tile_of, kind="stable")
    place = np.empty(len(tile_of), np.int64)
    place[order] = np.arange(len(order)) - (np.cumsum(held) - held)[tile_of[order]] + slots[tile_of[order]]
    return place


def _bounded(tile_of: Labels, tiles: int, sizes: Sizes, most: int) -> Labels:
    """Cut tiles whose classes have more rows than ``most`` into runs that have not."""
    held = np.bincount(tile_of, weights=sizes, minlength=tiles)
    if held.max() <= most:
        return tile_of
    order = np.argsort(tile_of, kind="stable")
    before = np.cumsum(sizes[order]) - sizes[order]
    first = np.searchsorted(tile_of[order], np.arange(tiles))
    run = (before - before[first][tile_of[order]]) // max(1, most // 2)
    parts = np.empty_like(tile_of)
    parts[order] = np.unique(tile_of[order] * (int(run.max()) + 1) + run, return_inverse=True)[1]
    return parts


def _renumbered(labels: Labels, most: int) -> tuple[Labels, int]:
    """Leave out numbers that nothing has; -1 stays."""
    some = np.bincount(labels + 1, minlength=most + 1)[1:] > 0
    return np.where(labels < 0, -1, (np.cumsum(some) - 1)[labels]), int(some.sum())
