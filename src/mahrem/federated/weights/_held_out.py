"""Updates judged by rows that no client has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.federated.networks import TrainableNetwork
from mahrem.federated.weights._defence import Defence, ErrorOfWeights, JudgedUpdates
from mahrem.types import Floats, Integers

LEAST_CHANCE = 1e-12


@dataclass(frozen=True)
class HeldOutRows(Defence):
    """Refuses updates that raise the error on held-out rows by more than ``most``.

    Raises:
        InvalidParameter: If there are no such rows.
    """

    def __post_init__(self) -> None:
        if self.error is None:
            raise InvalidParameter(
                f"held_out={self.most:g} needs held-out rows: a table of the agreed columns that no client "
                "has"
            )

    def judge(self, judged: JudgedUpdates) -> None:
        """Compare the error with and without each update."""
        error = cast("ErrorOfWeights", self.error)
        before = error(judged.given)
        rises = np.array([error(judged.given + update) - before for update in judged.updates])
        judged.figures["rise"] = rises
        judged.refuse_above(rises, self.most, "it raises the error on held-out rows by {:.3g}")


def error_on(network: TrainableNetwork, rows: Floats, labels: Integers, classes: int) -> ErrorOfWeights:
    """Give the cross entropy of weights on held-out rows; infinite where it is no number."""

    def error(weights: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = network.scores(np.asarray(weights, np.float32), rows, classes)
        chances = scores[np.arange(len(labels)), labels]
        entropy = float(-np.log(np.maximum(chances, LEAST_CHANCE)).mean())
        return entropy if np.isfinite(entropy) else np.inf

    return error
