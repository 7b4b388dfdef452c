"""A split network over different parties' columns: a layer for each of them, the rest with the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mahrem.federated.networks import (
    LayerStack,
    Weights,
    cross_entropy_slope,
    first_weights,
    read_values,
    shapes_of,
)


def units_of(width: int, units: int, seed: int) -> LayerStack:
    """Give one party's layer: its columns become a few units, with ReLU."""
    shapes = shapes_of([width, units])
    flat = first_weights(shapes, np.random.default_rng(seed)).astype(np.float64)
    return LayerStack(flat, shapes, scores=False)


class JoinedTop:
    """The party with the labels: puts all units side by side and has the layers above them."""

    def __init__(
        self, parties: Sequence[str], units: int, hidden: Sequence[int], classes: int, seed: int
    ) -> None:
        self.parties, self.units = tuple(parties), units
        shapes = shapes_of([units * len(self.parties), *hidden, classes])
        flat = first_weights(shapes, np.random.default_rng(seed)).astype(np.float64)
        self.stack = LayerStack(flat, shapes)

    def learn(self, parts: Mapping[str, Weights], right: Weights, rate: float) -> dict[str, Weights]:
        """Take a step on one batch; gives every party the slope by its own units."""
        rows = [read_values(parts[name], len(right), self.units, f"party={name!r}") for name in self.parties]
        scores = self.stack.forward(np.hstack(rows))
        slope = self.stack.back(cross_entropy_slope(scores, right))
        self.stack.step(rate)
        return dict(zip(self.parties, np.split(slope, len(self.parties), axis=1), strict=True))


def joined_layers(parts: Sequence[LayerStack], top: LayerStack) -> Weights:
    """Write the parties' layers and those above as one network, whose first layer has a block for each party.

    Example:
        >>> small = [units_of(1, 1, seed) for seed in (1, 2)]
        >>> top = JoinedTop(("a", "b"), 1, (), 2, 3).stack
        >>> joined_layers(small, top).shape, joined_layers(small, top)[1:3].tolist()
        ((12,), [0.0, 0.0])
    """
    matrices = [part.layers[0][0] for part in parts]
    first = np.zeros((sum(len(matrix) for matrix in matrices), sum(matrix.shape[1] for matrix in matrices)))
    down = across = 0
    for matrix in matrices:
        first[down : down + len(matrix), across : across + matrix.shape[1]] = matrix
        down, across = down + len(matrix), across + matrix.shape[1]
    return np.concatenate([first.ravel(), *(part.layers[0][1] for part in parts), top.flat])
