"""Mondrian for any condition: all open segments propose a cut, and the cuts that are accepted are made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import kernel
from mahrem.arrays.cutting._branches import Branches
from mahrem.arrays.cutting._choose import Manner, choose, manner_of, onto_leaves
from mahrem.arrays.cutting._layout import Rooms, Scratch, Split, Work, finish, lay_out, mark
from mahrem.arrays.cutting._split import cut, settle
from mahrem.threads import available_threads, chunks, spread
from mahrem.types import Floats, Integers, Mask, Matrix, Offsets, Points, Rows, Written

__all__ = ["Rounds", "carry_out", "list_rows", "propose"]

_SMALL = 20_000  # rows that are not worth a second thread


class Open(NamedTuple):
    """Segments that may still be cut, and the cut each of them tried last."""

    start: Integers
    stop: Integers
    depth: Integers
    left: Integers  # rows that go left; 0 = no further cut
    column: Integers  # -1 = none tried
    value: Integers
    below: Mask
    turn: Integers  # which of the column's cuts; only where there is more to choose than the widest column


class Extremes(NamedTuple):
    """Least and greatest keys of the open segments, in slot start // minimum: no two segments share one."""

    low: Matrix[Integers]  # (n // minimum + 1, d)
    high: Matrix[Integers]
    worth: Matrix[Floats]  # what cutting a column is worth; empty where its width is all that counts


@kernel
def propose(
    work: Work,
    minimum: int,
    manner: Manner,
    ends: Written[Extremes],
    segments: Written[Open],
    first: int,
    last: int,
    scratch: Written[Scratch],
) -> None:
    """Find the next cut of the segments ``first .. last``; ``scratch.listed`` says where rows would go."""
    low, high, worth = ends
    for i in range(first, last):
        start, stop = segments.start[i], segments.stop[i]
        slot, size, turn = start // minimum, stop - start, 0
        if manner.simple:
            before = (segments.column[i], segments.value[i], segments.below[i])
            left, column, value, below = cut(
                work.keys, start, size, minimum, manner.strict, before, low, high, slot, scratch, start
            )
        else:
            tried = (segments.column[i], segments.turn[i])
            left, column, value, below, turn = choose(
                work.keys, start, size, minimum, manner, tried, low, high, worth, slot, scratch, start
            )
        segments.left[i] = left
        segments.column[i] = column
        segments.value[i] = value
        segments.below[i] = below
        segments.turn[i] = turn


@kernel
def list_rows(
    order: Rows,
    starts: Integers,
    stops: Integers,
    lefts: Integers,
    first: int,
    last: int,
    index: NDArray[np.uint32],
    offsets: Offsets,
    rows: Written[Rows],
) -> None:
    """Write the rows of both sides of the segments ``first .. last``."""
    for i in range(first, last):
        start, size, left = starts[i], stops[i] - starts[i], lefts[i]
        begin, here = np.uint64(start), np.uint64(offsets[2 * i])
        for j in range(np.uint64(left)):
            rows[here + j] = order[begin + np.uint64(index[begin + j])]
        end, there = np.uint64(start + size - 1), np.uint64(offsets[2 * i + 1])
        for j in range(np.uint64(size - left)):
            rows[there + j] = order[begin + np.uint64(index[end - j])]


@kernel
def carry_out(
    work: Written[Work],
    minimum: int,
    ends: Written[Extremes],
    segments: Open,
    first: int,
    last: int,
    sides: Written[Open],
    scratch: Written[Scratch],
) -> None:
    """Cut the segments ``first .. last`` as proposed; their sides become segments ``2i`` and ``2i + 1``."""
    for i in range(first, last):
        start, stop, left = segments.start[i], segments.stop[i], segments.left[i]
        here, there = start // minimum, (start + left) // minimum
        settle(work, start, stop - start, left, minimum, ends.low, ends.high, here, there, scratch, start)
        depth = segments.depth[i]
        mark(work, start + left, minimum, segments.column[i], segments.value[i], segments.below[i], depth)
        sides.start[2 * i], sides.stop[2 * i] = start, start + left
        sides.start[2 * i + 1], sides.stop[2 * i + 1] = start + left, stop
        sides.depth[2 * i : 2 * i + 2] = depth + 1


def _none_tried(segments: int) -> Open:
    numbers = np.zeros((5, segments), np.int64)
    untried = np.full(segments, -1, np.int64)
    value, below = np.zeros(segments, np.int64), np.zeros(segments, np.bool_)
    return Open(numbers[0], numbers[1], numbers[2], numbers[3], untried, value, below, numbers[4])


