"""Weighted rows that stand for a log-linear model of noisy tables, loops and all.

The logarithm of a row's chance is a sum over tables: those of the tree the rows were drawn from, and those
that were counted later. Weights follow when a table is learnt; when few rows carry most of the weight, rows
are taken by weight and each cell is drawn anew from the model. Everything here is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mahrem.arrays.counting import Heights, redraw_cells, round_weights, sweep_tables
from mahrem.learning.synthesis._byte_rows import ByteRows, laid_out
from mahrem.learning.synthesis._clique_tree import Measured
from mahrem.learning.synthesis._drawings import resampled
from mahrem.types import Floats, Integers

SWEEPS, LAST_SWEEPS = 6, 10
STEP = 0.5  # how far a sweep goes towards a table: tables disagree, and the next one comes
FARTHEST = math.log(4.0)  # a step makes a row no more often or less often than this
EVEN = 0.6  # share of the rows that the weights must be worth
FAINT = 0.02  # signal that a table is given credit for at least, in units of its noise
UNLIKELY = 1e-9  # chance of what a tree takes for impossible
WEIGHED, FEWEST, MOST = 12.0, 20_000, 60_000  # rows, for each that is described, and in all
WEIGHED_CELLS = 1_200_000  # of all columns: where they are few, more rows stand for the model
SPREAD_ROWS = 1_000  # fewer rows are drawn one by one
SPARE = 16  # rows to choose from, for each that is drawn
ROUNDED = 40_000_000  # cells of rows in tables that are looked at when weights are rounded


@dataclass
class _Learnt:
    """A noisy table, and what the model adds for it."""

    counts: Floats
    variance: Floats  # of each cell
    heights: Floats
    pull: float = 1.0  # towards adding nothing: the inverse of how far the table lies off, as variance
    fresh: bool = True


class Population:
    """Rows with weights, and the model they stand for.

    Args:
        sizes: Groups of each column.
        rows: ``(n, d)`` groups, drawn from ``base``.
        total: What the weights add up to.
        base: Logarithms of tables that add up to the chance of a row, by their columns.

    Guarantees:
        - Equal input gives equal output.
        - A cell that noise hides hardly moves; one that stands out from it comes to its count.

    References:
        Deming, Stephan, 1940 (fitting tables to margins); Geman, Geman, 1984 (Gibbs sampling); Efron, Morris,
        1973 (how far a table may move is read off the table itself); McKenna et al.: AIM, 2022.

    Example:
        >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 500)
        >>> population = Population((2, 2), rows, 100.0, {(0,): np.zeros(2), (1,): np.zeros(2)})
        >>> population.learn([Measured((0, 1), np.array([[40.0, 10.0], [10.0, 40.0]]), 0.1)])
        >>> population.counts((0, 1)).round().tolist()
        [[40.0, 10.0], [10.0, 40.0]]
    """

    def __init__(
        self, sizes: Sequence[int], rows: Integers, total: float, base: Mapping[tuple[int, ...], Floats]
    ) -> None:
        self.sizes, self.total, self.base = tuple(sizes), total, dict(base)
        self._rows = ByteRows.of(rows, sizes)
        self.weights: Floats = np.full(len(rows), total / len(rows))
        self._learnt: dict[tuple[int, ...], _Learnt] = {}
        self._rng = np.random.default_rng(0)  # which table comes last must not always be the same

    @property
    def rows(self) -> Integers:
        """The ``(n, d)`` groups."""
        return self._rows.whole()

    def counts(self, columns: Sequence[int]) -> Floats:
        """Say what the model expects of a table."""
        return self.all_counts([columns])[0]

    def all_counts(self, sets: Sequence[Sequence[int]]) -> list[Floats]:
        """Say what the model expects of many tables."""
        return self._rows.counts(sets, self.weights)

    def believe(self, measured: Iterable[Measured]) -> None:
        """Take in tables that the rows were drawn from: weights stay near them, and are not moved yet."""
        for one in measured:
            self._learnt[self._take(one)].fresh = False

    def learn(self, measured: Iterable[Measured]) -> None:
        """Take in noisy tables and move weights towards them; rows are renewed where that leaves few."""
        fresh = {one: table for one in map(self._take, measured) if (table := self._learnt[one]).fresh}
        for table, now in zip(fresh.values(), self.all_counts(list(fresh)), strict=True):
            noise = float(table.variance.sum())
            signal = max(float(((table.counts - now.ravel()) ** 2).sum()) - noise, FAINT * noise)
            table.pull, table.fresh = max(float((now**2).sum()) / signal, 1e-3), False
        self._sweep(SWEEPS)
        if self.weights.sum() ** 2 < EVEN * len(self.weights) * (self.weights**2).sum():
            self._renew()

    def settle(self) -> None:
        """Renew all rows and let weights come to rest."""
        self._sweep(LAST_SWEEPS)
        self._renew()
        self._sweep(LAST_SWEEPS)

    def _take(self, one: Measured) -> tuple[int, ...]:
        """Take in a table, and give its columns; what was counted before is averaged by its noise."""
        order = sorted(range(len(one.columns)), key=one.columns.__getitem__)
        columns = tuple(one.columns[axis] for axis in order)
        counts = np.asarray(one.counts, dtype=np.float64).transpose(order).ravel()
        deviation = np.broadcast_to(one.deviation, np.shape(one.counts)).transpose(order).ravel()
        variance, table = deviation.astype(np.float64) ** 2, self._learnt.get(columns)
        if table is None:
            self._learnt[columns] = _Learnt(counts, variance, np.zeros(len(counts)))
        else:
            both = table.variance + variance
            table.counts = (table.counts * variance + counts * table.variance) / both
            table.variance = table.variance * variance / both
        return columns

    def _sweep(self, times: int) -> None:
        """Move weights to the likeliest ones: noise is normal, and so is what a table adds."""
        learnt = list(self._learnt.values())
        if not learnt:
            return
        tables = laid_out(list(self._learnt), self.sizes)
        known = Heights(
            counts=np.concatenate([one.counts for one in learnt]),
            variance=np.concatenate([one.variance for one in learnt]),
            heights=np.concatenate([one.heights for one in learnt]),
            pull=np.array([one.pull for one in learnt]),
        )
        for _ in range(times):
            order = self._rng.permutation(len(learnt)).astype(np.int64)
            sweep_tables(self._rows.values, self.weights, tables, known, order, STEP, FARTHEST)
            self.weights *= self.total / self.weights.sum()
        for one, heights in zip(learnt, np.split(known.heights, tables.starts[1:-1]), strict=True):
            one.heights = heights

    def _renew(self) -> None:
        """Take rows by weight and draw each cell anew, given the rest of its row."""
        taken = resampled(np.log(np.maximum(self.weights, 1e-300)), len(self.weights), self._rng)
        self._rows = self._rows.taken(taken)
        heights = self._folded()
        redraw_cells(
            self._rows.values,
            np.asarray(self.sizes, dtype=np.int64),
            laid_out(list(heights), self.sizes),
            np.concatenate([one.ravel() for one in heights.values()]),
            self._rng.permutation(len(self.sizes)).astype(np.int64),
            self._rng.random(self._rows.values.shape),
        )
        self.weights = np.full(len(self.weights), self.total / len(self.weights))

    def _folded(self) -> dict[tuple[int, ...], Floats]:
        """Give the tables that make a row likely; one whose columns another one holds is added to that."""
        folded: dict[tuple[int, ...], Floats] = {}
        every = [*self.base.items(), *((one, table.heights) for one, table in self._learnt.items())]
        for given, heights in sorted(every, key=lambda one: -len(one[0])):
            columns = tuple(sorted(given))
            table = heights.reshape([self.sizes[column] for column in given])
            table = table.transpose([given.index(column) for column in columns])
            home = next((one for one in folded if set(columns) <= set(one)), columns)
            shape = [self.sizes[column] if column in columns else 1 for column in home]
            folded[home] = folded.get(home, 0.0) + table.reshape(shape)
        return folded


def rows_to_weigh(total: float, columns: int) -> int:
    """Say how many rows stand well for a table of ``total``: chance in them is an error beside the noise."""
    return int(min(max(WEIGHED * total, FEWEST), max(MOST, WEIGHED_CELLS / columns)))


def draw_rows(
    rows: Integers, weights: Floats, sizes: Sequence[int], count: int, rng: np.random.Generator
) -> Integers:
    """Draw rows by weight; many are drawn so that tables of two and three columns come out as weighted.

    Args:
        rows: ``(n, d)`` groups.
        weights: ``(n,)`` not negative.
        sizes: Groups of each column.
        count: How many rows.
        rng: Draws.

    Guarantees:
        - Exactly ``count`` rows, in random order; none has weight zero.

    Example:
        >>> rows = np.array([[0, 0], [1, 1]])
        >>> draw_rows(rows, np.array([1.0, 3.0]), (2, 2), 2000, np.random.default_rng(0)).sum(0).tolist()
        [1500, 1500]
    """
    with np.errstate(divide="ignore"):
        likely = np.log(weights)
    if count < SPREAD_ROWS or rows.shape[1] < 2:
        return rows[resampled(likely, count, rng)]
    if len(rows) > SPARE * count:
        rows = rows[resampled(likely, SPARE * count, rng)]
        weights = np.ones(len(rows))
    share = weights * (count / weights.sum())
    tables = laid_out(_tables_to_keep(sizes, len(rows)), sizes)
    times = np.zeros(len(rows), dtype=np.int64)
    round_weights(
        np.ascontiguousarray(rows),
        share,
        tables,
        rng.permutation(len(rows)).astype(np.int64),
        np.zeros(tables.starts[-1]),
        times,
    )
    taken = rng.permutation(np.repeat(np.arange(len(rows)), times))[:count]
    if len(taken) < count:
        taken = np.append(taken, resampled(np.log(np.maximum(share, 1e-300)), count - len(taken), rng))
    drawn: Integers = rows[rng.permutation(taken)]
    return drawn


def _tables_to_keep(sizes: Sequence[int], rows: int) -> list[tuple[int, ...]]:
    """List all pairs and as many triples, those with fewest cells first, as can be looked at."""
    pairs, triples = (list(combinations(range(len(sizes)), width)) for width in (2, 3))
    triples.sort(key=lambda one: math.prod(sizes[column] for column in one))
    return [*pairs, *triples[: max(0, ROUNDED // max(rows, 1) - len(pairs))]]
