"""What a class still needs until every promise about it holds: a lower bound of rows, from counts alone.

A promise is a line of numbers (:class:`Promises`): what kind of bound it is, on which column, how much of it.
The counts of a class are kept up to date as records come and go, so that a question costs a look at the
values of a tile and none at its members. Zero rows are missing exactly when the promise holds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import lean
from mahrem.types import Floats, Integers, Matrix

__all__ = [
    "BOUNDS",
    "DISTINCT",
    "DIVERGENCE",
    "ENTROPY",
    "NEVER",
    "NODES",
    "ORDERED",
    "SURPLUS",
    "TAIL",
    "Promises",
    "rows_missing",
]

DISTINCT = 0  # so many values
TAIL = 1  # the commonest value against all but the first few
ENTROPY = 2  # how mixed the values are
BOUNDS = 3  # each value's share lies between two ends
SURPLUS = 4  # what values have too much beside the table, together
NODES = 5  # the same, on average over the levels of a tree
ORDERED = 6  # how far shares must be moved along the order of the values
DIVERGENCE = 7  # Kullback and Leibler's, from the table

NEVER = 1 << 40  # rows that cannot be had
_TOLERANCE = 1e-9  # that of the models: a bound met exactly must not fail for a rounded sum
_HALVINGS = 20


class Promises(NamedTuple):
    """What is promised of every class, and the values and people of all rows."""

    least: int  # rows, or people, that a class has
    kind: Integers  # (p,)
    column: Integers  # (p,) which line of codes
    amount: Floats  # (p,) l, c, t: what the kind is about
    rank: Integers  # (p,) l of TAIL; where the levels of NODES begin
    levels: Integers  # (p,) of NODES
    low: Matrix[Floats]  # (p, v) least share of a value; of ORDERED the table's cumulative shares
    high: Matrix[Floats]  # (p, v + 1) largest share; of ORDERED the running sums of low
    share: Matrix[Floats]  # (p, v) share of a value in the table
    nodes: Matrix[Integers]  # (levels of all, v) node over a value
    node_share: Matrix[Floats]  # (levels of all, v) share of that node in the table
    codes: Matrix[Integers]  # (columns, n) value of a row; -1 = none
    values: Integers  # (columns,) how many there are
    person: Integers  # (n,) whom a row is about, -1 = nobody; empty where rows are counted


@lean
def _tail_missing(counts: Floats, many: int, c: float, rank: int) -> int:
    """Rows until the commonest value is below ``c`` times all but the ``rank - 1`` commonest."""
    first, total, distinct = 0.0, 0.0, 0
    for i in range(many):
        total += counts[i]
        distinct += counts[i] > 0
        first = max(first, counts[i])
    for _ in range(min(rank - 1, many)):
        at = 0
        for i in range(many):
            if counts[i] > counts[at]:
                at = i
        total -= counts[at]
        counts[at] = 0.0
    if total > 0 and first / total < c:
        return 0
    return int(max(rank - distinct, math.floor(first / c - total) + 1, 1))


@lean
def _mixed(counts: Floats, share: Floats, many: int, level: float) -> tuple[float, float]:
    """Raise each count to ``level`` times its share; gives the rows that takes and the divergence then."""
    rows, total, weighted = 0.0, 0.0, 0.0
    for i in range(many):
        count = max(counts[i], level * share[i])
        rows += count - counts[i]
        total += count
        if count > 0:
            weighted += count * math.log(count / share[i])
    return rows, weighted / total - math.log(total)


@lean
def _divergence_missing(counts: Floats, share: Floats, many: int, bound: float) -> int:
    """Rows until the divergence of counts from shares is at most ``bound``.

    Nothing lowers it faster than raising the values that are farthest below their share, all to one level.
    """
    under, over = np.inf, 0.0
    for i in range(many):
        under, over = min(under, counts[i] / share[i]), max(over, counts[i] / share[i])
    if _mixed(counts, share, many, over)[1] > bound:
        return NEVER
    rows = 0.0
    for _ in range(_HALVINGS):
        middle = (under + over) / 2
        taken, divergence = _mixed(counts, share, many, middle)
        if divergence > bound:
            under, rows = middle, taken
        else:
            over = middle
    return max(1, math.ceil(rows - _TOLERANCE))


@lean
def _bounds_missing(
    hist: Integers, value: Integers, many: int, total: int, known: int, low: Floats, high: Floats
) -> int:
    """Rows until each value's share lies between its ends; ``known`` values have a least share."""
    missing, lacking, owed = 0.0, 0.0, 0.0
    shown = 0
    for i in range(many):
        count, name = hist[i], value[i]
        if count > 0 and count / total > high[name]:
            if high[name] <= 0:
                return NEVER
            missing = max(missing, count / high[name] - total, 1.0)
        if low[name] > 0:
            shown += 1
            if count / total < low[name] or count == 0:
                lacking += max(low[name] * total - count, _TOLERANCE)
                owed += low[name]
    if shown < known:
        return NEVER  # a value that must be shown is not to be had here
    if lacking > 0:
        missing = max(missing, lacking / max(1.0 - owed, 1e-12), 1.0)
    return math.ceil(missing - _TOLERANCE)


