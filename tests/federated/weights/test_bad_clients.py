"""Clients that lie or cannot: what the server makes of their answers, in the clear and under masks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.sums import PlainSum
from mahrem.federated.weights import LearningPlan, TrainingSilo, learn_together, propose_schema
from mahrem.federated.wire import LocalGrid, Message
from silo_learning import accuracy, people, silos

PLAN = LearningPlan(model="logistic", rounds=3, rate=0.1)
SCHEMA = propose_schema(people(), "class")
NAMES = ("a", "b", "c")


@dataclass
class Changed:
    """A client whose answers to one kind of question are changed on their way."""

    inside: Any
    kind: str
    change: Mapping[str, Any]

    def answer(self, message: Message) -> Message:
        said = self.inside.answer(message)
        if message.kind != self.kind:
            return said
        made = {name: one(said.body[name]) for name, one in self.change.items()}
        return replace(said, body={**said.body, **made})


def run(plan: LearningPlan, kind: str, **change: Any) -> Any:
    clients = {
        name: silo.for_grid()
        for name, silo in silos(plan, {name: people(200, seed) for seed, name in enumerate(NAMES)}).items()
    }
    clients["b"] = Changed(clients["b"], kind, change)
    return learn_together(LocalGrid(clients), SCHEMA, plan)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": lambda held: np.full_like(held, np.nan)},
        {"weights": lambda held: held[:-1]},
        {"weights": lambda held: held * np.float32(1e30)},
        {"weights": lambda _: "all of them"},
        {"rows": lambda _: -5},
        {"rows": lambda _: 10**12},
        {"rows": lambda _: "many"},
    ],
)
def test_in_the_clear_what_cannot_be_is_refused_by_client_and_round(change: dict[str, Any]) -> None:
    found = run(PLAN, "train", **change)
    assert set(found.refused) == {"b"}
    assert set(found.refused["b"]) == {1, 2, 3}
    assert accuracy(found.model) > 0.8


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("sum-keys", {"key": lambda held: held[:-1]}),
        ("sum-keys", {"key": lambda _: bytes(32)}),
        ("sum-masked", {"masked": lambda held: held[:-1]}),
        ("sum-masked", {"masked": lambda held: held.astype(np.float32)}),
        ("sum-masked", {"own": lambda _: 3}),
    ],
)
def test_under_masks_what_cannot_be_read_leaves_its_client_out(kind: str, change: dict[str, Any]) -> None:
    found = run(replace(PLAN, sum="masked"), kind, **change)
    assert set(found.refused) == {"b"}
    assert set(found.refused["b"].values()) == {"an answer that cannot be read"}
    assert accuracy(found.model) > 0.8


@pytest.mark.parametrize(
    ("kind", "change", "error", "why"),
    [
        ("sum-agree", {"words": lambda held: held[::-1]}, Infeasible, "same list"),
        ("sum-agree", {"words": lambda _: b""}, Infeasible, "b: an answer that cannot be read"),
        ("sum-reveal", {"own": lambda held: held[::-1]}, InvalidInput, "client='b' showed another mask"),
        ("sum-masked", {"masked": lambda held: held + np.uint64(2**62)}, InvalidInput, "nobody can say"),
    ],
)
def test_under_masks_a_lie_that_spoils_the_sum_ends_the_run_in_words(
    kind: str, change: dict[str, Any], error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        run(replace(PLAN, sum="masked"), kind, **change)


def test_numbers_that_travel_narrow_add_up_to_wide_ones() -> None:
    class Giving:
        def answer(self, message: Message) -> Message:
            return message.reply(numbers=np.array([2**31 - 1, -5]))

    grid = LocalGrid({name: Giving() for name in NAMES})
    found = PlainSum()(grid, list(NAMES), Message("counts", "run", 1), lambda _: None)
    assert found.total.tolist() == [3 * (2**31 - 1), -15]


@pytest.mark.parametrize("plan", [PLAN, LearningPlan(model="boosting", rounds=2, depth=2)])
def test_tables_of_no_row_one_row_and_other_classes_are_left_out_or_counted(plan: LearningPlan) -> None:
    parts = {
        "a": people(200, 1),
        "b": people(200, 2),
        "empty": people(0),
        "one": people(1, 3),
        "other": people(50, 4).with_columns(pl.lit("maybe").alias("class")),
    }
    clients = {name: TrainingSilo(name, part, SCHEMA, plan) for name, part in parts.items()}
    found = learn_together(LocalGrid(clients), SCHEMA, plan)
    assert set(found.left_out) == {"empty", "other"}
    assert all("rows=0" in why and "maybe" not in why for why in found.left_out.values())
    assert accuracy(found.model) > 0.8
