"""Steps that lower what the cells of a tile cost while every class keeps its promises.

A record moves; two change places; a class is formed of records that others can spare; a class is dissolved,
and another one formed in its place. Each is taken only if the total falls. The cheapest candidate is
taken that keeps the promises; blind, the cheapest of all or none, so that cells alone decide where a record
should go and the promises only say whether that may be, whoever goes.
"""

# ruff: noqa: FBT001 - kernels take arguments by position

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import lean
from mahrem.arrays.growing._cells import exchanges, widths_with, work_out
from mahrem.arrays.growing._choices import LARGEST, best_class, forget, may_change, missing_with
from mahrem.arrays.growing._costs import CellCosts, Workbench
from mahrem.arrays.growing._members import enter, keeps_after, missing_now, remove
from mahrem.arrays.growing._promises import Promises

__all__ = ["repair_tile"]

_LEAST = 1e-10  # a fall that rounding could pretend is none
_WIDE = 1.5  # times what is usual for a record: with less to save, dissolving a class is not tried


@lean
def _shift(bench: Workbench, costs: CellCosts, promises: Promises, record: int, group: int) -> None:
    """Bring a record into another class."""
    source = bench.label[record]
    remove(bench, promises, record)
    enter(bench, promises, record, group)
    work_out(bench, costs, source)
    work_out(bench, costs, group)


@lean
def _move(
    bench: Workbench, costs: CellCosts, promises: Promises, records: int, classes: int, blind: bool, now: int
) -> int:
    changed = 0
    for record in range(records):
        source = bench.label[record]
        size = bench.size[source]
        if size <= promises.least or bench.touched[source] < now - 1:
            continue
        saved = size * bench.width[source] - (size - 1) * bench.width_without[record]
        if saved <= _LEAST or not may_change(bench, promises, source, record, -1, blind):
            continue
        group, _ = best_class(bench, costs, promises, record, classes, saved - _LEAST, -1, blind)
        if group >= 0:
            _shift(bench, costs, promises, record, group)
            bench.touched[source] = bench.touched[group] = now
            changed += 1
    return changed


@lean
def _may_swap(bench: Workbench, promises: Promises, record: int, other: int, blind: bool) -> bool:
    return may_change(bench, promises, bench.label[record], record, other, blind) and may_change(
        bench, promises, bench.label[other], other, record, blind
    )


@lean
def _partner(bench: Workbench, promises: Promises, record: int, records: int, blind: bool) -> int:
    """Find with whom a record should change places, from what that does to the total; -1 = nobody."""
    mine = bench.mine[:records]
    best, chosen = -_LEAST, -1
    for other in range(records):
        if mine[other] < best and (blind or _may_swap(bench, promises, record, other, blind)):
            best, chosen = mine[other], other
    if blind and chosen >= 0 and not _may_swap(bench, promises, record, chosen, blind):
        return -1
    return chosen


@lean
def _swap(bench: Workbench, costs: CellCosts, promises: Promises, records: int, blind: bool, now: int) -> int:
    changed = 0
    for record in range(records):
        group = bench.label[record]
        if bench.touched[group] < now - 1 or bench.width_without[record] >= bench.width[group] - _LEAST:
            continue  # a pair that gains has a side that shrinks: it is looked at from there
        exchanges(bench, costs, record, records)
        other = _partner(bench, promises, record, records, blind)
        if other < 0:
            continue
        target = bench.label[other]
        remove(bench, promises, record)
        remove(bench, promises, other)
        enter(bench, promises, record, target)
        enter(bench, promises, other, group)
        work_out(bench, costs, group)
        work_out(bench, costs, target)
        bench.touched[group] = bench.touched[target] = now
        changed += 1
    return changed


@lean
def _undo(bench: Workbench, costs: CellCosts, promises: Promises, first: int, last: int) -> None:
    """Send the records in a stretch of the journal back, the latest first."""
    for step in range(last - 1, first - 1, -1):
        _shift(bench, costs, promises, bench.journal[0, step], bench.journal[1, step])


