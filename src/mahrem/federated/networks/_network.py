"""Networks as one vector of weights, and their training on one silo by plain SGD."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem import check
from mahrem.federated.networks._stack import (
    LayerStack,
    Weights,
    cross_entropy_slope,
    first_weights,
    shapes_of,
)
from mahrem.types import Floats, Integers, Mask

if TYPE_CHECKING:
    from mahrem.learning.private import SecretStream, TrainingPlan

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
        object.__setattr__(self, "hidden", tuple(int(size) for size in self.hidden))
        for size in self.hidden:
            check.between(1, 10_000, hidden=size)
        check.between(1e-9, 100, rate=check.finite(rate=self.rate))
        check.at_least(1, batch=check.whole(batch=self.batch))
        check.at_least(1, epochs=check.whole(epochs=self.epochs))

    def shapes(self, width: int, classes: int) -> list[tuple[int, ...]]:
        """Give the shape of every layer's matrix and offset."""
        return shapes_of([width, *self.hidden, classes])

    def size(self, width: int, classes: int) -> int:
        """How many weights there are."""
        return sum(int(np.prod(shape)) for shape in self.shapes(width, classes))

    def start(self, width: int, classes: int, seed: int) -> Floats:
        """Draw the first weights (He's, uniform); logistic regression starts at zero."""
        if not self.hidden:
            return np.zeros(self.size(width, classes), np.float32)
        return first_weights(self.shapes(width, classes), np.random.default_rng(seed))

    def train(
        self,
        weights: Floats,
        rows: Floats,
        labels: Integers,
        classes: int,
        *,
        seed: int,
        proximal: float = 0.0,
        drift: Floats | None = None,
        even: bool = False,
    ) -> Weights:
        """Train from given weights on a silo's rows.

        Args:
            weights: ``(size,)`` where to begin.
            rows: ``(n, width)`` as numbers.
            labels: ``(n,)`` classes.
            classes: How many classes there are.
            seed: Of the order of the rows.
            proximal: Pull towards the weights given.
            drift: ``(size,)`` added to the gradient of every step (SCAFFOLD).
            even: Cut the rows into batches of nearly the same size, see :func:`even_batches`; else the last
                batch is what is left.
        """
        flat = np.array(weights, np.float32)
        given = flat.copy()
        stack = LayerStack(flat, self.shapes(rows.shape[1], classes))
        right = np.eye(classes, dtype=np.float32)
        rng = np.random.default_rng(seed)
        with _one_thread(), np.errstate(over="ignore", invalid="ignore"):
            for _ in range(self.epochs):
                order = rng.permutation(len(rows))
                batches = even_batches(order, self.batch) if even else _batches(order, self.batch)
                for batch in batches:
                    scores = stack.forward(rows[batch])
                    stack.back(cross_entropy_slope(scores, right[labels[batch]]), further=False)
                    if proximal:
                        stack.gradient += np.float32(proximal) * (flat - given)
                    if drift is not None:
                        stack.gradient += drift.astype(np.float32)
                    stack.step(self.rate)
        return flat

    def train_privately(
        self,
        weights: Floats,
        rows: Floats,
        labels: Integers,
        classes: int,
        plan: TrainingPlan,
        stream: SecretStream,
        steps: Iterable[int],
    ) -> Weights:
        """See :func:`~mahrem.federated.networks.train_privately`."""
        from mahrem.federated.networks._private_training import train_privately

        return train_privately(self, weights, rows, labels, classes, plan, stream, steps)

    def scores(self, weights: Floats, rows: Floats, classes: int) -> Floats:
        """See :func:`scores_of`."""
        return scores_of(self, weights, rows, classes)

    def steps(self, rows: int) -> int:
        """How many steps :meth:`train` takes over so many rows."""
        return self.epochs * -(-rows // self.batch)

    def last_layers(self, width: int, classes: int, layers: int) -> Mask:
        """Say which weights belong to so many last layers."""
        sizes = [int(np.prod(shape)) for shape in self.shapes(width, classes)]
        own = np.zeros(sum(sizes), bool)
        own[len(own) - sum(sizes[len(sizes) - 2 * layers :] if layers else []) :] = layers > 0
        return own


def _batches(order: Integers, batch: int) -> list[Integers]:
    return [order[at : at + batch] for at in range(0, len(order), batch)]


def even_batches(order: Integers, batch: int) -> list[Integers]:
    """Cut an order of rows into batches of nearly the same size, at most ``batch``.

    A last batch of few rows would be a step as large as any other, and what it reached is what is judged.

    Example:
        >>> [len(rows) for rows in even_batches(np.arange(9), 4)]
        [3, 3, 3]
    """
    count = -(-len(order) // batch)
    return [order[place * len(order) // count : (place + 1) * len(order) // count] for place in range(count)]


def _one_thread() -> Any:
    """Keep small products on one core: more of them only wait for each other."""
    pools = _thread_pools()
    return nullcontext() if pools is None else pools.limit(limits=1)


@cache
def _thread_pools() -> Any:
    """Find the pools of threads of products; looking for them takes longer than a small silo trains."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def scores_of(network: Network, weights: Floats, rows: Floats, classes: int) -> Floats:
    """Give ``(n, classes)`` probabilities, without torch.

    Example:
        >>> scores_of(Network(hidden=()), np.zeros(4, np.float32), np.ones((1, 1)), 2).tolist()
        [[0.5, 0.5]]
    """
    values = np.asarray(rows, np.float32)
    values = LayerStack(np.asarray(weights), network.shapes(values.shape[1], classes)).forward(values)
    values = np.exp(values - values.max(axis=1, keepdims=True)).astype(np.float64)
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def client_seed(seed: int, number: int, name: str) -> int:
    """Give the seed of a client's draws in a round."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{number}/{name}".encode()).digest()[:8], "little")


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
