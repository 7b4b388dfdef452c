"""Rounds that count what a model describes worst: tables of two and three columns, selected privately."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from mahrem.learning.synthesis._clique_growth import CountedTables
from mahrem.learning.synthesis._marginal_plan import UNIT, RoundPlan
from mahrem.learning.synthesis._population import Population
from mahrem.types import Integers

HALF_NORMAL = math.sqrt(2 / math.pi)
WITH_TARGET = 2  # times that a table counts which holds the target
_MOST_CANDIDATES = 2_000
_MOST_CELLS = 2_000_000  # of tables that are looked at together


def count_farthest(
    population: Population, tables: CountedTables, rounds: Sequence[RoundPlan], target: int | None
) -> dict[tuple[int, ...], float]:
    """In every round select the tables that are farthest off, count them with noise, and learn them.

    A table is scored by the L1 distance of its counts from those the model expects, less what noise would
    make of it. Gives the deviation of the noise on each table that was counted.

    Args:
        population: The model; it learns.
        tables: Counts of the rows; private.
        rounds: What each round may cost.
        target: A column whose tables count more.

    Guarantees:
        - The data is touched by selections and noisy counts alone, no more often than ``rounds`` says.
    """
    counted: dict[tuple[int, ...], float] = {}
    for one in rounds:
        # The L1 distance of two tables is at most twice the rows: noise beyond that leaves nothing to gain.
        most = max(2 * population.total / (HALF_NORMAL * one.noise.scale), 4.0)
        candidates = _candidates(tables.sizes, most, target)
        scores = _scores(population, tables, candidates, one.noise.scale)
        if target is not None:
            scores *= np.array([WITH_TARGET if target in columns else 1 for columns in candidates])
        measured = []
        for _ in range(min(one.tables, len(candidates))):
            place = one.selection(scores)
            columns = candidates.pop(place)
            scores = np.delete(scores, place)
            measured.append(tables.noisy(columns, one.noise, one.noise.scale))
            counted[columns] = one.noise.scale
        population.learn(measured)
    population.settle()
    return counted


def _candidates(sizes: Sequence[int], most: float, target: int | None) -> list[tuple[int, ...]]:
    """List pairs and triples that may stand out from noise, those with fewest cells first; all is public."""

    def cells(columns: tuple[int, ...]) -> int:
        return math.prod(sizes[column] for column in columns)

    pairs, triples = (list(combinations(range(len(sizes)), width)) for width in (2, 3))
    small = [one for one in triples if cells(one) <= most]
    small.sort(key=lambda one: (target is not None and target not in one, cells(one)))
    room = max(0, _MOST_CANDIDATES - len(pairs))
    return [*([one for one in pairs if cells(one) <= most] or pairs), *small[:room]]


def _scores(
    population: Population, tables: CountedTables, candidates: list[tuple[int, ...]], deviation: float
) -> Integers:
    """Score tables exactly, in whole numbers: a row moves a score by one :data:`UNIT`."""
    scores: list[int] = []
    for part in _parts(candidates, tables.sizes):
        tables.count_all(part)
        for columns, now in zip(part, population.all_counts(part), strict=True):
            counts, expected = tables.counts(columns), np.rint(now * UNIT).astype(np.int64)
            noise = HALF_NORMAL * deviation * counts.size
            scores.append(int(np.abs(counts * UNIT - expected).sum()) - round(noise * UNIT))
    return np.array(scores, dtype=np.int64)


def _parts(candidates: list[tuple[int, ...]], sizes: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Part tables so that the counts of a part take little memory."""
    part: list[tuple[int, ...]] = []
    held = 0
    for one in candidates:
        held += math.prod(sizes[column] for column in one)
        if part and held > _MOST_CELLS:
            yield part
            part, held = [], math.prod(sizes[column] for column in one)
        part.append(one)
    yield part
