"""Masks and vetting together on Adult: what a hostile client and a curious server still reach.

Fifteen clients in five groups: the server sees the sum of each group alone, and vets the groups, or takes
their median. Beside it stands the same federation in which it sees every client, or vets nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mahrem.attacks.on_federations import GradientInversion, Misled, UpdateMembership
from mahrem.attacks.on_models import Examples, LossThreshold
from mahrem.experiments._federated_attacks_runs import split_adult
from mahrem.experiments._row import Row, TableRun
from mahrem.federated.runs import split_table
from mahrem.federated.weights import (
    Backdoor,
    LearningPlan,
    Protections,
    SharedModel,
    SharedSchema,
    TrainingSilo,
    figures_of,
    first_layer,
    group_clients,
    learn_together,
    weighted_average,
)
from mahrem.federated.wire import LocalGrid, Message
from mahrem.types import Floats

CLIENTS, GROUPS = 15, 5
HIDDEN: Mapping[str, Any] = {"sum": "masked"}
GROUPED: Mapping[str, Any] = {"sum": "masked", "groups": GROUPS}
WAYS: Mapping[str, Mapping[str, Any]] = {
    "in the clear": {},
    "masked": HIDDEN,
    "masked, groups vetted by anomaly scores": {**GROUPED, "protections": Protections(anomaly=3.5)},
    "masked, median of groups": {**GROUPED, "aggregate": "median"},
}
TRIGGER = {"native-country": "Holand-Netherlands", "occupation": "Armed-Forces"}
DOOR = Backdoor(trigger=TRIGGER, into=">50K", scale=float(CLIENTS))
ROUNDS, QUICK_ROUNDS, RATE = 30, 3, 0.05  # fewer leave fifteen clients with a model that guesses
MEMBERS, QUICK_MEMBERS, EPOCHS = (
    2_000,
    600,
    10,
)  # few rows, learnt by heart, so that there is something to find
BATCH, SUMS, QUICK_SUMS = 32, 60, 5


class Enlarging(TrainingSilo):
    """A client that learnt a back door and sends its update as often as there are clients."""

    def _update(self, body: Mapping[str, object], number: int) -> Floats:
        return np.asarray(DOOR.scale * super()._update(body, number))


def vetted_rows(run: TableRun) -> Iterator[Row]:
    """Give the back door, membership and inversion under each way."""
    split = split_adult(0, quick=run.quick)
    whole = pl.concat(split.parts.values())
    for name, more in WAYS.items():
        run.step(f"{name}: back door")
        yield from _door_rows(run, name, more, split.schema, whole, split.judged)
        run.step(f"{name}: membership")
        yield from _member_rows(run, name, more, split.schema, whole, split.judged)
        run.step(f"{name}: inversion")
        yield from _inverted_rows(run, name, more, split.schema, whole)


def _plan(run: TableRun, more: Mapping[str, object], **usual: Any) -> LearningPlan:
    rounds = QUICK_ROUNDS if run.quick else ROUNDS
    return LearningPlan(**{"rounds": rounds, "rate": RATE, **usual, **more})


def _learnt(
    parts: Mapping[str, pl.DataFrame], schema: SharedSchema, plan: LearningPlan, *, hostile: bool
) -> SharedModel:
    clients: dict[str, Any] = {}
    for number, (name, part) in enumerate(parts.items()):
        culprit = hostile and number == 0
        opened = DOOR.stamp(part).with_columns(pl.lit(DOOR.into).alias(schema.target))
        kind, rows = (Enlarging, pl.concat([part, opened])) if culprit else (TrainingSilo, part)
        clients[name] = kind(name, rows, schema, plan).for_grid()
    return learn_together(LocalGrid(clients), schema, plan).model


def _accuracy(model: SharedModel, judged: pl.DataFrame) -> float:
    rows, labels = model.schema.rows(judged)
    return figures_of(labels, model.scores_of_rows(rows))["accuracy"]


def _door_rows(
    run: TableRun,
    name: str,
    more: Mapping[str, object],
    schema: SharedSchema,
    whole: pl.DataFrame,
    judged: pl.DataFrame,
) -> Iterator[Row]:
    parts, plan = split_table(whole, schema.target, clients=CLIENTS), _plan(run, more)
    attacked, honest = (_learnt(parts, schema, plan, hostile=hostile) for hostile in (True, False))
    rows, labels = schema.rows(DOOR.stamp(judged))
    into = schema.classes.index(DOOR.into)
    asked = Examples(rows, labels).take(np.asarray(labels) != into)
    finding = Misled(into=into, classes=attacked.classes_)(attacked, asked, honest)
    place = run.place("adult", clients=CLIENTS, malicious=1, attack="model replacement")
    yield place.row(name, "attack_success", finding.rate, note=f"of {finding.trials:,} rows with the trigger")
    yield place.row(
        name, "without_attacker", finding.baseline, note="the same share by honest clients' model"
    )
    yield place.row(
        name, "accuracy", _accuracy(attacked, judged), note=f"on {judged.height:,} untouched rows"
    )
    yield place.row(name, "accuracy_without_attacker", _accuracy(honest, judged))


def _seen(parts: Mapping[str, pl.DataFrame], plan: LearningPlan) -> tuple[str, ...]:
    """Name the clients in the smallest part that the server sees, with the first of them."""
    if plan.sum == "plain":
        return (min(parts),)
    return next(iter(group_clients(list(parts), plan.groups).values()))


def _update(
    names: tuple[str, ...], parts: Mapping[str, pl.DataFrame], model: SharedModel, number: int
) -> Floats:
    """Give what the server sees of some clients in a round: the mean of what they learnt, by rows."""
    plain = replace(model.plan, sum="plain", groups=1, aggregate="mean", protections=Protections())
    body = {"weights": model.arrays["weights"], "round": number}
    sent = [
        TrainingSilo(name, parts[name], model.schema, plain)
        .answer(Message("train", "heard", number, body))
        .body
        for name in names
    ]
    rows = np.array([parts[name].height for name in names], np.float64)
    return weighted_average(np.stack([part["weights"] for part in sent]), rows)


def _member_rows(
    run: TableRun,
    name: str,
    more: Mapping[str, object],
    schema: SharedSchema,
    whole: pl.DataFrame,
    judged: pl.DataFrame,
) -> Iterator[Row]:
    size = QUICK_MEMBERS if run.quick else MEMBERS
    inside, outside = whole[:size], whole[size : 2 * size]
    parts, plan = split_table(inside, schema.target, clients=CLIENTS), _plan(run, more, epochs=EPOCHS)
    given = [SharedModel.fresh(schema, plan)]
    clients = {key: TrainingSilo(key, part, schema, plan).for_grid() for key, part in parts.items()}
    model = learn_together(
        LocalGrid(clients), schema, plan, after=lambda result, _: given.append(result.model)
    ).model
    names = _seen(parts, plan)
    sent = [
        before.next(at, {"weights": _update(names, parts, before, at + 1)})
        for at, before in enumerate(given[:-1])
    ]
    members, others = (Examples(*schema.rows(frame)) for frame in (inside, outside))
    own = Examples(*schema.rows(pl.concat([parts[key] for key in names])))
    place = run.place("adult", clients=CLIENTS, rows=size, rounds=plan.rounds)
    yield place.row(name, "accuracy", _accuracy(model, judged), note="of the model that is attacked below")
    for finding in (
        LossThreshold()(model, members, others),
        UpdateMembership()(given[:-1], sent, own, others),
    ):
        low, high = finding.area_interval
        at = place.at(attack=finding.attack)
        yield at.row(name, "auc", finding.area, note=f"95 % interval {low:.3f} to {high:.3f}; 0.5 is chance")
        low, high = finding.chance
        note = f"of {finding.trials:,} rows; chance gives {low:.4f} to {high:.4f}"
        yield at.row(name, "found_at_1_percent", finding.rate, note=note)


def _inverted_rows(
    run: TableRun, name: str, more: Mapping[str, Any], schema: SharedSchema, whole: pl.DataFrame
) -> Iterator[Row]:
    """Read rows off one round of one step: of one client, or of as many as the server sees together."""
    many = {0: 1, 1: CLIENTS, GROUPS: CLIENTS // GROUPS}[more.get("groups", 1) if more else 0]
    count = QUICK_SUMS if run.quick else SUMS
    plan = _plan(run, {}, rounds=1)
    start = SharedModel.fresh(schema, plan)
    for size in (1, BATCH):
        updates, truth = [], []
        for at in range(count):
            rows = whole[at * many * size : (at + 1) * many * size]
            parts = {f"c{number:02d}": rows[number * size : (number + 1) * size] for number in range(many)}
            after = _update(tuple(parts), parts, start, 1)
            shape = (schema.encoder.width, len(schema.classes))
            updates.append(first_layer(plan.network(), start.arrays["weights"], after, *shape))
            truth.append(schema.rows(rows)[0])
        strangers = schema.rows(whole[-count:])[0]
        finding = GradientInversion()(updates, truth, strangers)
        place = run.place("adult", clients=many, rows=size)
        note = f"of {finding.trials:,}; by strangers {finding.baseline:.4f}"
        yield place.row(name, "rows_recovered", finding.rate, note=note)
