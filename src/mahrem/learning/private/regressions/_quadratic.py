"""Quadratic losses as coefficients: summed exactly on integers, released with noise, made solvable again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mahrem.dp import Relation
from mahrem.dp.noise import GlobalSensitivity, IntegerNoise, gaussian_integers, laplace_integers
from mahrem.errors import InvalidInput
from mahrem.types import Floats

BITS = 10  # a row of norm 1 becomes integers of norm 1024 at most
MOST_ROWS = 1 << 32  # sums of products stay below 2**53: exact in floating point


@dataclass(frozen=True, kw_only=True)
class QuadraticPlan:
    """The public numbers of a noisy quadratic: a matrix of ``rows.T @ rows`` and one of ``rows.T @ targets``.

    Attributes:
        width: Entries of a row; rows are scaled to norm 1.
        targets: Columns of targets; those of one row have a norm of at most 1.
        noise: Integer noise on every coefficient.
    """

    width: int
    targets: int
    noise: IntegerNoise

    @classmethod
    def make(
        cls, *, epsilon: float, delta: float, width: int, targets: int, relation: Relation
    ) -> QuadraticPlan:
        """Fit the noise: discrete Gaussian with a delta, discrete Laplace without."""
        reach = quadratic_sensitivity(width, targets, relation)
        if delta == 0:
            noise = laplace_integers(reach, epsilon=epsilon)
        else:
            noise = gaussian_integers(reach, epsilon=epsilon, delta=delta)
        return cls(width=width, targets=targets, noise=noise)

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise on a coefficient of rows of norm 1."""
        factor = math.sqrt(2) if self.noise.kind == "laplace" else 1.0
        return factor * self.noise.scale / 4.0**BITS

    @property
    def ridge(self) -> float:
        """Size of the noise as a matrix: about the largest eigenvalue of pure noise, from public numbers."""
        return 2.0 * self.deviation * math.sqrt(self.width)


def quadratic_sensitivity(width: int, targets: int, relation: Relation) -> GlobalSensitivity:
    """Bound how one row of integers (norm at most ``2**BITS``, targets likewise) moves the sums.

    The upper triangle of ``q q^T`` has a sum of squares of at most ``|q|^4`` and a sum of absolute values of
    at most ``(width + 1)/2 |q|^2``; ``q t^T`` has ``|q|^2 |t|^2`` and ``sqrt(width * targets) |q| |t|``.
    Where a row is exchanged, the squared distance of two full matrices is
    ``|q|^4 + |q'|^4 - 2 (q @ q')^2``, at most twice the one; that of two products at most four times.
    """
    unit = 4**BITS
    corner = (width + 1) / 2 + math.sqrt(width * targets)
    if relation is Relation.ADD_REMOVE:
        squares, times = 2 * unit**2, 1
    else:
        squares, times = (2 + 4) * unit**2, 2
    return GlobalSensitivity(
        relation=relation,
        l1=times * math.ceil(corner * unit),
        l2_squared=squares,
        linf=times * unit,
        single=False,
    )


def whole_rows(rows: Floats) -> Floats:
    """Turn rows of norm 1 at most into integers (as floats) of norm ``2**BITS`` at most: towards zero."""
    return np.trunc(rows * 2.0**BITS)


def release_moments(rows: Floats, targets: Floats, plan: QuadraticPlan) -> tuple[Floats, Floats]:
    """Release ``rows.T @ rows`` and ``rows.T @ targets`` with noise.

    Args:
        rows: ``(n, width)`` of norm at most 1.
        targets: ``(n, targets)``; each row of norm at most 1.
        plan: The public numbers.

    Guarantees:
        - The promise of ``plan.noise``; sums are sums of integers, so rounding takes no part.

    Example:
        >>> plan = QuadraticPlan.make(
        ...     epsilon=1.0, delta=1e-6, width=2, targets=1, relation=Relation.ADD_REMOVE
        ... )
        >>> moments, products = release_moments(np.eye(2), np.ones((2, 1)), plan)
        >>> moments.shape, products.shape, bool((moments == moments.T).all())
        ((2, 2), (2, 1), True)
    """
    if len(rows) >= MOST_ROWS:
        raise InvalidInput(f"rows={len(rows)}: at most {MOST_ROWS} can be added up exactly")
    left, right = whole_rows(rows), whole_rows(targets)
    upper = np.triu_indices(plan.width)
    exact = np.concatenate([(left.T @ left)[upper], (left.T @ right).ravel()])
    noisy = np.asarray(plan.noise([int(value) for value in exact]), dtype=np.float64) / 4.0**BITS
    moments = np.zeros((plan.width, plan.width))
    moments[upper] = noisy[: len(upper[0])]
    moments = moments + np.triu(moments, 1).T
    return moments, noisy[len(upper[0]) :].reshape(plan.width, plan.targets)


def solve_quadratic(moments: Floats, products: Floats, ridge: float) -> Floats:
    """Minimise ``w.T @ moments @ w / 2 - products.T @ w`` after the noise, ``ridge`` added to the diagonal.

    Eigenvalues that noise has pushed below zero count as zero before; the answer is a function of what was
    released and costs nothing.

    Guarantees:
        - Equal input gives equal output; the result is finite.

    Example:
        >>> solve_quadratic(np.diag([1.0, -5.0]), np.array([[2.0], [1.0]]), 1.0).ravel().tolist()
        [1.0, 1.0]
    """
    values, vectors = np.linalg.eigh(moments)
    return np.asarray(vectors @ ((vectors.T @ products) / (np.maximum(values, 0.0) + ridge)[:, None]))
