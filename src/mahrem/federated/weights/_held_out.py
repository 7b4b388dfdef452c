"""Updates judged by rows that no client has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.federated.networks import Network, scores_of
from mahrem.federated.weights._defence import ErrorOfWeights, JudgedUpdates
from mahrem.types import Floats, Integers

__all__ = ["HeldOutRows", "error_on"]

LEAST_CHANCE = 1e-12


@dataclass(frozen=True)
class HeldOutRows:
    """Refuses updates that raise the error on held-out rows by more than ``most``."""

    most: float
    error: ErrorOfWeights = field(repr=False)

    @classmethod
    def of(cls, value: float, error: ErrorOfWeights | None) -> Self:
        """See :class:`Defence`.

        Raises:
            InvalidParameter: If there are no such rows.
        """
        if error is None:
            raise InvalidParameter(
                f"held_out={value:g} needs held-out rows: a table of the agreed columns that no client has"
            )
        return cls(value, error)

    def require(self, clients: int) -> None:
        """Judge each client by itself: any number will do."""

    def judge(self, judged: JudgedUpdates) -> None:
        """Compare the error with and without each update."""
        before = self.error(judged.given)
        rises = np.array([self.error(judged.given + update) - before for update in judged.updates])
        judged.figures["rise"] = rises
        judged.refuse_above(rises, self.most, "it raises the error on held-out rows by {:.3g}")


def error_on(network: Network, rows: Floats, labels: Integers, classes: int) -> ErrorOfWeights:
    """Give the cross entropy of weights on held-out rows; infinite where it is no number."""

    def error(weights: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = scores_of(network, np.asarray(weights, np.float32), rows, classes)
        chances = scores[np.arange(len(labels)), labels]
        entropy = float(-np.log(np.maximum(chances, LEAST_CHANCE)).mean())
        return entropy if np.isfinite(entropy) else np.inf

    return error
