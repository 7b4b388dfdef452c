"""Objective perturbation: logistic regression and SVM whose loss carries a random linear term."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.dp import Relation, Tape, listening
from mahrem.dp.accounting import gaussian_multiplier
from mahrem.dp.noise import GaussianNoise, IntegerNoise
from mahrem.errors import InvalidParameter
from mahrem.learning.private.regressions._convex import Objective, proven_minimum
from mahrem.learning.private.regressions._grid_release import gamma_vector, grid_noise, grid_release
from mahrem.learning.private.regressions._objective_analysis import objective_delta
from mahrem.learning.private.regressions._private_margin import MarginProblem, PrivateMargin, release_at_once
from mahrem.types import Floats

RELEASE = 0.02  # share of the budget for the noise that covers an approximate minimum
CURVATURE = 0.2  # share of the rest that the smallest regularisation may take


@dataclass(frozen=True, kw_only=True)
class ObjectivePlan:
    """The noise of objective perturbation; :meth:`of` finds it for a problem.

    With ``delta`` 0 the noise has a gamma-distributed norm, which needs none.

    Attributes:
        problem: The promise and the other public numbers.
        scale: Standard deviation of each entry of the linear term; with ``delta`` 0, the scale of its norm.
        regularisation: Weight of the squared norm, halved; by default what balances the noise for
            coefficients of norm ``radius``.
        release: Noise on the minimum, for what an approximate minimum gives away.
    """

    problem: MarginProblem
    scale: float
    regularisation: float
    release: IntegerNoise

    @property
    def distance(self) -> float:
        """Largest distance of two approximate minima of the same objective."""
        return 2 * self.problem.tolerance / self.regularisation

    @classmethod
    def of(cls, problem: MarginProblem) -> ObjectivePlan:
        """Find the noise for a problem."""
        epsilon, delta, width, norm = problem.epsilon, problem.delta, problem.width, problem.norm
        main = epsilon * (1 - RELEASE), delta * (1 - RELEASE)
        smooth = problem.loss.most_curve * norm**2
        least = smooth / math.expm1(min(main[0] * CURVATURE, 700))
        weight = least
        if problem.regularisation is not None:
            weight = check.finite(regularisation=problem.regularisation)
        if weight <= 0 or math.log1p(smooth / weight) >= main[0]:
            raise InvalidParameter(
                f"regularisation={weight:g} is too small for epsilon={epsilon:g}; at least "
                f"{least:.4g} leaves enough of it for the noise"
            )
        scale = _scale(*main, smooth / weight, norm, problem.relation)
        if problem.regularisation is None:
            expected = scale * (math.sqrt(width) if delta > 0 else width)
            weight = max(weight, expected * norm / problem.radius)
            scale = _scale(*main, smooth / weight, norm, problem.relation)
        # The norm of the linear term is beyond forty times its scale less than once in 1e100 draws.
        problem.refuse_fine_tolerance(weight, 40 * scale * (math.sqrt(width) if delta > 0 else width))
        release = grid_noise(
            2 * problem.tolerance / weight,
            width,
            problem.relation,
            epsilon=epsilon * RELEASE,
            delta=delta * RELEASE,
        )
        return cls(problem=problem, scale=scale, regularisation=weight, release=release)


def _scale(epsilon: float, delta: float, curvature: float, norm: float, relation: Relation) -> float:
    rest = epsilon - math.log1p(curvature)
    moves = relation.moves
    if delta == 0:
        return math.nextafter(moves * norm / rest, math.inf)
    multiplier = moves * gaussian_multiplier(rest, delta)
    while objective_delta(epsilon, multiplier, curvature, relation) > delta:
        multiplier *= 1 + 1e-4
    return multiplier * norm


def objective_perturbation(rows: Floats, signs: Floats, plan: ObjectivePlan) -> Floats:
    """Fit one linear classifier of two classes by objective perturbation.

    Args:
        rows: ``(n, width)`` of norm at most ``problem.norm``.
        signs: ``(n,)`` -1 or 1; rows of zeros add nothing.
        plan: The public numbers.

    Guarantees:
        - ``(epsilon, delta)``-DP under ``relation``, all of the problem; approximate minima and rounding in
          the solver are covered by the check of the gradient and the noise on what is released.
        - No row makes it fail: a tolerance that rounding could hide is refused before anything is read.

    References:
        Chaudhuri, Monteleoni, Sarwate, 2011; Kifer, Smith, Thakurta, 2012; Iyengar et al.: Towards practical
        differentially private convex optimization, 2019; Redberg, Koskela, Wang, 2023.

    Example:
        >>> plan = ObjectivePlan.of(MarginProblem(epsilon=1.0, delta=1e-6, width=2))
        >>> rows = np.tile([[0.6, 0.8], [0.6, -0.8]], (500, 1))
        >>> objective_perturbation(rows, np.sign(rows[:, 1]), plan).shape
        (2,)
    """
    problem = plan.problem
    if rows.shape[1] != problem.width:
        raise InvalidParameter(f"rows must have {problem.width} entries")
    problem.refuse_long_rows(rows)

    def draw() -> Floats:
        with listening(Tape()):  # one mechanism: its parts are no steps of their own
            if problem.delta == 0:
                linear = gamma_vector(problem.width, plan.scale)
            else:
                noise = GaussianNoise(sigma=plan.scale)
                linear = np.array([noise(0.0) for _ in range(problem.width)])
            objective = Objective(rows, signs, problem.loss, plan.regularisation, linear)
            minimum = proven_minimum(objective, longest=problem.norm, tolerance=problem.tolerance)
            return grid_release(minimum, plan.release, plan.distance)

    return release_at_once("objective-perturbation", problem, draw)


@dataclass(kw_only=True)
class ObjectivePerturbation(PrivateMargin):
    """Private logistic regression or SVM by objective perturbation; see :func:`objective_perturbation`.

    By default the regularisation balances the noise for coefficients of norm ``radius``. With ``delta`` 0 the
    linear term has a gamma-distributed norm, and the promise is pure.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation; paid for before the data is read.
        - More than two classes are fitted one against the rest, each with its part of the budget.

    Example:
        >>> from mahrem.dp import Ledger
        >>> rng = np.random.default_rng(1)
        >>> X = rng.normal(size=(2000, 2))
        >>> y = np.where(X[:, 0] > 0, "yes", "no")
        >>> model = ObjectivePerturbation(epsilon=1, delta=1e-8, classes=("no", "yes"))
        >>> model = model.fit(X, y, ledger=Ledger.temporary(epsilon=1, delta=1e-8))
        >>> bool((model.predict(X) == y).mean() > 0.9), model.cost_
        (True, (1, 1e-08))
    """

    def _title(self) -> str:
        return f"objective perturbation ({self.loss})"

    def _plan_one(self, problem: MarginProblem) -> ObjectivePlan:
        return ObjectivePlan.of(problem)

    def _fit_one(self, rows: Floats, signs: Floats, plan: ObjectivePlan) -> Floats:
        return objective_perturbation(rows, signs, plan)

    def _way(self, plan: ObjectivePlan) -> str:
        kind = "Gaussian, deviation" if plan.problem.delta else "gamma norm, scale"
        exact = (
            "The noise is drawn exactly (OpenDP), and rounding in the solver is part of the tolerance."
            if plan.problem.delta
            else "Idealised: the linear term is drawn in floating point from a secret key."
        )
        return (
            f"a random linear term ({kind} {plan.scale:.4g}), regularisation {plan.regularisation:.4g}, "
            f"gradient at most {plan.problem.tolerance:g} at the minimum, integer noise on what is released. "
            f"{exact}"
        )
