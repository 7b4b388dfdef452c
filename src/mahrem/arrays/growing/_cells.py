"""What the published cells of classes cost, and what they would cost with other members."""

# ruff: noqa: FURB136 - max() and min() of floats keep Numba's loops out of wide registers
from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import lean
from mahrem.arrays.growing._costs import RANGE, SET, TREE, CellCosts, Workbench

__all__ = ["exchanges", "joined_costs", "widths_with", "work_out"]


@lean
def _range_cost(width: float, jump: float, most: float) -> float:
    cost = width + (jump if width > 0.0 else 0.0)
    return cost if cost < most else most


@lean
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


@lean
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


@lean
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


@lean
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


@lean
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


@lean
def _exchange_in_range(bench: Workbench, costs: CellCosts, column: int, record: int, records: int) -> None:
    mine, sizes = bench.mine[:records], bench.of_size[:records]
    size = float(bench.size[bench.label[record]])
    low, high = bench.low[column, record], bench.high[column, record]
    lows, highs = bench.low[column, :records], bench.high[column, :records]
    bottom, top = bench.low_without[column, record], bench.high_without[column, record]
    bottoms, tops = bench.low_without[column, :records], bench.high_without[column, :records]
    jump, most = costs.jump[column], costs.most[column]
    for i in range(records):
        above, below = highs[i], lows[i]
        here = (above if above > top else top) - (below if below < bottom else bottom)
        above, below = tops[i], bottoms[i]
        there = (high if high > above else above) - (low if low < below else below)
        here += jump if here > 0.0 else 0.0
        there += jump if there > 0.0 else 0.0
        here, there = (here if here < most else most), (there if there < most else most)
        mine[i] += size * here + sizes[i] * there


@lean
def _exchange_in_set(bench: Workbench, costs: CellCosts, column: int, record: int, records: int) -> None:
    mine, sizes, group = bench.mine[:records], bench.of_size[:records], bench.label[record]
    size, value = float(bench.size[group]), int(bench.low[column, record])
    lows, price = bench.low[column, :records], costs.price[column]
    times = bench.times[bench.place[column]]
    left, lone = bench.named[column, group] - bench.lone[column, record], bench.lone[column, :records]
    own, named, labels = times[group], bench.of_named[column, :records], bench.label[:records]
    for i in range(records):
        another = np.uint32(np.int32(lows[i]))  # unsigned: no check for negative places
        alike = another == value
        here = left + (own[another] - alike <= 0)
        there = named[i] - lone[i] + (times[labels[i], value] - alike <= 0)
        mine[i] += size * price[here] + sizes[i] * price[there]


@lean
def _exchange_in_tree(bench: Workbench, column: int, record: int, records: int) -> None:
    mine, sizes = bench.mine[:records], bench.of_size[:records]
    size, value = float(bench.size[bench.label[record]]), int(bench.low[column, record])
    lows, table = bench.low[column, :records], bench.table[bench.place[column]]
    bottoms, tops = bench.low_without[column, :records], bench.high_without[column, :records]
    row, alone = table[value], size == 1
    own_row = row if alone else table[int(bench.low_without[column, record])]
    own = 0.0 if alone else own_row[int(bench.high_without[column, record])]
    for i in range(records):
        another = np.uint32(np.int32(lows[i]))
        here = table[another, another] if alone else (own_row[another] if own_row[another] > own else own)
        there = row[value]
        if sizes[i] > 1:
            below, above = row[np.uint32(np.int32(bottoms[i]))], row[np.uint32(np.int32(tops[i]))]
            there = above if above > below else below
        mine[i] += size * here + sizes[i] * there


@lean
def exchanges(bench: Workbench, costs: CellCosts, record: int, records: int) -> None:
    """Write into ``mine`` what changing places with a record does to the total, for all of them."""
    mine, sizes, widths = bench.mine[:records], bench.of_size[:records], bench.of_width[:records]
    group = bench.label[record]
    base = bench.size[group] * bench.width[group]
    for i in range(records):
        mine[i] = -base - sizes[i] * widths[i]
    for column in range(len(costs.kind)):
        if costs.kind[column] == RANGE:
            _exchange_in_range(bench, costs, column, record, records)
        elif costs.kind[column] == SET:
            _exchange_in_set(bench, costs, column, record, records)
        else:
            _exchange_in_tree(bench, column, record, records)
    one = bench.head[group]
    while one >= 0:
        bench.mine[one] = np.inf
        one = bench.after[one]
