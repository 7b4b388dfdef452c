"""The classes of one tile: what their published cells cost, which promises they keep, and what a change does.

A column is one of three kinds. Of a RANGE (numbers, dates, words in order) the cell of a class reaches from
the lowest to the highest end of its rows' own cells. A SET names the values that occur. In a TREE (nodes of a
hierarchy, beginnings of codes) values under one cell are neighbours, and a cell costs what the dearest pair of
neighbours between its ends costs. The cost of a class is its size times the sum over columns.
"""

# ruff: noqa: FURB136 - max() and min() of floats keep Numba's loops out of wide registers
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._class_promises import Promises, rows_missing
from mahrem.arrays._kernel import inner
from mahrem.types import Cube, Floats, Integers, Labels, Matrix, Sizes

__all__ = [
    "RANGE",
    "SET",
    "TREE",
    "CellCosts",
    "Workbench",
    "add_rest",
    "enter",
    "joined_costs",
    "keeps_after",
    "missing_after",
    "missing_now",
    "open_workbench",
    "place_records",
    "remove",
    "widths_with",
    "work_out",
]

RANGE = 0
SET = 1
TREE = 2


class CellCosts(NamedTuple):
    """What published cells cost, column by column; every cost is at most what the column counts."""

    kind: Integers  # (d,)
    values: Integers  # (d,) of SET and TREE: how many there are
    most: Floats  # (d,) what a cell that says nothing costs
    jump: Floats  # (d,) of RANGE: what a cell costs beside its width where its ends differ
    price: Matrix[
        Floats
    ]  # (d, v + 1) of SET: of so many values; of TREE: of each value beside the one before
    alone: Matrix[Floats]  # (d, v + 1) of TREE: of a value alone
    low: Matrix[Floats]  # (n, d) the low end of a row's own cell, in costs; else the number of its value
    high: Matrix[Floats]  # (n, d) the high end; else the same


class Workbench(NamedTuple):
    """Records and classes of one tile; arrays have room for more than there are."""

    low: Matrix[Floats]  # (d, m) of records; numbers of values count from 0 in every tile
    high: Matrix[Floats]
    table: Cube[Floats]  # (trees, v, v) what two values of the tile cost together
    place: Integers  # (d,) which of the tables, or of the sets, is a column's
    label: Labels  # (m,) class of a record; -1 = none
    after: Integers  # (m,) next member of the same class; -1 = the last
    head: Integers  # (c,) first member; -1 = the class is empty
    size: Sizes  # (c,)
    class_low: Matrix[Floats]  # (d, c)
    class_high: Matrix[Floats]
    named: Matrix[Integers]  # (d, c) values that a set names
    times: Cube[NDArray[np.int32]]  # (sets, c, v) members with a value
    width: Floats  # (c,) cost of a class's cells
    low_without: Matrix[Floats]  # (d, m) of a record's class without it
    high_without: Matrix[Floats]
    lone: Matrix[NDArray[np.uint8]]  # (d, m) nobody else in the class has the value
    width_without: Floats  # (m,)
    of_size: Floats  # (m,) size of a record's class
    of_width: Floats  # (m,)
    of_named: Matrix[Integers]  # (d, m)
    mine: Floats  # (m,) scratch: of records
    into: Floats  # (c,) scratch: of classes
    touched: Integers  # (c,) when a class last changed
    journal: Matrix[Integers]  # (2, j) records moved for a trial, and where they came from
    person: Integers  # (m,)
    code: Matrix[Integers]  # (columns, m) value of a record; counts from 0 in every tile
    value: Matrix[Integers]  # (columns, v) which value a number stands for
    many: Integers  # (columns,) values of the tile
    hist: Cube[Integers]  # (columns, c, v) how often a class shows a value
    told: Matrix[Integers]  # (columns, c) its sum
    people: Integers  # (c,) rows, or people
    numbers: Integers  # scratch: of values
    scratch: Matrix[Floats]


