"""Repair over the whole table: tiles of whole classes, each round with other borders, tiles in threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mahrem.arrays._class_cells import work_out
from mahrem.arrays._class_costs import CellCosts, open_workbench, place_records
from mahrem.arrays._class_growth import grow_in_tile
from mahrem.arrays._class_members import enter
from mahrem.arrays._class_promises import Promises
from mahrem.arrays._class_steps import repair_tile
from mahrem.arrays._kernel import kernel
from mahrem.arrays._mosaic_tiles import class_tiles
from mahrem.arrays._normals import rows_by_label
from mahrem.arrays._threads import in_threads
from mahrem.types import Floats, Integers, Labels, Mask, Rows, Sizes, Written

__all__ = ["Thoroughness", "class_costs", "grow_under_promises", "repair_round"]

_PARTS = 64  # runs of tiles: enough for an even load


class Thoroughness(NamedTuple):
    """How far repair goes in every tile."""

    passes: int  # times over all records
    reach: float  # dissolve a class when that adds at most so many times its cost to others; 0 = never
    tries: int  # candidates that are asked about for each step; with 1 cells alone say where a record goes


@kernel
def repair_in_tiles(
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
    """Repair tiles ``first .. last``; tile ``i`` holds ``rows[starts[i]:starts[i + 1]]``.

    Its classes, with room for more, are ``slots[i] .. slots[i + 1]`` in ``labels``, before and after.
    """
    most, many = 0, 0
    for i in range(first, last):
        most, many = max(most, starts[i + 1] - starts[i]), max(many, slots[i + 1] - slots[i])
    bench = open_workbench(costs, promises, most, many)
    for i in range(first, last):
        here, slot, classes = rows[starts[i] : starts[i + 1]], slots[i], slots[i + 1] - slots[i]
        place_records(bench, costs, promises, here, classes)
        for record in range(len(here)):
            enter(bench, promises, record, labels[here[record]] - slot)
        for group in range(classes):
            work_out(bench, costs, group)
        repair_tile(
            bench,
            costs,
            promises,
            len(here),
            classes,
            thoroughness.passes,
            thoroughness.reach,
            thoroughness.tries,
        )
        for record in range(len(here)):
            labels[here[record]] = slot + bench.label[record]


@kernel
def grow_in_tiles(
    costs: CellCosts,
    promises: Promises,
    rows: Rows,
    starts: Integers,
    slots: Integers,
    first: int,
    last: int,
    labels: Written[Labels],
) -> None:
    """Grow classes in tiles ``first .. last``; what fits nowhere shares the last place of its tile."""
    most, many = 0, 0
    for i in range(first, last):
        most, many = max(most, starts[i + 1] - starts[i]), max(many, slots[i + 1] - slots[i])
    bench = open_workbench(costs, promises, most, many)
    for i in range(first, last):
        here, slot, classes = rows[starts[i] : starts[i + 1]], slots[i], slots[i + 1] - slots[i]
        place_records(bench, costs, promises, here, classes)
        for group in range(classes):
            work_out(bench, costs, group)
        grow_in_tile(bench, costs, promises, len(here), classes - 1)
        for record in range(len(here)):
            group = bench.label[record]
            labels[here[record]] = slot + (group if group >= 0 else classes - 1)


@kernel
def _class_costs(
    costs: CellCosts,
    promises: Promises,
    rows: Rows,
    starts: Integers,
    first: int,
    last: int,
    found: Written[Floats],
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
        found[i] = bench.size[0] * bench.width[0]


def class_costs(
    costs: CellCosts, promises: Promises, labels: Labels, classes: int, threads: int | None = None
) -> Floats:
    """Give what the cells of each class cost, times its rows."""
    rows, starts = rows_by_label(labels, classes)
    found: Floats = np.zeros(classes)

    def run(first: int, last: int) -> None:
        _class_costs(costs, promises, rows, starts, first, last, found)

    in_threads(run, np.diff(starts), _PARTS, threads)
    return found


def grow_under_promises(
    costs: CellCosts,
    promises: Promises,
    tiles: Labels,
    count: int,
    threads: int | None = None,
) -> tuple[Labels, int]:
    """Grow classes in tiles; the records of a tile that fit nowhere are one class, which keeps no promise.

    Args:
        costs: What cells cost.
        promises: What classes keep.
        tiles: ``(n,)`` tile of each row.
        count: How many tiles there are.
        threads: How many; None for one per core. The result does not depend on it.
    """
    rows, starts = rows_by_label(tiles, count)
    slots = np.concatenate([[0], np.cumsum(np.diff(starts) // max(1, promises.least) + 2)])
    labels: Labels = np.full(len(tiles), -1, np.int64)

    def run(first: int, last: int) -> None:
        grow_in_tiles(costs, promises, rows, starts, slots, first, last, labels)

    in_threads(run, np.diff(starts), _PARTS, threads)
    return _renumbered(labels, int(slots[-1]))


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
    usual = max(4, int(tile / max(1.0, float(sizes.mean()))))
    tile_of = _bounded(*class_tiles(centres, usual, turn, threads), sizes, 4 * tile)
    count = int(tile_of.max()) + 1
    held = np.bincount(tile_of, minlength=count)
    starts = np.concatenate([[0], np.cumsum(np.bincount(tile_of, weights=sizes, minlength=count))])
    room = np.maximum(held, np.diff(starts).astype(np.int64) // max(1, promises.least)) + 1
    slots = np.concatenate([[0], np.cumsum(room)])
    order = np.argsort(tile_of, kind="stable")
    place = np.empty(classes, np.int64)
    place[order] = np.arange(classes) - (np.cumsum(held) - held)[tile_of[order]] + slots[tile_of[order]]
    new: Labels = place[labels]
    old = new.copy()
    rows, offsets = rows_by_label(tile_of[labels], count)

    def run(first: int, last: int) -> None:
        repair_in_tiles(costs, promises, thoroughness, rows, offsets, slots, first, last, new)

    in_threads(run, np.diff(offsets), _PARTS, threads)
    if keeps is not None:
        numbered, many = _renumbered(new, int(slots[-1]))
        refused = ~keeps(numbered, many)
        spoilt = np.zeros(count, np.bool_)
        spoilt[tile_of[labels][refused[numbered]]] = True
        new = np.where(spoilt[tile_of[labels]], old, new)
    return _renumbered(new, int(slots[-1]))


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
    some = np.bincount(labels, minlength=most) > 0
    return (np.cumsum(some) - 1)[labels], int(some.sum())