@lean
def _nodes_missing(
    hist: Integers, value: Integers, many: int, total: int, promises: Promises, one: int, counts: Floats
) -> int:
    """Rows until what the nodes of all levels have too much is little enough."""
    over, eased = 0.0, 0.0
    for level in range(promises.levels[one]):
        row = promises.rank[one] + level
        for i in range(many):
            counts[promises.nodes[row, value[i]]] = 0.0
        for i in range(many):
            counts[promises.nodes[row, value[i]]] += hist[i]
        for i in range(many):
            node = promises.nodes[row, value[i]]
            share = promises.node_share[row, value[i]]
            if counts[node] > total * share:
                over += counts[node] - total * share
                eased += share
            counts[node] = 0.0  # once for each node
    bound = promises.amount[one] * promises.levels[one]
    if over / total <= bound + _TOLERANCE * promises.levels[one]:
        return 0
    return int(max(1.0, math.ceil((over - bound * total) / max(eased + bound, 1e-12) - _TOLERANCE)))


@lean
def _surplus_missing(
    hist: Integers, value: Integers, many: int, total: int, share: Floats, bound: float
) -> int:
    over, eased = 0.0, 0.0
    for i in range(many):
        more = hist[i] - total * share[value[i]]
        if more > 0:
            over += more
            eased += share[value[i]]
    if over <= (bound + _TOLERANCE) * total:
        return 0
    return int(max(1.0, math.ceil((over - bound * total) / max(eased + bound, 1e-12) - _TOLERANCE)))


@lean
def _ordered_missing(
    hist: Integers,
    value: Integers,
    many: int,
    total: int,
    values: int,
    cumulative: Floats,
    running: Floats,
    bound: float,
) -> int:
    """Rows until the shares of a class are near the table's along the order of values.

    Between two values that a class shows its cumulative share stands still while the table's rises: the gap
    is summed from running sums, split where the table's passes it.
    """
    apart, eased, here, seen = 0.0, 0.0, 0, 0
    for i in range(many + 1):
        if i < many and hist[i] == 0:
            continue
        beyond = value[i] if i < many else values - 1
        share = seen / total
        first, last = here, beyond
        while first < last:
            middle = (first + last) // 2
            if cumulative[middle] < share:
                first = middle + 1
            else:
                last = middle
        below, above = running[first] - running[here], running[beyond] - running[first]
        apart += share * (first - here) - below + above - share * (beyond - first)
        eased += below + (beyond - first) - above
        here = beyond
        if i < many:
            seen += hist[i]
    steps = max(values - 1, 1)
    if apart <= (bound + _TOLERANCE) * steps:
        return 0
    over = (apart - bound * steps) * total
    return int(max(1.0, math.ceil(over / max(eased + bound * steps, 1e-12) - _TOLERANCE)))


@lean
def _mixture_missing(promises: Promises, one: int, counts: Floats, share: Floats, many: int) -> int:
    """Rows until the counts are mixed enough, as few values or as the table are."""
    amount, divergence = promises.amount[one], _mixed(counts, share, many, 0.0)[1]
    if promises.kind[one] == DIVERGENCE:
        return 0 if divergence <= amount + _TOLERANCE else _divergence_missing(counts, share, many, amount)
    # entropy is how far the counts are from equal shares of all values, from above
    whole = math.log(promises.values[promises.column[one]])
    if math.exp(whole - divergence) >= amount - _TOLERANCE:
        return 0
    return _divergence_missing(counts, share, many, whole - math.log(amount))


@lean
def _distinct_missing(hist: Integers, many: int, wanted: int) -> int:
    distinct = 0
    for i in range(many):
        distinct += hist[i] > 0
    return max(0, wanted - distinct)


@lean
def rows_missing(  # noqa: PLR0911 - one line for each kind
    promises: Promises, one: int, hist: Integers, value: Integers, many: int, total: int, scratch: Floats
) -> int:
    """Say how many rows, at least, a class lacks until one of the promises holds.

    Args:
        promises: All of them.
        one: Which.
        hist: ``(many,)`` how often the class shows each value of its tile.
        value: ``(many,)`` which values these are, ascending.
        many: How many.
        total: The sum of ``hist``.
        scratch: ``(2, v)`` overwritten.
    """
    kind, amount = promises.kind[one], promises.amount[one]
    low, high, share = promises.low[one], promises.high[one], promises.share[one]
    if total == 0:
        return 1
    if kind == DISTINCT:
        return _distinct_missing(hist, many, int(amount))
    if kind == SURPLUS:
        return _surplus_missing(hist, value, many, total, share, amount)
    if kind == BOUNDS:
        return _bounds_missing(hist, value, many, total, promises.rank[one], low, high)
    if kind == ORDERED:
        values = promises.values[promises.column[one]]
        return _ordered_missing(hist, value, many, total, values, low, high, amount)
    if kind == NODES:
        return _nodes_missing(hist, value, many, total, promises, one, scratch[0])
    for i in range(many):
        scratch[0, i], scratch[1, i] = hist[i], share[value[i]]
    if kind == TAIL:
        return _tail_missing(scratch[0], many, amount, promises.rank[one])
    return _mixture_missing(promises, one, scratch[0], scratch[1], many)
