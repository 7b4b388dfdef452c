"""Rows of one block apart: no class leaves the block of a column that its cells must stay in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mahrem.partition._partition import Admits, Partition
from mahrem.partition.judging._strata import Within
from mahrem.types import Integers, Labels, Rows


def within_blocks(
    method: Callable[[Rows, Admits], Partition], blocks: Integers, admits: Admits, *, gathered: bool
) -> Partition:
    """Partition the rows of every block on their own.

    Args:
        method: Sorts some rows into classes, given which rows they are and who judges them.
        blocks: ``(n,)`` block of each row, ``0 .. b-1``.
        admits: Judges classes of the whole table.
        gathered: Rows of blocks that may not stand are sorted together, with those of as few other blocks as
            they need; else they are suppressed.

    Guarantees:
        - No class holds rows of two blocks, but for those that were gathered.
        - ``admits`` accepts every class.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> admits = Admission(((KAnonymity(2), None),), rows=5)
        >>> one = lambda rows, _: Partition(labels=np.zeros(len(rows), np.int64), classes=1)
        >>> within_blocks(one, np.array([0, 1, 0, 1, 2]), admits, gathered=False).labels
        array([ 0,  1,  0,  1, -1])
        >>> within_blocks(one, np.array([0, 1, 0, 1, 2]), admits, gathered=True).labels
        array([1, 0, 1, 0, 1])
    """
    order = np.argsort(blocks, kind="stable").astype(np.int32)
    ends = np.cumsum(np.bincount(blocks))
    stands = admits(order, np.append(0, ends).astype(np.int64))
    parts = [rows for rows, stand in zip(np.split(order, ends[:-1]), stands, strict=True) if stand]
    rest = np.flatnonzero(~stands[blocks]).astype(np.int32)
    if gathered and len(rest):
        parts.sort(key=len)
        while parts and not bool(admits(rest, np.array([0, len(rest)], np.int64))[0]):
            rest = np.sort(np.concatenate([rest, parts.pop(0)]))
        parts.append(rest)
    labels: Labels = np.full(len(blocks), -1, np.int64)
    classes = 0
    for rows in parts:
        part = method(rows, Within(admits, rows))
        labels[rows] = np.where(part.labels >= 0, part.labels + classes, -1)
        classes += part.classes
    return Partition(labels=labels, classes=classes)
