"""One pass over a distributed table: what a worker counts, and how counts of several workers become one."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays import cutting
from mahrem.types import Codes, Floats, Integers, Points

_DENSE = 4_000_000  # counters of sensitive values up to which a plain array is quicker than sorting
_MANY = 200_000  # values inside brackets that a worker holds before it adds equal ones up


Piece = tuple[Points, list[Integers]]  # some rows: their points, and codes of every sensitive column


def missing_patterns(points: Points) -> tuple[NDArray[np.uint8], Integers]:
    """Give the distinct patterns of missing values as packed bits, and which one each row has."""
    missing = points < 0
    if not missing.any():
        none = np.zeros((min(len(points), 1), -(-points.shape[1] // 8)), np.uint8)
        return none, np.zeros(len(points), np.int64)
    packed = np.packbits(missing, axis=1)
    distinct, inverse = np.unique(packed, axis=0, return_inverse=True)
    return distinct, inverse.reshape(-1)


@dataclass(frozen=True)
class PassCount:
    """What a pass found out; a sum of what its workers found out.

    ``value`` to ``most_inside`` list the different values inside brackets, sorted by question and value.
    Triplets of a sensitive column count rows by slot and code: slots ``3 q + side`` first, then one slot for
    each value inside a bracket.
    """

    count: Integers  # (q, 3)
    least: Floats  # (q, 3, d)
    most: Floats  # (q, 3, d)
    bins: Integers | NDArray[np.int32]  # (q, 3, d, b)
    question: Integers  # (v,)
    value: Floats  # (v,)
    times: Integers  # (v,)
    least_inside: Floats  # (v, d)
    most_inside: Floats  # (v, d)
    triplets: tuple[Integers, ...]  # (t, 3) slot, code, times; one array for each sensitive column

    def pack(self) -> bytes:
        """Write everything as one piece of bytes."""
        return pack_arrays(self)

    @staticmethod
    def unpack(data: bytes) -> PassCount:
        """Read what :meth:`pack` wrote."""
        return PassCount(**unpack_arrays(data))


def pack_arrays(counted: Any) -> bytes:
    """Write a dataclass of arrays and of triplets by sensitive column as one piece of bytes."""
    parts = {entry.name: getattr(counted, entry.name) for entry in fields(counted)}
    parts |= {f"triplets{place}": listed for place, listed in enumerate(parts.pop("triplets"))}
    room = io.BytesIO()
    np.savez_compressed(room, **parts)
    return room.getvalue()


def unpack_arrays(data: bytes) -> dict[str, Any]:
    """Read the fields that :func:`pack_arrays` wrote."""
    with np.load(io.BytesIO(data), allow_pickle=False) as parts:
        stored = dict(parts)
    places = range(sum(name.startswith("triplets") for name in stored))
    triplets = tuple(stored.pop(f"triplets{place}") for place in places)
    return {**stored, "triplets": triplets}


def merge(counts: Iterable[PassCount]) -> PassCount:
    """Add up what several workers counted; the order does not matter."""
    parts = list(counts)
    if len(parts) == 1:
        return parts[0]
    question = np.concatenate([part.question for part in parts])
    value = np.concatenate([part.value for part in parts])
    order = np.lexsort((value, question))
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(question[order]) != 0) | (np.diff(value[order]) != 0)
    starts = np.flatnonzero(first)
    slot = np.empty(len(order), np.int64)  # where each listed value went
    slot[order] = np.cumsum(first) - 1
    times = np.concatenate([part.times for part in parts])[order]
    least = np.concatenate([part.least_inside for part in parts])[order]
    most = np.concatenate([part.most_inside for part in parts])[order]
    some = len(starts) > 0
    base = cutting.SIDES * len(parts[0].count)
    return PassCount(
        count=np.sum([part.count for part in parts], axis=0),
        least=np.min([part.least for part in parts], axis=0),
        most=np.max([part.most for part in parts], axis=0),
        bins=np.stack([part.bins for part in parts]).sum(axis=0, dtype=np.int64),
        question=question[order][starts],
        value=value[order][starts],
        times=np.add.reduceat(times, starts) if some else times,
        least_inside=np.minimum.reduceat(least, starts, axis=0) if some else least,
        most_inside=np.maximum.reduceat(most, starts, axis=0) if some else most,
        triplets=tuple(
            _add_triplets(
                [part.triplets[i] for part in parts], [len(part.value) for part in parts], slot, base
            )
            for i in range(len(parts[0].triplets))
        ),
    )


def _add_triplets(parts: list[Integers], values: list[int], slot: Integers, base: int) -> Integers:
    """Add triplets up after the values inside brackets got new places."""
    moved, begin = [], 0
    for part, listed in zip(parts, values, strict=True):
        new = part.copy()
        inside = part[:, 0] >= base
        new[inside, 0] = base + slot[begin + part[inside, 0] - base]
        moved.append(new)
        begin += listed
    return add_up(np.concatenate(moved))


def add_up(triplets: Integers) -> Integers:
    """Add up the times of equal groups and codes; gives them sorted."""
    if not len(triplets):
        return triplets
    ordered = triplets[np.lexsort((triplets[:, 1], triplets[:, 0]))]
    first = np.append(True, (np.diff(ordered[:, :2], axis=0) != 0).any(axis=1))
    starts = np.flatnonzero(first)
    return np.column_stack([ordered[starts, :2], np.add.reduceat(ordered[:, 2], starts)])


@dataclass(frozen=True)
class Survey:
    """What a pass asks of every worker; called with the worker's pieces, it gives one packed count."""

    tree: cutting.CutTree
    roots: Mapping[bytes, int]  # pattern of missing values to the root of its tree; empty = one tree, root 0
    asked: cutting.Asked
    edges: Floats  # (d, e)
    bins: int
    sizes: tuple[int, ...]  # how many values each sensitive column knows

    def __call__(self, pieces: Iterator[Piece]) -> bytes:
        """Count the rows of one worker."""
        parts, listed = [self._nothing()], 0
        for points, codes in pieces:
            part = self.count(points, codes)
            listed += len(part.value)
            parts.append(part)
            if listed > _MANY or len(parts) > 8:
                parts = [merge(parts)]
                listed = len(parts[0].value)
        return merge(parts).pack()

    def stand(self, points: Points) -> Integers:
        """Give the leaf of every row."""
        nodes = np.zeros(len(points), np.int64)
        if self.roots:
            patterns, of_row = missing_patterns(points)
            nodes = np.array([self.roots[pattern.tobytes()] for pattern in patterns], np.int64)[of_row]
        cutting.descend(points, self.tree, nodes)
        return nodes

    def count(self, points: Points, codes: list[Integers]) -> PassCount:
        """Count the rows of one batch."""
        questions, columns = len(self.asked.column), points.shape[1]
        nothing = self._nothing()
        tally = cutting.Tally(nothing.count, nothing.least, nothing.most, nothing.bins.astype(np.int32))
        nodes, side = self.stand(points), np.empty(len(points), np.int8)
        inside = np.zeros(0, np.int64)
        if cutting.tally(points, nodes, self.asked, self.edges, tally, side):
            inside = np.flatnonzero(side == cutting.SIDES)
        question = self.asked.of_node[nodes]
        value = points[inside, self.asked.column[question[inside]]] if len(inside) else np.zeros(0)
        order = np.lexsort((value, question[inside]))
        rows = inside[order]
        first = np.ones(len(rows), np.bool_)
        first[1:] = (np.diff(question[rows]) != 0) | (np.diff(value[order]) != 0)
        starts = np.flatnonzero(first)
        slot = np.where(side < 0, -1, cutting.SIDES * question + side)
        slot[rows] = cutting.SIDES * questions + np.cumsum(first) - 1
        some = len(starts) > 0
        empty = np.zeros((0, columns))
        return PassCount(
            count=tally.rows,
            least=tally.least,
            most=tally.most,
            bins=tally.bins,
            question=question[rows][starts],
            value=value[order][starts],
            times=np.diff(np.append(starts, len(rows))).astype(np.int64),
            least_inside=np.minimum.reduceat(points[rows], starts, axis=0) if some else empty,
            most_inside=np.maximum.reduceat(points[rows], starts, axis=0) if some else empty,
            triplets=tuple(
                count_codes(slot, code, size, cutting.SIDES * questions + len(starts))
                for code, size in zip(codes, self.sizes, strict=True)
            ),
        )

    def _nothing(self) -> PassCount:
        questions, columns = len(self.asked.column), self.edges.shape[0]
        sides = (questions, cutting.SIDES, columns)
        return PassCount(
            count=np.zeros((questions, cutting.SIDES), np.int64),
            least=np.full(sides, np.inf),
            most=np.full(sides, -np.inf),
            bins=np.zeros((*sides, self.bins), np.int32),
            question=np.zeros(0, np.int64),
            value=np.zeros(0),
            times=np.zeros(0, np.int64),
            least_inside=np.zeros((0, columns)),
            most_inside=np.zeros((0, columns)),
            triplets=tuple(np.zeros((0, 3), np.int64) for _ in self.sizes),
        )


def count_codes(slot: Integers, codes: Codes | Integers, size: int, slots: int) -> Integers:
    """Count rows by slot and code, as sorted triplets; neither may be negative in a row that is counted."""
    counted = (slot >= 0) & (codes >= 0)
    keys = slot[counted] * size + codes[counted]
    if slots * size <= _DENSE:
        times = np.bincount(keys, minlength=1)
        distinct = np.flatnonzero(times)
        times = times[distinct]
    else:
        distinct, times = np.unique(keys, return_counts=True)
    group, code = np.divmod(distinct, max(size, 1))
    return np.column_stack([group, code, times]).astype(np.int64)
