"""The classes of one tile: what published cells cost, and room for the records and classes of a tile.

A column is one of three kinds. Of a RANGE (numbers, dates, words in order) the cell of a class reaches from
the lowest to the highest end of its rows' own cells. A SET names the values that occur. In a TREE (nodes of a
hierarchy, beginnings of codes) values under one cell are neighbours, and a cell costs what the dearest pair
of neighbours between its ends costs. The cost of a class is its size times the sum over columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, lean
from mahrem.arrays.growing._promises import Promises
from mahrem.types import Cube, Floats, Integers, Labels, Matrix, Sizes

__all__ = ["RANGE", "SET", "TREE", "CellCosts", "Workbench", "open_workbench", "place_records"]

RANGE = 0
SET = 1
TREE = 2
_KINDS = 15  # combinations of values up to which answers about them are remembered


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
    holders: Matrix[Integers]  # (columns, c) its sum: members with a value
    people: Integers  # (c,) rows, or people
    numbers: Integers  # scratch: of values
    joint: Integers  # (m,) which combination of values a record has, where they are few
    kinds: Integers  # (1,) how many there are in the tile; 0 = too many, or people are counted
    known: Cube[NDArray[np.int8]]  # (c, gone, come) whether a class keeps its promises after that; 0 = nobody
    whoever: Cube[NDArray[np.int8]]  # (c, 2, 2) the same whoever leaves, whoever comes, where somebody does
    answers: Integers  # scratch: of combinations
    example: Integers  # a record with each combination
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
        np.zeros(records, np.int64),
        np.zeros(1, np.int64),
        np.empty((classes, _KINDS + 1, _KINDS + 1), np.int8),
        np.empty((classes, 2, 2), np.int8),
        np.empty(_KINDS, np.int64),
        np.empty(_KINDS, np.int64),
        np.zeros((2, most + 1)),
    )


@lean
def _number_values(bench: Workbench, values: Integers, distinct: Integers) -> int:
    """Number the values of a tile in their order, in place; -1 stays. Gives how many there are."""
    numbers = bench.numbers
    least, greatest = 1 << 60, -1
    for i in range(len(values)):
        if values[i] >= 0:
            numbers[values[i]] = 0
            least, greatest = min(least, values[i]), max(greatest, values[i])
    count = 0
    for value in range(least, greatest + 1):
        if numbers[value] == 0:
            numbers[value] = count
            distinct[count] = value
            count += 1
    for i in range(len(values)):
        if values[i] >= 0:
            values[i] = numbers[values[i]]
    for i in range(count):
        numbers[distinct[i]] = -1
    return count


@inner
def place_records(
    bench: Workbench, costs: CellCosts, promises: Promises, rows: NDArray[np.int32], classes: int
) -> None:
    """Lay the rows of a tile out, in no class yet."""
    records = len(rows)
    raw, distinct = np.empty(records, np.int64), np.empty(records, np.int64)
    for column in range(len(costs.kind)):
        low, high = bench.low[column], bench.high[column]
        for i in range(records):
            low[i], high[i] = costs.low[rows[i], column], costs.high[rows[i], column]
        if costs.kind[column] != RANGE:
            _place_values(bench, costs, column, raw, distinct)
    for column in range(promises.codes.shape[0]):
        for i in range(records):
            raw[i] = promises.codes[column, rows[i]]
        many = _number_values(bench, raw, distinct)
        bench.many[column] = many
        bench.value[column, :many] = distinct[:many]
        bench.code[column, :records] = raw
    for i in range(min(records, len(promises.person))):
        bench.person[i] = promises.person[rows[i]]
    _combine(bench, records, len(promises.person) > 0)
    bench.label[:records] = -1
    bench.head[:classes], bench.size[:classes] = -1, 0
    bench.people[:classes], bench.touched[:classes] = 0, 0
    bench.hist[:, :classes, :] = 0
    bench.holders[:, :classes] = 0


@lean
def _place_values(bench: Workbench, costs: CellCosts, column: int, raw: Integers, distinct: Integers) -> None:
    """Number the values of a set or a tree anew, and write the table of a tree."""
    low, high = bench.low[column], bench.high[column]
    for i in range(len(raw)):
        raw[i] = int(low[i])
    many = _number_values(bench, raw, distinct)
    for i in range(len(raw)):
        low[i] = high[i] = raw[i]
    if costs.kind[column] == TREE:
        table = bench.table[bench.place[column]]
        _fill_table(table, costs.price[column], costs.alone[column], distinct, many)


@lean
def _fill_table(table: Floats, price: Floats, alone: Floats, distinct: Integers, many: int) -> None:
    """Write what each pair of the tile's values costs: as much as the dearest neighbours between them."""
    for first in range(many):
        table[first, first] = alone[distinct[first]]
        dearest, value = alone[distinct[first]], distinct[first]
        for second in range(first + 1, many):
            while value < distinct[second]:
                value += 1
                dearest = max(dearest, price[value])
            table[first, second] = table[second, first] = dearest


@lean
def _combine(bench: Workbench, records: int, by_person: bool) -> None:  # noqa: FBT001 - by position
    """Number the combinations of values that records have, if they are few."""
    firsts, kinds = bench.example, 0
    bench.kinds[0] = 0
    if by_person:
        return
    for record in range(records):
        combination = -1
        for kind in range(kinds):
            same = True
            for column in range(bench.code.shape[0]):
                same = same and bench.code[column, record] == bench.code[column, firsts[kind]]
            if same:
                combination = kind
                break
        if combination < 0:
            if kinds == _KINDS:
                return
            firsts[kinds] = record
            combination = kinds
            kinds += 1
        bench.joint[record] = combination
    bench.kinds[0] = kinds
