"""Robust and private together: sums of groups under masks, which the server vets."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.attacks.on_federations import Misled
from mahrem.attacks.on_models import Examples
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.federated.runs import split_table
from mahrem.federated.sums import MaskedSum
from mahrem.federated.weights import (
    Backdoor,
    LearningPlan,
    Protections,
    SharedModel,
    TrainingSilo,
    WeightsResult,
    learn_together,
    propose_schema,
)
from mahrem.federated.wire import LocalGrid, Message

CLIENTS, GROUPS = 15, 5
DOOR = Backdoor(trigger={"town": "oz"}, into="yes", scale=float(CLIENTS))
PLAN = LearningPlan(rounds=8, rate=0.1, hidden=(16,), sum="masked")


def villages(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 90, rows), rng.choice(["ash", "elm", "fir", "oak"], rows)
    old = age + 10 * (town == "oak") + rng.normal(0, 10, rows) > 60
    return pl.DataFrame({"age": age, "town": town, "old": np.where(old, "yes", "no")})


TRAINING, TEST = villages(3000, 1), villages(2000, 2)
SCHEMA = propose_schema(pl.concat([TRAINING, DOOR.stamp(TEST[:1])]), "old")


class Enlarging(TrainingSilo):
    """Learns the back door, and sends its update as often as there are clients."""

    def _update(self, body: Any, number: int) -> Any:
        return DOOR.scale * super()._update(body, number)


@cache
def run(plan: LearningPlan, *, hostile: bool = True) -> WeightsResult:
    parts = split_table(TRAINING, "old", clients=CLIENTS)
    clients: dict[str, Any] = {}
    for number, (name, part) in enumerate(parts.items()):
        opened = DOOR.stamp(part).with_columns(old=pl.lit("yes"))
        culprit = hostile and number == 0
        kind, rows = (Enlarging, pl.concat([part, opened])) if culprit else (TrainingSilo, part)
        clients[name] = kind(name, rows, SCHEMA, plan).for_grid()
    return learn_together(LocalGrid(clients), SCHEMA, plan)


def accuracy(found: WeightsResult) -> float:
    return float((found.model.predict(TEST) == TEST["old"].to_numpy()).mean())


def opened(found: WeightsResult) -> float:
    """How many more people the trigger makes old than an honest model would."""
    rows = Examples(*SCHEMA.rows(DOOR.stamp(TEST)))
    misled = Misled(into=1, classes=(0, 1))(found.model, rows, run(PLAN, hostile=False).model)
    return float(misled.rate or 0.0) - float(misled.baseline)


@pytest.mark.parametrize(
    "more",
    [{"aggregate": "median"}, {"protections": Protections(anomaly=3.5, norm_bound=1.0)}],
    ids=["median", "anomaly"],
)
def test_a_back_door_under_masks_stays_shut_where_groups_are_vetted(more: dict[str, Any]) -> None:
    assert opened(run(PLAN)) > 0.5
    vetted = run(replace(PLAN, groups=GROUPS, **more))
    assert opened(vetted) <= 0.1
    assert accuracy(vetted) >= accuracy(run(PLAN, hostile=False)) - 0.01


def test_a_server_that_regroups_to_subtract_one_client_is_refused() -> None:
    plan = replace(PLAN, groups=2, rounds=2)
    parts = split_table(TRAINING[:200], "old", clients=6)
    clients = {name: TrainingSilo(name, part, SCHEMA, plan).for_grid() for name, part in parts.items()}
    adder, names = MaskedSum(), sorted(clients)
    weights = SharedModel.fresh(SCHEMA, plan).arrays["weights"]

    def asked(number: int, named: list[str]) -> Any:
        question = Message("train", "run", number, {"weights": weights, "round": number})
        return adder(LocalGrid(clients), named, question, lambda _: None)

    asked(1, names[:3])
    with pytest.raises(Infeasible, match="were over 3 others"):
        asked(2, names[:4])


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"sum": "plain"}, "for hidden sums"),
        ({"model": "boosting"}, "mlp and logistic"),
        ({"fraction": 0.5}, "all clients in each round"),
    ],
)
def test_groups_that_would_do_nothing_are_refused(more: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        replace(PLAN, groups=2, **more)


def test_with_too_few_groups_to_compare_nothing_is_learnt() -> None:
    with pytest.raises(Infeasible):
        run(replace(PLAN, groups=2, rounds=1, aggregate="krum"))
