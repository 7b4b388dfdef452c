"""Noise on numbers: each column by itself, with the columns' covariance, or by a random rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mahrem import check
from mahrem.types import Floats

_BLOCK = 128  # rows that are rotated together


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Add normal noise to columns of numbers.

    Args:
        share: How large the noise is, as a share of the columns' standard deviations.
        kind: ``additive``: independent. ``correlated``: with the covariance of the columns, and drawn
            together again so that variances and covariances stay as they were in expectation. ``rotation``:
            rows are mixed by random orthogonal matrices near the identity (ROMM).

    Guarantees:
        - With ``rotation`` means and covariances are exactly what they were, up to rounding.
        - A column that does not vary is left as it is.

    References:
        Kim: A method for limiting disclosure in microdata based on random noise and transformation, 1986.
        Ting, Fienberg, Trottini: Random orthogonal matrix masking methodology for microdata release, 2008.

    Example:
        >>> values = np.array([[1.0], [2.0], [3.0], [6.0]])
        >>> changed = Noise(share=0.5, kind="rotation")(values, np.random.default_rng(1))
        >>> round(float(changed.mean()), 9), round(float(changed.var()), 9)
        (3.0, 3.5)
    """

    share: float = 0.1
    kind: Literal["additive", "correlated", "rotation"] = "additive"

    def __post_init__(self) -> None:
        check.one_of(("additive", "correlated", "rotation"), kind=self.kind)
        check.between(0, 10, share=self.share)

    def __call__(self, values: Floats, rng: np.random.Generator) -> Floats:
        """Change ``(n, d)`` numbers."""
        if len(values) < 2 or self.share == 0:
            return values.copy()
        if self.kind == "rotation":
            return _rotated(values, rng, self.share)
        if self.kind == "additive":
            spread = values.std(axis=0, ddof=1)
            return np.asarray(values + rng.standard_normal(values.shape) * spread * self.share)
        mean = values.mean(axis=0)
        root = _root(np.atleast_2d(np.cov(values, rowvar=False)))
        drawn = rng.standard_normal(values.shape) @ root.T * self.share
        return np.asarray(mean + (values - mean + drawn) / np.sqrt(1 + self.share**2))


def _root(covariance: Floats) -> Floats:
    """Give a root of a covariance, also where columns hang together completely."""
    sizes, ways = np.linalg.eigh(covariance)
    return np.asarray(ways * np.sqrt(np.clip(sizes, 0, None)))


def _rotated(values: Floats, rng: np.random.Generator, share: float) -> Floats:
    order = rng.permutation(len(values))
    changed = values.copy()
    blocks = np.array_split(order, max(1, len(values) // _BLOCK))
    for rows in blocks:
        count = len(rows)
        near = np.eye(count) + share * rng.standard_normal((count, count))
        near[:, 0] = 1.0  # the first direction is that of the mean, which must stay
        turned, upper = np.linalg.qr(near)
        turned = turned * np.sign(np.diag(upper))
        plain = np.eye(count)
        plain[:, 0] = 1.0
        upright, upper = np.linalg.qr(plain)
        upright = upright * np.sign(np.diag(upper))
        changed[rows] = turned @ (upright.T @ values[rows])
    return changed
