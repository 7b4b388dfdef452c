"""Convex losses of linear models, and a minimum that is checked: the gradient is bounded, not hoped for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mahrem.errors import Infeasible
from mahrem.types import Floats

BLOCK = 1024  # rows added up at once: keeps rounding and memory small
UNIT = 2.0**-53
STEPS = 100
HALVINGS = 60


class MarginLoss(Protocol):
    """A convex loss of the margin ``m = y * score`` with a slope in [-1, 0]."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def most_curve(self) -> float:
        """The largest second derivative."""

    def value(self, margin: Floats) -> Floats:
        """Give the loss, for each margin."""

    def slope(self, margin: Floats) -> Floats:
        """Give the derivative; between -1 and 0."""

    def curve(self, margin: Floats) -> Floats:
        """Give the second derivative; where it jumps, either side."""


@dataclass(frozen=True)
class Logistic:
    """The logistic loss ``log(1 + exp(-m))``."""

    @property
    def name(self) -> str:
        """What it is called."""
        return "logistic"

    @property
    def most_curve(self) -> float:
        """The largest second derivative."""
        return 0.25

    def value(self, margin: Floats) -> Floats:
        """Give the loss, for each margin."""
        return np.asarray(np.logaddexp(0.0, -margin))

    def slope(self, margin: Floats) -> Floats:
        """Give the derivative, ``-1 / (1 + exp(m))``, without overflow."""
        small = np.exp(-np.abs(margin))
        return np.asarray(-np.where(margin >= 0, small, 1.0) / (1.0 + small))

    def curve(self, margin: Floats) -> Floats:
        """Give the second derivative."""
        slope = self.slope(margin)
        return np.asarray(-slope * (1.0 + slope))


@dataclass(frozen=True)
class HuberHinge:
    """The hinge loss of an SVM, rounded off by a parabola over ``[1 - width, 1 + width]``.

    References:
        Chaudhuri, Monteleoni, Sarwate: Differentially private empirical risk minimization, 2011,
        section 3.4.2.
    """

    width: float = 0.5

    @property
    def name(self) -> str:
        """What it is called."""
        return "huber hinge"

    @property
    def most_curve(self) -> float:
        """The largest second derivative."""
        return 0.5 / self.width

    def value(self, margin: Floats) -> Floats:
        """Give the loss, for each margin."""
        bend = -self.slope(margin)
        return np.asarray(np.where(bend >= 1.0, 1.0 - margin, self.width * bend**2))

    def slope(self, margin: Floats) -> Floats:
        """Give the derivative."""
        return np.asarray(-np.clip((1.0 + self.width - margin) / (2.0 * self.width), 0.0, 1.0))

    def curve(self, margin: Floats) -> Floats:
        """Give the second derivative."""
        return np.asarray(np.where(np.abs(1.0 - margin) <= self.width, self.most_curve, 0.0))


LOGISTIC = Logistic()


@dataclass(frozen=True)
class Objective:
    """``sum loss(sign * row @ w) + regularisation/2 * |w|**2 + linear @ w`` as a function of w."""

    rows: Floats  # (n, d)
    signs: Floats  # (n,) -1 or 1
    loss: MarginLoss
    regularisation: float
    linear: Floats  # (d,)

    def value(self, point: Floats) -> float:
        """Give the objective."""
        margin = self.signs * (self.rows @ point)
        quadratic = self.regularisation / 2 * (point @ point)
        return float(self.loss.value(margin).sum() + quadratic + self.linear @ point)

    def derivatives(self, point: Floats) -> tuple[Floats, Floats]:
        """Give the gradient and the matrix of second derivatives."""
        width = self.rows.shape[1]
        slopes, hessian = [np.zeros(width)], np.zeros((width, width))
        for first in range(0, len(self.rows), BLOCK):
            part, side = self.rows[first : first + BLOCK], self.signs[first : first + BLOCK]
            margin = side * (part @ point)
            slopes.append(part.T @ (side * self.loss.slope(margin)))
            weighted = part * np.sqrt(self.loss.curve(margin))[:, None]
            hessian += weighted.T @ weighted
        hessian[np.diag_indices(width)] += self.regularisation
        # Blocks are added exactly: else rounding alone would pass the tolerance from ten million rows on.
        gradient = np.array([math.fsum(entry) for entry in np.stack(slopes, axis=1)])
        return gradient + self.regularisation * point + self.linear, hessian

    def rounding(self, point: Floats) -> float:
        """Bound how far the computed gradient is from the true one (the usual bound for sums of products)."""
        n, width = self.rows.shape
        longest = float(np.sqrt(np.max(np.einsum("ij,ij->i", self.rows, self.rows), initial=0.0)))
        length = float(np.linalg.norm(point))
        sums = min(n, BLOCK) + 2
        margins = (width + 16) * (1.0 + self.loss.most_curve * longest * length)
        ends = 8 * (self.regularisation * length + float(np.linalg.norm(self.linear)))
        return float(1.01 * UNIT * (n * longest * (sums + margins) + ends))


@dataclass(frozen=True)
class Minimum:
    """A point and a bound on the norm of the gradient there, rounding included."""

    point: Floats
    gradient_norm: float
    steps: int


def minimise(objective: Objective, *, tolerance: float, steps: int = STEPS) -> Minimum:
    """Minimise a convex objective by Newton's method, until the gradient is proven small.

    Args:
        objective: Strongly convex (``regularisation`` above 0), so that there is one minimum.
        tolerance: The gradient's norm must come below this.
        steps: At most so many.

    Guarantees:
        - The true minimum lies within ``gradient_norm / regularisation`` of the point that is given.
        - ``gradient_norm`` bounds the gradient in exact arithmetic: what rounding can hide is added.
        - Equal input gives equal output.

    Raises:
        Infeasible: If the gradient stays above ``tolerance``; ``reached`` is its norm.

    Example:
        >>> two = Objective(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), LOGISTIC, 1.0, np.zeros(1))
        >>> found = minimise(two, tolerance=1e-9)
        >>> round(float(found.point[0]), 4), found.gradient_norm < 1e-9
        (0.6748, True)
    """
    point = np.zeros(objective.rows.shape[1])
    value, reached = objective.value(point), np.inf
    for step in range(steps + 1):
        gradient, hessian = objective.derivatives(point)
        reached = float(np.linalg.norm(gradient)) * (1 + 1e-9) + objective.rounding(point)
        if reached <= tolerance:
            return Minimum(point, reached, step)
        way = -np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
        point, value = _line_search(objective, point, value, way, float(gradient @ way))
    raise Infeasible(
        f"gradient_norm={reached:.3g} after {steps} steps must be at most tolerance={tolerance:g}; nothing "
        f"was released: allow a larger tolerance or more regularisation",
        reached=reached,
    )


def _line_search(
    objective: Objective, point: Floats, value: float, way: Floats, slope: float
) -> tuple[Floats, float]:
    size = 1.0
    for _ in range(HALVINGS):
        there = point + size * way
        found = objective.value(there)
        # Near the minimum the value's own rounding hides the last gain: full steps are right there.
        if found <= value + 0.25 * size * slope + 1e-12 * (1.0 + abs(value)):
            return there, found
        size /= 2
    return point, value
