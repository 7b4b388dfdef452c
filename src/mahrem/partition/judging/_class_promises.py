"""Promises as kernels read them: bounds on counts, with the values and people of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mahrem.arrays import growing
from mahrem.models import Need
from mahrem.types import Floats, Integers

_KINDS = {
    "distinct": growing.DISTINCT,
    "tail": growing.TAIL,
    "entropy": growing.ENTROPY,
    "bounds": growing.BOUNDS,
    "surplus": growing.SURPLUS,
    "nodes": growing.NODES,
    "ordered": growing.ORDERED,
    "divergence": growing.DIVERGENCE,
}


@dataclass(frozen=True)
class ColumnNeeds:
    """What a class needs of one column."""

    codes: Integers = field(repr=False)  # (n,) value of each row; -1 = none
    table: Floats = field(repr=False)  # (values,) share of each value in the whole table
    needs: tuple[Need, ...]


class Needs(NamedTuple):
    """Promises for kernels; ``certain`` where nobody else must be asked."""

    promises: growing.Promises
    certain: bool


def pack_promises(
    least: int, columns: Sequence[ColumnNeeds], rows: int, people: Integers | None = None
) -> growing.Promises:
    """Lay out for kernels what classes need.

    Args:
        least: Rows, or people, of a class.
        columns: What is needed of columns.
        rows: How many there are.
        people: ``(rows,)`` whom each is about where people are counted; -1 = nobody.
    """
    pairs = [(place, need) for place, column in enumerate(columns) for need in column.needs]
    sizes = [len(column.table) for column in columns]
    widest = max(sizes, default=0)
    low, high, share = np.zeros((3, len(pairs), widest + 1))
    for one, (place, need) in enumerate(pairs):
        _fill(need, columns[place].table, low[one], high[one], share[one])
    rank, levels, nodes, node_share = _stacked(pairs, columns, widest)
    codes = np.empty((len(columns), rows), np.int64)
    for place, column in enumerate(columns):
        codes[place] = column.codes
    return growing.Promises(
        least,
        np.array([_KINDS[need.kind] for _, need in pairs], np.int64),
        np.array([place for place, _ in pairs], np.int64),
        np.array([need.amount for _, need in pairs], np.float64),
        rank,
        levels,
        low,
        high,
        share,
        nodes,
        node_share,
        codes,
        np.array(sizes, np.int64),
        np.empty(0, np.int64) if people is None else people.astype(np.int64),
    )


def pack_needs(
    least: int, columns: Sequence[ColumnNeeds], rows: int, people: Integers | None, *, certain: bool
) -> Needs:
    """Lay out what classes need, and say whether that is all there is to ask."""
    return Needs(pack_promises(least, columns, rows, people), certain)


def _fill(need: Need, table: Floats, low: Floats, high: Floats, share: Floats) -> None:
    """Write what a kernel looks up by value."""
    many = len(table)
    share[:many] = 1 / max(many, 1) if need.kind == "entropy" else table
    if need.kind == "bounds" and need.low is not None and need.high is not None:
        low[:many], high[:many] = need.low, need.high
    elif need.kind == "ordered":
        low[:many] = np.cumsum(table)
        high[1 : many + 1] = np.cumsum(low[:many])


def _stacked(
    pairs: Sequence[tuple[int, Need]], columns: Sequence[ColumnNeeds], widest: int
) -> tuple[Integers, Integers, Integers, Floats]:
    """Put the levels of all trees below each other; gives ranks, how many levels, nodes and their shares."""
    rank, levels = np.zeros((2, len(pairs)), np.int64)
    nodes: list[Integers] = []
    shares: list[Floats] = []
    for one, (place, need) in enumerate(pairs):
        table = columns[place].table
        rank[one] = need.rank
        if need.kind == "bounds" and need.low is not None:
            rank[one] = np.count_nonzero(need.low > 0)
        if need.nodes is None:
            continue
        rank[one], levels[one] = len(nodes), len(need.nodes)
        for level in need.nodes:
            nodes.append(np.pad(level, (0, widest - len(level))))
            node_shares = np.bincount(level, weights=table)[level]
            shares.append(np.pad(node_shares, (0, widest - len(level))))
    if not nodes:
        return rank, levels, np.zeros((0, 1), np.int64), np.zeros((0, 1))
    return rank, levels, np.stack(nodes).astype(np.int64), np.stack(shares)
