"""Rows drawn from a tree, weighted until they agree with every noisy table that was counted.

A tree cannot close loops: of three columns that hang together in pairs it keeps two pairs. Weights on many
rows drawn from it can, and so can be fitted to all pairs at once. Everything here is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mahrem.learning.synthesis._clique_tree import Measured
from mahrem.types import Floats, Integers

ROUNDS = 40
STEP = 0.5  # how far a round goes towards a table: they disagree, and the next one comes
FARTHEST = 4.0  # times that one step may make a row heavier or lighter


def rake(rows: Integers, sizes: Sequence[int], measured: Sequence[Measured], total: float) -> Floats:
    """Find weights under which rows have the counts that were measured, as far as noise lets them be known.

    Args:
        rows: ``(n, d)`` groups.
        sizes: Groups of each column.
        measured: Noisy tables over some of the columns.
        total: What the weights add up to.

    Guarantees:
        - Equal input gives equal output.
        - A cell that noise hides hardly moves; one that stands out from it comes to its count.

    References:
        Deming, Stephan: On a least squares adjustment of a sampled frequency table when the expected marginal
        totals are known, 1940. Zhang et al.: PrivSyn, 2021 (rows changed until noisy marginals fit).

    Example:
        >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> said = Measured((0, 1), np.array([[40.0, 10.0], [10.0, 40.0]]), 0.1)
        >>> rake(rows, (2, 2), [said], 100.0).round().tolist()
        [40.0, 10.0, 10.0, 40.0]
    """
    weights = np.full(len(rows), total / len(rows))
    tables = [(_cells(rows, one.columns, sizes), *_table(one)) for one in measured]
    order = np.random.default_rng(0)  # which table comes last in a round must not always be the same
    for _ in range(ROUNDS):
        for place in order.permutation(len(tables)):
            cells, wanted, variance = tables[place]
            now = np.bincount(cells, weights, len(wanted))
            trust = now**2 / (now**2 + variance)  # a count as large as its noise says little
            ratio = np.maximum(wanted, 0.1) / np.maximum(now, 0.1)
            step = np.clip(ratio ** (STEP * trust), 1 / FARTHEST, FARTHEST)
            weights *= step[cells]
        weights *= total / weights.sum()
    return weights


def _cells(rows: Integers, columns: Sequence[int], sizes: Sequence[int]) -> Integers:
    flat = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        flat = flat * sizes[column] + rows[:, column]
    return flat.astype(np.int32 if math.prod(sizes[column] for column in columns) < 1 << 31 else np.int64)


def _table(one: Measured) -> tuple[Floats, float]:
    return np.maximum(np.asarray(one.counts, dtype=np.float64).ravel(), 0.0), float(one.deviation) ** 2
