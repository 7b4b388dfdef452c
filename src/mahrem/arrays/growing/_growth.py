"""Growing classes in a tile until they keep their promises."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import lean
from mahrem.arrays.growing._cells import widths_with, work_out
from mahrem.arrays.growing._choices import LARGEST, best_class, forget, missing_with
from mahrem.arrays.growing._costs import CellCosts, Workbench
from mahrem.arrays.growing._members import enter, missing_now, remove
from mahrem.arrays.growing._promises import NEVER, Promises

__all__ = ["grow_in_tile"]


@lean
def _next_member(
    bench: Workbench, costs: CellCosts, promises: Promises, group: int, records: int, goal: int
) -> int:
    """Find the waiting record that widens a class least and takes it no farther from its promises."""
    widths_with(bench, costs, group, records)
    size = bench.size[group]
    forget(bench)
    best, chosen = np.inf, -1
    for record in range(records):
        if bench.label[record] != -1 or bench.mine[record] >= best:
            continue
        if size + 1 + missing_with(bench, promises, group, record) <= goal:
            best, chosen = bench.mine[record], record
    return chosen


@lean
def _give_up(bench: Workbench, costs: CellCosts, promises: Promises, group: int) -> None:
    while bench.head[group] >= 0:
        remove(bench, promises, bench.head[group])
    work_out(bench, costs, group)


@lean
def _grow_one(
    bench: Workbench, costs: CellCosts, promises: Promises, group: int, seed: int, records: int
) -> bool:
    """Grow a class from a record until it keeps its promises; say whether that went well."""
    enter(bench, promises, seed, group)
    work_out(bench, costs, group)
    while True:
        missing, size = missing_now(bench, promises, group), bench.size[group]
        if size >= promises.least and missing == 0:
            return True
        if missing >= NEVER or size >= LARGEST * promises.least + 40:
            return False
        chosen = _next_member(bench, costs, promises, group, records, max(promises.least, size + missing))
        if chosen < 0:
            return False
        enter(bench, promises, chosen, group)
        work_out(bench, costs, group)


@lean
def grow_in_tile(
    bench: Workbench, costs: CellCosts, promises: Promises, records: int, held: int, classes: int
) -> int:
    """Grow classes of the records that have none; gives how many fit nowhere and stay without one.

    A class begins with the record farthest from the one before and takes what widens it least, as long as
    that brings it no farther from its promises. There are ``held`` classes already, and room for ``classes``;
    what no class grows of joins the one that costs least and still keeps its promises.
    """
    group, last = held, -1
    while group < classes:
        seed, farthest = -1, -1.0
        if last >= 0:
            widths_with(bench, costs, last, records)
        else:
            bench.mine[:records] = 0.0
        for record in range(records):
            if bench.label[record] == -1 and bench.mine[record] > farthest:
                seed, farthest = record, bench.mine[record]
        if seed < 0:
            break
        if _grow_one(bench, costs, promises, group, seed, records):
            last = group
            group += 1
        else:
            _give_up(bench, costs, promises, group)
            bench.label[seed] = -2  # nothing grows from here
    for record in range(records):
        bench.label[record] = max(bench.label[record], -1)
    return _place_rest(bench, costs, promises, records, group)


@lean
def _place_rest(bench: Workbench, costs: CellCosts, promises: Promises, records: int, classes: int) -> int:
    """Let records without a class join the one that costs least and still keeps its promises."""
    left, before = records, records + 1
    while 0 < left < before:
        before, left = left, 0
        for record in range(records):
            if bench.label[record] < 0:
                group, _ = best_class(bench, costs, promises, record, classes, np.inf, -1, False)
                if group >= 0:
                    enter(bench, promises, record, group)
                    work_out(bench, costs, group)
                else:
                    left += 1
    return left
