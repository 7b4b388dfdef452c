"""What a silo keeps to itself between rounds: its control variate, and layers that are its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mahrem.federated.networks import TrainableNetwork
from mahrem.federated.weights._plan import LearningPlan
from mahrem.types import Floats, Mask

Train = Callable[[Floats, Floats | None], Floats]  # from weights, with a drift; gives trained weights


@dataclass
class OwnPart:
    """A silo's memory where the plan says ``scaffold`` or ``personal``; it never leaves.

    References:
        Karimireddy et al.: SCAFFOLD, 2020 (option II). Arivazhagan et al.: Federated learning with
        personalization layers, 2019.
    """

    plan: LearningPlan
    control: Floats | None = field(default=None, repr=False)
    head: Floats | None = field(default=None, repr=False)

    def places(self, network: TrainableNetwork, width: int, classes: int) -> Mask:
        """Say which weights are the silo's own."""
        return network.last_layers(width, classes, self.plan.personal)

    def own_weights(self, weights: Floats, own: Mask) -> Floats:
        """Put the silo's own layers into common weights."""
        mine = np.array(weights)
        if self.head is not None:
            mine[own] = self.head
        return mine

    def personal_update(self, weights: Floats, own: Mask, train: Train) -> Floats:
        """Train with the silo's own layers; gives the update of the common ones, 0 for its own."""
        begun = self.own_weights(weights, own)
        trained = train(begun, None)
        self.head = np.array(trained[own])
        return np.where(own, 0.0, np.asarray(trained, np.float64) - begun)

    def corrected_update(self, both: Floats, steps: int, train: Train) -> Floats:
        """Train against the drift of this silo; gives updates of weights and of the common control variate.

        Args:
            both: ``(2 * size,)`` common weights, and the common control variate.
            steps: Steps that training takes.
            train: Trains.
        """
        weights, common = np.split(np.asarray(both, np.float64), 2)
        mine = np.zeros_like(common) if self.control is None else self.control
        trained = np.asarray(train(weights.astype(np.float32), common - mine), np.float64)
        new = mine - common + (weights - trained) / (steps * self.plan.learning_rate)
        self.control = new
        return np.concatenate([trained - weights, new - mine])
