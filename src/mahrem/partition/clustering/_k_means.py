"""κ-means: Lloyd's algorithm from drawn centres."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from mahrem import check
from mahrem.arrays import averaging
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.types import Floats, Integers, Labels, Points

Start = Literal["k-means++", "forgy"]


def k_means(
    points: Points,
    kappa: int,
    *,
    start: Start = "k-means++",
    rounds: int = 100,
    rng: np.random.Generator | int | None = None,
) -> tuple[Labels, Floats]:
    """Give every row the nearest of ``kappa`` centres, each the mean of its rows.

    Args:
        points: ``(n, d)`` finite numbers.
        kappa: How many centres, from 1 to n.
        start: ``forgy`` draws rows, all equally likely; ``k-means++`` draws rows that lie apart.
        rounds: At most so many.
        rng: A generator or a seed.

    Returns:
        The label of every row, ``0 .. kappa-1``, and the centres ``(kappa, d)``. A centre may have no rows,
        as where rows are equal.

    Raises:
        InvalidParameter: If there are more centres than rows, or a setting does not fit.
        InvalidInput: If a number is not finite.

    Guarantees:
        - The squared error is not above that of the centres drawn.
        - When it stops before its last round, every row has its nearest centre; of equal ones the first.

    References:
        Lloyd: Least squares quantization in PCM, 1982.
        Arthur, Vassilvitskii: k-means++, the advantages of careful seeding, 2007.

    Example:
        >>> labels, centres = k_means(np.array([[0.0], [0.1], [0.9], [1.0]]), 2, rng=1)
        >>> sorted(centres.ravel().round(2).tolist())
        [0.05, 0.95]
    """
    check.at_least(1, rounds=rounds)
    if not np.isfinite(points).all():
        raise InvalidInput("points hold numbers that are not finite; missing values need a place first")
    own = np.array(points, np.float64, order="C")
    chosen = draw_centres(own, kappa, start, np.random.default_rng(rng))
    columns = np.ascontiguousarray(own[chosen].T)
    labels = np.full(len(own), -1)
    averaging.lloyd(own, columns, check.whole(rounds=rounds), labels)
    return labels, columns.T.copy()


def draw_centres(points: Points, kappa: int, start: Start, rng: np.random.Generator) -> Integers:
    """Draw ``kappa`` rows to start from.

    Raises:
        InvalidParameter: If there are more centres than rows, or the start is not known.
    """
    check.one_of(get_args(Start), start=start)
    check.at_least(1, kappa=check.whole(kappa=kappa))
    if kappa > len(points):
        raise InvalidParameter(f"kappa={kappa} must be at most rows={len(points)}; ask for fewer centres")
    if start == "forgy":
        return rng.choice(len(points), kappa, replace=False)
    chosen = np.empty(kappa, np.int64)
    averaging.spread_centres(points, rng.random(kappa), chosen)
    return chosen
