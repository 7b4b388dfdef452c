"""Squared error of microaggregation: what the means of classes leave out."""

from __future__ import annotations

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.types import Floats, Labels, Points


def information_loss(points: Points, labels: Labels) -> float:
    """Give SSE/SST, the share of the variation that class means lose. Smaller is better.

    Range: from 0 (every row is its class's mean) to 1 (one class); 0 when all rows are equal. A suppressed
    row loses all that it adds to the variation. The literature takes columns :func:`standardised` and
    prints 100 times this.

    Args:
        points: ``(n, d)`` the rows.
        labels: ``(n,)`` class of each row; -1 = suppressed.

    Raises:
        InvalidParameter: If there are not as many labels as rows.

    References:
        Domingo-Ferrer, Mateo-Sanz: Practical data-oriented microaggregation, 2002.

    Example:
        >>> information_loss(np.array([[0.0], [2.0], [8.0], [10.0]]), np.array([0, 0, 1, 1]))
        0.058...
    """
    if len(labels) != len(points):
        raise InvalidParameter(f"labels={len(labels)} must be as many as the rows, {len(points)}")
    if points.size == 0:
        return 0.0
    kept = labels >= 0
    sizes = np.maximum(np.bincount(labels[kept], minlength=1), 1)
    within = total = 0.0
    for column in points.T:
        centred = column - column.mean()
        means = np.bincount(labels[kept], weights=centred[kept], minlength=1) / sizes
        within += float(((centred[kept] - means[labels[kept]]) ** 2).sum() + (centred[~kept] ** 2).sum())
        total += float((centred**2).sum())
    constant = bool((points == points[0]).all())
    return min(within / total, 1.0) if total > 0 and not constant else 0.0


def standardised(points: Points) -> Floats:
    """Give every column mean 0 and sample standard deviation 1; a constant column becomes zeros.

    Args:
        points: ``(n, d)``.

    Example:
        >>> standardised(np.array([[1.0, 7.0], [3.0, 7.0]])).round(3).tolist()
        [[-0.707, 0.0], [0.707, 0.0]]
    """
    if len(points) < 2:
        return np.zeros(points.shape)
    constant = points.min(axis=0) == points.max(axis=0)
    deviations = np.where(constant, 1.0, points.std(axis=0, ddof=1))
    return np.where(constant, 0.0, (points - points.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0))
