"""What private classifiers share that minimise a loss of margins, one problem of two classes at a time."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Relation, noised
from mahrem.dp.accounting import promise_event
from mahrem.dp.noise import GlobalSensitivity
from mahrem.errors import InvalidParameter
from mahrem.learning.private.regressions._convex import LOGISTIC, HuberHinge, MarginLoss, Objective
from mahrem.learning.private.regressions._private_linear import PrivateClassifier, promise_words
from mahrem.types import Floats, Integers

_LOSSES: Mapping[str, MarginLoss] = {"logistic": LOGISTIC, "svm": HuberHinge()}


@dataclass(frozen=True, kw_only=True)
class MarginProblem:
    """The public numbers of one private problem of two classes; a plan finds the noise for them.

    Args:
        epsilon: The promise, all parts together.
        delta: The same; 0 where the promise is pure.
        width: Entries of a row.
        norm: Largest norm of a row.
        loss: The loss of a margin.
        relation: Which tables are neighbours.
        regularisation: Weight of the squared norm, halved; None finds one without a look at the data.
        radius: A guess of the coefficients' norm, for rows of norm 1.
        tolerance: Largest norm of the gradient at the minimum.
    """

    epsilon: float
    delta: float
    width: int
    norm: float = 1.0
    loss: MarginLoss = LOGISTIC
    relation: Relation = Relation.ADD_REMOVE
    regularisation: float | None = None
    radius: float = 20.0
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        check.above_zero(radius=self.radius)
        check.above_zero(tolerance=self.tolerance)

    def refuse_fine_tolerance(self, regularisation: float, noise: float) -> None:
        """Refuse a tolerance that rounding could hide, whatever the rows are.

        Args:
            regularisation: The weight of the squared norm.
            noise: The norm of a linear term.
        """
        linear = np.full(self.width, noise / math.sqrt(self.width))
        least = 2 * Objective(
            np.zeros((0, self.width)), np.zeros(0), self.loss, regularisation, linear
        ).most_rounding(self.norm)
        if self.tolerance < least:
            raise InvalidParameter(
                f"tolerance={self.tolerance:g} must be at least {least:.2g}: rounding hides what is finer"
            )

    def refuse_long_rows(self, rows: Floats) -> None:
        """Refuse rows that are longer than promised, or no numbers."""
        longest = float(np.sqrt(np.max(np.einsum("ij,ij->i", rows, rows), initial=0.0)))
        if not longest <= self.norm:
            raise InvalidParameter(f"rows must have a norm of at most {self.norm:g}")


def release_at_once(name: str, problem: MarginProblem, draw: Callable[[], Floats]) -> Floats:
    """Release what one mechanism draws, for the whole promise.

    Nothing is compared before the noise: of two neighbours the same result comes from different noise.
    """
    nothing = GlobalSensitivity(relation=problem.relation, l1=0, l2_squared=0, linf=0, single=False)
    return noised(name, (), nothing, promise_event(problem.epsilon, problem.delta), draw)


@dataclass(kw_only=True)
class PrivateMargin(PrivateClassifier):
    """Settings of classifiers that minimise a loss of margins.

    Args:
        loss: ``logistic``, or ``svm`` (hinge loss, rounded off).
        regularisation: Weight of the squared norm, halved; None finds one from public numbers.
        radius: A public guess of the coefficients' norm, for rows of norm 1.
        tolerance: Largest norm of the gradient at the minimum.
    """

    loss: str = "logistic"
    regularisation: float | None = None
    radius: float = 20.0
    tolerance: float = 1e-5

    def predict_proba(self, X: object) -> Floats:
        """Give probabilities; an SVM has none."""
        if self.loss == "svm":
            raise InvalidParameter("loss='svm' gives scores, no probabilities; use decision_function")
        return super().predict_proba(X)

    @abstractmethod
    def _plan_one(self, problem: MarginProblem) -> Any:
        """Make the plan of one problem of two classes."""

    @abstractmethod
    def _fit_one(self, rows: Floats, signs: Floats, plan: Any) -> Floats:
        """Release the coefficients of one problem of two classes."""

    @abstractmethod
    def _way(self, plan: Any) -> str:
        """Say where the noise goes, and how exactly it is drawn."""

    def _plan(self, width: int, classes: int, relation: Relation) -> Any:
        problems = 1 if classes == 2 else classes
        problem = MarginProblem(
            epsilon=self.epsilon / problems,
            delta=self.delta / problems,
            width=width,
            norm=self.norm,
            loss=_LOSSES[check.one_of(tuple(_LOSSES), loss=self.loss)],
            relation=relation,
            regularisation=self.regularisation,
            radius=self.radius,
            tolerance=self.tolerance,
        )
        return self._plan_one(problem)

    def _compute(self, plan: Any, rows: Floats, targets: Integers, classes: int) -> Floats:
        return np.stack([self._fit_one(rows, signs, plan) for signs in _sign_problems(targets, classes)])

    def _promise(self, plan: Any, relation: Relation) -> str:
        return (
            f"{promise_words(self, relation)}: {self.loss} loss of rows of norm {self.norm:g}, "
            f"{self._way(plan)} Not hidden: running time."
        )


def _sign_problems(targets: Integers, classes: int) -> Iterator[Floats]:
    """Give the signs of each two-class problem: one for two classes, else each class against the rest."""
    for place in [1] if classes == 2 else range(classes):
        yield np.where(targets == place, 1.0, -1.0)
