"""A first pass over a distributed table: patterns of missing values, sensitive values, and edges for bins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mahrem.spark._tally import Piece, add_up, count_codes, missing_patterns, pack_arrays, unpack_arrays
from mahrem.types import Floats, Integers

_EDGES = 8_192  # edges of a column, at most
_FROM_EACH = 2_048  # edges that one worker names
_FROM_PIECE = 4_096  # rows of a piece that edges are drawn from


@dataclass(frozen=True)
class TableGlance:
    """What is known of a table after one look, or of the part of it that one worker has."""

    patterns: NDArray[np.uint8]  # (m, bytes) packed bits, ascending
    sizes: Integers  # (m,) rows of each pattern
    triplets: tuple[Integers, ...]  # (t, 3) sorted pattern, code, times; one array for each sensitive column
    quantiles: Floats  # (d, w) some numbers of each column
    weights: Floats  # (w,) rows that each stands for

    def pack(self) -> bytes:
        """Write everything as one piece of bytes."""
        return pack_arrays(self)

    @staticmethod
    def unpack(data: bytes) -> TableGlance:
        """Read what :meth:`pack` wrote."""
        return TableGlance(**unpack_arrays(data))

    @staticmethod
    def merged(parts: Iterable[TableGlance]) -> TableGlance:
        """Add up what several workers saw; the order does not matter for what is counted."""
        glances = list(parts)
        patterns, place = np.unique(
            np.concatenate([glance.patterns for glance in glances]), axis=0, return_inverse=True
        )
        place = place.reshape(-1)
        sizes = np.zeros(len(patterns), np.int64)
        np.add.at(sizes, place, np.concatenate([glance.sizes for glance in glances]))
        begins = np.cumsum([0, *(len(glance.sizes) for glance in glances)])
        triplets = [
            [
                np.column_stack([place[begin + glance.triplets[i][:, 0]], glance.triplets[i][:, 1:]])
                for glance, begin in zip(glances, begins, strict=False)
            ]
            for i in range(len(glances[0].triplets))
        ]
        return TableGlance(
            patterns,
            sizes,
            tuple(add_up(np.concatenate(counted)) for counted in triplets),
            np.concatenate([glance.quantiles for glance in glances], axis=1),
            np.concatenate([glance.weights for glance in glances]),
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
        for place, numbers in enumerate(edges):
            together[place, : len(numbers)] = numbers
        return together


@dataclass(frozen=True)
class GlanceTaker:
    """Looks at the pieces of one worker; gives a packed glance."""

    columns: int
    sizes: tuple[int, ...]  # how many values each sensitive column knows

    def __call__(self, pieces: Iterator[Piece]) -> bytes:
        """Count the rows of one worker."""
        return self.seen(pieces).pack()

    def nothing(self) -> TableGlance:
        """Give what is known without a row."""
        return TableGlance(
            np.zeros((0, -(-self.columns // 8)), np.uint8),
            np.zeros(0, np.int64),
            (np.zeros((0, 3), np.int64),) * len(self.sizes),
            np.zeros((self.columns, 0)),
            np.zeros(0),
        )

    def seen(self, pieces: Iterator[Piece]) -> TableGlance:
        """Look at some rows."""
        glances = [self.nothing()]
        for points, codes in pieces:
            patterns, of_row = missing_patterns(points)
            sizes = np.bincount(of_row, minlength=len(patterns))
            triplets = tuple(
                count_codes(of_row, code, size, len(patterns))
                for code, size in zip(codes, self.sizes, strict=True)
            )
            drawn = points[:: max(1, len(points) // _FROM_PIECE)].T
            weights = np.full(drawn.shape[1], len(points) / drawn.shape[1])
            glances.append(TableGlance(patterns, sizes, triplets, drawn, weights))
        whole = TableGlance.merged(glances)
        drawn = np.sort(whole.quantiles, axis=1)
        taken = np.linspace(0, max(drawn.shape[1] - 1, 0), min(drawn.shape[1], _FROM_EACH)).astype(np.int64)
        weights = np.full(len(taken), whole.sizes.sum() / max(len(taken), 1))
        return TableGlance(whole.patterns, whole.sizes, whole.triplets, drawn[:, taken], weights)
