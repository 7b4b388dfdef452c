"""How rows lie while they are sorted into classes.

Rows lie as columns of integer keys whose order is the order of the numbers: integers compare, count and take
extremes in wide registers. Row numbers move along. Every class ends up as one segment, so that the cuts
between segments are all there is to remember.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.errors import InvalidInput
from mahrem.threads import chunks, spread
from mahrem.types import Floats, Integers, Labels, Mask, Matrix, Points, Rows, Written

__all__ = [
    "Rooms",
    "Scratch",
    "Split",
    "Work",
    "encode",
    "fill_labels",
    "finish",
    "key_of",
    "lay_out",
    "mark",
    "number",
]

_U = np.uint64
_BEYOND = np.int64(0x7FF0000000000000)  # bits of infinity: what is not below is no finite number
_REST = np.int64(0x7FFFFFFFFFFFFFFF)
_BLOCK = 512
_FEW = 50_000  # numbers that are not worth a second thread


class Work(NamedTuple):
    """The rows being moved, and where they were cut."""

    keys: Matrix[Integers]  # (d, n) columns of keys
    order: Rows  # (n,) row numbers, moved along
    at: Integers  # (n // minimum + 1,) where a cut lies, in slot position // minimum; 0 = no cut
    column: Integers  # the column of that cut
    value: Integers  # the key cut at
    below: Mask  # True: left is < value; False: left is <= value
    depth: Integers  # depth in the tree


class Scratch(NamedTuple):
    """Room for one segment at a time."""

    listed: NDArray[np.uint32]  # (m,) rows that go left, and from the end backwards those that go right
    side: NDArray[np.uint8]  # (m,) 1 = goes left
    rows: Rows  # (m,)
    keys: Matrix[Integers]  # (4, m) three for selecting, one for values looked at


class Rooms:
    """One :class:`Scratch` per thread, kept from task to task: fresh memory costs more than using it."""

    def __init__(self) -> None:
        self._local = threading.local()

    def for_rows(self, rows: int) -> Scratch:
        """Give this thread's scratch, with room for so many rows."""
        scratch: Scratch | None = getattr(self._local, "scratch", None)
        if scratch is None or len(scratch.listed) < rows:
            scratch = self._local.scratch = Scratch(
                listed=np.empty(rows, np.uint32),
                side=np.empty(rows, np.uint8),
                rows=np.empty(rows, np.int32),
                keys=np.empty((4, rows), np.int64),
            )
        return scratch


@dataclass(frozen=True)
class Split:
    """All rows in classes, and the cuts between one class and the next."""

    labels: Labels = field(repr=False)  # (n,)
    classes: int
    column: Integers = field(repr=False)  # (c - 1,)
    value: Floats = field(repr=False)  # (c - 1,)
    below: Mask = field(repr=False)  # (c - 1,) True: left is < value; False: left is <= value
    depth: Integers = field(repr=False)  # (c - 1,)


@inner
def number(key: int) -> Any:
    """Turn a key back into its number."""
    bits = key if key >= 0 else key ^ _REST
    return np.int64(bits).view(np.float64)


@inner
def key_of(value: float) -> Any:
    """Turn a finite number into its key."""
    bits = np.float64(value).view(np.int64)
    key = bits if bits >= 0 else bits ^ _REST
    return key + 1 if key == -1 else key  # minus zero is zero


@kernel
def encode(
    bits: Matrix[Integers],
    keys: Written[Matrix[Integers]],
    order: Written[Rows],
    first: int,
    last: int,
    low: Written[Integers],
    high: Written[Integers],
) -> int:
    """Write keys of rows ``first .. last`` and their extremes; gives how many numbers are not finite."""
    strange = 0
    low[:] = _REST
    high[:] = -_REST
    for begin in range(first, last, _BLOCK):  # a block of rows stays in the cache while its columns are read
        end = min(begin + _BLOCK, last)
        for column in range(_U(bits.shape[1])):
            least, greatest = low[column], high[column]
            for row in range(_U(begin), _U(end)):
                key = bits[row, column]
                strange += (key & _REST) >= _BEYOND
                key = key if key >= 0 else key ^ _REST
                key = key + 1 if key == -1 else key  # minus zero is zero
                keys[column, row] = key
                least = min(least, key)
                greatest = max(greatest, key)
            low[column], high[column] = least, greatest
    for row in range(first, last):
        order[row] = row
    return strange


@inner
def mark(
    work: Work,
    position: int,
    minimum: int,
    column: int,
    value: int,
    below: bool,  # noqa: FBT001 - kernels take arguments by position
    depth: int,
) -> None:
    """Note a cut; two cuts lie at least ``minimum`` apart, so each has a slot of its own."""
    slot = position // minimum
    work.at[slot] = position
    work.column[slot] = column
    work.value[slot] = value
    work.below[slot] = below
    work.depth[slot] = depth


@kernel
def fill_labels(order: Rows, starts: Integers, first: int, last: int, labels: Written[Labels]) -> None:
    """Write the class of every row of the classes ``first .. last``."""
    for group in range(first, last):
        for i in range(_U(starts[group]), _U(starts[group + 1])):
            labels[_U(order[i])] = group


def lay_out(
    points: Points, minimum: int, pool: ThreadPoolExecutor | None, threads: int
) -> tuple[Work, Integers, Integers]:
    """Copy the points as columns of keys; gives also the least and the greatest key of every column."""
    points = np.ascontiguousarray(points, np.float64)
    rows, columns = points.shape
    if rows >= 2**31:
        raise InvalidInput(f"rows={rows} must be below 2**31; split the table first")
    slots = rows // minimum + 1
    work = Work(
        keys=np.empty((columns, rows), np.int64),
        order=np.empty(rows, np.int32),
        at=np.zeros(slots, np.int64),
        column=np.empty(slots, np.int64),
        value=np.empty(slots, np.int64),
        below=np.empty(slots, np.bool_),
        depth=np.empty(slots, np.int64),
    )
    parts = threads if points.size > _FEW else 1
    borders = np.linspace(0, rows, parts + 1).astype(np.int64)
    low, high = np.empty((2, parts, columns), np.int64)
    strange = np.zeros(parts, np.int64)

    def run(part: int, _: int) -> None:
        ends = borders[part], borders[part + 1]
        strange[part] = encode(points.view(np.int64), work.keys, work.order, *ends, low[part], high[part])

    spread(run, np.arange(parts + 1), pool, threads)
    if strange.any():
        raise InvalidInput(
            f"points hold {strange.sum()} numbers that are not finite; missing values need a place first"
        )
    return work, low.min(axis=0), high.max(axis=0)


def finish(work: Work, pool: ThreadPoolExecutor | None, threads: int) -> Split:
    """Number the segments from the first to the last and label their rows."""
    cuts = np.flatnonzero(work.at)
    starts = np.concatenate([[0], work.at[cuts], [len(work.order)]])
    labels = np.empty(len(work.order), np.int64)
    parts = threads if len(labels) > _FEW else 1
    borders = chunks(np.diff(starts), parts)
    spread(lambda first, last: fill_labels(work.order, starts, first, last, labels), borders, pool, threads)
    bits = work.value[cuts]
    return Split(
        labels=labels,
        classes=len(starts) - 1,
        column=work.column[cuts],
        value=np.where(bits >= 0, bits, bits ^ _REST).view(np.float64),
        below=work.below[cuts],
        depth=work.depth[cuts],
    )
