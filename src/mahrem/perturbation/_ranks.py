"""Rank swapping: values change places with others of nearly the same rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.types import Floats, Integers


@dataclass(frozen=True, kw_only=True)
class RankSwap:
    """Mix values with others whose rank is near, in each column by itself.

    Args:
        percent: How far ranks may lie apart, in per cent of the rows.

    Guarantees:
        - Every column holds the same values as before, each as often.
        - A value moves by at most ``percent`` of the ranks.

    References:
        Moore: Controlled data-swapping techniques for masking public use microdata sets, 1996.

    Example:
        >>> values = np.arange(10.0)[:, None]
        >>> changed = RankSwap(percent=20)(values, np.random.default_rng(0))
        >>> sorted(changed[:, 0].tolist()) == values[:, 0].tolist(), float(abs(changed - values).max()) <= 2
        (True, True)
    """

    percent: float = 5.0

    def __post_init__(self) -> None:
        check.between(0, 100, percent=self.percent)

    def __call__(self, values: Floats, rng: np.random.Generator) -> Floats:
        """Change ``(n, d)`` numbers."""
        changed = values.copy()
        far = int(len(values) * self.percent / 100)
        for column in range(values.shape[1]):
            order = np.argsort(values[:, column], kind="stable")
            partner = _partners(len(order), far, rng)
            changed[order, column] = values[order[partner], column]
        return changed


def _partners(rows: int, far: int, rng: np.random.Generator) -> Integers:
    """Mix ranks at random within stretches that begin anywhere: none moves farther than a stretch is long."""
    if far < 1:
        return np.arange(rows)
    stretch = (np.arange(rows) + int(rng.integers(0, far + 1))) // (far + 1)
    return np.asarray(np.lexsort((rng.random(rows), stretch)))
