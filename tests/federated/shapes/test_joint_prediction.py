"""New people whose columns lie in different houses: predictions are those of all columns in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.networks import Network
from mahrem.federated.shapes import (
    AskingParty,
    PredictionPlan,
    TellingParty,
    TreeParty,
    VerticalParty,
    VerticalPlan,
    VerticalTreesPlan,
    join_parties,
    learn_vertical,
    learn_vertical_trees,
    predict_vertical,
)
from mahrem.federated.shapes._joint_questions import questions_of
from mahrem.federated.weights import SharedModel, propose_schema
from mahrem.federated.wire import LocalGrid, Message
from wires import Recorder

KEY = bytes(range(32))
HOLDS = {"bank": ("age",), "clinic": ("job",), "shop": ("hours", "town")}
LEARNT = {
    "trees": VerticalTreesPlan(rounds=4, depth=3, cell_epsilon=0, least_leaf=5),
    "logistic": VerticalPlan(network=Network(hidden=(), rate=1.0, batch=64), rounds=5),
    "layers": VerticalPlan(network=Network(hidden=(6,), rate=0.2, batch=64), units=4, rounds=5),
}
Held = dict[str, dict[str, Any]]


def people(rows: int, seed: int, classes: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 90, rows), rng.integers(0, 60, rows)
    job, town = rng.choice(["nurse", "clerk", "none"], rows), rng.choice(["ash", "elm"], rows)
    mark = age / 2 + hours + 20 * (job == "nurse") + rng.normal(0, 6, rows)
    grade = np.searchsorted(np.quantile(mark, np.arange(1, classes) / classes), mark)
    known = rng.random(rows) > 0.1
    hours = [int(hour) if there else None for hour, there in zip(hours, known, strict=True)]
    columns = {"id": rng.permutation(9 * rows)[:rows], "age": age, "job": job, "hours": hours, "town": town}
    return pl.DataFrame({**columns, "class": [f"c{x}" for x in grade]})


def learnt_model(kind: str, whole: pl.DataFrame) -> tuple[SharedModel, Held]:
    schema = propose_schema(whole.drop("id"), "class")
    held = {name: {one: schema.columns[one] for one in columns} for name, columns in HOLDS.items()}
    plan, parties = LEARNT[kind], {}
    make: Any = TreeParty if isinstance(plan, VerticalTreesPlan) else VerticalParty
    for name, columns in held.items():
        target = "class" if name == "bank" else None
        about = (name, whole, "id", columns, schema.classes, KEY, plan)
        parties[name] = make(*about, target=target, held=held)
    if isinstance(plan, VerticalTreesPlan):
        learn_vertical_trees(LocalGrid(parties), plan, schema.classes)
        return parties["bank"].model(), held
    learn_vertical(LocalGrid(parties), plan, schema.classes)
    return join_parties(list(parties.values())), held


def houses(
    model: SharedModel, held: Held, tables: Mapping[str, pl.DataFrame], plan: PredictionPlan
) -> dict[str, Any]:
    classes = model.schema.classes
    made: dict[str, Any] = {}
    for name, columns in held.items():
        about = (name, tables[name], "id", columns, classes, KEY, plan)
        made[name] = (
            AskingParty(*about, held=held, model=model) if name == "bank" else TellingParty(*about, held=held)
        )
    return made


@pytest.mark.parametrize("kind", LEARNT)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**20), classes=st.sampled_from([2, 3]))
def test_predictions_are_those_of_all_columns_in_one_place(kind: str, seed: int, classes: int) -> None:
    model, held = learnt_model(kind, people(250, seed, classes))
    new = people(40, seed + 1, classes)
    rng = np.random.default_rng(seed)
    tables = {name: new.sample(fraction=0.9, shuffle=True, seed=int(rng.integers(99))) for name in held}
    tables["bank"] = tables["bank"].drop("class")
    plan = PredictionPlan(learnt=LEARNT[kind])
    parties = houses(model, held, tables, plan)
    aligned = predict_vertical(LocalGrid(parties), plan, model.schema.classes)
    told = parties["bank"].predictions()
    assert told["id"].to_list() == tables["bank"]["id"].to_list()
    common = set.intersection(*(set(table["id"]) for table in tables.values()))
    assert set(told.drop_nulls("prediction")["id"]) == common
    assert aligned.rows == len(common)
    rows = told.filter(pl.col("id").is_in(list(common)))
    whole = rows.select("id").join(new, on="id", how="left", maintain_order="left")
    likely = rows.select(f"p({name})" for name in model.schema.classes).to_numpy()
    assert np.allclose(likely, model.predict_proba(whole), atol=1e-5)
    sure = np.sort(likely, axis=1)
    clear = sure[:, -1] - sure[:, -2] > 1e-4
    assert (rows["prediction"].to_numpy() == model.predict(whole))[clear].all()


def test_the_coordinator_reads_neither_ids_nor_answers() -> None:
    whole = people(250, 0, 2)
    model, held = learnt_model("trees", whole)
    plan = PredictionPlan(learnt=LEARNT["trees"])
    parties = houses(model, held, dict.fromkeys(held, whole.drop("class")), plan)
    recorder = Recorder(LocalGrid(parties))
    predict_vertical(recorder, plan, model.schema.classes)
    carried = b"".join(part for one in recorder.seen for part in one.body.values() if isinstance(part, bytes))
    asked = questions_of(LEARNT["trees"], held, model).question("shop")
    assert len(asked) > 10
    assert asked not in carried


def asked_of(party: TellingParty, question: bytes, run: str = "r") -> Message:
    sealed = party._seal.close_bytes(question, run, "bank", party.name, 0)
    return party.answer(Message("tell", run, 0, {"asked": sealed}))


@pytest.mark.parametrize("kind", LEARNT)
def test_a_house_answers_once_and_no_more_than_such_a_model_asks(kind: str) -> None:
    whole = people(250, 0, 2)
    model, held = learnt_model(kind, whole)
    plan = PredictionPlan(learnt=LEARNT[kind])
    parties = houses(model, held, dict.fromkeys(held, whole.drop("class")), plan)
    shop = parties["shop"]
    agreed = {"agreed": plan.fingerprint(model.schema.classes)}
    shop.answer(Message("ids", "r", 0, agreed))
    with pytest.raises(InvalidInput, match="comes next"):
        asked_of(shop, b"[]")  # nobody is aligned yet
    body = {"places": np.arange(3), "parties": sorted(held), "label": "bank"}
    shop.answer(Message("align", "r", 0, body))
    cells = [[0, cut] for cut in range(10_000)]
    for wrong in (
        str(cells).encode(),
        b"[[99999, 0]]",
        b"[[0, -1]]",
        b"{",
        b"\x00" * 8,
        np.full(99, np.nan).tobytes(),
    ):
        with pytest.raises(InvalidInput):
            asked_of(shop, wrong)
    right = questions_of(LEARNT[kind], held, model).question("shop")
    asked_of(shop, right)
    with pytest.raises(InvalidInput, match="has told"):
        asked_of(shop, right)


def test_another_model_other_houses_or_strangers_alone_are_refused() -> None:
    whole = people(250, 0, 2)
    model, held = learnt_model("trees", whole)
    plan = PredictionPlan(learnt=LEARNT["trees"])
    new = whole.drop("class")
    fewer = {name: columns for name, columns in held.items() if name != "shop"}
    with pytest.raises(InvalidInput, match="other columns"):
        houses(model, fewer, dict.fromkeys(held, new), plan)
    parties = houses(model, held, dict.fromkeys(held, new), plan)
    other = replace(plan, learnt=replace(LEARNT["trees"], rounds=9))
    with pytest.raises(Infeasible, match="agreed"):
        predict_vertical(LocalGrid(parties), other, model.schema.classes)
    nobody = {**dict.fromkeys(held, new), "bank": new.with_columns(pl.col("id") + 100_000)}
    parties = houses(model, held, nobody, plan)
    with pytest.raises(Infeasible):
        predict_vertical(LocalGrid(parties), plan, model.schema.classes)
