"""What updates and the common model give away: membership, and rows read off gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from mahrem.attacks import Finding
from mahrem.attacks.on_federations import GradientInversion, UpdateMembership
from mahrem.attacks.on_models import Examples, FewShadows, LossThreshold, ModelFinding
from mahrem.experiments._row import Place, Row, TableRun
from mahrem.experiments._saleh_sets import LearningTable, read_table
from mahrem.federated.runs import split_table
from mahrem.federated.weights import (
    ImitatedNetwork,
    LearningPlan,
    ListeningGrid,
    Protections,
    SharedModel,
    SharedSchema,
    TrainingSilo,
    figures_of,
    first_layer,
    learn_together,
    propose_schema,
)
from mahrem.federated.wire import LocalGrid
from mahrem.types import Floats

Update: TypeAlias = tuple[Floats, Floats]
Listen: TypeAlias = Callable[
    [pl.DataFrame, SharedSchema, LearningPlan, int], tuple[list[Update], list[Floats]]
]

CLIENTS, MANY, K, SHADOWS = 5, 20, 3, 4
MEMBERS, QUICK_MEMBERS = 2_000, 400  # few rows, so that there is something to remember
ROUNDS, QUICK_ROUNDS = 40, 5
EPOCHS, RATE, PRIVATE_RATE = 10, 0.05, 1.0  # clipped gradients are short
WATCHED = "client-3"
UPDATES, QUICK_UPDATES = 300, MANY
BATCH = 32
CLIP, EPSILON = 0.01, 50.0  # shorter than most updates; a promise so weak that it hardly is one


def membership_rows(run: TableRun) -> Iterator[Row]:
    """Attack the common model, and one silo's updates: original, anonymised, private."""
    adult = read_table("adult")
    size = QUICK_MEMBERS if run.quick else MEMBERS
    shuffled = np.random.default_rng(0).permutation(adult.frame.height)
    inside, outside = (adult.frame[part] for part in (shuffled[:size], shuffled[size : 2 * size]))
    judged = adult.frame[shuffled[2 * size : 12 * size]]
    schema = propose_schema(adult.frame, adult.target)
    parts = split_table(inside, adult.target, clients=CLIENTS)
    for name, (plan, policy) in _ways(adult, size // CLIENTS, quick=run.quick).items():
        run.step(f"membership: {name}")
        silos = {key: TrainingSilo(key, part, schema, plan, policy) for key, part in parts.items()}
        heard = ListeningGrid(LocalGrid(silos))
        model = learn_together(heard, schema, plan).model
        place = run.place("adult", clients=CLIENTS, rows=size, rounds=plan.rounds)
        rows, labels = schema.rows(judged)
        accuracy = figures_of(labels, model.scores_of_rows(rows))["accuracy"]
        yield place.row(name, "accuracy", accuracy, note=f"on {len(rows):,} rows of nobody")
        for finding in _memberships(model, heard, schema, (inside, outside), parts[WATCHED]):
            yield from _curve(place, name, finding)


def _ways(
    adult: LearningTable, rows: int, *, quick: bool
) -> dict[str, tuple[LearningPlan, Mapping[str, object] | None]]:
    """Give plan and policy of each way to learn."""
    plan = LearningPlan(rounds=QUICK_ROUNDS if quick else ROUNDS, epochs=EPOCHS, rate=RATE)
    policy = {"quasi": adult.quasi, "sensitive": adult.target, "k": K, "bounds": "exact"}
    private = Protections(unit="row", clip=1.0, epsilon=8.0, delta=1e-5, rows=rows)
    bare = LearningPlan(rounds=plan.rounds, rate=PRIVATE_RATE, batch=rows // 2, protections=private)
    return {
        "original": (plan, None),
        f"anonymised, k={K}": (plan, policy),
        "DP, rows, epsilon 8": (bare, None),
    }


def _memberships(
    model: SharedModel,
    heard: ListeningGrid,
    schema: SharedSchema,
    frames: tuple[pl.DataFrame, pl.DataFrame],
    silo: pl.DataFrame,
) -> Iterator[ModelFinding]:
    members, others = (Examples(*schema.rows(frame)) for frame in frames)
    yield LossThreshold()(model, members, others)
    yield FewShadows(shadows=SHADOWS)(model, members, others, make=lambda seed: ImitatedNetwork(model, seed))
    own = Examples(*schema.rows(silo))
    yield UpdateMembership()(*heard.models(WATCHED, model), own, others)


def _curve(place: Place, name: str, finding: ModelFinding) -> Iterator[Row]:
    place = place.at(attack=finding.attack)
    low, high = finding.area_interval
    note = f"95 % interval {low:.3f} to {high:.3f}; 0.5 is chance"
    yield place.row(name, "auc", finding.area, note=note)
    low, high = finding.chance
    note = f"of {finding.trials:,} rows; chance gives {low:.4f} to {high:.4f}"
    yield place.row(name, "found_at_1_percent", finding.rate, note=note)


def inversion_rows(run: TableRun) -> Iterator[Row]:
    """Read rows off updates: of one row in the clear, of sums, with noise."""
    adult = read_table("adult")
    count = QUICK_UPDATES if run.quick else UPDATES
    frame = adult.frame[np.random.default_rng(1).permutation(adult.frame.height)[: (BATCH + 1) * count]]
    schema = propose_schema(adult.frame, adult.target)
    strangers = schema.rows(frame[-count:])[0]
    plain, masked = LearningPlan(rounds=1), LearningPlan(rounds=1, sum="masked")
    clipped = LearningPlan(rounds=1, protections=Protections(clip=CLIP))
    noisy = LearningPlan(rounds=1, protections=Protections(clip=CLIP, epsilon=EPSILON, delta=1e-5))
    few, many = _summed(CLIENTS), _summed(MANY)
    ways: dict[str, tuple[Listen, LearningPlan, int]] = {
        "plain update of one row": (_heard, plain, 1),
        f"plain update of {BATCH} rows": (_heard, plain, BATCH),
        f"masked sum of {CLIENTS} clients, one row each": (few, masked, 1),
        f"masked sum of {MANY} clients, one row each": (many, masked, 1),
        f"masked sum of {CLIENTS} clients, {BATCH} rows each": (few, masked, BATCH),
        "one row, clipped, without noise": (_heard, clipped, 1),
        "one row, DP noise": (_heard, noisy, 1),
    }
    for name, (listen, plan, size) in ways.items():
        run.step(f"inversion: {name}")
        updates, rows = listen(frame[: size * count], schema, plan, size)
        place = run.place("adult", epsilon=EPSILON, clip=CLIP) if plan is noisy else run.place("adult")
        yield from _recovered(place, name, GradientInversion()(updates, rows, strangers))


def _recovered(place: Place, name: str, finding: Finding) -> Iterator[Row]:
    low, high = finding.interval or (0.0, 1.0)
    note = f"95 % interval {low:.4f} to {high:.4f}; by strangers {finding.baseline:.4f}"
    yield place.row(name, "rows_recovered", finding.rate, note=f"of {finding.trials:,}; {note}")
    blind = float(finding.details["distance_of_strangers"])
    note = f"median over the rows, root mean square; a stranger's row lies {blind:.3f} away"
    yield place.row(name, "distance", float(finding.details["distance"]), note=note)


def _heard(
    frame: pl.DataFrame, schema: SharedSchema, plan: LearningPlan, rows: int
) -> tuple[list[Update], list[Floats]]:
    """Listen to clients that each take one step on ``rows`` rows."""
    parts = [frame[at : at + rows] for at in range(0, frame.height, rows)]
    silos = {
        f"c{place:05d}": TrainingSilo(f"c{place:05d}", part, schema, plan) for place, part in enumerate(parts)
    }
    heard = ListeningGrid(LocalGrid(silos))
    learn_together(heard, schema, plan)
    return [_moved(schema, plan, *heard.heard[name][0]) for name in silos], _encoded(parts, schema)


def _summed(clients: int) -> Listen:
    """Give what a server has of masked sums: the common model before and after."""

    def listen(
        frame: pl.DataFrame, schema: SharedSchema, plan: LearningPlan, rows: int
    ) -> tuple[list[Update], list[Floats]]:
        updates, truth = [], []
        start = SharedModel.fresh(schema, plan)
        for at in range(0, frame.height, rows * clients):
            together = frame[at : at + rows * clients]
            parts = split_table(together, schema.target, clients=clients)
            silos = {key: TrainingSilo(key, part, schema, plan).for_grid() for key, part in parts.items()}
            after = learn_together(LocalGrid(silos), schema, plan).model
            updates.append(_moved(schema, plan, start.arrays["weights"], after.arrays["weights"]))
            truth += _encoded([together], schema)
        return updates, truth

    return listen


def _moved(schema: SharedSchema, plan: LearningPlan, given: Floats, sent: Floats) -> Update:
    return first_layer(plan.network(), given, sent, schema.encoder.width, len(schema.classes))


def _encoded(frames: Sequence[pl.DataFrame], schema: SharedSchema) -> list[Floats]:
    return [schema.rows(frame)[0] for frame in frames]
