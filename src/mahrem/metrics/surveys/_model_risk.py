"""Risk by a model of the table: what independence, or pairs of columns, expect in each combination."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.metrics._subsets import distinct_rows
from mahrem.types import Floats, Integers

CELLS = 5_000_000  # combinations of values that a model with pairs may have
_ROUNDS, _CLOSE = 200, 1e-8


@dataclass(frozen=True)
class ModelRisk:
    """What a log-linear model says of records that are alone in the sample."""

    uniques: int  # records that are alone
    population_uniques: float  # expected to be alone in the population too
    matches: float  # expected right guesses among them, one guess each
    pairs: bool  # pairs of columns were in the model


def model_risk(codes: Integers, fraction: float, *, pairs: bool = True) -> ModelRisk:
    """Estimate risk by a Poisson log-linear model of all combinations. Smaller is safer.

    Args:
        codes: ``(n, d)`` whole numbers, equal where values are equal.
        fraction: Share of the population that is in the table, above 0 and below 1.
        pairs: Let every pair of columns have its say, else columns alone.

    Raises:
        InvalidParameter: If there are too many combinations for a model with pairs.

    Guarantees:
        - ``0 <= population_uniques <= matches <= uniques``.

    References:
        Skinner, Shlomo: Assessing identification risk in survey microdata using log-linear models, 2008; tau1
        and tau2 there.

    Example:
        >>> model_risk(np.array([[0, 0], [0, 0], [1, 1]]), 0.5, pairs=False).uniques
        1
    """
    check.between(0, 1, fraction=fraction)
    if fraction in {0.0, 1.0}:
        raise InvalidParameter(f"fraction={fraction!r} must be above 0 and below 1")
    rows = distinct_rows(codes)
    if len(rows.choices) < 3:
        pairs = False  # a pair of two columns would be the table itself
    if pairs and prod(rows.choices) > CELLS:
        raise InvalidParameter(
            f"pairs=True needs at most {CELLS:,} combinations of values; leave columns out or say pairs=False"
        )
    expected = (
        _fitted(rows.codes, rows.times, rows.choices) if pairs else _independent(rows.codes, rows.times)
    )
    alone = rows.times == 1
    unseen = expected[alone] * (1 - fraction) / fraction  # people of the same kind outside the sample
    return ModelRisk(
        uniques=int(alone.sum()),
        population_uniques=float(np.exp(-unseen).sum()),
        matches=float(np.where(unseen > 1e-12, -np.expm1(-unseen) / np.maximum(unseen, 1e-12), 1.0).sum()),
        pairs=pairs,
    )


def _independent(codes: Integers, times: Integers) -> Floats:
    total = float(times.sum())
    expected = np.full(codes.shape[1], total)
    for column in codes:
        expected *= (np.bincount(column, weights=times) / total)[column]
    return expected


def _fitted(codes: Integers, times: Integers, choices: tuple[int, ...]) -> Floats:
    """Fit all pairs of columns by iterative proportional scaling."""
    table = np.zeros(choices)
    np.add.at(table, tuple(codes), times)
    fitted = np.full(choices, float(times.sum()) / prod(choices))
    margins = list(combinations(range(len(choices)), 2))
    for _ in range(_ROUNDS):
        moved = 0.0
        for kept in margins:
            others = tuple(axis for axis in range(len(choices)) if axis not in kept)
            wanted, now = table.sum(axis=others, keepdims=True), fitted.sum(axis=others, keepdims=True)
            moved = max(moved, float(np.abs(wanted - now).max()))
            fitted *= _ratio(wanted, now)
        if moved < _CLOSE * max(1.0, float(times.sum())):
            break
    return np.asarray(fitted[tuple(codes)])


def _ratio(wanted: NDArray[np.float64], now: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(wanted, now, out=np.zeros_like(wanted), where=now > 0)