def _chosen(segments: Open, which: Mask) -> Open:
    if which.all():
        return segments
    places = np.flatnonzero(which)
    return Open._make(array.take(places, axis=0) for array in segments)


class Rounds:
    """The frontier of a Mondrian tree; every round judges all its proposed cuts at once.

    ``rows, offsets = rounds.propose()`` gives the candidate classes, two per cut (none: all is done), to be
    looked at before the next round;
    ``rounds.decide(accepted)`` carries out the accepted cuts, and the others try their next one.
    """

    def __init__(
        self,
        points: Points,
        minimum: int,
        *,
        strict: bool = True,
        rule: int = 0,
        branches: Branches | None = None,
        threads: int | None = None,
    ) -> None:
        self.minimum = minimum
        self._manner = manner_of(points.shape[1], strict=strict, rule=rule, branches=branches)
        self._threads = available_threads(threads) if len(points) > _SMALL else 1
        self._pool = ThreadPoolExecutor(max(1, self._threads - 1))
        try:
            self._work, low, high = lay_out(points, minimum, self._pool, self._threads)
            onto_leaves(self._work, low, high, self._manner.branches, self._pool, self._threads)
        except BaseException:
            self._pool.shutdown()
            raise
        self._index = np.empty(len(points), np.uint32)
        self._rows = np.empty(len(points), np.int32)
        self._rooms = Rooms()
        slots = len(points) // minimum + 1
        narrow, wide = np.empty((2, slots, points.shape[1]), np.int64)
        worth = np.empty((0 if self._manner.simple else slots, points.shape[1]))
        self._ends = Extremes(narrow, wide, worth)
        self._ends.low[0], self._ends.high[0] = low, high
        self._open = _none_tried(1 if len(points) >= 2 * minimum and points.shape[1] else 0)
        self._open.stop[:] = len(points)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def propose(self) -> tuple[Rows, Offsets]:
        """Give both sides of the next cut of every open segment; those without a further cut are closed."""
        work, ends, segments = self._work, self._ends, self._open

        def run(first: int, last: int) -> None:
            room = self._room(segments, first, last)
            propose(work, self.minimum, self._manner, ends, segments, first, last, room)

        spread(run, self._borders(segments), self._pool, self._threads)
        return self._sides(_chosen(segments, segments.left > 0))

    def _sides(self, segments: Open) -> tuple[Rows, Offsets]:
        """List the rows of both sides of every segment that has a cut; only these stay open."""
        work, index = self._work, self._index
        self._open = segments
        sizes = segments.stop - segments.start
        offsets = np.zeros(2 * len(sizes) + 1, np.int64)
        sides = np.stack([segments.left, sizes - segments.left], axis=1)
        np.cumsum(sides.ravel(), out=offsets[1:])
        rows, ends = self._rows[: offsets[-1]], (segments.start, segments.stop, segments.left)
        spread(
            lambda first, last: list_rows(work.order, *ends, first, last, index, offsets, rows),
            self._borders(segments),
            self._pool,
            self._threads,
        )
        return rows, offsets

    def decide(self, accepted: Mask) -> None:
        """Carry out the cuts both sides of which were accepted."""
        work, ends = self._work, self._ends
        yes = accepted[::2] & accepted[1::2]
        agreed, refused = _chosen(self._open, yes), _chosen(self._open, ~yes)
        sides = _none_tried(2 * len(agreed.start))

        def run(first: int, last: int) -> None:
            room = self._room(agreed, first, last)
            carry_out(work, self.minimum, ends, agreed, first, last, sides, room)

        spread(run, self._borders(agreed), self._pool, self._threads)
        further = _chosen(sides, sides.stop - sides.start >= 2 * self.minimum)
        if not len(refused.start):
            self._open = further
            return
        # in the order of the table, so that a round walks through memory; a merge, as both are in order
        order = np.argsort(np.concatenate([refused.start, further.start]), kind="stable")
        self._open = Open(
            *(np.concatenate(pair).take(order, axis=0) for pair in zip(refused, further, strict=True))
        )

    def result(self) -> Split:
        """Number the classes and label their rows."""
        return finish(self._work, self._pool, self._threads)

    def _borders(self, segments: Open) -> Integers:
        sizes = segments.stop - segments.start
        return chunks(sizes, 3 * self._threads if sizes.sum() > _SMALL else 1)

    def _room(self, segments: Open, first: int, last: int) -> Scratch:
        most = int((segments.stop[first:last] - segments.start[first:last]).max())
        return self._rooms.for_rows(most)._replace(listed=self._index)