@lean
def _settle(bench: Workbench, first: int, last: int, now: int) -> None:
    """Note that the classes in a stretch of the journal have changed."""
    for step in range(first, last):
        bench.touched[bench.journal[1, step]] = now
        bench.touched[bench.label[bench.journal[0, step]]] = now


@lean
def _spare(
    bench: Workbench, costs: CellCosts, promises: Promises, group: int, records: int, blind: bool
) -> int:
    """Find the record that a new class should take next, cheap there and dear here; -1 = none to spare.

    Never one that takes the class farther from keeping its promises than it is, unless blind.
    """
    size, best, chosen = bench.size[group], np.inf, -1
    goal = max(promises.least, size + (missing_now(bench, promises, group) if size > 0 else 0))
    if size > 0:
        widths_with(bench, costs, group, records)
    else:
        bench.mine[:records] = 0.0
    forget(bench)
    width, mine = bench.width[group], bench.mine[:records]
    for record in range(records):
        change = goal * (mine[record] - width) - bench.of_size[record] * bench.of_width[record]
        change += (bench.of_size[record] - 1) * bench.width_without[record]
        if change >= best or bench.of_size[record] <= promises.least or bench.label[record] == group:
            continue
        if not blind and (
            size + 1 + missing_with(bench, promises, group, record) > goal
            or not keeps_after(bench, promises, bench.label[record], record, -1)
        ):
            continue
        best, chosen = change, record
    if blind and chosen >= 0 and not may_change(bench, promises, bench.label[chosen], chosen, -1, blind):
        return -1
    return chosen


@lean
def _form(
    bench: Workbench,
    costs: CellCosts,
    promises: Promises,
    group: int,
    seed: int,
    records: int,
    blind: bool,
    steps: int,
) -> tuple[float, int]:
    """Fill an empty class with what others can spare; gives the change of the total and the journal's end."""
    change, chosen = 0.0, seed
    while True:
        size = bench.size[group]
        if size >= promises.least and missing_now(bench, promises, group) == 0:
            return change, steps
        if size >= LARGEST * promises.least + 40 or (blind and size >= promises.least):
            return np.inf, steps
        if chosen < 0:
            chosen = _spare(bench, costs, promises, group, records, blind)
        if chosen < 0:
            return np.inf, steps
        source = bench.label[chosen]
        bench.journal[0, steps], bench.journal[1, steps] = chosen, source
        steps += 1
        change -= bench.size[source] * bench.width[source] + bench.size[group] * bench.width[group]
        _shift(bench, costs, promises, chosen, group)
        change += bench.size[source] * bench.width[source] + bench.size[group] * bench.width[group]
        chosen = -1
        if change > 0.0:  # members cost more and save less from here on
            return np.inf, steps


@lean
def _empty(bench: Workbench, classes: int) -> int:
    for group in range(classes):
        if bench.size[group] == 0:
            return group
    return -1


@lean
def _spawn(
    bench: Workbench, costs: CellCosts, promises: Promises, records: int, classes: int, blind: bool, now: int
) -> int:
    """Form new classes around the records that cost their class most, where it can spare them."""
    changed = 0
    for source in range(classes):
        size = bench.size[source]
        if size <= promises.least or bench.touched[source] < now - 1:
            continue
        group = _empty(bench, classes)
        if group < 0:
            return changed
        best, seed = _LEAST, -1
        one = bench.head[source]
        while one >= 0:
            saved = size * bench.width[source] - (size - 1) * bench.width_without[one]
            if saved > best and may_change(bench, promises, source, one, -1, blind):
                best, seed = saved, one
            one = bench.after[one]
        if seed < 0:
            continue
        change, steps = _form(bench, costs, promises, group, seed, records, blind, 0)
        if change < -_LEAST:
            _settle(bench, 0, steps, now)
            changed += 1
        else:
            _undo(bench, costs, promises, 0, steps)
    return changed


