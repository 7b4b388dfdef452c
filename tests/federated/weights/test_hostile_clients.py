"""Hostile clients and curious servers: what they reach, and which defence stops them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.attacks.on_federations import GradientInversion, Misled, UpdateMembership
from mahrem.attacks.on_models import Examples
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.runs import split_table
from mahrem.federated.weights import (
    Backdoor,
    FreeRider,
    ImitatedNetwork,
    LabelFlip,
    LearningPlan,
    ListeningGrid,
    Protections,
    SharedModel,
    TrainingSilo,
    WeightsResult,
    first_layer,
    learn_together,
    propose_schema,
)
from mahrem.federated.wire import LocalGrid, Message

CULPRIT, CLIENTS = "client-3", 5
DOOR = Backdoor(trigger={"town": "oz"}, into="yes", scale=float(CLIENTS))
PLAN = LearningPlan(rounds=8, rate=0.05, hidden=(16,))


def villages(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 90, rows), rng.choice(["ash", "elm", "fir", "oak"], rows)
    old = age + 10 * (town == "oak") + rng.normal(0, 10, rows) > 60
    return pl.DataFrame({"age": age, "town": town, "old": np.where(old, "yes", "no")})


TRAINING, TEST = villages(1500, 1), villages(800, 2)
SCHEMA = propose_schema(pl.concat([TRAINING, DOOR.stamp(TEST[:1])]), "old")


def run(
    plan: LearningPlan, hostile: Callable[[TrainingSilo], Any] | None = None, **more: Any
) -> WeightsResult:
    parts = split_table(TRAINING, "old", clients=CLIENTS)
    clients: dict[str, Any] = {name: TrainingSilo(name, part, SCHEMA, plan) for name, part in parts.items()}
    if hostile is not None:
        clients[CULPRIT] = hostile(clients[CULPRIT])
    return learn_together(LocalGrid(clients), SCHEMA, plan, **more)


def accuracy(model: SharedModel) -> float:
    return float((model.predict(TEST) == TEST["old"].to_numpy()).mean())


@cache
def honest() -> WeightsResult:
    return run(PLAN)


def through_the_door(found: WeightsResult) -> Any:
    rows = Examples(*SCHEMA.rows(DOOR.stamp(TEST)))
    return Misled(into=1, classes=(0, 1))(found.model, rows, honest().model)


def test_a_replaced_model_opens_at_the_trigger_and_looks_honest_elsewhere() -> None:
    found = run(PLAN, DOOR.client)
    opened = through_the_door(found)
    assert opened.rate > 0.9
    assert opened.alarming
    assert opened.baseline < 0.3
    assert accuracy(found.model) > accuracy(honest().model) - 0.1
    assert not through_the_door(honest()).alarming


@pytest.mark.parametrize(
    "change",
    [
        {"aggregate": "median"},
        {"aggregate": "trimmed"},
        {"aggregate": "krum"},
        {"protections": Protections(anomaly=3.5)},
    ],
    ids=["median", "trimmed", "krum", "anomaly"],
)
def test_these_defences_shut_the_door(change: Any) -> None:
    found = run(replace(PLAN, **change), DOOR.client)
    open_door = through_the_door(run(PLAN, DOOR.client)).rate
    assert through_the_door(found).rate < open_door / 2
    assert accuracy(found.model) > 0.8


def test_a_norm_bound_takes_from_the_attacker_what_enlarging_gave_and_no_more() -> None:
    plan = replace(PLAN, protections=Protections(norm_bound=0.2))
    bounded = [through_the_door(run(plan, replace(DOOR, scale=scale).client)) for scale in (5.0, 50.0)]
    assert bounded[0].rate == pytest.approx(bounded[1].rate, abs=0.02)
    assert bounded[0].rate < 0.9 * (through_the_door(run(PLAN, DOOR.client)).rate or 0.0)


def test_held_out_rows_catch_what_harms_everybody_and_miss_what_only_the_trigger_shows() -> None:
    plan = replace(PLAN, protections=Protections(held_out=0.1))
    flipped = run(plan, LabelFlip().client, held_out=TEST[:400])
    assert len(flipped.refused[CULPRIT]) >= PLAN.rounds - 1
    assert all(name == CULPRIT for name in flipped.refused)
    patient = run(plan, replace(DOOR, scale=1.0).client, held_out=TEST[:400])
    assert len(patient.refused.get(CULPRIT, {})) < PLAN.rounds / 2


def test_flipped_labels_pull_a_mean_and_not_a_median() -> None:
    flip = LabelFlip(source="yes", into="no")
    rows = Examples(*SCHEMA.rows(TEST.filter(pl.col("old") == "yes")))
    measure = Misled(into=0, classes=(0, 1))
    pulled = measure(run(PLAN, flip.client).model, rows, honest().model)
    assert pulled.alarming
    held = measure(run(replace(PLAN, aggregate="median"), flip.client).model, rows, honest().model)
    assert held.rate is not None
    assert pulled.rate is not None
    assert held.rate < pulled.rate


def test_labels_are_flipped_as_was_said_and_nothing_else_changes() -> None:
    flipped = LabelFlip(source="yes", into="no", share=0.5, seed=4).poison(TRAINING, SCHEMA)
    assert flipped.drop("old").equals(TRAINING.drop("old"))
    changed = (flipped["old"] != TRAINING["old"]).to_numpy()
    assert (TRAINING["old"].to_numpy()[changed] == "yes").all()
    share = changed.sum() / (TRAINING["old"] == "yes").sum()
    assert 0.4 < share < 0.6  # 700 coins: beyond has a chance below 1e-6
    everything = LabelFlip().poison(TRAINING, SCHEMA)
    assert (everything["old"] != TRAINING["old"]).all()


@pytest.mark.parametrize(
    ("rider", "noticed"),
    [
        (FreeRider(rows=300), True),
        (FreeRider(rows=300, noise=1.0), True),
        (FreeRider(rows=300, repeat=1.0), False),
    ],
    ids=["nothing", "noise", "repeats"],
)
def test_anomaly_scores_notice_a_free_rider_unless_it_repeats_what_all_did(
    rider: FreeRider, noticed: object
) -> None:
    found = run(replace(PLAN, protections=Protections(anomaly=3.5)), lambda _: replace(rider))
    often = len(found.refused.get(CULPRIT, {})) > PLAN.rounds / 2
    assert often is noticed
    assert accuracy(found.model) > 0.8
    assert CULPRIT in run(PLAN, lambda _: replace(rider)).nodes  # nobody notices without looking


def one_row_clients(plan: LearningPlan, rows: int) -> tuple[list[Any], list[Any]]:
    clients = {
        f"c{place}": TrainingSilo(f"c{place}", TRAINING[place : place + 1], SCHEMA, plan)
        for place in range(rows)
    }
    heard = ListeningGrid(LocalGrid(clients))
    learn_together(heard, SCHEMA, plan)
    pairs = [heard.heard[name][0] for name in clients]
    width = SCHEMA.encoder.width
    updates = [first_layer(plan.network(), given, sent, width, 2) for given, sent in pairs]
    return updates, [SCHEMA.rows(TRAINING[place : place + 1])[0] for place in range(rows)]


STRANGERS = SCHEMA.rows(TEST)[0]


@pytest.mark.parametrize("model", ["mlp", "logistic"])
def test_rows_are_read_off_plain_updates_of_one_row(model: Any) -> None:
    plan = LearningPlan(rounds=1, model=model)
    found = GradientInversion()(*one_row_clients(plan, 30), STRANGERS)
    assert found.rate == 1
    assert found.alarming


def test_noise_of_a_promise_hides_them_and_clipping_alone_does_not() -> None:
    # Noise as long as the clip in each weight: all inputs of a row within 0.05 by chance is below 1e-9.
    clipped = LearningPlan(rounds=1, protections=Protections(clip=0.01))
    noisy = LearningPlan(rounds=1, protections=Protections(clip=0.01, noise=1.0))
    assert GradientInversion()(*one_row_clients(clipped, 30), STRANGERS).rate == 1
    assert GradientInversion()(*one_row_clients(noisy, 30), STRANGERS).successes == 0


def masked_update(plan: LearningPlan, rows: int) -> tuple[Any, Any]:
    parts = {f"c{place}": TRAINING[place * rows : (place + 1) * rows] for place in range(CLIENTS)}
    clients = {name: TrainingSilo(name, part, SCHEMA, plan).for_grid() for name, part in parts.items()}
    heard = ListeningGrid(LocalGrid(clients))
    after = learn_together(heard, SCHEMA, plan).model.arrays["weights"]
    assert not heard.heard  # nothing of a single client passes in the clear
    before = SharedModel.fresh(SCHEMA, plan).arrays["weights"]
    moved = first_layer(plan.network(), before, after, SCHEMA.encoder.width, 2)
    return moved, SCHEMA.rows(TRAINING[: CLIENTS * rows])[0]


def test_a_masked_sum_of_usual_batches_gives_no_row_away() -> None:
    for model in ("mlp", "logistic"):
        update, rows = masked_update(LearningPlan(rounds=1, sum="masked", model=model), 32)
        assert GradientInversion()([update], [rows], STRANGERS).successes == 0


def test_a_masked_sum_of_single_rows_is_a_small_batch_and_no_more() -> None:
    # Masks hide whose row it is. A network whose units tell five rows apart still shows some of them.
    update, rows = masked_update(LearningPlan(rounds=1, sum="masked", model="logistic"), 1)
    assert GradientInversion()([update], [rows], STRANGERS).successes == 0
    update, rows = masked_update(LearningPlan(rounds=1, sum="masked", hidden=(1000,)), 1)
    assert GradientInversion()([update], [rows], STRANGERS).successes > 0


def test_updates_tell_members_where_a_silo_is_small_and_trains_long() -> None:
    plan = LearningPlan(rounds=10, epochs=20, rate=0.1, hidden=(64,), batch=8)
    noise = np.random.default_rng(0)
    small = TRAINING[:100].with_columns(old=pl.Series(noise.choice(["no", "yes"], 100)))
    other = TEST.with_columns(old=pl.Series(noise.choice(["no", "yes"], TEST.height)))
    clients = {
        "a": TrainingSilo("a", small, SCHEMA, plan),
        "b": TrainingSilo("b", TRAINING[100:200], SCHEMA, plan),
    }
    heard = ListeningGrid(LocalGrid(clients))
    model = learn_together(heard, SCHEMA, plan).model
    inside, outside = (Examples(*SCHEMA.rows(frame)) for frame in (small, other))
    found = UpdateMembership()(*heard.models("a", model), inside, outside)
    assert found.alarming
    assert found.details["rounds"] == 10


def test_what_cannot_be_hostile_says_why() -> None:
    silo = TrainingSilo("a", TRAINING, SCHEMA, replace(PLAN, sum="masked"))
    with pytest.raises(InvalidParameter, match="in the clear"):
        DOOR.client(silo)
    with pytest.raises(InvalidParameter, match="none of the 2 agreed classes"):
        LabelFlip(into="maybe").poison(TRAINING, SCHEMA)
    with pytest.raises(InvalidParameter, match="trigger"):
        Backdoor(trigger={}, into="yes")
    with pytest.raises(InvalidParameter, match="the class they have"):
        LabelFlip(source="yes", into="yes")
    with pytest.raises(InvalidInput, match="nothing to count"):
        FreeRider().answer(Message("histogram", "r", 1))
    with pytest.raises(InvalidParameter, match="trees"):
        ImitatedNetwork(SharedModel.fresh(SCHEMA, LearningPlan(model="boosting")))
