"""The federation on Adult that is attacked: its silos, its defences, and one run of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mahrem.experiments._saleh_sets import table
from mahrem.federated import (
    Answerer,
    LearningPlan,
    LocalGrid,
    Overheard,
    Protections,
    SharedModel,
    SharedSchema,
    Together,
    TrainingSilo,
    figures_of,
    learn_together,
    propose_schema,
    split_table,
)

__all__ = [
    "CLIENTS",
    "CULPRIT",
    "DEFENCES",
    "VETTING",
    "Hostility",
    "World",
    "honest",
    "learnt",
    "share_refused",
    "world",
]

CLIENTS, CULPRIT = 5, "client-3"
TEST, HELD = 0.3, 0.05
ROUNDS, RATE = 10, 0.05
QUICK_ROWS, QUICK_ROUNDS = 4_000, 4
Hostility = Callable[[TrainingSilo], Answerer]
Changes = Callable[["World"], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class World:
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
def world(seed: int, *, quick: bool) -> World:
    """Split Adult anew; test rows go to nobody."""
    what = table("adult")
    shuffled = np.random.default_rng(seed).permutation(what.frame.height)
    if quick:
        shuffled = shuffled[:QUICK_ROWS]
    ends = [int(TEST * len(shuffled)), int((TEST + HELD) * len(shuffled))]
    judged, held, rest = (what.frame[np.sort(part)] for part in np.split(shuffled, ends))
    parts = split_table(rest, what.target, clients=CLIENTS, seed=seed)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    return World(seed, rounds, propose_schema(what.frame, what.target), parts, held, judged)


def _usual_length(place: World) -> float:
    """Give the middle length of honest updates, which somebody who sets a bound would look at."""
    return float(np.median(_lengths(place)))


@cache
def _lengths(place: World) -> tuple[float, ...]:
    heard = Overheard(LocalGrid(_silos(place, place.plan("none"))))
    learn_together(heard, place.schema, place.plan("none"))
    pairs = [pair for told in heard.heard.values() for pair in told]
    return tuple(float(np.linalg.norm(sent - given)) for given, sent in pairs)


DEFENCES: Mapping[str, Changes] = {
    "none": lambda _: {},
    "norm bound": lambda place: {"protections": Protections(norm_bound=_usual_length(place))},
    "norm bound, weak noise": lambda place: {"protections": _weak(_usual_length(place))},
    "anomaly scores": lambda _: {"protections": Protections(anomaly=3.5)},
    "held-out rows": lambda _: {"protections": Protections(held_out=0.1)},
    "median": lambda _: {"aggregate": "median"},
    "trimmed mean": lambda _: {"aggregate": "trimmed"},
    "krum": lambda _: {"aggregate": "krum"},
    "DP, rows, epsilon 3": lambda place: {"protections": _private(place), "batch": 256, "rate": 0.5},
}
VETTING = ("anomaly scores", "held-out rows")


def _weak(length: float) -> Protections:
    """Give noise on every update that is far too weak for a promise, and a bound that allows for it."""
    return Protections(clip=length, noise=0.003, norm_bound=1.2 * length)


def _private(place: World, epsilon: float = 3.0) -> Protections:
    """Give DP-SGD inside each silo; the number of rows of a silo is public."""
    rows = min(part.height for part in place.parts.values())
    return Protections(unit="row", clip=1.0, epsilon=epsilon, delta=1e-5, rows=rows)


def _silos(place: World, plan: LearningPlan) -> dict[str, TrainingSilo]:
    return {name: TrainingSilo(name, part, place.schema, plan) for name, part in place.parts.items()}


def learnt(place: World, defence: str, hostile: Hostility | None = None) -> Together:
    """Run the federation; with a hostile client in the place of one of the silos."""
    plan = place.plan(defence)
    clients: dict[str, Answerer] = dict(_silos(place, plan))
    if hostile is not None:
        clients[CULPRIT] = hostile(TrainingSilo(CULPRIT, place.parts[CULPRIT], place.schema, plan))
    held = place.held if plan.protections.held_out is not None else None
    return learn_together(LocalGrid(clients), place.schema, plan, held_out=held)


honest = cache(learnt)  # the same for every attack


def share_refused(done: Together, names: Iterable[str]) -> float:
    """Give the share of the rounds in which these clients' answers did not count."""
    chosen = list(names)
    rounds = max(1, done.model.rounds)
    return float(np.mean([len(done.refused.get(name, {})) / rounds for name in chosen]))
