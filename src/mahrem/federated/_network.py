"""Networks as one vector of weights, and their training on one silo by plain SGD."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem import check
from mahrem.types import Floats, Integers

__all__ = ["LARGEST", "Network", "scores_of", "wrong_weights"]

Weights: TypeAlias = NDArray[Any]  # floats of 32 bits
LARGEST = 1_000.0  # a weight beyond this is refused


@dataclass(frozen=True, kw_only=True)
class Network:
    """A dense network with ReLU between its layers; without hidden layers it is logistic regression.

    Args:
        hidden: Units of the hidden layers; three of them make the five-layer network of the source.
        rate: Learning rate of SGD.
        batch: Rows of a step.
        epochs: How often a silo goes through its rows in a round.

    Guarantees:
        - The same rows, weights and seed give the same weights.
        - Weights are one vector of 32-bit floats whose length the schema decides.

    References:
        Saleh: federated learning over k-anonymised silos (tables 7.1 and 7.2).
    """

    hidden: tuple[int, ...] = (64, 32, 16)
    rate: float = 0.01
    batch: int = 32
    epochs: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(int(one) for one in self.hidden))
        for size in self.hidden:
            check.between(1, 10_000, hidden=size)
        check.between(1e-9, 100, rate=check.finite(rate=self.rate))
        check.at_least(1, batch=check.whole(batch=self.batch))
        check.at_least(1, epochs=check.whole(epochs=self.epochs))

    def shapes(self, width: int, classes: int) -> list[tuple[int, ...]]:
        """Give the shape of every layer's matrix and offset."""
        sizes = [width, *self.hidden, classes]
        return [shape for before, after in pairwise(sizes) for shape in ((after, before), (after,))]

    def size(self, width: int, classes: int) -> int:
        """How many weights there are."""
        return sum(int(np.prod(shape)) for shape in self.shapes(width, classes))

    def start(self, width: int, classes: int, seed: int) -> Floats:
        """Draw the first weights (He's, uniform); logistic regression starts at zero."""
        rng = np.random.default_rng(seed)
        parts = []
        for shape in self.shapes(width, classes):
            reach = np.sqrt(6 / shape[-1]) if len(shape) == 2 and self.hidden else 0.0
            parts.append(rng.uniform(-reach, reach, shape).ravel() if reach else np.zeros(shape).ravel())
        return np.concatenate(parts).astype(np.float32)

    def train(
        self,
        weights: Floats,
        rows: Floats,
        labels: Integers,
        classes: int,
        *,
        seed: int,
        proximal: float = 0.0,
    ) -> Weights:
        """Train from given weights on a silo's rows.

        Args:
            weights: ``(size,)`` where to begin.
            rows: ``(n, width)`` as numbers.
            labels: ``(n,)`` classes.
            classes: How many classes there are.
            seed: Of the order of the rows.
            proximal: Pull towards the weights given.
        """
        flat = np.array(weights, np.float32)
        given = flat.copy()
        step = _Step(flat, self.shapes(rows.shape[1], classes))
        right = np.eye(classes, dtype=np.float32)
        rng = np.random.default_rng(seed)
        with _one_thread(), np.errstate(over="ignore", invalid="ignore"):
            for _ in range(self.epochs):
                order = rng.permutation(len(rows))
                for at in range(0, len(rows), self.batch):
                    batch = order[at : at + self.batch]
                    slope = step.slope(rows[batch], right[labels[batch]])
                    if proximal:
                        slope += np.float32(proximal) * (flat - given)
                    slope *= np.float32(-self.rate)
                    flat += slope
        return flat


def _one_thread() -> Any:
    """Keep small products on one core: more of them only wait for each other."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)


class _Step:
    """Gradients of the cross entropy, written out: for small batches a quarter of a recorded graph's time."""

    def __init__(self, flat: Weights, shapes: Sequence[tuple[int, ...]]) -> None:
        self.gradient = np.empty_like(flat)
        self.layers = _layers(flat, shapes)
        self.slopes = _layers(self.gradient, shapes)

    def slope(self, rows: Weights, right: Weights) -> Weights:
        inputs = [rows]
        for matrix, offset in self.layers[:-1]:
            values = inputs[-1] @ matrix.T
            values += offset
            inputs.append(np.maximum(values, 0, out=values))
        matrix, offset = self.layers[-1]
        back = inputs[-1] @ matrix.T
        back += offset
        back -= back.max(axis=1, keepdims=True)
        np.exp(back, out=back)
        back /= back.sum(axis=1, keepdims=True)
        back -= right
        back /= np.float32(len(rows))
        for place in range(len(self.layers) - 1, -1, -1):
            slope, shift = self.slopes[place]
            np.matmul(back.T, inputs[place], out=slope)
            np.sum(back, axis=0, out=shift)
            if place:
                back = back @ self.layers[place][0]
                back *= inputs[place] > 0
        return self.gradient


def _layers(flat: Any, shapes: Sequence[tuple[int, ...]]) -> list[tuple[Any, Any]]:
    """Give matrices and offsets as views into one vector."""
    found, at = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        found.append(flat[at : at + size].reshape(shape))
        at += size
    return list(zip(found[::2], found[1::2], strict=True))


def scores_of(network: Network, weights: Floats, rows: Floats, classes: int) -> Floats:
    """Give ``(n, classes)`` probabilities, without torch.

    Example:
        >>> scores_of(Network(hidden=()), np.zeros(4, np.float32), np.ones((1, 1)), 2).tolist()
        [[0.5, 0.5]]
    """
    values = np.asarray(rows, np.float32)
    layers = _layers(np.asarray(weights), network.shapes(values.shape[1], classes))
    for number, (matrix, offset) in enumerate(layers):
        values = values @ matrix.T + offset
        if number < len(layers) - 1:
            values = np.maximum(values, 0)
    values = np.exp(values - values.max(axis=1, keepdims=True)).astype(np.float64)
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def wrong_weights(weights: object, size: int) -> str | None:
    """Say what is wrong with a client's weights, None if nothing is."""
    if not isinstance(weights, np.ndarray) or weights.dtype.kind != "f":
        return "no weights in the answer"
    if weights.shape != (size,):
        return f"weights={weights.size}: another shape than the agreed {size}"
    if not np.isfinite(weights).all():
        return "weights that are not numbers (NaN or infinite)"
    if np.abs(weights).max(initial=0.0) > LARGEST:
        return f"a weight beyond {LARGEST:g}"
    return None
