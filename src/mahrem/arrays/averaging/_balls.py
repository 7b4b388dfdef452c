"""Canon's tree: depth first for a plain minimum size, or in rounds for any condition."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from mahrem.arrays._kernel import kernel
from mahrem.arrays.averaging._vantage import Vantage, Yard, near_and_far, part
from mahrem.arrays.cutting import Rooms, Scratch, fill_labels, list_rows
from mahrem.errors import InvalidInput
from mahrem.threads import available_threads, chunks, spread, work_off
from mahrem.types import Integers, Labels, Mask, Offsets, Points, Rows, Written

__all__ = ["Balls", "carry_out_balls", "grow_balls", "grow_balls_segment", "propose_balls"]

_SMALL = 20_000  # rows that one thread finishes before a second one has started
_BLOCKS = 8  # per thread: enough for an even load
_DEEP = 64  # the smaller side goes first, so the stack never holds more than log2(n) segments


class Queue(NamedTuple):
    """Segments that may still be cut."""

    start: Integers
    stop: Integers
    left: Integers  # rows that go left in the cut proposed; 0 = no further cut
    tried: Integers  # 0 = none, 1 = near is <= the median distance, 2 = near is < it


@kernel
def grow_balls_segment(
    yard: Written[Yard],
    vantage: Vantage,
    once: bool,  # noqa: FBT001 - kernels take arguments by position
    first: Written[Integers],
    last: Written[Integers],
    scratch: Written[Scratch],
) -> int:
    """Cut the segment on the stack until nothing can be cut, or ``once``; gives how many are left on it."""
    top = 0
    while top >= 0:
        start, size = first[top], last[top] - first[top]
        left, _ = near_and_far(yard, start, size, 0, vantage, scratch, 0)
        if left == 0:
            top -= 1
            continue
        part(yard, start, size, left, vantage.minimum, scratch, 0)
        large, small = top, top + 1
        if left < size - left:
            large, small = small, large
        first[large], last[large] = start, start + left
        first[small], last[small] = start + left, start + size
        top += 1
        if once:
            break
    return top + 1


@kernel
def propose_balls(
    yard: Yard, vantage: Vantage, queue: Written[Queue], first: int, last: int, scratch: Written[Scratch]
) -> None:
    """Find the next cut of the segments ``first .. last``; ``scratch.listed`` says where rows would go."""
    for i in range(first, last):
        start, size = queue.start[i], queue.stop[i] - queue.start[i]
        queue.left[i], queue.tried[i] = near_and_far(
            yard, start, size, queue.tried[i], vantage, scratch, start
        )


@kernel
def carry_out_balls(
    yard: Written[Yard],
    minimum: int,
    queue: Queue,
    first: int,
    last: int,
    sides: Written[Queue],
    scratch: Written[Scratch],
) -> None:
    """Cut the segments ``first .. last`` as proposed; their sides become segments ``2i`` and ``2i + 1``."""
    for i in range(first, last):
        start, stop, left = queue.start[i], queue.stop[i], queue.left[i]
        part(yard, start, stop - start, left, minimum, scratch, start)
        sides.start[2 * i], sides.stop[2 * i] = start, start + left
        sides.start[2 * i + 1], sides.stop[2 * i + 1] = start + left, stop


def _chosen(queue: Queue, which: Mask) -> Queue:
    return Queue(*np.stack(queue).compress(which, axis=1))


def _lay_out(points: Points) -> Yard:
    rows = len(points)
    if rows >= 2**31:
        raise InvalidInput(f"rows={rows} must be below 2**31; split the table first")
    strange = points.size - int(np.isfinite(points).sum())
    if strange:
        raise InvalidInput(
            f"points hold {strange} numbers that are not finite; missing values need a place first"
        )
    begins = np.zeros(rows, np.bool_)
    begins[:1] = True
    columns = np.ascontiguousarray(points.T, np.float64).copy()
    return Yard(columns=columns, order=np.arange(rows, dtype=np.int32), begins=begins)


def _finish(yard: Yard) -> tuple[Labels, int]:
    starts = np.append(np.flatnonzero(yard.begins), len(yard.order))
    labels = np.empty(len(yard.order), np.int64)
    fill_labels(yard.order, starts, 0, len(starts) - 1, labels)
    return labels, len(starts) - 1


def grow_balls(points: Points, vantage: Vantage, *, threads: int | None = None) -> tuple[Labels, int]:
    """Sort rows into classes of at least ``vantage.minimum`` rows; gives labels and how many classes.

    Args:
        points: ``(n, d)`` finite numbers, ``n >= vantage.minimum``.
        vantage: How a segment is cut.
        threads: How many; None for one per core. The result does not depend on it.
    """
    rows = len(points)
    threads = available_threads(threads) if rows > _SMALL else 1
    block = max(_SMALL, rows // (_BLOCKS * threads)) if threads > 1 else rows
    rooms, yard = Rooms(), _lay_out(points)

    def run(segment: tuple[int, int]) -> list[tuple[int, int]]:
        size = segment[1] - segment[0]
        once = size > block
        first, last = np.zeros((2, 2 if once else _DEEP), np.int64)
        first[0], last[0] = segment
        left = grow_balls_segment(yard, vantage, once, first, last, rooms.for_rows(max(size, 64)))
        return [(int(first[i]), int(last[i])) for i in range(left)]

    with ThreadPoolExecutor(threads) as pool:
        work_off(run, (0, rows), pool)
    return _finish(yard)


class Balls:
    """The frontier of Canon's tree; every round judges all its proposed cuts at once.

    ``rows, offsets = balls.propose()`` gives the candidate classes, two per cut (none: all is done);
    ``balls.decide(accepted)`` carries out the accepted cuts, and the others try their next one.
    """

    def __init__(self, points: Points, vantage: Vantage, *, threads: int | None = None) -> None:
        self._yard, self._vantage, self._rooms = _lay_out(points), vantage, Rooms()
        self._threads = available_threads(threads) if len(points) > _SMALL else 1
        self._pool = ThreadPoolExecutor(max(1, self._threads - 1))
        self._index = np.empty(len(points), np.uint32)
        self._open = Queue(*np.zeros((4, 1), np.int64))
        self._open.stop[:] = len(points)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def propose(self) -> tuple[Rows, Offsets]:
        """Give both sides of the next cut of every open segment; those without a further cut are closed."""
        yard, queue = self._yard, self._open
        self._spread(
            queue,
            lambda first, last: propose_balls(
                yard, self._vantage, queue, first, last, self._room(queue, first, last)
            ),
        )
        self._open = queue = _chosen(queue, queue.left > 0)
        offsets = np.zeros(2 * len(queue.left) + 1, np.int64)
        sides = np.stack([queue.left, queue.stop - queue.start - queue.left], axis=1)
        np.cumsum(sides.ravel(), out=offsets[1:])
        rows = np.empty(offsets[-1], np.int32)
        ends = queue.start, queue.stop, queue.left
        self._spread(
            queue, lambda first, last: list_rows(yard.order, *ends, first, last, self._index, offsets, rows)
        )
        return rows, offsets

    def decide(self, accepted: Mask) -> None:
        """Carry out the cuts both sides of which were accepted."""
        yes, minimum = accepted[::2] & accepted[1::2], self._vantage.minimum
        agreed, refused = _chosen(self._open, yes), _chosen(self._open, ~yes)
        sides = Queue(*np.zeros((4, 2 * len(agreed.start)), np.int64))
        self._spread(
            agreed,
            lambda first, last: carry_out_balls(
                self._yard, minimum, agreed, first, last, sides, self._room(agreed, first, last)
            ),
        )
        further = _chosen(sides, sides.stop - sides.start >= 2 * minimum)
        together = np.concatenate([np.stack(refused), np.stack(further)], axis=1)
        # in the order of the table, so that a round walks through memory
        self._open = Queue(*together.take(np.argsort(together[0], kind="stable"), axis=1))

    def result(self) -> tuple[Labels, int]:
        """Number the classes and label their rows."""
        return _finish(self._yard)

    def _spread(self, queue: Queue, work: Callable[[int, int], object]) -> None:
        sizes = queue.stop - queue.start
        borders = chunks(sizes, 3 * self._threads if sizes.sum() > _SMALL else 1)
        spread(work, borders, self._pool, self._threads)

    def _room(self, queue: Queue, first: int, last: int) -> Scratch:
        most = int((queue.stop[first:last] - queue.start[first:last]).max(initial=64))
        return self._rooms.for_rows(most)._replace(listed=self._index)
