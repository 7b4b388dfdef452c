"""A network of the same form as a common model, trained in one place: what an attacker learns from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.federated.weights._model import SharedModel
from mahrem.types import Floats, Integers


@dataclass
class ImitatedNetwork:
    """An untrained network like a common model, with ``fit`` and ``predict_proba`` as classifiers have them.

    It goes through its rows as often as the silos did, without anonymising and without noise.

    Args:
        like: The common model.
        seed: Of its first weights and of the order of rows.
    """

    like: SharedModel = field(repr=False)
    seed: int = 0
    weights: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    def __post_init__(self) -> None:
        if self.like.plan.kind.trees:
            raise InvalidParameter(f"model={self.like.plan.model!r}: trees are not imitated, networks are")

    @property
    def classes_(self) -> tuple[int, ...]:
        """The classes as numbers."""
        return self.like.classes_

    def fit(self, rows: Floats, labels: Integers) -> Self:
        """Train on encoded rows."""
        network, classes = self.like.plan.network(), len(self.classes_)
        self.weights = network.start(rows.shape[1], classes, self.seed)
        for turn in range(max(1, self.like.rounds)):
            self.weights = network.train(self.weights, rows, labels, classes, seed=self.seed + turn)
        return self

    def predict_proba(self, rows: Floats) -> Floats:
        """Give ``(n, classes)`` probabilities."""
        return self.like.next(self.like.rounds, {"weights": self.weights}).predict_proba(rows)
