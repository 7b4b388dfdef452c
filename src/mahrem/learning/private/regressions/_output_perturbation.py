"""Output perturbation: a convex model is fitted as usual, and its coefficients get noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.dp.accounting import gaussian_multiplier
from mahrem.dp.noise import IntegerNoise
from mahrem.errors import InvalidParameter
from mahrem.learning.private.regressions._convex import Objective, proven_minimum
from mahrem.learning.private.regressions._grid_release import gamma_vector, grid_noise, grid_release
from mahrem.learning.private.regressions._private_margin import MarginProblem, PrivateMargin, release_at_once
from mahrem.types import Floats

NOISES = ("gaussian", "laplace", "gamma")


@dataclass(frozen=True, kw_only=True)
class OutputPlan:
    """The noise of output perturbation; :meth:`of` finds it for a problem.

    Attributes:
        problem: The promise and the other public numbers.
        regularisation: Weight of the squared norm, halved; by default the norm of the noise is held to a
            tenth of ``radius``.
        distance: How far the coefficients of two neighbours may lie apart.
        noise: Integer noise; None stands for noise of gamma norm.
    """

    problem: MarginProblem
    regularisation: float
    distance: float
    noise: IntegerNoise | None

    @classmethod
    def of(cls, problem: MarginProblem, noise: str = "gaussian") -> OutputPlan:
        """Find the noise for a problem: ``gaussian``, or without delta ``laplace`` or ``gamma``."""
        check.one_of(NOISES, noise=noise)
        epsilon, delta, width = problem.epsilon, problem.delta, problem.width
        if (noise == "gaussian") != (delta > 0):
            raise InvalidParameter(
                f"noise={noise!r} with delta={delta:g}: gaussian noise needs a delta, others none"
            )
        reach = problem.relation.moves * problem.norm
        weight = problem.regularisation
        if weight is None:
            length = math.sqrt(width) * gaussian_multiplier(epsilon, delta) if delta else width / epsilon
            weight = 10 * reach * length / problem.radius
        check.above_zero(regularisation=weight)
        problem.refuse_fine_tolerance(float(weight), 0.0)
        distance = (reach + 2 * problem.tolerance) / weight
        fitted = None
        if noise != "gamma":
            fitted = grid_noise(distance, width, problem.relation, epsilon=epsilon, delta=delta)
        return cls(problem=problem, regularisation=float(weight), distance=distance, noise=fitted)


def output_perturbation(rows: Floats, signs: Floats, plan: OutputPlan) -> Floats:
    """Fit one linear classifier of two classes and add noise to its coefficients.

    Args:
        rows: ``(n, width)`` of norm at most ``problem.norm``.
        signs: ``(n,)`` -1 or 1.
        plan: The public numbers.

    Guarantees:
        - ``(epsilon, delta)``-DP under ``relation``, all of the problem: with a strongly convex objective
          a row moves the minimum by at most ``norm / regularisation`` (twice that where it is exchanged), and
          an approximate one by ``2 tolerance / regularisation`` more.
        - No row makes it fail: a tolerance that rounding could hide is refused before anything is read.

    References:
        Chaudhuri, Monteleoni, Sarwate: Differentially private empirical risk minimization, 2011, section 3.2
        (there the objective is divided by n, so the sensitivity reads ``2 L / (n lambda)``).

    Example:
        >>> plan = OutputPlan.of(MarginProblem(epsilon=1.0, delta=1e-6, width=2))
        >>> output_perturbation(np.zeros((3, 2)), np.ones(3), plan).shape
        (2,)
    """
    problem = plan.problem
    problem.refuse_long_rows(rows)
    objective = Objective(rows, signs, problem.loss, plan.regularisation, np.zeros(rows.shape[1]))
    point = proven_minimum(objective, longest=problem.norm, tolerance=problem.tolerance)
    if plan.noise is not None:
        return grid_release(point, plan.noise, plan.distance)
    scale = plan.distance / problem.epsilon
    return release_at_once("gamma-norm", problem, lambda: point + gamma_vector(len(point), scale))


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

    def _plan_one(self, problem: MarginProblem) -> OutputPlan:
        return OutputPlan.of(problem, self.noise)

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
