"""Dense layers as one vector of weights: values go forward, slopes come back; parties hold some each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.errors import InvalidInput

Weights: TypeAlias = NDArray[Any]  # floats of 32 or 64 bits
LARGEST_VALUE = 1e6  # a value or slope between layers beyond this is refused


class LayerStack:
    """Layers with ReLU between them, and the gradients of the last rows they saw.

    Gradients are written out: for small batches a quarter of a recorded graph's time.

    Args:
        flat: All weights; the layers are views into it.
        shapes: Of every layer's matrix and offset, see :func:`shapes_of`.
        scores: Whether the last layer gives scores; else a ReLU follows it too.
    """

    def __init__(self, flat: Weights, shapes: Sequence[tuple[int, ...]], *, scores: bool = True) -> None:
        self.flat = flat
        self.gradient = np.empty_like(flat)
        self.layers = layers_of(flat, shapes)
        self.slopes = layers_of(self.gradient, shapes)
        self.bent = len(self.layers) - scores
        self.inputs: list[Weights] = []

    def forward(self, rows: Weights) -> Weights:
        """Give what comes out for rows."""
        self.inputs = [rows]
        for place, (matrix, offset) in enumerate(self.layers):
            values = self.inputs[-1] @ matrix.T
            values += offset
            self.inputs.append(np.maximum(values, 0, out=values) if place < self.bent else values)
        return self.inputs[-1]

    def back(self, slope: Weights, *, further: bool = True) -> Weights:
        """Find the gradient, given the slope by what came out last; gives the slope by what went in."""
        for place in range(len(self.layers) - 1, -1, -1):
            if place < self.bent:
                slope *= self.inputs[place + 1] > 0
            matrix, offset = self.slopes[place]
            np.matmul(slope.T, self.inputs[place], out=matrix)
            np.sum(slope, axis=0, out=offset)
            if place or further:
                slope = slope @ self.layers[place][0]
        return slope

    def step(self, rate: float) -> None:
        """Go down the gradient that was found last."""
        self.gradient *= self.flat.dtype.type(-rate)
        self.flat += self.gradient


def shapes_of(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Give the shape of every layer's matrix and offset.

    Example:
        >>> shapes_of([3, 8, 2])
        [(8, 3), (8,), (2, 8), (2,)]
    """
    return [shape for before, after in pairwise(sizes) for shape in ((after, before), (after,))]


def first_weights(shapes: Sequence[tuple[int, ...]], rng: np.random.Generator) -> Weights:
    """Draw the first weights (He's, uniform); offsets are zero."""
    parts = []
    for shape in shapes:
        reach = np.sqrt(6 / shape[-1]) if len(shape) == 2 else 0.0
        parts.append(rng.uniform(-reach, reach, shape).ravel() if reach else np.zeros(shape).ravel())
    return np.concatenate(parts).astype(np.float32)


def layers_of(flat: Weights, shapes: Sequence[tuple[int, ...]]) -> list[tuple[Weights, Weights]]:
    """Give matrices and offsets as views into one vector."""
    arrays, at = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        arrays.append(flat[at : at + size].reshape(shape))
        at += size
    return list(zip(arrays[::2], arrays[1::2], strict=True))


def cross_entropy_slope(scores: Weights, right: Weights) -> Weights:
    """Give the slope of the mean cross entropy by the scores, in their place.

    Args:
        scores: ``(n, classes)``; overwritten.
        right: ``(n, classes)`` with 1 at the right class.

    Example:
        >>> cross_entropy_slope(np.zeros((1, 2)), np.array([[1.0, 0.0]])).tolist()
        [[-0.5, 0.5]]
    """
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    scores -= right
    scores /= scores.dtype.type(len(scores))
    return scores


def read_values(held: object, rows: int | None, width: int, what: str) -> Weights:
    """Take values or slopes that another party sent.

    Args:
        held: What stood in the message.
        rows: How many rows there must be; None for any number.
        width: How many numbers a row must have.
        what: Their name, for the message.

    Raises:
        InvalidInput: If they are none, of another shape, not numbers, or huge.
    """
    if not isinstance(held, np.ndarray) or held.dtype.kind != "f":
        raise InvalidInput(f"{what}: no numbers in the message")
    if held.ndim != 2 or held.shape[1] != width or rows not in {None, len(held)}:
        raise InvalidInput(f"{what}: another shape than was agreed")
    if not np.isfinite(held).all():
        raise InvalidInput(f"{what}: not numbers (NaN or infinite); a lower rate may help")
    if np.abs(held).max(initial=0.0) > LARGEST_VALUE:
        raise InvalidInput(f"{what}: a number beyond {LARGEST_VALUE:g}; a lower rate may help")
    return held.copy()
