"""The federation on Adult that is attacked: its silos, its defences, and one run of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mahrem.experiments._saleh_sets import read_table
from mahrem.federated.runs import split_table
from mahrem.federated.weights import (
    LearningPlan,
    ListeningGrid,
    Protections,
    SharedModel,
    SharedSchema,
    TrainingSilo,
    WeightsResult,
    figures_of,
    learn_together,
    propose_schema,
)
from mahrem.federated.wire import Answerer, LocalGrid

CLIENTS, CULPRIT = 5, "client-3"
TEST, HELD = 0.3, 0.05
ROUNDS, RATE = 10, 0.05
QUICK_ROWS, QUICK_ROUNDS = 4_000, 4
Hostility = Callable[[TrainingSilo], Answerer]
Changes = Callable[["FederatedAdult"], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class FederatedAdult:
    """One split of Adult: silos, rows of the server, rows to judge by."""

    seed: int
    rounds: int
    schema: SharedSchema = field(repr=False)
    parts: Mapping[str, pl.DataFrame] = field(repr=False)
    held: pl.DataFrame = field(repr=False)
    judged: pl.DataFrame = field(repr=False)

    def accuracy(self, model: SharedModel) -> float:
        """Give the share of the test rows that a model is right about."""
        rows, labels = self.schema.rows(self.judged)
        return figures_of(labels, model.scores_of_rows(rows))["accuracy"]

    def plan(self, defence: str) -> LearningPlan:
        """Give what is learnt, under one defence."""
        usual = {"rounds": self.rounds, "rate": RATE, "seed": self.seed}
        return LearningPlan(**{**usual, **DEFENCES[defence](self)})


@cache
def split_adult(seed: int, *, quick: bool) -> FederatedAdult:
    """Split Adult anew; test rows go to nobody."""
    adult = read_table("adult")
    shuffled = np.random.default_rng(seed).permutation(adult.frame.height)
    if quick:
        shuffled = shuffled[:QUICK_ROWS]
    ends = [int(TEST * len(shuffled)), int((TEST + HELD) * len(shuffled))]
    judged, held, rest = (adult.frame[np.sort(part)] for part in np.split(shuffled, ends))
    parts = split_table(rest, adult.target, clients=CLIENTS, seed=seed)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    return FederatedAdult(seed, rounds, propose_schema(adult.frame, adult.target), parts, held, judged)


def _usual_length(split: FederatedAdult) -> float:
    """Give the middle length of honest updates, which somebody who sets a bound would look at."""
    return float(np.median(_lengths(split)))


@cache
def _lengths(split: FederatedAdult) -> tuple[float, ...]:
    heard = ListeningGrid(LocalGrid(_silos(split, split.plan("none"))))
    learn_together(heard, split.schema, split.plan("none"))
    pairs = [pair for updates in heard.heard.values() for pair in updates]
    return tuple(float(np.linalg.norm(sent - given)) for given, sent in pairs)


DEFENCES: Mapping[str, Changes] = {
    "none": lambda _: {},
    "norm bound": lambda split: {"protections": Protections(norm_bound=_usual_length(split))},
    "norm bound, weak noise": lambda split: {"protections": _weak(_usual_length(split))},
    "anomaly scores": lambda _: {"protections": Protections(anomaly=3.5)},
    "held-out rows": lambda _: {"protections": Protections(held_out=0.1)},
    "median": lambda _: {"aggregate": "median"},
    "trimmed mean": lambda _: {"aggregate": "trimmed"},
    "krum": lambda _: {"aggregate": "krum"},
    "DP, rows, epsilon 3": lambda split: {"protections": _private(split), "batch": 256, "rate": 0.5},
}
VETTING = ("anomaly scores", "held-out rows")


def _weak(length: float) -> Protections:
    """Give noise on every update that is far too weak for a promise, and a bound that allows for it."""
    return Protections(clip=length, noise=0.003, norm_bound=1.2 * length)


def _private(split: FederatedAdult, epsilon: float = 3.0) -> Protections:
    """Give DP-SGD inside each silo; the number of rows of a silo is public."""
    rows = min(part.height for part in split.parts.values())
    return Protections(unit="row", clip=1.0, epsilon=epsilon, delta=1e-5, rows=rows)


def _silos(split: FederatedAdult, plan: LearningPlan) -> dict[str, TrainingSilo]:
    return {name: TrainingSilo(name, part, split.schema, plan) for name, part in split.parts.items()}


def learn_under(split: FederatedAdult, defence: str, hostile: Hostility | None = None) -> WeightsResult:
    """Run the federation; with a hostile client in the place of one of the silos."""
    plan = split.plan(defence)
    clients: dict[str, Answerer] = dict(_silos(split, plan))
    if hostile is not None:
        clients[CULPRIT] = hostile(TrainingSilo(CULPRIT, split.parts[CULPRIT], split.schema, plan))
    held = split.held if plan.protections.held_out is not None else None
    return learn_together(LocalGrid(clients), split.schema, plan, held_out=held)


learn_honestly = cache(learn_under)  # the same for every attack


def share_refused(done: WeightsResult, names: Iterable[str]) -> float:
    """Give the share of the rounds in which these clients' answers did not count."""
    chosen = list(names)
    rounds = max(1, done.model.rounds)
    return float(np.mean([len(done.refused.get(name, {})) / rounds for name in chosen]))
