"""Shuffling: columns get their own values back in an order that follows the other columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.types import Floats


@dataclass(frozen=True, kw_only=True)
class Shuffle:
    """Reassign the values of columns among rows so that relations by rank stay about as they were.

    Ranks are drawn anew from a normal model of all columns' ranks in which rows differ only by the columns of
    ``given``; each column then gets its own values in that order.

    Guarantees:
        - Every column holds the same values as before, each as often.
        - What is drawn depends on a row's own shuffled values only through the model of all rows.

    References:
        Muralidhar, Sarathy: Data shuffling, a new masking approach for numerical data, 2006.

    Example:
        >>> values = np.arange(20.0)[:, None]
        >>> changed = Shuffle()(values, np.random.default_rng(0))
        >>> sorted(changed[:, 0].tolist()) == values[:, 0].tolist()
        True
    """

    def __call__(self, values: Floats, rng: np.random.Generator, given: Floats | None = None) -> Floats:
        """Change ``(n, d)`` numbers; ``given`` are numbers ``(n, e)`` that stay and that they hang on."""
        rows = len(values)
        if rows < 3:
            return values.copy()
        scores = np.column_stack([_scores(column) for column in values.T])
        mean = np.zeros_like(scores)
        covariance = np.atleast_2d(np.cov(scores, rowvar=False))
        if given is not None and given.shape[1]:
            known = np.column_stack([_scores(column) for column in given.T])
            weights, *_ = np.linalg.lstsq(known, scores, rcond=None)
            mean = known @ weights
            covariance = np.atleast_2d(np.cov(scores - mean, rowvar=False))
        sizes, ways = np.linalg.eigh(covariance)
        drawn = mean + rng.standard_normal(scores.shape) @ (ways * np.sqrt(np.clip(sizes, 0, None))).T
        changed = np.empty_like(values)
        for column in range(values.shape[1]):
            changed[np.argsort(drawn[:, column], kind="stable"), column] = np.sort(values[:, column])
        return changed


def _scores(values: Floats) -> Floats:
    """Give normal scores of ranks; values that are equal share one."""
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    return _normal_quantile((middle[inverse.reshape(-1)] - 0.5) / len(values))


def _normal_quantile(share: Floats) -> Floats:
    from statistics import NormalDist

    unique, inverse = np.unique(share, return_inverse=True)
    normal = NormalDist()
    return np.array([normal.inv_cdf(min(max(one, 1e-12), 1 - 1e-12)) for one in unique.tolist()])[
        inverse.reshape(-1)
    ]
