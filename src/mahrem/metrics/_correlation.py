"""How two figures of a sweep go together: Pearson and Spearman."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.types import Floats


@dataclass(frozen=True)
class Correlation:
    """How two figures go together; None where one of them does not move."""

    pearson: float | None
    spearman: float | None
    points: int


def correlation(first: Floats, second: Floats) -> Correlation:
    """Correlate two figures over the runs of a sweep, by size (Pearson) and by rank (Spearman).

    Range: from -1 (one falls as the other rises) to 1. Equal values share the mean of their ranks.

    Args:
        first: ``(n,)`` such as the loss of each run.
        second: ``(n,)`` such as the accuracy of each run.

    Raises:
        InvalidParameter: If there are fewer than three runs, or not as many of both.

    References:
        Spearman: The proof and measurement of association between two things, 1904.

    Example:
        >>> import numpy as np
        >>> correlation(np.array([0.1, 0.2, 0.4]), np.array([0.9, 0.8, 0.6])).spearman
        -1.0
    """
    if len(first) != len(second) or len(first) < 3:
        raise InvalidParameter(f"points={len(first)} must be at least 3, and as many of both figures")
    return Correlation(_pearson(first, second), _pearson(_ranks(first), _ranks(second)), len(first))


def _pearson(first: Floats, second: Floats) -> float | None:
    apart = first - first.mean(), second - second.mean()
    length = float(np.sqrt((apart[0] ** 2).sum() * (apart[1] ** 2).sum()))
    if length <= 1e-15 * len(first):
        return None
    return float(np.clip((apart[0] * apart[1]).sum() / length, -1.0, 1.0))


def _ranks(figures: Floats) -> Floats:
    _, where, times = np.unique(figures, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    ranks: Floats = (last - (times - 1) / 2)[where]
    return ranks
