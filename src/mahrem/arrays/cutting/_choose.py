"""Where to cut when it is not simply the widest column at its median: other rules, and columns with trees."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.cutting._branches import Branches, half_of, largest_child, leaf_of, no_branches, share_over
from mahrem.arrays.cutting._layout import Scratch, Work, key_of, number
from mahrem.arrays.cutting._select import nth, signed
from mahrem.arrays.cutting._split import divide, halve
from mahrem.errors import InvalidInput
from mahrem.threads import spread
from mahrem.types import Floats, Integers, Written

__all__ = ["Manner", "choose", "manner_of", "onto_leaves"]

MEDIAN, MIDDLE, GAP = 0, 1, 2
_SHARE = (
    8  # cuts that are not at the median leave this part of the rows on both sides, so that all is n log n
)
_FORCED = 3  # turn of the last resort: halve whatever is left
_FEW = 50_000  # rows that are not worth a second thread
_U = np.uint64


class Manner(NamedTuple):
    """How segments are cut."""

    strict: bool  # keep equal values on one side; else halve exactly
    rule: int  # MEDIAN, MIDDLE or GAP
    simple: bool  # the median and no trees: the widest column is all there is to choose
    branches: Branches


def manner_of(columns: int, *, strict: bool, rule: int, branches: Branches | None) -> Manner:
    """Say how to cut a table of so many columns."""
    simple = rule == MEDIAN and (branches is None or bool((branches.first < 0).all()))
    return Manner(strict, rule, simple, no_branches(columns) if branches is None else branches)


def onto_leaves(
    work: Work,
    low: Integers,
    high: Integers,
    branches: Branches,
    pool: ThreadPoolExecutor | None,
    threads: int,
) -> None:
    """Turn the keys of columns with a tree into leaves, and their extremes too."""
    treed = np.flatnonzero(branches.first >= 0)
    for column in treed:
        leaves = branches.leaves[column]
        ends = np.array([low[column], high[column]])
        _write_leaves(ends, leaves, 0, 2)
        low[column], high[column] = ends
        if ends[1] >= leaves:
            raise InvalidInput(
                f"points of column={column} must lie in 0..1 or be -1: its hierarchy has leaves={leaves}"
            )
    rows = len(work.order)
    borders = np.linspace(0, rows, (4 * threads if rows > _FEW else 1) + 1).astype(np.int64)

    def run(first: int, last: int) -> None:
        for column in treed:
            _write_leaves(work.keys[column], branches.leaves[column], first, last)

    if len(treed):
        spread(run, borders, pool, threads)


@kernel
def _write_leaves(keys: Written[Integers], leaves: int, first: int, last: int) -> None:
    for i in range(first, last):
        keys[i] = leaf_of(keys[i], leaves)


@inner
def _weigh(
    keys: Integers,
    start: int,
    size: int,
    manner: Manner,
    low: Integers,
    high: Integers,
    worth: Floats,
    slot: int,
    scratch: Scratch,
) -> None:
    """Note what a cut of each column is worth: its width; with a tree, more the more one child holds."""
    for column in range(keys.shape[0]):
        least, greatest = low[slot, column], high[slot, column]
        if manner.branches.first[column] < 0:
            worth[slot, column] = number(greatest) - number(least)
        elif least == greatest:
            worth[slot, column] = 0.0
        else:
            most, _, _ = largest_child(
                manner.branches, keys[column], column, start, size, least, greatest, scratch.keys[0]
            )
            width = share_over(manner.branches, column, least, greatest)
            worth[slot, column] = width * size / (2 * (size - most))


@inner
def _next_best(worth: Floats, slot: int, previous: int) -> int:
    """Give the column after ``previous`` from worthy to worthless, the first on ties; -1 = none is left."""
    bound = np.inf if previous < 0 else worth[slot, previous]
    best, most = -1, 0.0
    for column in range(worth.shape[1]):
        here = worth[slot, column]
        if here > most and (here < bound or (here == bound and column > previous)):
            best, most = column, here
    return best


@inner
def _following(manner: Manner, worth: Floats, slot: int, column: int, turn: int) -> tuple[int, int]:
    """Give the next column and turn to try; column -1 = all have been tried."""
    if turn == _FORCED:
        return -1, turn
    last = 2 if manner.strict else 0
    if column >= 0 and manner.branches.first[column] >= 0:
        last = 1
    if column >= 0 and turn < last:
        return column, turn + 1
    column = _next_best(worth, slot, column)
    if column < 0:
        return (-1, 0) if manner.strict else (max(0, _next_best(worth, slot, -1)), _FORCED)
    skips = manner.strict and manner.rule == MEDIAN and manner.branches.first[column] < 0
    return column, 1 if skips else 0


@inner
def _aim_at_middle(
    keys: Integers, start: int, size: int, fewest: int, low: int, high: int, scratch: Integers
) -> tuple[int, bool]:
    """Find the cut nearest to the middle of the range that leaves ``fewest`` rows on both sides."""
    middle = key_of(number(low) / 2 + number(high) / 2)
    left = 0
    for i in range(_U(start), _U(start + size)):
        left += keys[i] <= middle
    if left < fewest:
        return nth(keys, start, size, fewest - 1, scratch), False
    if size - left < fewest:
        return nth(keys, start, size, size - fewest, scratch), True
    return middle, False


@inner
def _aim_at_gap(keys: Integers, start: int, size: int, fewest: int, scratch: Integers) -> tuple[int, bool]:
    """Find the widest gap that leaves ``fewest`` rows on both sides; without one, nothing goes left.

    With as many bins as rows, the widest gap is wider than a bin, so that it lies between two of them.
    """
    first = nth(keys, start, size, fewest - 1, scratch)
    last = nth(keys, start, size, size - fewest, scratch)
    if first == last:
        return first, True
    base, span = number(first), number(last) - number(first)
    least, greatest = scratch[0], scratch[1]
    least[:size] = last
    greatest[:size] = first
    for i in range(_U(start), _U(start + size)):
        key = min(max(keys[i], first), last)
        bin_ = _U(min(size - 1, signed((number(key) - base) / span * size)))
        least[bin_] = min(least[bin_], key)
        greatest[bin_] = max(greatest[bin_], key)
    value, before, widest = first, first, 0.0
    for i in range(size):
        if greatest[i] < least[i]:  # an empty bin
            continue
        gap = number(least[i]) - number(before)
        if gap > widest:
            value, widest = before, gap
        before = greatest[i]
    return value, False


@inner
def _divide_within(
    keys: Integers, start: int, size: int, low: int, high: int, index: NDArray[np.uint32], base: int
) -> int:
    """List rows in ``[low, high]`` from the front and the others from the back; gives how many go left."""
    begin, left, right = _U(start), _U(base), _U(base + size - 1)
    for i in range(_U(size)):
        key = keys[begin + i]
        goes = _U((key >= low) & (key <= high))
        index[left] = i
        index[right] = i
        left += goes
        right -= _U(1) - goes
    return signed(left) - base


@inner
def _cut_tree(
    keys: Integers,
    column: int,
    start: int,
    size: int,
    minimum: int,
    branches: Branches,
    turn: int,
    low: int,
    high: int,
    scratch: Scratch,
    base: int,
) -> int:
    """Set the largest child apart, or cut between children near the median; gives how many rows go left."""
    if turn == 0:
        most, begin, end = largest_child(branches, keys, column, start, size, low, high, scratch.keys[0])
        if most < minimum or size - most < minimum or most * _SHARE < size:
            return 0
        return _divide_within(keys, start, size, begin, end, scratch.listed, base)
    end = half_of(branches, keys, column, start, size, minimum, low, high, scratch.keys)
    return _divide_within(keys, start, size, low, end, scratch.listed, base) if end < high else 0


@inner
def _aim(
    keys: Integers,
    start: int,
    size: int,
    minimum: int,
    rule: int,
    turn: int,
    low: int,
    high: int,
    scratch: Scratch,
) -> tuple[int, bool]:
    """Find the value to cut a column without a tree at, and whether it goes right itself."""
    if turn > 0:
        return nth(keys, start, size, (size - 1) // 2, scratch.keys), turn == 2
    fewest = max(minimum, (size + _SHARE - 1) // _SHARE)
    if rule == MIDDLE:
        return _aim_at_middle(keys, start, size, fewest, low, high, scratch.keys)
    return _aim_at_gap(keys, start, size, fewest, scratch.keys)


@inner
def choose(
    keys: Integers,
    start: int,
    size: int,
    minimum: int,
    manner: Manner,
    tried: tuple[int, int],
    low: Integers,
    high: Integers,
    worth: Floats,
    slot: int,
    scratch: Scratch,
    base: int,
) -> tuple[int, int, int, bool, int]:
    """Find the next cut after the one ``tried`` that leaves ``minimum`` rows on both sides.

    Args:
        keys: Columns of keys; of leaves where there is a tree.
        start: Where the segment starts.
        size: How many rows it has.
        minimum: Rows that each side must have.
        manner: How to cut.
        tried: Column and turn of the cut before; column -1 for none.
        low: Least key of every column, in row ``slot``.
        high: Greatest key of every column, in row ``slot``.
        worth: What a cut of every column is worth, in row ``slot``; written at the first try.
        slot: The segment's place in ``low``, ``high`` and ``worth``.
        scratch: Its ``listed`` names the rows that go left and right.
        base: Where in ``listed``.

    Returns:
        Rows that go left (0 = there is no further cut), column, value, whether left is ``< value``, and turn.
    """
    column, turn = tried
    if column < 0:
        _weigh(keys, start, size, manner, low, high, worth, slot, scratch)
    while True:
        column, turn = _following(manner, worth, slot, column, turn)
        if column < 0:
            return 0, column, 0, False, turn
        value, below, tree = 0, False, manner.branches.first[column] >= 0
        ends = low[slot, column], high[slot, column]
        if turn == _FORCED or not (tree or manner.strict):
            left = halve(keys, start, size, column, low, high, slot, scratch, base)
        elif tree:
            left = _cut_tree(
                keys[column], column, start, size, minimum, manner.branches, turn, *ends, scratch, base
            )
        else:
            value, below = _aim(keys[column], start, size, minimum, manner.rule, turn, *ends, scratch)
            limit = value - 1 if below else value
            left = divide(keys, column, start, size, limit, scratch.listed, base)
        if left >= minimum and size - left >= minimum:
            return left, column, value, below, turn
