"""Private steps of a silo's network: gradients clipped row by row, noise from the plan (DP-SGD)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mahrem.federated.networks._network import Network
from mahrem.federated.networks._stack import LayerStack, Weights, cross_entropy_slope
from mahrem.learning.private import SecretStream, TrainingPlan
from mahrem.types import Floats, Integers


def clipped_gradients(stack: LayerStack, slope: Weights, clip: float) -> None:
    """Sum the rows' gradients into the stack, each shortened to ``clip`` (L2) over all layers.

    The gradient of a dense layer by one row is the product of a slope and an input, so its length is the
    product of theirs and no row's gradient is ever written out.

    Args:
        stack: Layers that have just seen the rows.
        slope: ``(n, classes)`` of each row's own loss by its scores; overwritten.
        clip: Largest norm of one row.

    References:
        Goodfellow: Efficient per-example gradient computations, 2015.
    """
    slopes: list[Weights] = []
    squares = np.zeros(len(slope))
    for place in range(len(stack.layers) - 1, -1, -1):
        if place < stack.bent:
            slope *= stack.inputs[place + 1] > 0
        slopes.append(slope)
        inputs = stack.inputs[place]
        squares += np.square(slope, dtype=np.float64).sum(axis=1) * (
            1 + np.square(inputs, dtype=np.float64).sum(axis=1)
        )
        if place:
            slope = slope @ stack.layers[place][0]
    shares = clip / np.maximum(np.sqrt(squares), clip)
    shares[~np.isfinite(squares)] = 0.0  # a row whose gradient is no number has no say
    for place, slope in enumerate(reversed(slopes)):
        short = np.where(shares[:, None] > 0, slope * shares[:, None].astype(slope.dtype), 0)
        matrix, offset = stack.slopes[place]
        np.matmul(short.T, np.nan_to_num(stack.inputs[place], posinf=0, neginf=0), out=matrix)
        np.sum(short, axis=0, out=offset)


def train_privately(
    network: Network,
    weights: Floats,
    rows: Floats,
    labels: Integers,
    classes: int,
    plan: TrainingPlan,
    stream: SecretStream,
    steps: Iterable[int],
) -> Weights:
    """Take private steps from given weights on a silo's rows.

    Args:
        network: What is trained, and its rate.
        weights: ``(size,)`` where to begin.
        rows: ``(n, width)`` as numbers.
        labels: ``(n,)`` classes.
        classes: How many there are.
        plan: Draws batches and noise, and names clip and divisor.
        stream: The silo's secret randomness.
        steps: Their numbers; one that was taken before would show its noise.

    Guarantees:
        - The weights are those of ``plan``'s noisy sums and of nothing else about the rows.
    """
    flat = np.array(weights, np.float32)
    stack = LayerStack(flat, network.shapes(rows.shape[1], classes))
    right = np.eye(classes, dtype=np.float32)
    for step in steps:
        batch = plan.sample(stream, step, len(rows))
        if len(batch):
            with np.errstate(over="ignore", invalid="ignore"):
                slope = cross_entropy_slope(stack.forward(rows[batch]), right[labels[batch]])
                clipped_gradients(stack, slope * slope.dtype.type(len(batch)), plan.clip)
        else:
            stack.gradient[:] = 0
        noise = plan.draw_noise(stream, step, len(flat))
        flat -= (network.rate / plan.divisor * (stack.gradient + noise)).astype(np.float32)
    return flat
