"""A first pass over a distributed table: patterns of missing values, sensitive values, and edges for bins."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mahrem.engines._spark_tally import Piece, add_up, count_codes, missing_patterns
from mahrem.types import Floats, Integers

__all__ = ["Glance", "Look"]

_EDGES = 8_192  # edges of a column, at most
_FROM_EACH = 2_048  # edges that one worker names
_FROM_PIECE = 4_096  # rows of a piece that edges are drawn from


@dataclass(frozen=True)
class Glance:
    """What is known of a table after one look, or of the part of it that one worker has."""

    patterns: NDArray[np.uint8]  # (m, bytes) packed bits, ascending
    sizes: Integers  # (m,) rows of each pattern
    triplets: tuple[Integers, ...]  # (t, 3) sorted pattern, code, times; one array for each sensitive column
    quantiles: Floats  # (d, w) some numbers of each column
    weights: Floats  # (w,) rows that each stands for

    def pack(self) -> bytes:
        """Write everything as one piece of bytes."""
        room = io.BytesIO()
        parts = {name: getattr(self, name) for name in _ARRAYS}
        parts |= {f"triplets{place}": one for place, one in enumerate(self.triplets)}
        np.savez(room, **parts)
        return room.getvalue()

    @staticmethod
    def unpack(data: bytes) -> Glance:
        """Read what :meth:`pack` wrote."""
        with np.load(io.BytesIO(data), allow_pickle=False) as parts:
            triplets = tuple(parts[f"triplets{i}"] for i in range(len(parts.files) - len(_ARRAYS)))
            return Glance(triplets=triplets, **{name: parts[name] for name in _ARRAYS})

    @staticmethod
    def merged(parts: Iterable[Glance]) -> Glance:
        """Add up what several workers saw; the order does not matter for what is counted."""
        found = list(parts)
        patterns, place = np.unique(
            np.concatenate([one.patterns for one in found]), axis=0, return_inverse=True
        )
        place = place.reshape(-1)
        sizes = np.zeros(len(patterns), np.int64)
        np.add.at(sizes, place, np.concatenate([one.sizes for one in found]))
        begins = np.cumsum([0, *(len(one.sizes) for one in found)])
        triplets = [
            [
                np.column_stack([place[begin + one.triplets[i][:, 0]], one.triplets[i][:, 1:]])
                for one, begin in zip(found, begins, strict=False)
            ]
            for i in range(len(found[0].triplets))
        ]
        return Glance(
            patterns,
            sizes,
            tuple(add_up(np.concatenate(one)) for one in triplets),
            np.concatenate([one.quantiles for one in found], axis=1),
            np.concatenate([one.weights for one in found]),
        )

    def edges(self) -> Floats:
        """Give numbers that cut every column into about equal shares; each ends with infinity."""
        edges = []
        for value in self.quantiles:
            order = np.argsort(value, kind="stable")
            ordered, running = value[order], np.cumsum(self.weights[order])
            wanted = np.linspace(0, running[-1], _EDGES) if len(running) else np.zeros(0)
            edges.append(np.unique(ordered[np.minimum(np.searchsorted(running, wanted), len(value) - 1)]))
        together = np.full((len(edges), max(map(len, edges)) + 1), np.inf)
        for place, one in enumerate(edges):
            together[place, : len(one)] = one
        return together


_ARRAYS = ("patterns", "sizes", "quantiles", "weights")


@dataclass(frozen=True)
class Look:
    """Looks at the pieces of one worker; gives a packed glance."""

    columns: int
    sizes: tuple[int, ...]  # how many values each sensitive column knows

    def __call__(self, pieces: Iterator[Piece]) -> bytes:
        """Count the rows of one worker."""
        return self.seen(pieces).pack()

    def nothing(self) -> Glance:
        """Give what is known without a row."""
        return Glance(
            np.zeros((0, -(-self.columns // 8)), np.uint8),
            np.zeros(0, np.int64),
            (np.zeros((0, 3), np.int64),) * len(self.sizes),
            np.zeros((self.columns, 0)),
            np.zeros(0),
        )

    def seen(self, pieces: Iterator[Piece]) -> Glance:
        """Look at some rows."""
        seen = [self.nothing()]
        for points, codes in pieces:
            patterns, of_row = missing_patterns(points)
            sizes = np.bincount(of_row, minlength=len(patterns))
            triplets = tuple(
                count_codes(of_row, code, size, len(patterns))
                for code, size in zip(codes, self.sizes, strict=True)
            )
            drawn = points[:: max(1, len(points) // _FROM_PIECE)].T
            weights = np.full(drawn.shape[1], len(points) / drawn.shape[1])
            seen.append(Glance(patterns, sizes, triplets, drawn, weights))
        found = Glance.merged(seen)
        drawn = np.sort(found.quantiles, axis=1)
        taken = np.linspace(0, max(drawn.shape[1] - 1, 0), min(drawn.shape[1], _FROM_EACH)).astype(np.int64)
        weights = np.full(len(taken), found.sizes.sum() / max(len(taken), 1))
        return Glance(found.patterns, found.sizes, found.triplets, drawn[:, taken], weights)