@inner
def open_workbench(costs: CellCosts, promises: Promises, records: int, classes: int) -> Workbench:
    """Make room for tiles of so many records and classes."""
    columns, about = len(costs.kind), promises.codes.shape[0]
    sets, trees, words, leaves, most = 0, 0, 1, 1, 1
    place = np.zeros(columns, np.int64)
    for column in range(columns):
        most = max(most, costs.values[column])
        if costs.kind[column] == SET:
            place[column] = sets
            sets += 1
            words = max(words, min(costs.values[column], records))
        elif costs.kind[column] == TREE:
            place[column] = trees
            trees += 1
            leaves = max(leaves, min(costs.values[column], records))
    shown = 1
    for one in range(about):
        most = max(most, promises.values[one])
        shown = max(shown, min(promises.values[one], records))
    return Workbench(
        np.empty((columns, records)),
        np.empty((columns, records)),
        np.empty((trees, leaves, leaves)),
        place,
        np.empty(records, np.int64),
        np.empty(records, np.int64),
        np.empty(classes, np.int64),
        np.empty(classes, np.int64),
        np.empty((columns, classes)),
        np.empty((columns, classes)),
        np.zeros((columns, classes), np.int64),
        np.zeros((sets, classes, words), np.int32),
        np.empty(classes),
        np.empty((columns, records)),
        np.empty((columns, records)),
        np.zeros((columns, records), np.uint8),
        np.empty(records),
        np.empty(records),
        np.empty(records),
        np.zeros((columns, records), np.int64),
        np.empty(records),
        np.empty(classes),
        np.empty(classes, np.int64),
        np.empty((2, 2 * records + 64), np.int64),
        np.full(records, -1, np.int64),
        np.full((about, records), -1, np.int64),
        np.zeros((about, shown), np.int64),
        np.zeros(about, np.int64),
        np.zeros((about, classes, shown), np.int64),
        np.zeros((about, classes), np.int64),
        np.zeros(classes, np.int64),
        np.full(most + 1, -1, np.int64),
        np.zeros((2, most + 1)),
    )


@inner
def _number_values(bench: Workbench, values: Integers, many: int, found: Integers) -> int:
    """Number the values of a tile in their order, in place; -1 stays. Gives how many there are."""
    numbers = bench.numbers
    least, greatest = 1 << 60, -1
    for i in range(many):
        if values[i] >= 0:
            numbers[values[i]] = 0
            least, greatest = min(least, values[i]), max(greatest, values[i])
    count = 0
    for value in range(least, greatest + 1):
        if numbers[value] == 0:
            numbers[value] = count
            found[count] = value
            count += 1
    for i in range(many):
        if values[i] >= 0:
            values[i] = numbers[values[i]]
    for i in range(count):
        numbers[found[i]] = -1
    return count


@inner
def place_records(
    bench: Workbench, costs: CellCosts, promises: Promises, rows: NDArray[np.int32], classes: int
) -> None:
    """Lay the rows of a tile out, in no class yet."""
    records = len(rows)
    raw, found = np.empty(records, np.int64), np.empty(records, np.int64)
    for column in range(len(costs.kind)):
        low, high = bench.low[column], bench.high[column]
        for i in range(records):
            low[i], high[i] = costs.low[rows[i], column], costs.high[rows[i], column]
        if costs.kind[column] == RANGE:
            continue
        for i in range(records):
            raw[i] = int(low[i])
        many = _number_values(bench, raw, records, found)
        for i in range(records):
            low[i] = high[i] = raw[i]
        if costs.kind[column] == TREE:
            _fill_table(
                bench.table[bench.place[column]], costs.price[column], costs.alone[column], found, many
            )
    for column in range(promises.codes.shape[0]):
        for i in range(records):
            raw[i] = promises.codes[column, rows[i]]
        many = _number_values(bench, raw, records, found)
        bench.many[column] = many
        bench.value[column, :many] = found[:many]
        bench.code[column, :records] = raw
    if len(promises.person):
        for i in range(records):
            bench.person[i] = promises.person[rows[i]]
    bench.label[:records] = -1
    for group in range(classes):
        bench.head[group], bench.size[group], bench.people[group], bench.touched[group] = -1, 0, 0, 0
    bench.times[:, :classes, :] = 0
    bench.hist[:, :classes, :] = 0
    bench.told[:, :classes] = 0
    for group in range(classes):
        work_out(bench, costs, group)


