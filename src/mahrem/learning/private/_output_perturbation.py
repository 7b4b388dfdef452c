"""Output perturbation: a convex model is fitted as usual, and its coefficients get noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import GlobalSensitivity, IntegerNoise, Relation, gaussian_multiplier, noised, promise_event
from mahrem.errors import InvalidParameter
from mahrem.learning.private._convex import LOGISTIC, MarginLoss, Objective, minimise
from mahrem.learning.private._grid_release import gamma_vector, grid_noise, grid_release
from mahrem.learning.private._private_margin import PrivateMargin, refuse_long_rows
from mahrem.types import Floats

__all__ = ["OutputPerturbation", "OutputPlan", "output_perturbation"]

NOISES = ("gaussian", "laplace", "gamma")


@dataclass(frozen=True, kw_only=True)
class OutputPlan:
    """The public numbers of output perturbation; :meth:`make` finds them for a promise.

    Attributes:
        epsilon: The promise.
        delta: The same; 0 for ``laplace`` and ``gamma`` noise.
        norm: Largest norm of a row.
        loss: The loss of a margin.
        relation: Which tables are neighbours.
        regularisation: Weight of the squared norm, halved.
        tolerance: Largest norm of the gradient at the minimum.
        distance: How far the coefficients of two neighbours may lie apart.
        noise: Integer noise; None stands for noise of gamma norm.
    """

    epsilon: float
    delta: float
    norm: float
    loss: MarginLoss
    relation: Relation
    regularisation: float
    tolerance: float
    distance: float
    noise: IntegerNoise | None

    @classmethod
    def make(
        cls,
        *,
        epsilon: float,
        delta: float,
        width: int,
        noise: str = "gaussian",
        norm: float = 1.0,
        loss: MarginLoss = LOGISTIC,
        relation: Relation = Relation.ADD_REMOVE,
        regularisation: float | None = None,
        radius: float = 20.0,
        tolerance: float = 1e-5,
    ) -> OutputPlan:
        """Find the noise for a promise; by default its norm is held to a tenth of ``radius``."""
        check.one_of(NOISES, noise=noise)
        if (noise == "gaussian") != (delta > 0):
            raise InvalidParameter(
                f"noise={noise!r} with delta={delta:g}: gaussian noise needs a delta, others none"
            )
        moves = relation.moves
        if regularisation is None:
            length = math.sqrt(width) * gaussian_multiplier(epsilon, delta) if delta else width / epsilon
            regularisation = 10 * moves * norm * length / radius
        weight, slack = check.finite(regularisation=regularisation), check.finite(tolerance=tolerance)
        if weight <= 0 or slack <= 0:
            raise InvalidParameter(f"regularisation={weight:g} and tolerance={slack:g} must be above 0")
        distance = (moves * norm + 2 * slack) / weight
        fitted = (
            None if noise == "gamma" else grid_noise(distance, width, relation, epsilon=epsilon, delta=delta)
        )
        return cls(
            epsilon=epsilon,
            delta=delta,
            norm=norm,
            loss=loss,
            relation=relation,
            regularisation=weight,
            tolerance=slack,
            distance=distance,
            noise=fitted,
        )


def output_perturbation(rows: Floats, signs: Floats, plan: OutputPlan) -> Floats:
    """Fit one linear classifier of two classes and add noise to its coefficients.

    Args:
        rows: ``(n, width)`` of norm at most ``plan.norm``.
        signs: ``(n,)`` -1 or 1.
        plan: The public numbers.

    Guarantees:
        - ``(plan.epsilon, plan.delta)``-DP under ``plan.relation``: with a strongly convex objective a row
          moves the minimum by at most ``norm / regularisation`` (twice that where it is exchanged), and an
          approximate one by ``2 tolerance / regularisation`` more.
        - A minimum that is not reached is refused.

    References:
        Chaudhuri, Monteleoni, Sarwate: Differentially private empirical risk minimization, 2011, section 3.2
        (there the objective is divided by n, so the sensitivity reads ``2 L / (n lambda)``).

    Example:
        >>> plan = OutputPlan.make(epsilon=1.0, delta=1e-6, width=2)
        >>> output_perturbation(np.zeros((3, 2)), np.ones(3), plan).shape
        (2,)
    """
    refuse_long_rows(rows, plan.norm)
    objective = Objective(rows, signs, plan.loss, plan.regularisation, np.zeros(rows.shape[1]))
    found = minimise(objective, tolerance=plan.tolerance)
    if plan.noise is not None:
        return grid_release(found.point, plan.noise, plan.distance)
    nothing = GlobalSensitivity(relation=plan.relation, l1=0, l2_squared=0, linf=0, single=False)
    event = promise_event(plan.epsilon, plan.delta)
    return noised(
        "gamma-norm",
        (),
        nothing,
        event,
        lambda: found.point + gamma_vector(len(found.point), plan.distance / plan.epsilon),
    )


@dataclass(kw_only=True)
class OutputPerturbation(PrivateMargin):
    """Private logistic regression or SVM by output perturbation; see :func:`output_perturbation`.

    Args:
        noise: ``gaussian``; or without delta ``laplace`` (integers, exact) or ``gamma`` (the norm is
            gamma-distributed: about 1.4 times less noise, drawn in floating point).

    By default the regularisation holds the noise to a tenth of ``radius``.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation; paid for before the data is read.

    Example:
        >>> from mahrem.dp import Ledger
        >>> model = OutputPerturbation(epsilon=1, delta=1e-8, classes=(0, 1), regularisation=10)
        >>> X = np.repeat([[1.0], [-1.0]], 500, axis=0)
        >>> model = model.fit(X, X[:, 0] > 0, ledger=Ledger.temporary(epsilon=1, delta=1e-8))
        >>> model.predict([[2.0], [-3.0]]).tolist()
        [1, 0]
    """

    noise: str = "gaussian"

    def _title(self) -> str:
        return f"output perturbation ({self.loss})"

    def _plan_one(self, **public: Any) -> OutputPlan:
        return OutputPlan.make(noise=self.noise, **public)

    def _fit_one(self, rows: Floats, signs: Floats, plan: OutputPlan) -> Floats:
        return output_perturbation(rows, signs, plan)

    def _way(self, plan: OutputPlan) -> str:
        exact = (
            "Idealised: the noise is drawn in floating point from a secret key."
            if plan.noise is None
            else "The noise is drawn exactly, on integers (OpenDP)."
        )
        return (
            f"regularisation {plan.regularisation:.4g}, so that coefficients move by at most "
            f"{plan.distance:.4g}, and {self.noise} noise. {exact}"
        )
