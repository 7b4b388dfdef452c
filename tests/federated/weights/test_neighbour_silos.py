"""Under noise, one odd record of a silo changes nothing for its other rows, and never whether it answers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

from mahrem.errors import InvalidParameter
from mahrem.federated import LearningPlan, Protections, SharedSchema
from mahrem.federated.networks import LayerStack, cross_entropy_slope
from mahrem.federated.networks._private_training import clipped_gradients
from mahrem.federated.shapes import LabelNoise, SplitPlan, UShapedClient, VerticalParty, VerticalPlan
from mahrem.federated.wire import Message
from mahrem.learning.classifiers import DeclaredNumbers, DeclaredWords
from odd_cells import ODD_CELLS
from odd_neighbours import COLUMNS, SOURCES, OddPair, draw_pair, made, usual_record
from odd_silos import AGREED, BY_CLIENT, BY_ROW, PLAN, READINGS, SCHEMAS, refuse_more_than_one, silo


def tables(pair: OddPair, source: str, folder: Path) -> list[object] | None:
    both = [made(people, source, folder / name) for name, people in (("1", pair.first), ("2", pair.second))]
    return None if any(table is None for table in both) else both


# A silo is given a table as it is; how a file is to be read is said to a ledger.
PLAIN = [name for name in SOURCES if name not in {"CSV, cp1252", "CSV without a header"}]


@pytest.mark.parametrize("source", PLAIN)
def test_a_record_changes_no_other_row_of_its_silo(source: str, tmp_path: Path) -> None:
    random, tried = Random(f"silos {source}"), 0
    for _ in range(60):  # some libraries write few of them
        if tried == 4:
            break
        pair = draw_pair(random)
        if (both := tables(pair, source, tmp_path)) is None:
            continue
        for read in READINGS.values():
            refuse_more_than_one([read(table) for table in both], pair)
        tried += 1
    assert tried > 1


@pytest.mark.parametrize("column", ODD_CELLS)
def test_every_odd_cell_is_a_cell_of_its_own(column: str, tmp_path: Path) -> None:
    people = [usual_record(Random(number)) for number in range(6)]
    tried = 0
    for odd in ODD_CELLS[column]:
        strange = {**people[0], column: odd}
        pair = OddPair(f"{column}: {type(odd).__name__}", people, [*people, strange], "add-remove")
        if (both := tables(pair, "pandas", tmp_path)) is None:
            continue  # pandas itself has no such column
        for read in READINGS.values():
            refuse_more_than_one([read(table) for table in both], pair)
        tried += 1
    assert tried > 0


def test_the_sum_before_noise_moves_by_no_more_than_the_clip(tmp_path: Path) -> None:
    random = Random(4)
    for _ in range(12):
        pair = draw_pair(random)
        if (both := tables(pair, "pandas", tmp_path)) is None:
            continue
        sums = []
        for table in both:
            schema = SCHEMAS["words"]
            rows, labels, _ = silo(table, schema).ready
            network = PLAN.network()
            flat = np.full(network.size(rows.shape[1], 2), 0.25, np.float32)
            stack = LayerStack(flat, network.shapes(rows.shape[1], 2))
            right = np.eye(2, dtype=np.float32)[labels]
            slope = cross_entropy_slope(stack.forward(rows), right) * np.float32(max(len(rows), 1))
            clipped_gradients(stack, slope, 0.5)
            sums.append(stack.gradient.astype(np.float64))
        most = 0.5 * (1 + (pair.relation == "replace"))
        assert np.linalg.norm(sums[0] - sums[1]) <= most * (1 + 1e-4)


NOTHING: dict[str, dict[str, list[str | None]]] = {
    "no rows": {name: [] for name in COLUMNS},
    "no class": {name: [None] for name in COLUMNS},
    "another class": {**{name: ["1"] for name in COLUMNS}, "smoker": ["perhaps"]},
    "one row": {name: ["1"] for name in COLUMNS},
}


@pytest.mark.parametrize("protections", [BY_ROW, BY_CLIENT], ids=["row", "client"])
@pytest.mark.parametrize("nothing", NOTHING)
def test_a_silo_with_nothing_to_say_answers_with_noise(nothing: str, protections: Protections) -> None:
    plan = LearningPlan(
        model="logistic", sum="plain", batch=8, rounds=1, least_clients=1, protections=protections
    )
    schema = SCHEMAS["words"]
    client = silo(pl.DataFrame(NOTHING[nothing], schema=dict.fromkeys(COLUMNS, pl.String)), schema, plan)
    agreed = plan.fingerprint(schema.fingerprint())
    ready = client.answer(Message("prepare", "run", 0, {"protocol": 1, "agreed": agreed, "rounds": 1}))
    assert "rows" not in ready.body
    weights = np.zeros(plan.weights_in(schema.encoder.width, 2), np.float32)
    sent = client.answer(Message("train", "run", 1, {"weights": weights})).body["weights"]
    assert np.isfinite(sent).all()
    assert sent.std() > 0


def test_a_policy_that_cannot_be_kept_is_not_told_under_noise() -> None:
    plan = LearningPlan(model="logistic", sum="plain", rounds=1, least_clients=1, protections=BY_CLIENT)
    schema, people = SCHEMAS["words"], pl.DataFrame([usual_record(Random(number)) for number in range(8)])
    bodies = []
    for k in (2, 500):
        client = silo(people, schema, plan, policy={"quasi": ["ward", "cost"], "k": k})
        agreed = plan.fingerprint(schema.fingerprint())
        bodies.append(
            client.answer(Message("prepare", "run", 0, {"protocol": 1, "agreed": agreed, "rounds": 1})).body
        )
        weights = np.zeros(plan.weights_in(schema.encoder.width, 2), np.float32)
        assert client.answer(Message("train", "run", 1, {"weights": weights})).body["weights"].std() > 0
    assert bodies[0] == bodies[1]


TWICE = (
    SharedSchema(
        columns=AGREED | {"group": DeclaredWords(values=("1.1", "1.10"))}, target="z", classes=("a", "b")
    ),
    SharedSchema(columns=AGREED, target="smoker", classes=("false", "no", "true")),
)


@pytest.mark.parametrize("schema", TWICE, ids=["values", "classes"])
def test_what_a_type_makes_one_value_is_refused_under_noise_and_told_apart_without(
    schema: SharedSchema,
) -> None:
    people = pl.DataFrame([usual_record(Random(number)) for number in range(40)])
    people = people.with_columns(smoker=pl.lit("no"), group=pl.lit("1.10"), z=pl.lit("b"))
    for plan in (PLAN, replace(PLAN, protections=BY_CLIENT)):
        with pytest.raises(InvalidParameter, match="are one value"):
            silo(people, schema, plan)
    rows, labels, _ = silo(people, schema, replace(PLAN, protections=Protections())).ready
    assert set(labels.tolist()) == {1}
    if schema is TWICE[0]:
        assert set(map(tuple, rows[:, -3:].tolist())) == {(0.0, 1.0, 0.0)}


def test_labels_are_randomised_only_among_classes_that_no_type_makes_one() -> None:
    people = pl.DataFrame({"id": range(9), "ill": ["no"] * 9})
    columns, noise = {"id": DeclaredNumbers(lower=0, upper=9)}, LabelNoise(epsilon=1.0)
    schema = SharedSchema(columns=columns, target="ill", classes=("false", "no"))
    with pytest.raises(InvalidParameter, match="are one value"):
        UShapedClient("a", people, schema, SplitPlan(tail=1), bytes(32), noise=noise)
    with pytest.raises(InvalidParameter, match="are one value"):
        VerticalParty("a", people, "id", {}, schema.classes, bytes(32), VerticalPlan(), "ill", noise)


@pytest.mark.parametrize("label", [None, "perhaps", "true"])
def test_noisy_labels_hide_that_a_row_has_none(label: str | None) -> None:
    people = pl.DataFrame([usual_record(Random(number)) for number in range(40)])
    people = people.with_columns(smoker=pl.lit(label, dtype=pl.String), id=pl.int_range(40))
    noise, schema = LabelNoise(epsilon=1.0), SCHEMAS["words"]
    u_shaped = UShapedClient("a", people, schema, SplitPlan(tail=1), bytes(32), noise=noise)
    assert len(u_shaped.turns.rows) == 40
    vertical = VerticalParty(
        "a", people, "id", AGREED, schema.classes, bytes(32), VerticalPlan(), "smoker", noise
    )
    assert len(vertical._codes) == 40
    assert set(vertical._codes) == {0, 1}


def test_labels_are_randomised_alike_whatever_they_were() -> None:
    many, epsilon = 40_000, 1.0
    shares = {}
    for label in (-1, 0, 1, 2):
        drawn = LabelNoise(epsilon=epsilon)(np.full(many, label), 3)
        shares[label] = np.bincount(drawn, minlength=3) / many
    # Each share has a deviation below .0025; with 12 pairs of them .06 is beyond 1e-6 of a false alarm.
    for one in shares.values():
        for other in shares.values():
            assert (one <= math.exp(epsilon) * other + 0.06).all()
