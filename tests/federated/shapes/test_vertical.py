"""Vertical learning: rows align by keyed hashes alone, and steps are those of all columns in one place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.networks import Network
from mahrem.federated.networks._stack import LayerStack, cross_entropy_slope
from mahrem.federated.shapes import (
    LabelNoise,
    VerticalParty,
    VerticalPlan,
    align_ids,
    hash_ids,
    join_parties,
    learn_vertical,
    normalise_ids,
)
from mahrem.federated.shapes._private_ids import points_of
from mahrem.federated.shapes._vertical_logistic import LinearPart, SummedTop
from mahrem.federated.shapes._vertical_network import JoinedTop, joined_layers, units_of
from mahrem.federated.weights import propose_schema
from mahrem.federated.wire import Failure, LocalGrid, Message
from mahrem.federated.wire._seal import Seal
from wires import Recorder

KEY, CLASSES = bytes(range(32)), ("no", "yes")
LOGISTIC = VerticalPlan(network=Network(hidden=(), rate=0.3, batch=32), rounds=3)
NETWORK = VerticalPlan(network=Network(hidden=(6,), rate=0.1, batch=32), units=4, rounds=3)
IDS = st.lists(st.integers(0, 60), unique=True, min_size=1, max_size=40)


def people(rows: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 90, rows), rng.integers(0, 60, rows)
    rich = np.where(age / 2 + hours + rng.normal(0, 4, rows) > 60, "yes", "no")
    return pl.DataFrame({"id": np.arange(rows), "age": age, "hours": hours, "class": rich})


def parties(plan: VerticalPlan, frame: pl.DataFrame | None = None, **other: pl.DataFrame) -> dict[str, Any]:
    whole = people() if frame is None else frame
    known = propose_schema(people(), "class").columns
    bank = other.get("bank", whole.select("id", "age", "class"))
    shop = other.get("shop", whole.select("id", "hours").sample(fraction=1, shuffle=True, seed=3))
    return {
        "bank": VerticalParty("bank", bank, "id", {"age": known["age"]}, CLASSES, KEY, plan, target="class"),
        "shop": VerticalParty("shop", shop, "id", {"hours": known["hours"]}, CLASSES, KEY, plan),
    }


def learnt(plan: VerticalPlan, **other: pl.DataFrame) -> Any:
    made = parties(plan, **other)
    found = learn_vertical(LocalGrid(made), plan, CLASSES)
    return found, join_parties(list(made.values()))


def begin(party: VerticalParty, run: str, places: Any) -> Any:
    """Let a party begin a run over rows that the coordinator chose; gives its ids and what it then says."""
    ids = party.answer(Message("ids", run, 0, {"agreed": party.plan.fingerprint(CLASSES)})).body["ids"]
    told = {"places": places, "parties": ["bank", "shop"], "label": "bank"}
    return ids, party.answer(Message("align", run, 0, told)).body


# alignment


@settings(max_examples=50, deadline=None)
@given(st.lists(IDS, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_exactly_the_common_ids_align_and_the_order_of_rows_does_not_matter(
    tables: list[list[int]], draw: Any
) -> None:
    common = set.intersection(*(set(ids) for ids in tables))
    mixed = [draw.sample(ids, len(ids)) for ids in tables]
    orders = []
    for given_ids in (tables, mixed):
        hashed = {str(place): hash_ids(pl.Series("id", ids), KEY) for place, ids in enumerate(given_ids)}
        words = {name: held.words for name, held in hashed.items()}
        if not common:
            with pytest.raises(Infeasible):
                align_ids(words)
            return
        found = align_ids(words)
        named = [
            [ids[row] for row in hashed[str(place)].rows[found.places[str(place)]]]
            for place, ids in enumerate(given_ids)
        ]
        assert all(ids == named[0] for ids in named)
        assert set(named[0]) == common
        assert found.alone == {str(place): len(ids) - len(common) for place, ids in enumerate(given_ids)}
        orders.append(named[0])
    assert orders[0] == orders[1]


def test_ids_are_the_same_however_they_are_written() -> None:
    for one, other in (
        (["Ada L.", "7"], [" ada  l. ", "7"]),
        ([7, 8], ["7", "8"]),
        ([7.0, None], [7, None]),
        (["\uff21da"], ["ada"]),
    ):
        hashed = [hash_ids(pl.Series("id", ids, strict=False), KEY) for ids in (one, other)]
        assert np.array_equal(hashed[0].words, hashed[1].words)
        assert hashed[0].missing == hashed[1].missing
    assert normalise_ids(pl.Series(["", "  "])).null_count() == 2
    assert (
        hash_ids(pl.Series("id", ["7"]), KEY).words.tolist()
        != hash_ids(pl.Series("id", ["7"]), bytes(32)).words.tolist()
    )


def test_an_id_that_is_there_twice_is_refused_with_a_count_and_no_id() -> None:
    with pytest.raises(InvalidInput, match=r"ids=2 ") as told:
        hash_ids(pl.Series("id", ["secret", "Secret ", "other", "other", "once"]), KEY)
    assert "secret" not in str(told.value).lower()
    words = hash_ids(pl.Series("id", [1, 2]), KEY).words
    with pytest.raises(InvalidInput, match="more than once"):
        align_ids({"a": words, "b": words[[0, 0]]})
    for wrong in (words.astype(np.int64), words[:, :1], "none"):
        with pytest.raises(InvalidInput, match="no hashes"):
            align_ids({"a": words, "b": wrong})  # type: ignore[dict-item]


def test_rows_without_an_id_or_a_known_class_are_left_out_and_counted() -> None:
    bank = people().select(
        pl.when(pl.col("id") < 5).then(None).otherwise(pl.col("id")).alias("id"),
        "age",
        pl.when(pl.col("id") < 12).then(pl.lit("?")).otherwise(pl.col("class")).alias("class"),
    )
    found, _ = learnt(LOGISTIC, bank=bank)
    assert found.rows == 288
    assert found.alone == {"bank": 0, "shop": 12}
    shop = people().select(pl.when(pl.col("id") < 7).then(None).otherwise(pl.col("id")).alias("id"), "hours")
    assert learnt(LOGISTIC, shop=shop)[0].missing == {"bank": 0, "shop": 7}


# the same steps as in one place


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 40))
def test_the_gradient_over_parties_is_the_gradient_over_all_columns(
    seed: int, classes: int, rows: int
) -> None:
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 5, 3)
    held = {str(place): rng.normal(size=(rows, width)) for place, width in enumerate(widths)}
    parts = {name: LinearPart(block.shape[1], classes) for name, block in held.items()}
    top, labels = SummedTop(classes), rng.integers(0, classes, rows)
    for part in parts.values():
        part.matrix[:] = rng.normal(size=part.matrix.shape)
    top.offset[:] = rng.normal(size=classes)
    before, right = top.offset.copy(), np.eye(classes)[labels]
    slopes = top.learn({name: part.forward(held[name]) for name, part in parts.items()}, right, 1.0)
    for name, part in parts.items():
        part.back(slopes[name])
    whole = np.hstack(list(held.values()))
    scores = whole @ np.hstack([part.matrix for part in parts.values()]).T + before
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    central = (chances - right).T @ whole / rows
    assert np.allclose(np.hstack([part.gradient for part in parts.values()]), central, atol=1e-9)
    assert np.allclose(before - top.offset, (chances - right).sum(axis=0) / rows, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(1, 30))
def test_the_gradient_of_a_split_network_is_that_of_the_whole_network(
    seed: int, classes: int, rows: int
) -> None:
    rng = np.random.default_rng(seed)
    held = {"a": rng.normal(size=(rows, 3)), "b": rng.normal(size=(rows, 2))}
    parts = {
        name: units_of(block.shape[1], 4, seed + place) for place, (name, block) in enumerate(held.items())
    }
    top = JoinedTop(("a", "b"), 4, (5,), classes, seed + 9)
    right = np.eye(classes)[rng.integers(0, classes, rows)]
    flat = joined_layers(list(parts.values()), top.stack)
    whole = LayerStack(flat, Network(hidden=(8, 5)).shapes(5, classes))
    whole.back(cross_entropy_slope(whole.forward(np.hstack(list(held.values()))), right), further=False)
    slopes = top.learn({name: part.forward(held[name]) for name, part in parts.items()}, right, 0.0)
    for name, part in parts.items():
        part.back(slopes[name])
    (first, shift), *_ = whole.slopes
    assert np.allclose(parts["a"].slopes[0][0], first[:4, :3], atol=1e-12)
    assert np.allclose(parts["b"].slopes[0][0], first[4:, 3:], atol=1e-12)
    assert np.allclose(np.concatenate([part.slopes[0][1] for part in parts.values()]), shift, atol=1e-12)


def test_learning_over_the_wire_ends_where_one_place_ends() -> None:
    _, model = learnt(LOGISTIC)
    rows, labels = model.schema.rows(people())
    order = hash_ids(people()["id"], Seal(KEY).secret("order")).rows
    rows, labels = rows[order].astype(np.float64), labels[order]
    weights = np.zeros((2, rows.shape[1] + 1))
    ones = np.hstack([rows, np.ones((len(rows), 1))])
    for step in range(LOGISTIC.rounds * LOGISTIC.steps(len(rows))):
        batch = LOGISTIC.batch(step, len(rows))
        scores = ones[batch] @ weights.T
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        weights -= 0.3 * (chances - np.eye(2)[labels[batch]]).T @ ones[batch] / len(batch)
    joined = np.concatenate([weights[:, :-1].ravel(), weights[:, -1]])
    assert np.allclose(model.arrays["weights"], joined.astype(np.float32), atol=1e-7)


@pytest.mark.parametrize("plan", [LOGISTIC, NETWORK])
def test_the_order_of_rows_changes_nothing(plan: VerticalPlan) -> None:
    mixed = people().sample(fraction=1, shuffle=True, seed=8)
    one, other = learnt(plan)[1], learnt(plan, bank=mixed.select("id", "age", "class"))[1]
    assert np.array_equal(one.arrays["weights"], other.arrays["weights"])
    assert (other.predict(people(seed=4)) == people(seed=4)["class"].to_numpy()).mean() > 0.8


# what the coordinator sees, and what goes wrong


def test_the_coordinator_sees_hashes_counts_and_bytes_it_cannot_open() -> None:
    made = parties(NETWORK)
    wire = Recorder(LocalGrid(made))
    learn_vertical(wire, NETWORK, CLASSES)
    clear = {name for one in wire.seen for name, held in one.body.items() if isinstance(held, np.ndarray)}
    assert clear == {"places"}  # ids are points; all else is sealed, or a word or a count
    hashed = hash_ids(people()["id"], Seal(KEY).secret("ids", wire.seen[0].run)).words
    assert not any(point in wire.bytes() for point in cut(points_of(hashed)))  # none without a secret on it
    run, words = wire.seen[0].run, wire.bytes()
    shop = parties(NETWORK)["shop"]
    begin(shop, run, np.arange(300))
    values = shop.part.forward(shop._rows[NETWORK.batch(0, 300)])
    (part,) = (one.body["part"] for one in wire.seen if one.round == 0 and "part" in one.body)
    assert np.array_equal(Seal(KEY).open(part, run, "shop", "bank", 0), values)  # this is what was sealed
    (slope,) = (one.body["slope"] for one in wire.seen if one.round == 1 and "slope" in one.body)
    for row in (*values, *Seal(KEY).open(slope, run, "bank", "shop", 0)):
        assert not row.any() or row.astype("<f8").tobytes() not in words


def cut(points: bytes) -> list[bytes]:
    return [points[at : at + 32] for at in range(0, len(points), 32)]


def test_ids_align_under_the_secrets_of_all_parties_only_and_not_between_runs() -> None:
    made = parties(LOGISTIC)
    seen: dict[str, set[bytes]] = {}
    for run in ("first", "other"):
        asked = Message("ids", run, 0, {"agreed": LOGISTIC.fingerprint(CLASSES)})
        bank, shop = (made[name].answer(asked).body["ids"] for name in ("bank", "shop"))
        assert not set(cut(bank)) & set(cut(shop))  # under one secret each they say nothing of each other
        both = made["shop"].answer(Message("raise", run, 1, {"of": "bank", "ids": bank})).body["ids"]
        also = made["bank"].answer(Message("raise", run, 1, {"of": "shop", "ids": shop})).body["ids"]
        assert set(cut(both)) == set(cut(also))  # both know the same people
        seen[run] = {*cut(bank), *cut(shop), *cut(both)}
    assert not seen["first"] & seen["other"]


def test_a_party_raises_the_points_of_each_other_once_and_none_of_its_own() -> None:
    shop = parties(LOGISTIC)["shop"]
    own = shop.answer(Message("ids", "run", 0, {"agreed": LOGISTIC.fingerprint(CLASSES)})).body["ids"]
    for body, why in (
        ({"of": "shop", "ids": own}, "points of this party"),
        ({"of": "bank", "ids": own[:-1]}, "no points"),
        ({"of": "bank", "ids": own}, "raised already"),
        ({"of": "till", "ids": bytes(32)}, "small order"),
        ({"of": "safe", "ids": None}, "no points"),
    ):
        with pytest.raises(InvalidInput, match=why):
            shop.answer(Message("raise", "run", 1, body))


def test_rows_of_one_class_are_answered_as_any_others_and_a_run_begins_once() -> None:
    made, answers = parties(LOGISTIC), []
    for run in ("mixed", "alike"):
        order = hash_ids(people()["id"], Seal(KEY).secret("ids", run)).rows
        rich = (people()["class"].to_numpy() == "yes")[order]
        places = np.arange(20) if run == "mixed" else np.flatnonzero(rich)[:20]
        told = [begin(party, run, places)[1] for party in made.values()]
        assert len(set(rich[places])) == (2 if run == "mixed" else 1)
        part = made["shop"].answer(Message("parts", run, 0)).body["part"]
        slope = made["bank"].answer(Message("slopes", run, 0, {"shop": part})).body["shop"]
        answers.append((told, len(slope)))
    assert answers[0] == answers[1] == ([{"rows": 20}] * 2, answers[0][1])
    for run, party in (("mixed", "bank"), ("alike", "bank"), ("alike", "shop")):
        with pytest.raises(InvalidInput, match="began here already"):
            begin(made[party], run, np.arange(20))


def test_the_slope_of_a_logistic_regression_has_the_sign_of_the_label() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 50)
    slopes = SummedTop(2).learn(
        {"a": rng.normal(size=(50, 2)), "b": rng.normal(size=(50, 2))}, np.eye(2)[labels], 0.1
    )
    assert np.array_equal(slopes["a"][:, 1] < 0, labels == 1)


HIDDEN = replace(LOGISTIC, network=Network(hidden=(), rate=0.3, batch=100), hide_slopes=True)


def test_hidden_slopes_give_every_party_its_gradient_and_the_same_model() -> None:
    plain = replace(HIDDEN, hide_slopes=False)
    one, other = learnt(HIDDEN)[1], learnt(plain)[1]
    assert np.allclose(one.arrays["weights"], other.arrays["weights"], atol=1e-6)


def test_hidden_slopes_are_even_numbers_to_the_other_party_and_sealed_from_the_coordinator() -> None:
    made = parties(HIDDEN)
    wire = Recorder(LocalGrid(made))
    learn_vertical(wire, HIDDEN, CLASSES)
    clear = {name for one in wire.seen for name, held in one.body.items() if isinstance(held, np.ndarray)}
    assert clear == {"places", ":shop"}  # noise that it drew itself
    run = wire.seen[0].run
    masked = [
        Seal(KEY).open_words(one.body["slope"], run, "bank", "shop", one.round - 1)
        for one in wire.seen
        if one.kind in {"parts", "done"} and "slope" in one.body
    ]
    assert len(masked) == HIDDEN.rounds * HIDDEN.steps(300)
    bits = np.unpackbits(np.concatenate([words.ravel() for words in masked]).view(np.uint8))
    assert abs(bits.mean() - 0.5) < 6 * 0.5 / np.sqrt(len(bits))  # six deviations
    order = hash_ids(people()["id"], Seal(KEY).secret("order")).rows
    rich = (people()["class"].to_numpy() == "yes")[order][HIDDEN.batch(0, 300)]
    agree = float(((masked[0][:, 1].view(np.int64) < 0) == rich).mean())
    assert abs(agree - 0.5) < 6 * 0.5 / np.sqrt(len(rich))  # in the clear it would be 1


def test_batches_so_small_that_sums_tell_single_labels_are_refused() -> None:
    small = replace(HIDDEN, network=Network(hidden=(), rate=0.3, batch=16))
    with pytest.raises(Infeasible, match="sums over so few would tell"):
        learn_vertical(LocalGrid(parties(small)), small, CLASSES)
    with pytest.raises(InvalidParameter, match="hide_slopes"):
        replace(NETWORK, hide_slopes=True)


def test_randomised_labels_are_what_the_others_can_know() -> None:
    made = parties(LOGISTIC)
    made["bank"] = replace(made["bank"], noise=LabelNoise(epsilon=1.0))
    learn_vertical(LocalGrid(made), LOGISTIC, CLASSES)
    order = hash_ids(people()["id"], Seal(KEY).secret("order")).rows
    true = (people()["class"].to_numpy() == "yes")[order]
    kept = float((made["bank"]._right[:, 1] == true).mean())
    assert abs(kept - 0.731) < 6 * np.sqrt(0.731 * 0.269 / 300)  # six deviations: false alarm < 1e-8


def test_a_seal_opens_for_its_reader_run_and_step_alone() -> None:
    text = Seal(KEY).close(np.ones((2, 3)), "run", "a", "b", 1)
    assert Seal(KEY).open(text, "run", "a", "b", 1).tolist() == np.ones((2, 3)).tolist()
    for other in (("run", "a", "b", 2), ("run", "b", "a", 1), ("nur", "a", "b", 1)):
        with pytest.raises(InvalidInput, match="tampered"):
            Seal(KEY).open(text, *other)
    for wrong in (text[:-1], b"", None, text + b"."):
        with pytest.raises(InvalidInput, match="tampered"):
            Seal(KEY).open(wrong, "run", "a", "b", 1)
    with pytest.raises(InvalidInput, match="tampered"):
        Seal(bytes(32)).open(text, "run", "a", "b", 1)


def test_no_party_can_be_spared() -> None:
    for lost in (lambda node, _: node == "shop", lambda node, message: node == "bank" and message.round == 2):
        with pytest.raises(Infeasible, match="is missing"):
            learn_vertical(LocalGrid(parties(LOGISTIC), lost=lost), LOGISTIC, CLASSES)
    made = parties(LOGISTIC)
    with pytest.raises(Infeasible, match="parties=1"):
        learn_vertical(LocalGrid({"bank": made["bank"]}), LOGISTIC, CLASSES)
    for names in (("bank", "bank"), ("shop", "shop")):
        both = dict(zip(("a", "b"), (parties(LOGISTIC)[name] for name in names), strict=True))
        with pytest.raises(InvalidInput, match="have labels"):
            learn_vertical(LocalGrid(both), LOGISTIC, CLASSES)


def test_ids_that_do_not_align_and_other_keys_are_said_with_counts() -> None:
    away = people().select(pl.col("id") + 1000, "hours")
    with pytest.raises(Infeasible, match=r"rows=0 .*bank: 300 ids, shop: 300 ids"):
        learnt(LOGISTIC, shop=away)
    made = parties(LOGISTIC)
    made["shop"] = replace(made["shop"], key=bytes(32))
    with pytest.raises(Infeasible, match="same key"):
        learn_vertical(LocalGrid(made), LOGISTIC, CLASSES)
    few = people().select(pl.col("id") + 295, "hours")
    with pytest.raises(Infeasible, match=r"rows=5 .*at least 10"):
        learnt(LOGISTIC, shop=few)


def test_one_class_another_plan_and_a_bad_table_are_refused() -> None:
    same = people().with_columns(pl.lit("yes").alias("class")).select("id", "age", "class")
    with pytest.raises(InvalidInput, match="all rows are of one class"):
        parties(LOGISTIC, bank=same)
    twice = pl.concat([people(), people()]).select("id", "hours")
    with pytest.raises(Infeasible, match="ids=300 "):
        learnt(LOGISTIC, shop=twice)
    made = parties(LOGISTIC)
    made["shop"].plan = NETWORK
    with pytest.raises(Infeasible, match="agreed"):
        learn_vertical(LocalGrid(made), LOGISTIC, CLASSES)
    with pytest.raises(InvalidParameter, match="neither"):
        VerticalParty("a", people(), "id", {}, CLASSES, KEY)
    with pytest.raises(InvalidParameter, match="id nor the target"):
        VerticalParty("a", people(), "age", {"age": made["bank"].columns["age"]}, CLASSES, KEY)
    with pytest.raises(KeyError):
        VerticalParty("a", people(), "number", {"age": made["bank"].columns["age"]}, CLASSES, KEY)
    for wrong in ({"units": -1}, {"least_rows": 1}, {"network": Network()}):
        with pytest.raises(InvalidParameter):
            VerticalPlan(**wrong)
    with pytest.raises(InvalidInput, match="learn together"):
        join_parties(list(parties(LOGISTIC).values()))


def test_the_party_with_the_labels_needs_no_column_of_its_own() -> None:
    made = parties(NETWORK)
    made["bank"] = replace(made["bank"], columns={})
    found = learn_vertical(LocalGrid(made), NETWORK, CLASSES)
    assert found.rows == 300
    assert list(join_parties(list(made.values())).schema.columns) == ["hours"]


def test_questions_out_of_turn_and_numbers_that_cannot_be_are_refused() -> None:
    made = parties(LOGISTIC)
    stopped = LocalGrid(made, lost=lambda _, message: message.kind == "slopes" and message.round == 3)
    with pytest.raises(Infeasible):
        learn_vertical(stopped, LOGISTIC, CLASSES)
    grid = LocalGrid(made)
    run, next_step = made["shop"]._run, made["shop"]._next
    rows = len(LOGISTIC.batch(next_step - 1, 300))
    ending = Seal(KEY).close(np.full((rows, 2), np.nan), run, "bank", "shop", next_step - 1)
    for message, why in (
        (Message("parts", "other", 0), "did not begin"),
        (Message("parts", run, 0, {"slope": b""}), "out of turn"),
        (Message("parts", run, next_step, {"slope": b"none"}), "tampered"),
        (Message("parts", run, next_step, {"slope": ending}), "NaN"),
        (Message("slopes", run, next_step), "now"),
        (Message("done", run, next_step), "comes after 30 steps"),
        (Message("align", run, 0, {"places": np.arange(3)}), "already"),
        (Message("rows", run, 0), "kind"),
    ):
        reply = grid.send({"shop": message})["shop"]
        assert isinstance(reply, Failure)
        assert why in reply.reason
    made["shop"].answer(Message("ids", "new", 0, {"agreed": LOGISTIC.fingerprint(CLASSES)}))
    for places in (np.array([1, 1]), np.array([300]), np.arange(4), "all"):
        reply = grid.send({"shop": Message("align", "new", 0, {"places": places})})["shop"]
        assert isinstance(reply, Failure)
        assert "align" in reply.reason


def test_no_party_takes_more_steps_than_were_agreed_on() -> None:
    made = parties(LOGISTIC)
    learn_vertical(LocalGrid(made), LOGISTIC, CLASSES)
    for name, kind in (("shop", "parts"), ("bank", "slopes")):
        with pytest.raises(InvalidInput, match="30 steps were agreed on"):
            made[name].answer(Message(kind, made[name]._run, made[name]._next, {}))


def test_a_rate_that_blows_up_is_said() -> None:
    plan = replace(NETWORK, network=replace(NETWORK.network, rate=90.0))
    with pytest.raises((Infeasible, InvalidInput), match="lower rate"):
        learnt(plan)
