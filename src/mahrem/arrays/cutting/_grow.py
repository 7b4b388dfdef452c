"""Mondrian for a plain minimum size: depth first inside blocks that fit the cache, blocks in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import kernel
from mahrem.arrays.cutting._branches import Branches
from mahrem.arrays.cutting._choose import Manner, choose, manner_of, onto_leaves
from mahrem.arrays.cutting._layout import Rooms, Scratch, Split, Work, finish, lay_out, mark
from mahrem.arrays.cutting._split import cut, settle
from mahrem.threads import available_threads, work_off
from mahrem.types import Floats, Integers, Matrix, Points, Written

__all__ = ["grow", "grow_segment"]

_BLOCKS = 8  # per thread: enough for an even load, few enough to keep the start cheap
_SMALL = 20_000  # rows that one thread finishes before a second one has started
_DEEP = 64  # the smaller side goes first, so the stack never holds more than log2(n) segments


class _Segment(NamedTuple):
    start: int
    stop: int
    depth: int
    low: Integers
    high: Integers


@kernel
def grow_segment(
    work: Written[Work],
    minimum: int,
    manner: Manner,
    once: bool,  # noqa: FBT001 - kernels take arguments by position
    first: Written[Integers],
    last: Written[Integers],
    depth: Written[Integers],
    low: Written[Matrix[Integers]],
    high: Written[Matrix[Integers]],
    worth: Written[Matrix[Floats]],
    scratch: Written[Scratch],
) -> int:
    """Cut the segment on the stack until nothing can be cut, or ``once``; gives how many are left on it."""
    top = 0
    while top >= 0:
        start, size = first[top], last[top] - first[top]
        if size < 2 * minimum:
            top -= 1
            continue
        if manner.simple:
            left, column, value, below = cut(
                work.keys, start, size, minimum, manner.strict, (-1, 0, False), low, high, top, scratch, 0
            )
        else:
            left, column, value, below, _ = choose(
                work.keys, start, size, minimum, manner, (-1, 0), low, high, worth, top, scratch, 0
            )
        if left == 0:
            top -= 1
            continue
        mark(work, start + left, minimum, column, value, below, depth[top])
        large, small = top, top + 1
        if left < size - left:
            large, small = small, large
        settle(work, start, size, left, minimum, low, high, large, small, scratch, 0)
        depth[top] += 1
        depth[top + 1] = depth[top]
        first[large], last[large] = start, start + left
        first[small], last[small] = start + left, start + size
        top += 1
        if once:
            break
    return top + 1


def _cut_segment(
    work: Work, segment: _Segment, minimum: int, manner: Manner, scratch: Scratch, *, once: bool
) -> list[_Segment]:
    """Run the kernel on one segment; gives the segments still to be cut."""
    slots = 2 if once else _DEEP
    first, last, depth = np.zeros((3, slots), np.int64)
    low, high = np.empty((2, slots, len(segment.low)), np.int64)
    first[0], last[0], depth[0], low[0], high[0] = segment
    worth = np.empty((slots, len(segment.low)))
    left = grow_segment(work, minimum, manner, once, first, last, depth, low, high, worth, scratch)
    open_ = [_Segment(int(first[i]), int(last[i]), int(depth[i]), low[i], high[i]) for i in range(left)]
    return [one for one in open_ if one.stop - one.start >= 2 * minimum]


def grow(
    points: Points,
    minimum: int,
    *,
    strict: bool = True,
    rule: int = 0,
    branches: Branches | None = None,
    threads: int | None = None,
) -> Split:
    """Sort rows into classes of at least ``minimum`` rows by cutting the widest column at its median.

    Args:
        points: ``(n, d)`` finite numbers, ``n >= minimum``.
        minimum: Rows that every class must have, at least 1.
        strict: Keep equal values on one side of a cut; else halve exactly.
        rule: 0 to cut at the median, 1 near the middle of the range, 2 in the widest gap.
        branches: The trees of columns that have one: these are cut between the children of a node.
        threads: How many; None for one per core. The result does not depend on it.
    """
    threads = available_threads(threads) if len(points) > _SMALL else 1
    block = max(_SMALL, len(points) // (_BLOCKS * threads)) if threads > 1 else len(points)
    rooms, manner = Rooms(), manner_of(points.shape[1], strict=strict, rule=rule, branches=branches)
    with ThreadPoolExecutor(threads) as pool:
        work, low, high = lay_out(points, minimum, pool, threads)
        onto_leaves(work, low, high, manner.branches, pool, threads)

        def run(segment: _Segment) -> list[_Segment]:
            size = segment.stop - segment.start
            return _cut_segment(work, segment, minimum, manner, rooms.for_rows(size), once=size > block)

        if points.shape[1]:
            work_off(run, _Segment(0, len(points), 0, low, high), pool)
        return finish(work, pool, threads)