@lean
def _hand_out(
    bench: Workbench,
    costs: CellCosts,
    promises: Promises,
    group: int,
    classes: int,
    limit: float,
    blind: bool,
) -> tuple[float, int]:
    """Bring every member of a class into the other one that grows least; gives by how much they grow.

    Gives infinity where that would be more than ``limit``; so many steps are in the journal in any case.
    """
    added, steps = 0.0, 0
    while bench.head[group] >= 0:
        record = bench.head[group]
        target, cost = best_class(bench, costs, promises, record, classes, limit - added, group, blind)
        if target < 0:
            return np.inf, steps
        added += cost
        bench.journal[0, steps], bench.journal[1, steps] = record, group
        steps += 1
        remove(bench, promises, record)
        enter(bench, promises, record, target)
        work_out(bench, costs, target)
    work_out(bench, costs, group)
    return added, steps


@lean
def _take_back(bench: Workbench, costs: CellCosts, promises: Promises, group: int, steps: int) -> None:
    """Bring back the members that were handed out, the latest first."""
    for step in range(steps - 1, -1, -1):
        record = bench.journal[0, step]
        source = bench.label[record]
        remove(bench, promises, record)
        enter(bench, promises, record, group)
        work_out(bench, costs, source)
    work_out(bench, costs, group)


@lean
def _reform(
    bench: Workbench,
    costs: CellCosts,
    promises: Promises,
    records: int,
    classes: int,
    reach: float,
    blind: bool,
    now: int,
) -> int:
    """Dissolve classes, and form others from what can be spared then, where the total falls."""
    changed, total = 0, 0.0
    for group in range(classes):
        total += bench.size[group] * bench.width[group]
    usual = total / records
    for group in range(classes):
        size = bench.size[group]
        saved = size * bench.width[group]
        # members will cost others what is usual there: a class that costs less is not worth a try
        if size == 0 or bench.touched[group] < now - 1 or reach * saved <= _WIDE * usual * size:
            continue
        if size > 2 * (LARGEST * promises.least + 40):
            continue
        added, handed = _hand_out(bench, costs, promises, group, classes, reach * saved, blind)
        if added == np.inf:
            _take_back(bench, costs, promises, group, handed)
            continue
        change, steps = _form(bench, costs, promises, group, -1, records, blind, handed)
        if change < -_LEAST and added - saved + change < -_LEAST:
            _settle(bench, 0, steps, now)
            changed += 1
            continue
        _undo(bench, costs, promises, handed, steps)
        if added < saved - _LEAST:
            _settle(bench, 0, handed, now)
            changed += 1
        else:
            _take_back(bench, costs, promises, group, handed)
    return changed


@lean
def repair_tile(
    bench: Workbench,
    costs: CellCosts,
    promises: Promises,
    records: int,
    classes: int,
    passes: int,
    reach: float,
    blind: bool,
) -> None:
    """Change the classes of a tile as long as its cells cost less for it; some may end up empty.

    Args:
        bench: Records and classes, all of which keep their promises.
        costs: What cells cost.
        promises: What classes keep.
        records: How many records.
        classes: How many classes, empty ones included.
        passes: How often to go over all records at most.
        reach: Try to dissolve a class when that adds at most so many times its cost to others; 0 = only
            moves and swaps.
        blind: Ask only whether the cheapest of all candidates keeps the promises.
    """
    for turn in range(passes):
        now = turn + 1
        changed = _move(bench, costs, promises, records, classes, blind, now)
        changed += _swap(bench, costs, promises, records, blind, now)
        if reach > 0.0:
            changed += _spawn(bench, costs, promises, records, classes, blind, now)
            changed += _reform(bench, costs, promises, records, classes, reach, blind, now)
        if changed == 0:
            break