@inner
def _fill_table(table: Floats, price: Floats, alone: Floats, found: Integers, many: int) -> None:
    """Write what each pair of the tile's values costs: as much as the dearest neighbours between them."""
    for first in range(many):
        table[first, first] = alone[found[first]]
        dearest, value = alone[found[first]], found[first]
        for second in range(first + 1, many):
            while value < found[second]:
                value += 1
                dearest = max(dearest, price[value])
            table[first, second] = table[second, first] = dearest


@inner
def _alike(bench: Workbench, group: int, record: int, absent: int) -> tuple[bool, int]:
    """Say whether a class has another row of a record's person, and as bits which columns that one tells."""
    person, other, told = bench.person[record], False, 0
    one = bench.head[group]
    while one >= 0:
        if one != record and one != absent and bench.person[one] == person:
            other = True
            for column in range(bench.code.shape[0]):
                if bench.code[column, one] >= 0:
                    told |= 1 << column
        one = bench.after[one]
    return other, told


@inner
def _count(bench: Workbench, group: int, record: int, absent: int, step: int, by_person: bool) -> None:  # noqa: FBT001
    """Count a record into a class (1) or out of it (-1); ``absent`` is taken for no member."""
    other, told = False, 0
    if by_person:
        if bench.person[record] < 0:
            return
        other, told = _alike(bench, group, record, absent)
    if not other:
        bench.people[group] += step
    for column in range(bench.code.shape[0]):
        value = bench.code[column, record]
        if value >= 0 and not (told >> column) & 1:
            bench.hist[column, group, value] += step
            bench.told[column, group] += step


@inner
def enter(bench: Workbench, promises: Promises, record: int, group: int) -> None:
    """Put a record into a class; what its cells cost is not worked out."""
    _count(bench, group, record, -1, 1, len(promises.person) > 0)
    bench.label[record] = group
    bench.after[record] = bench.head[group]
    bench.head[group] = record
    bench.size[group] += 1


@inner
def remove(bench: Workbench, promises: Promises, record: int) -> None:
    """Take a record out of its class; what its cells cost is not worked out."""
    group = bench.label[record]
    previous, one = -1, bench.head[group]
    while one != record:
        previous, one = one, bench.after[one]
    if previous < 0:
        bench.head[group] = bench.after[record]
    else:
        bench.after[previous] = bench.after[record]
    bench.size[group] -= 1
    bench.label[record] = -1
    _count(bench, group, record, -1, -1, len(promises.person) > 0)


@inner
def missing_now(bench: Workbench, promises: Promises, group: int) -> int:
    """Say how many rows, at least, a class lacks until every promise holds."""
    missing = max(0, promises.least - bench.people[group])
    for one in range(len(promises.kind)):
        column = promises.column[one]
        lacking = rows_missing(
            promises,
            one,
            bench.hist[column, group],
            bench.value[column],
            bench.many[column],
            bench.told[column, group],
            bench.scratch,
        )
        missing = max(missing, lacking)
    return missing


@inner
def missing_after(bench: Workbench, promises: Promises, group: int, gone: int, come: int) -> int:
    """Say the same of a class without one record and with another; -1 = none."""
    by_person = len(promises.person) > 0
    if not by_person and len(promises.kind) == 0:
        return max(0, promises.least - bench.people[group] + (gone >= 0) - (come >= 0))
    if gone >= 0:
        _count(bench, group, gone, -1, -1, by_person)
    if come >= 0:
        _count(bench, group, come, gone, 1, by_person)
    missing = missing_now(bench, promises, group)
    if come >= 0:
        _count(bench, group, come, gone, -1, by_person)
    if gone >= 0:
        _count(bench, group, gone, -1, 1, by_person)
    return missing


@inner
def keeps_after(bench: Workbench, promises: Promises, group: int, gone: int, come: int) -> bool:
    """Say whether a class that keeps every promise would still do so."""
    if gone >= 0 and come >= 0 and len(promises.person) == 0:
        same = True
        for column in range(bench.code.shape[0]):
            same = same and bench.code[column, gone] == bench.code[column, come]
        if same:
            return True
    return missing_after(bench, promises, group, gone, come) == 0


@inner
def _range_cost(width: float, jump: float, most: float) -> float:
    cost = width + (jump if width > 0.0 else 0.0)
    return cost if cost < most else most


