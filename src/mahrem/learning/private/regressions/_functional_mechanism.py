"""The functional mechanism: noise on the coefficients of the loss, for linear and logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Relation
from mahrem.errors import InvalidParameter
from mahrem.learning.private.inputs import PublicRows, clip_rows, target_numbers
from mahrem.learning.private.regressions._private_linear import (
    PrivateClassifier,
    PrivateLinear,
    promise_words,
)
from mahrem.learning.private.regressions._quadratic import QuadraticPlan, release_moments, solve_quadratic
from mahrem.types import Floats, Integers


@dataclass(kw_only=True)
class FunctionalLogistic(PrivateClassifier):
    """Private logistic regression of two classes: a Taylor polynomial with noise on its coefficients.

    ``log(1 + exp(-m))`` is taken as ``log 2 - m/2 + m**2/8``, so the data enter through ``sum y x`` and
    ``sum x x^T`` alone. Both get integer noise; the noisy polynomial is made convex afterwards.

    Args:
        ridge: Added to the matrix, in units of the noise's own largest eigenvalue.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation (pure with ``delta`` 0), on integers.
        - What follows the release (repair, solution, predictions) is a function of it.

    References:
        Zhang, Zhang, Xiao, Yang, Winslett: Functional mechanism: regression analysis under differential
        privacy, 2012. There noise is Laplace, and rows lie in a cube; here rows lie in a ball, which allows
        Gaussian noise by the L2 norm.

    Example:
        >>> from mahrem.dp import Ledger
        >>> X = np.repeat([[1.0], [-1.0]], 2000, axis=0)
        >>> model = FunctionalLogistic(epsilon=1, delta=1e-8, classes=("no", "yes"))
        >>> model = model.fit(
        ...     X, np.where(X[:, 0] > 0, "yes", "no"), ledger=Ledger.temporary(epsilon=1, delta=1e-8)
        ... )
        >>> model.predict([[1.0], [-1.0]]).tolist()
        ['yes', 'no']
    """

    ridge: float = 0.5

    def _title(self) -> str:
        return "functional mechanism (logistic)"

    def _plan(self, width: int, classes: int, relation: Relation) -> QuadraticPlan:
        check.at_least(0, ridge=self.ridge)
        if classes != 2:
            raise InvalidParameter(
                f"classes={classes}: the functional mechanism takes two; see PolynomialLastLayer"
            )
        return QuadraticPlan.make(
            epsilon=self.epsilon, delta=self.delta, width=width, targets=1, relation=relation
        )

    def _compute(self, plan: QuadraticPlan, rows: Floats, targets: Integers, classes: int) -> Floats:  # noqa: ARG002 - shared signature
        signs = np.where(targets == 1, 1.0, -1.0)[:, None]
        moments, products = release_moments(rows / self.norm, signs, plan)
        return solve_quadratic(moments / 4, products / 2, self.ridge * plan.ridge / 4).T / self.norm

    def _promise(self, plan: QuadraticPlan, relation: Relation) -> str:
        return functional_promise(self, plan, relation, "logistic loss taken as a polynomial of degree 2")


@dataclass(kw_only=True)
class FunctionalLinear(PrivateLinear):
    """Private linear regression: noise on ``sum x x^T`` and ``sum y x``, coefficients of the squared loss.

    Args:
        bounds: Public bounds of y, if arrays are fitted; a table's target has declared ones.
        ridge: Added to the matrix, in units of the noise's own largest eigenvalue.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation (pure with ``delta`` 0), on integers.
        - Targets are clipped to their bounds; one that is missing leaves its row out.

    References:
        Zhang, Zhang, Xiao, Yang, Winslett, 2012; Wang: Revisiting differentially private linear regression,
        2018 (sufficient statistics with a ridge of the noise's size).

    Example:
        >>> from mahrem.dp import Ledger
        >>> X = np.linspace(-1, 1, 5000)[:, None]
        >>> model = FunctionalLinear(epsilon=1, delta=1e-8, bounds=(-5, 5), norm=2.0)
        >>> model = model.fit(X, 3 * X[:, 0], ledger=Ledger.temporary(epsilon=1, delta=1e-8))
        >>> bool(abs(model.predict([[0.5]])[0] - 1.5) < 0.5)
        True
    """

    bounds: tuple[float, float] | None = None
    ridge: float = 0.1

    _estimator_type = "regressor"

    def predict(self, X: object) -> Floats:
        """Give the expected target of each row, inside its bounds."""
        low, high = self.bounds_
        share = np.clip(self.decision_function(X), -1.0, 1.0)
        return np.asarray(low + (high - low) * (share + 1) / 2)

    def _title(self) -> str:
        return "functional mechanism (linear)"

    def _declared(self, encode: PublicRows) -> tuple[Any, ...]:
        self.bounds_ = encode.facts.bounds(encode.target)
        return ()

    def _plan(self, width: int, classes: int, relation: Relation) -> QuadraticPlan:  # noqa: ARG002 - shared signature
        check.at_least(0, ridge=self.ridge)
        return QuadraticPlan.make(
            epsilon=self.epsilon, delta=self.delta, width=width, targets=1, relation=relation
        )

    def _given_width(self, X: object, y: object) -> int:
        if self.bounds is None:
            raise InvalidParameter(
                "bounds=None: give the public bounds of y; they are never read off the data"
            )
        low, high = (check.finite(bound=bound) for bound in self.bounds)
        if not low < high:
            raise InvalidParameter(f"lower={low:g} must be below upper={high:g}")
        self.bounds_ = (low, high)
        return super()._given_width(X, y)

    def _read(
        self,
        X: object,
        y: object,
        encode: PublicRows | None,
        classes: tuple[Any, ...],  # noqa: ARG002 - shared signature
    ) -> tuple[Floats, Any]:
        if encode is not None:
            rows, share = encode(X)
        else:
            low, high = self.bounds_
            rows, given = clip_rows(self._with_constant(X), self.norm), target_numbers(y, "y")
            share = (np.clip(given, low, high) - low) / (high - low)
            rows[np.isnan(share)] = 0.0
        return rows, np.where(np.isnan(share), 0.0, 2 * share - 1)

    def _compute(self, plan: QuadraticPlan, rows: Floats, targets: Floats, classes: int) -> Floats:  # noqa: ARG002 - shared signature
        moments, products = release_moments(rows / self.norm, targets[:, None], plan)
        return solve_quadratic(moments, products, self.ridge * plan.ridge).T / self.norm

    def _promise(self, plan: QuadraticPlan, relation: Relation) -> str:
        return functional_promise(self, plan, relation, "squared loss, targets clipped to their bounds")


def functional_promise(model: PrivateLinear, plan: QuadraticPlan, relation: Relation, what: str) -> str:
    """Say the promise of noise on the coefficients of a loss, in words."""
    return (
        f"{promise_words(model, relation)}: {what}, rows of norm {model.norm:g}, discrete {plan.noise.kind} "
        f"noise of deviation {plan.deviation:.4g} on each coefficient of rows of norm 1. Sums and noise are "
        f"exact, on integers (OpenDP). Not hidden: running time."
    )
