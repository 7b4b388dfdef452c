"""What plans, clients and models of all shapes of federation have in common."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.federated.networks import Network, Weights, wrong_weights
from mahrem.federated.weights import LearningPlan, SharedModel, SharedSchema
from mahrem.types import Floats, Integers

PROTOCOL = 1  # parties of another version are refused


@dataclass(frozen=True, kw_only=True)
class ShapePlan:
    """What every shape has: a network, rounds, a seed.

    Args:
        network: Its layers, its rate, its batch, and passes through the rows in a round.
        rounds: How many rounds.
        seed: Of all that is drawn.
    """

    network: Network = field(default_factory=lambda: Network(rate=0.05))
    rounds: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, rounds=check.whole(rounds=self.rounds))
        check.at_least(0, seed=check.whole(seed=self.seed))

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)

    def fingerprint(self, classes: Sequence[str]) -> str:
        """Give a short name that changes with anything that was agreed on."""
        text = json.dumps([PROTOCOL, type(self).__name__, self.as_dict(), list(classes)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class AlignedPlan(ShapePlan):
    """What every plan of aligned rows has besides.

    Args:
        least_rows: Fewer rows in common are an error.
    """

    least_rows: int = 10
    fewest: ClassVar[int] = 2  # that may be agreed on

    def __post_init__(self) -> None:
        super().__post_init__()
        check.at_least(self.fewest, least_rows=check.whole(least_rows=self.least_rows))


def learning_rows(
    frame: pl.DataFrame, schema: SharedSchema, *, every: bool = False
) -> tuple[Floats, Integers]:
    """Give a client's rows as numbers with their classes; ``every``: those of no agreed class too, as -1.

    Raises:
        InvalidInput: If there are none.
    """
    if every:
        rows, labels = schema.encoder(frame, ()), schema.labels(frame)
    else:
        rows, labels = schema.rows(frame)
    if not len(rows):
        raise InvalidInput("rows=0: no row of this table has an agreed class")
    return rows, labels


def model_of(schema: SharedSchema, network: Network, weights: Weights, rounds: int) -> SharedModel:
    """Give weights as the model that can be stored and asked.

    Raises:
        InvalidInput: If they are not numbers, or beyond what a model may hold.
    """
    weights = weights.astype(np.float32)
    wrong = wrong_weights(weights, len(weights))
    if wrong is not None:
        raise InvalidInput(f"learning gave {wrong}; a lower rate may help")
    kind = {"model": "mlp", "hidden": network.hidden} if network.hidden else {"model": "logistic"}
    plan = LearningPlan(**kind, rate=network.rate, batch=network.batch, rounds=rounds)
    return SharedModel(schema=schema, plan=plan, arrays={"weights": weights}, rounds=rounds)
