"""Special uniques: rows alone in few columns, and how much that gives them away."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.metrics._subsets import distinct_rows, walk_subsets
from mahrem.types import Floats, Integers, Sizes


@dataclass(frozen=True, kw_only=True)
class Suda:
    """Scores of every row; rows that are not alone in all columns score 0."""

    scores: Floats = field(repr=False)  # (n,) SUDA scores
    dis: Floats = field(repr=False)  # (n,) DIS-SUDA scores, 0 to 1
    minimal: Sizes  # (d,) minimal sample uniques of 1, 2, … columns
    contributions: Floats  # (d,) per cent of all scores that come from uniques with this column
    uniques: int  # rows alone in all columns
    complete: bool  # False: time was up, scores are lower bounds


def suda(
    codes: Integers, *, fraction: float = 0.01, most: int | None = None, seconds: float | None = None
) -> Suda:
    """Find all minimal sample uniques and score rows by them. Smaller scores are safer.

    A minimal sample unique is a set of columns in which a row is alone, while it is alone in none of the
    set's subsets. One of m columns out of d scores ``(d - m)!``; a row's score is the sum over its own.
    The DIS score turns scores into a chance of being a population unique, given the share of the population
    in the table. Both as sdcMicro's ``suda2``, whose missing values are left out of every set, while here a
    code of -1 is a value like any other; its count of uniques leaves out rows whose hashes collide.

    Args:
        codes: ``(n, d)`` whole numbers, equal where values are equal.
        fraction: Share of the population that is in the table, above 0 and below 1.
        most: The largest sets looked for; all if None.
        seconds: When to stop with what was found.

    Guarantees:
        - Every set counted is minimal; with ``most=None`` and enough time, all are.
        - A row has a score exactly when no other row equals it (``most=None``, enough time).

    References:
        Manning, Haglin, Keane: A recursive search algorithm for statistical disclosure assessment, 2008.
        Elliot, Manning, Mayes, Gurd, Bane: SUDA: a program for detecting special uniques, 2005.

    Example:
        >>> result = suda(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]]))
        >>> result.scores.tolist(), result.minimal.tolist()
        ([1.0, 1.0, 1.0, 1.0, 2.0], [1, 3, 1])
    """
    check.between(0, 1, fraction=fraction)
    if fraction in {0.0, 1.0}:
        raise InvalidParameter(f"fraction={fraction!r} must be above 0 and below 1")
    if most is not None:
        check.at_least(1, most=check.whole(most=most))
    rows = distinct_rows(codes)
    columns = len(rows.choices)
    scores = np.zeros(len(rows.times))
    minimal = np.zeros(columns, np.int64)
    shares = np.zeros(columns)
    complete = True
    for subset in walk_subsets(rows, most=most, seconds=seconds):
        complete = subset.complete
        weight = float(math.factorial(columns - len(subset.columns)))
        scores[subset.fresh] += weight
        minimal[len(subset.columns) - 1] += len(subset.fresh)
        shares[list(subset.columns)] += weight * len(subset.fresh)
    alone = int(np.count_nonzero(rows.times == 1))
    pairs = 2 * int(np.count_nonzero(rows.times == 2))
    total = float(scores.sum())
    dis = _dis(scores, alone, pairs, columns, fraction)
    return Suda(
        scores=scores[rows.place],
        dis=dis[rows.place],
        minimal=minimal,
        contributions=100.0 * shares / total if total > 0 else shares,
        uniques=alone,
        complete=complete,
    )


def _dis(scores: Floats, alone: int, pairs: int, columns: int, fraction: float) -> Floats:
    """Spread the chance that a unique is one in the population over rows, by the weight of their scores."""
    scored = scores > 0
    chances = np.zeros(len(scores))
    if not scored.any():
        return chances
    chance = alone * fraction / (alone * fraction + pairs * (1.0 - fraction))
    # weights over the largest score: powers of factorials would overflow
    weights = (scores[scored] / scores.max()) ** (1.0 + (8.0 - columns) / 20.0)
    adjusted = weights * float((1.0 / weights).sum())
    chances[scored] = 1.0 / (1.0 + (alone / chance - alone) / adjusted)
    return chances
