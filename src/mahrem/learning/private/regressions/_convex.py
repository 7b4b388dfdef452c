"""Convex losses of linear models, and a minimum that is checked: the gradient is bounded, not hoped for.

Whether a minimum is near enough is decided with long floats, whose rounding is bounded by public numbers: no
row decides whether a fit succeeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mahrem.types import Floats

BLOCK = 1024  # rows added up at once: keeps rounding and memory small
UNIT = float(np.finfo(np.longdouble).eps) / 2
MOST_ROWS = 1 << 26  # more hardly fit into memory
STEPS = 500
HALVINGS = 60
_PAIRED = 64  # units of rounding that sums in pairs may be off, of any number of blocks
_NEAR = 16.0  # times the tolerance: from there on gradients are taken in long floats


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

    def gradient(self, point: Any) -> Any:
        """Give the gradient in long floats."""
        slopes = [np.zeros(self.rows.shape[1], dtype=np.longdouble)]
        place = np.asarray(point, dtype=np.longdouble)
        for first in range(0, len(self.rows), BLOCK):
            part = self.rows[first : first + BLOCK].astype(np.longdouble)
            side = self.signs[first : first + BLOCK]
            slopes.append(part.T @ (side * self.loss.slope(side * (part @ place))))
        total = np.ascontiguousarray(np.stack(slopes, axis=1)).sum(axis=1)  # in pairs: little is lost
        return total + self.regularisation * place + self.linear

    def rounding(self, point: Any) -> float:
        """Bound how far that gradient is from the true one."""
        longest = float(np.sqrt(np.max(np.einsum("ij,ij->i", self.rows, self.rows), initial=0.0)))
        length = float(np.linalg.norm(np.asarray(point, dtype=np.float64)))
        return self._rounding(len(self.rows), longest, length)

    def _rounding(self, rows: int, longest: float, length: float) -> float:
        """Bound it from sizes: the usual bound for sums of products."""
        width = len(self.linear)
        sums = min(rows, BLOCK) + _PAIRED
        margins = (width + 16) * (1.0 + self.loss.most_curve * longest * length)
        ends = 8 * (self.regularisation * length + float(np.linalg.norm(self.linear)))
        return float(1.01 * UNIT * (rows * longest * (sums + margins) + ends))

    def most_rounding(self, longest: float) -> float:
        """Bound it for any rows of norm at most ``longest``, at any point that is no worse than none."""
        noise, start = float(np.linalg.norm(self.linear)), float(self.loss.value(np.zeros(1))[0])
        worth = 2 * self.regularisation * MOST_ROWS * start
        return self._rounding(MOST_ROWS, longest, (noise + math.sqrt(noise**2 + worth)) / self.regularisation)


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
        tolerance: The gradient's norm should come below this.
        steps: At most so many.

    Guarantees:
        - The true minimum lies within ``gradient_norm / regularisation`` of the point that is given.
        - ``gradient_norm`` bounds the gradient in exact arithmetic: what rounding can hide is added.
        - Equal input gives equal output.

    Example:
        >>> two = Objective(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), LOGISTIC, 1.0, np.zeros(1))
        >>> minimum = minimise(two, tolerance=1e-9)
        >>> round(float(minimum.point[0]), 4), minimum.gradient_norm < 1e-9
        (0.6748, True)
    """
    point: Any = np.zeros(objective.rows.shape[1], dtype=np.longdouble)
    value, reached = objective.value(point.astype(np.float64)), np.inf
    step = 0
    while step <= steps:
        gradient, hessian = objective.derivatives(point.astype(np.float64))
        if np.linalg.norm(gradient) <= _NEAR * tolerance:
            gradient = objective.gradient(point).astype(np.float64)
            reached = float(np.linalg.norm(gradient)) * (1 + 1e-9) + objective.rounding(point)
            if reached <= tolerance:
                break
        way = -np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
        point, value = _line_search(objective, point, value, way, float(gradient @ way))
        step += 1
    return Minimum(point.astype(np.float64), reached, step)


def proven_minimum(objective: Objective, *, longest: float, tolerance: float) -> Floats:
    """Give the minimum up to a gradient of norm ``tolerance``, or zeros where that is not proven.

    Whether it is proven hangs on public numbers alone: a tolerance that rounding could ever hide, for any
    rows of norm at most ``longest``, gives zeros for all of them.
    """
    minimum = minimise(objective, tolerance=tolerance)
    public = objective.most_rounding(longest) <= tolerance / 2
    return minimum.point if public and minimum.gradient_norm <= tolerance else np.zeros_like(minimum.point)


def _line_search(
    objective: Objective, point: Any, value: float, way: Floats, slope: float
) -> tuple[Any, float]:
    size = 1.0
    for _ in range(HALVINGS):
        there = point + size * way
        new_value = objective.value(there.astype(np.float64))
        # Near the minimum the value's own rounding hides the last gain: full steps are right there.
        if new_value <= value + 0.25 * size * slope + 1e-12 * (1.0 + abs(value)):
            return there, new_value
        size /= 2
    return point, value
