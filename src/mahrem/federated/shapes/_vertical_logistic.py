"""Logistic regression over columns that different parties hold: scores add up, one slope serves all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mahrem.federated.networks import Weights, cross_entropy_slope, read_values


class LinearPart:
    """One party's columns: their share of every class's score.

    The gradient by a party's weights needs its own rows and the slope by the scores, and nothing of the
    others: added up over parties it is the gradient of the model over all columns.

    Example:
        >>> part = LinearPart(2, 2)
        >>> part.forward(np.array([[1.0, 3.0]])).tolist()
        [[0.0, 0.0]]
        >>> part.back(np.array([[-0.5, 0.5]]))
        >>> part.gradient.tolist()
        [[-0.5, -1.5], [0.5, 1.5]]
    """

    def __init__(self, width: int, classes: int) -> None:
        self.matrix = np.zeros((classes, width))
        self.gradient = np.zeros_like(self.matrix)
        self.rows = np.empty((0, width))

    def forward(self, rows: Weights) -> Weights:
        """Give ``(n, classes)`` shares of the scores."""
        self.rows = rows
        return rows @ self.matrix.T

    def back(self, slope: Weights) -> None:
        """Find the gradient, given the slope by the scores."""
        self.gradient = slope.T @ self.rows

    def step(self, rate: float) -> None:
        """Go down the gradient."""
        self.matrix -= rate * self.gradient


class SummedTop:
    """The party with the labels: adds shares up and says how the loss changes with them."""

    def __init__(self, classes: int) -> None:
        self.offset = np.zeros(classes)

    def learn(self, parts: Mapping[str, Weights], right: Weights, rate: float) -> dict[str, Weights]:
        """Take a step on one batch; gives every party the slope by the scores, which is the same for all."""
        total = np.tile(self.offset, (len(right), 1))
        for name, part in parts.items():
            total += read_values(part, len(right), len(self.offset), f"party={name!r}")
        slope = cross_entropy_slope(total, right)
        self.offset -= rate * slope.sum(axis=0)
        return dict.fromkeys(parts, slope)
