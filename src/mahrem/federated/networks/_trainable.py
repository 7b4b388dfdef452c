"""What silos train: anything whose weights are one vector that a few steps on rows move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from mahrem.federated.networks._stack import Weights
from mahrem.learning.private import SecretStream, TrainingPlan
from mahrem.types import Floats, Integers, Mask


class TrainableNetwork(Protocol):
    """A network as rounds of averaging see it: :class:`Network`, or one of a user's own."""

    def size(self, width: int, classes: int) -> int:
        """How many weights there are."""

    def start(self, width: int, classes: int, seed: int) -> Floats:
        """Draw the first weights."""

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
    ) -> Weights:
        """Train from given weights; ``drift`` is added to the gradient of every step."""

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
        """Take private steps: gradients clipped row by row, noise from the plan."""

    def scores(self, weights: Floats, rows: Floats, classes: int) -> Floats:
        """Give ``(n, classes)`` probabilities."""

    def steps(self, rows: int) -> int:
        """How many steps :meth:`train` takes over so many rows."""

    def last_layers(self, width: int, classes: int, layers: int) -> Mask:
        """Say which weights belong to so many last layers."""
