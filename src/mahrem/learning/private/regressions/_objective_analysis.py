"""What objective perturbation costs: its privacy profile and its Renyi divergence."""

from __future__ import annotations

import math

from mahrem import check
from mahrem.dp import Relation
from mahrem.dp.accounting import gaussian_delta
from mahrem.errors import InvalidParameter


def objective_delta(
    epsilon: float, noise_multiplier: float, curvature: float, relation: Relation = Relation.ADD_REMOVE
) -> float:
    """Give the delta of objective perturbation at this epsilon, for a loss whose slope keeps its sign.

    Args:
        epsilon: The epsilon.
        noise_multiplier: Standard deviation of the linear term over the largest norm of a gradient.
        curvature: Largest second derivative of one row's loss over the regularisation.
        relation: Which tables are neighbours.

    Guarantees:
        - An upper bound; 1 where epsilon does not even cover the curvature.

    References:
        Redberg, Koskela, Wang: Improving the privacy and practicality of objective perturbation for
        differentially private linear learners, 2023. The factor of two there falls away for slopes that keep
        their sign; proof in docs/theory/loss-perturbation.md.

    Example:
        >>> objective_delta(1.0, 5.0, 0.0) == gaussian_delta(1.0, 5.0)
        True
    """
    rest = epsilon - math.log1p(curvature)
    if rest < 0:
        return 1.0
    if relation is Relation.ADD_REMOVE:
        return gaussian_delta(rest, noise_multiplier)
    both = gaussian_delta(rest, noise_multiplier / 2) + 2 * gaussian_delta(rest, noise_multiplier)
    return min(1.0, both)


def objective_rdp(order: float, noise_multiplier: float, curvature: float) -> float:
    """Give the Renyi divergence of objective perturbation under add-remove, for slopes that keep their sign.

    References:
        Redberg, Koskela, Wang, 2023, with our one-sided bound.

    Example:
        >>> round(objective_rdp(2.0, 10.0, 0.0), 4)
        0.0443
    """
    if check.finite(order=order) <= 1:
        raise InvalidParameter(f"order={order!r} must be above 1")
    shift = 1 / noise_multiplier
    grows = math.exp(order * (order - 1) * shift**2 / 2) * _normal((order - 0.5) * shift)
    return math.log1p(curvature) + math.log(_normal(-shift / 2) + grows) / (order - 1)


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))