@inner
def _work_out_set(bench: Workbench, costs: CellCosts, group: int, column: int) -> float:
    head, price = bench.head[group], costs.price[column]
    values, times = bench.low[column], bench.times[bench.place[column], group]
    times[:] = 0
    named = 0
    one = head
    while one >= 0:
        value = int(values[one])
        named += times[value] == 0
        times[value] += 1
        one = bench.after[one]
    bench.named[column, group] = named
    one = head
    while one >= 0:
        alone = times[int(values[one])] == 1
        bench.lone[column, one], bench.of_named[column, one] = alone, named
        bench.width_without[one] += price[named - alone]
        one = bench.after[one]
    return float(price[named])


@inner
def _work_out_ends(bench: Workbench, costs: CellCosts, group: int, column: int) -> float:
    head, is_range = bench.head[group], costs.kind[column] == RANGE
    lows, highs = bench.low[column], bench.high[column]
    least, second, greatest, last = np.inf, np.inf, -np.inf, -np.inf
    one = head
    while one >= 0:
        low, high = lows[one], highs[one]
        second = min(second, max(least, low))
        least = min(least, low)
        last = max(last, min(greatest, high))
        greatest = max(greatest, high)
        one = bench.after[one]
    table = bench.table[0 if is_range else bench.place[column]] if bench.table.shape[0] else bench.low
    jump, most = costs.jump[column], costs.most[column]
    one = head
    while one >= 0:
        bottom = second if lows[one] == least else least
        top = last if highs[one] == greatest else greatest
        bench.low_without[column, one], bench.high_without[column, one] = bottom, top
        if bench.size[group] > 1:
            bench.width_without[one] += (
                _range_cost(top - bottom, jump, most) if is_range else table[int(bottom), int(top)]
            )
        one = bench.after[one]
    bench.class_low[column, group], bench.class_high[column, group] = least, greatest
    return _range_cost(greatest - least, jump, most) if is_range else float(table[int(least), int(greatest)])


@inner
def work_out(bench: Workbench, costs: CellCosts, group: int) -> None:
    """Work out from its members what the cells of a class cost."""
    if bench.size[group] == 0:
        bench.width[group] = 0.0
        for column in range(len(costs.kind)):
            tree = costs.kind[column] == TREE
            bench.class_low[column, group] = 0.0 if tree else np.inf
            bench.class_high[column, group] = 0.0 if tree else -np.inf
            bench.named[column, group] = 0
            if costs.kind[column] == SET:
                bench.times[bench.place[column], group, :] = 0
        return
    one = bench.head[group]
    while one >= 0:
        bench.width_without[one] = 0.0
        one = bench.after[one]
    width = 0.0
    for column in range(len(costs.kind)):
        if costs.kind[column] == SET:
            width += _work_out_set(bench, costs, group, column)
        else:
            width += _work_out_ends(bench, costs, group, column)
    bench.width[group] = width
    one = bench.head[group]
    while one >= 0:
        bench.of_size[one], bench.of_width[one] = bench.size[group], width
        one = bench.after[one]


@inner
def widths_with(bench: Workbench, costs: CellCosts, group: int, records: int) -> None:
    """Write into ``mine`` what the cells of a class, not empty, cost with each of the records."""
    mine = bench.mine[:records]
    mine[:] = 0.0
    for column in range(len(costs.kind)):
        lows, highs = bench.low[column, :records], bench.high[column, :records]
        if costs.kind[column] == RANGE:
            bottom, top = bench.class_low[column, group], bench.class_high[column, group]
            jump, most = costs.jump[column], costs.most[column]
            for i in range(records):
                low, high = lows[i], highs[i]
                width = (high if high > top else top) - (low if low < bottom else bottom)
                width += jump if width > 0.0 else 0.0
                mine[i] += width if width < most else most
        elif costs.kind[column] == SET:
            times, price = bench.times[bench.place[column], group], costs.price[column]
            named = bench.named[column, group]
            same, more = price[named], price[named + 1]
            for i in range(records):
                mine[i] += same if times[np.uint32(np.int32(lows[i]))] > 0 else more
        else:
            # of three values two cost as much together as all three
            table = bench.table[bench.place[column]]
            first, last = int(bench.class_low[column, group]), int(bench.class_high[column, group])
            row, own = table[first], table[first, last]
            for i in range(records):
                pair = row[np.uint32(np.int32(lows[i]))]
                mine[i] += pair if pair > own else own


