"""Small silos to learn over, and clients that lie about their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mahrem.federated.runs import split_table
from mahrem.federated.weights import (
    LearningPlan,
    SharedModel,
    TrainingSilo,
    WeightsResult,
    learn_together,
    propose_schema,
)
from mahrem.federated.wire import LocalGrid, Message


def people(rows: int = 600, seed: int = 0) -> pl.DataFrame:
    """Draw people who are ill if they are old, sooner in one town."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 90, rows), rng.choice(["ash", "elm", "oak"], rows)
    ill = (age + 15 * (town == "oak") + rng.normal(0, 8, rows)) > 60
    return pl.DataFrame({"age": age, "town": town, "class": np.where(ill, "yes", "no")})


def silos(plan: LearningPlan, parts: dict[str, pl.DataFrame], policy: Any = None) -> dict[str, Any]:
    """Make a silo of each part."""
    schema = propose_schema(people(), "class")
    return {name: TrainingSilo(name, part, schema, plan, policy) for name, part in parts.items()}


def learnt(
    plan: LearningPlan, clients: int = 3, policy: Any = None, more: Any = None, **wrong: Any
) -> WeightsResult:
    """Learn over silos of one table; ``client_2=...`` makes one of them otherwise."""
    made = silos(plan, split_table(people(), "class", clients=clients), policy)
    grid = LocalGrid(
        {name: wrong.get(name.replace("-", "_"), TrainingSilo.for_grid)(silo) for name, silo in made.items()}
    )
    return learn_together(grid, propose_schema(people(), "class"), plan, **(more or {}))


def accuracy(model: SharedModel) -> float:
    """Judge a model by people it has not seen."""
    other = people(seed=9)
    return float((model.predict(other) == other["class"].to_numpy()).mean())


@dataclass
class Lying:
    """A client that sends other weights than it has trained."""

    silo: TrainingSilo
    lie: Any

    def answer(self, message: Message) -> Message:
        """Answer, and lie about the weights."""
        said = self.silo.answer(message)
        if message.kind != "train":
            return said
        return message.reply(weights=self.lie(said.body["weights"]), rows=said.body["rows"])