@inner
def joined_costs(bench: Workbench, costs: CellCosts, record: int, classes: int) -> None:
    """Write into ``into`` what it costs each class to take a record; infinity for its own and empty ones."""
    into = bench.into[:classes]
    into[:] = 0.0
    for column in range(len(costs.kind)):
        low, high = bench.low[column, record], bench.high[column, record]
        bottoms, tops = bench.class_low[column, :classes], bench.class_high[column, :classes]
        if costs.kind[column] == RANGE:
            jump, most = costs.jump[column], costs.most[column]
            for i in range(classes):
                top, bottom = tops[i], bottoms[i]
                width = (high if high > top else top) - (low if low < bottom else bottom)
                width += jump if width > 0.0 else 0.0
                into[i] += width if width < most else most
        elif costs.kind[column] == SET:
            times, price, value = bench.times[bench.place[column]], costs.price[column], int(low)
            named = bench.named[column]
            for i in range(classes):
                into[i] += price[named[i] + (times[i, value] == 0)]
        else:
            row = bench.table[bench.place[column], int(low)]
            for i in range(classes):
                below, above = row[np.uint32(np.int32(bottoms[i]))], row[np.uint32(np.int32(tops[i]))]
                into[i] += above if above > below else below
    for i in range(classes):
        size = bench.size[i]
        if size == 0 or i == bench.label[record]:
            into[i] = np.inf
        else:
            into[i] = (size + 1) * into[i] - size * bench.width[i]


@inner
def add_rest(bench: Workbench, costs: CellCosts, record: int, records: int) -> None:
    """Write into ``mine`` what changing places with each of the records does to the total."""
    mine, sizes, widths = bench.mine[:records], bench.of_size[:records], bench.of_width[:records]
    group = bench.label[record]
    size = float(bench.size[group])
    base = size * bench.width[group]
    for i in range(records):
        mine[i] = -base - sizes[i] * widths[i]
    for column in range(len(costs.kind)):
        low, high = bench.low[column, record], bench.high[column, record]
        lows, highs = bench.low[column, :records], bench.high[column, :records]
        bottom, top = bench.low_without[column, record], bench.high_without[column, record]
        bottoms, tops = bench.low_without[column, :records], bench.high_without[column, :records]
        if costs.kind[column] == RANGE:
            jump, most = costs.jump[column], costs.most[column]
            for i in range(records):
                above, below = highs[i], lows[i]
                here = (above if above > top else top) - (below if below < bottom else bottom)
                above, below = tops[i], bottoms[i]
                there = (high if high > above else above) - (low if low < below else below)
                here += jump if here > 0.0 else 0.0
                there += jump if there > 0.0 else 0.0
                mine[i] += size * (here if here < most else most) + sizes[i] * (
                    there if there < most else most
                )
        elif costs.kind[column] == SET:
            times, price, value = bench.times[bench.place[column]], costs.price[column], int(low)
            left, lone = bench.named[column, group] - bench.lone[column, record], bench.lone[column]
            own, named, labels = times[group], bench.of_named[column], bench.label
            for i in range(records):
                another = np.uint32(np.int32(lows[i]))
                alike = another == value
                here = left + (own[another] - alike <= 0)
                there = named[i] - lone[i] + (times[labels[i], value] - alike <= 0)
                mine[i] += size * price[here] + sizes[i] * price[there]
        else:
            table = bench.table[bench.place[column]]
            row = table[int(low)]
            if size > 1:
                first, own = table[int(bottom)], table[int(bottom), int(top)]
            else:
                first, own = row, 0.0
            for i in range(records):
                another = np.uint32(np.int32(lows[i]))
                here = (
                    table[another, another]
                    if size == 1
                    else (first[another] if first[another] > own else own)
                )
                if sizes[i] > 1:
                    below, above = row[np.uint32(np.int32(bottoms[i]))], row[np.uint32(np.int32(tops[i]))]
                    there = above if above > below else below
                else:
                    there = row[int(low)]
                mine[i] += size * here + sizes[i] * there
    one = bench.head[group]
    while one >= 0:
        mine[one] = np.inf
        one = bench.after[one]
