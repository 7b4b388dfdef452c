"""Other shapes as members agree on them: keys between them, models they keep, and a server that lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.flower import Federation, FederationSettings, init_federation
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.flower._review import describe_federation
from mahrem.federated.runs import (
    AgreedShape,
    ClientSettings,
    RunModel,
    RunSettings,
    ShapeTask,
    predict_rows,
    read_run,
)
from mahrem.federated.runs._report import describe_run
from mahrem.federated.shapes import agree_keys
from mahrem.federated.weights import SharedModel, propose_schema
from mahrem.federated.wire import LocalGrid, Message, Replies
from mahrem.federated.wire.certificates import read_private_key
from mahrem.report import federation_page
from wires import Recorder

NAMES = ("bank", "clinic", "shop")
VERTICAL = {"bank": ("age", "class"), "clinic": ("hours",), "shop": ("town",)}
TRANSFER = {"bank": ("age", "hours"), "clinic": ("hours", "town"), "shop": ("age", "town")}
PLANS = {
    "logistic": AgreedShape(shape="vertical", model="logistic", id="nr", holds=VERTICAL, rate=3.0, rounds=40),
    "trees": AgreedShape(
        shape="vertical", model="boosting", id="nr", holds=VERTICAL, rounds=4, depth=2, cell_epsilon=0
    ),
    "layers": AgreedShape(shape="vertical", id="nr", holds=VERTICAL, rate=0.3, rounds=10),
    "split": AgreedShape(shape="split", rate=0.3, rounds=4),
    "u-shaped": AgreedShape(shape="u-shaped", rate=0.3, rounds=5),
    "gossip": AgreedShape(shape="gossip", model="logistic", rate=0.5, rounds=6),
    "transfer": AgreedShape(shape="transfer", holds=TRANSFER, rate=0.3, rounds=6),
}


def people(rows: int = 450, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 90, rows), rng.integers(0, 60, rows)
    town = rng.choice(["ash", "elm", "oak"], rows)
    rich = age / 2 + hours + 12 * (town == "oak") + rng.normal(0, 4, rows) > 60
    columns = {"nr": np.arange(rows), "age": age, "hours": hours, "town": town}
    return pl.DataFrame({**columns, "class": np.where(rich, "yes", "no")})


SCHEMA = propose_schema(people().drop("nr"), "class")


@dataclass
class Study:
    """A federation on disk, and its members in this process; all they say to each other is signed."""

    federation: Federation
    base: Path
    clients: dict[str, Any]

    @property
    def task(self) -> ShapeTask:
        assert isinstance(self.federation.task, ShapeTask)
        return self.federation.task

    def kept(self) -> dict[str, SharedModel]:
        return {
            path.stem: SharedModel.from_bytes(path.read_bytes()) for path in sorted(self.base.glob("*.npz"))
        }


def table_of(plan: AgreedShape, name: str) -> pl.DataFrame:
    place = NAMES.index(name)
    if plan.shape == "vertical":
        return people().select("nr", *plan.holds[name]).sample(fraction=0.97, shuffle=True, seed=place)
    part = people()[place::3]
    return part.select(*plan.holds[name], "class") if plan.holds else part


def make_study(plan: AgreedShape, base: Path) -> Study:
    new = init_federation(base / "study", ShapeTask(SCHEMA, plan), dict.fromkeys(NAMES), FederationSettings())
    federation = Federation.read(base / "study" / "federation.toml")  # as members read it
    clients = {}
    for name in NAMES:
        member = FederationMember(federation, read_private_key(new.keys[name]), table_of(plan, name))
        keeps = plan.shape != "vertical" or name == "bank"
        chosen = ClientSettings(keep_model=base / f"{name}.npz" if keeps else None)
        assert federation.task.check(member.owner(), chosen).passed
        clients[name] = federation.task.join(member.owner(), chosen)[0]
    return Study(federation, base, clients)


@pytest.mark.parametrize("name", PLANS)
def test_members_keep_a_model_that_predicts_and_the_server_has_none(name: str, tmp_path: Path) -> None:
    plan = PLANS[name]
    study = make_study(plan, tmp_path)
    told: list[str] = []
    run = study.task.begin(tmp_path / "run", RunSettings(tell=told.append))
    with run.folder.recording():
        summary = run.finish(run.learn(LocalGrid(study.clients)))
    kept = study.kept()
    assert list(kept) == (["bank"] if plan.shape == "vertical" else list(NAMES))
    assert summary["models"] == list(kept)
    assert summary["clients"] == list(NAMES)
    test = people(600, seed=5)
    for keeper in kept:
        asked = RunModel.load(tmp_path / f"{keeper}.npz")
        right = float((asked.classifier.predict(test) == test["class"].to_numpy()).mean())
        assert right > (0.62 if plan.shape == "transfer" else 0.8), (keeper, right)
    assert not list((tmp_path / "run").glob("*.npz"))
    assert sum("round" in line for line in told) >= plan.rounds
    assert plan.shape in "\n".join(describe_federation(study.federation, "bank"))
    report = describe_run({**read_run(tmp_path / "run"), "summary": {**summary, "superlink": "finished"}}, {})
    assert [line["code"] for line in report["server"]] == [f"shape_{plan.shape.replace('-', '_')}"]
    assert all(len(federation_page(report, language)) > 500 for language in ("en", "de", "tr"))
    if plan.shape in {"split", "u-shaped"}:
        assert np.array_equal(kept["bank"].arrays["weights"], kept["shop"].arrays["weights"])


@pytest.mark.parametrize("name", ["logistic", "trees", "layers"])
def test_members_tell_of_new_people_what_the_model_asks(name: str, tmp_path: Path) -> None:
    plan = replace(PLANS[name], predict=True)
    study = make_study(plan, tmp_path)
    study.task.learn(LocalGrid(study.clients), lambda _: None)
    member = FederationMember(
        study.federation,
        read_private_key(tmp_path / "study" / "clients" / "bank.key"),
        people().select("nr", "age").tail(70),
    )
    asks = ClientSettings(use_model=tmp_path / "bank.npz", keep_predictions=tmp_path / "predicted.csv")
    assert study.task.check(member.owner(), asks).passed
    study.clients["bank"] = study.task.join(member.owner(), asks)[0]
    run = study.task.begin(tmp_path / "asked", RunSettings(predict=True))
    with run.folder.recording():
        summary = run.finish(run.learn(LocalGrid(study.clients)))
    told = pl.read_csv(tmp_path / "predicted.csv")
    known = told.drop_nulls("prediction")
    assert summary["predicted_rows"] == known.height > 50
    whole = known.select("nr").join(people(), on="nr", how="left", maintain_order="left")
    assert known["prediction"].to_list() == study.kept()["bank"].predict(whole).tolist()
    report = describe_run(
        {**read_run(tmp_path / "asked"), "summary": {**summary, "superlink": "finished"}}, {}
    )
    assert all(len(federation_page(report, language)) > 500 for language in ("en", "de", "tr"))
    study.task.begin(tmp_path / "run", RunSettings())  # the others still learn when they are asked to


def test_what_was_not_agreed_about_new_people_is_refused(tmp_path: Path) -> None:
    study = make_study(PLANS["trees"], tmp_path)
    key = read_private_key(tmp_path / "study" / "clients" / "bank.key")
    member = FederationMember(study.federation, key, people().select("nr", "age"))
    asks = ClientSettings(use_model=tmp_path / "bank.npz", keep_predictions=tmp_path / "predicted.csv")
    with pytest.raises(InvalidParameter, match="did not agree"):
        study.task.join(member.owner(), asks)
    with pytest.raises(InvalidParameter, match="did not agree"):
        study.task.begin(tmp_path / "asked", RunSettings(predict=True))
    with pytest.raises(InvalidParameter, match="predict"):
        AgreedShape(shape="gossip", predict=True)


def test_a_second_run_has_other_keys_and_works(tmp_path: Path) -> None:
    study = make_study(PLANS["logistic"], tmp_path)
    seen = []
    for _ in range(2):
        recorder = Recorder(LocalGrid(study.clients))
        study.task.learn(recorder, lambda _: None)
        seen.append({bytes(one.body["ids"])[:32] for one in recorder.seen if "ids" in one.body})
    assert not seen[0] & seen[1]


@dataclass
class Meddling:
    """A server that changes what it carries."""

    grid: LocalGrid
    change: Callable[[str, Message], Message]

    def nodes(self) -> list[str]:
        return self.grid.nodes()

    def send(self, messages: Mapping[str, Message]) -> Replies:
        return self.grid.send({name: self.change(name, one) for name, one in messages.items()})


def body(message: Message, **more: Any) -> Message:
    return replace(message, body={**message.body, **more})


def other_key(name: str, message: Message) -> Message:
    """Put a key of the server's own in the place of the last party's, for the first one."""
    if message.kind != "keys" or name != "bank":
        return message
    return body(message, keys=message.body["keys"][:-32] + bytes(31) + b"\x09")


def fewer(_: str, message: Message) -> Message:
    """Leave a party out of the list."""
    if message.kind != "keys":
        return message
    size = len(message.body["signed"]) // 3
    return body(
        message,
        names=["bank", "clinic"],
        keys=message.body["keys"][:64],
        signed=message.body["signed"][: 2 * size],
    )


def stranger(_: str, message: Message) -> Message:
    """Name a party that nobody knows."""
    return body(message, names=["bank", "clinic", "thief"]) if message.kind == "keys" else message


def swapped(name: str, message: Message) -> Message:
    """Give the key that was sealed for one party to another."""
    return body(message, common=b"0" * 60) if message.kind == "common" and name == "shop" else message


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (other_key, "not signed by it"),
        (fewer, "not in the list|other ones than were agreed"),
        (stranger, "not in the list|other ones than were agreed"),
        (swapped, "tampered"),
    ],
)
def test_a_server_that_meddles_with_keys_ends_the_run(change: Any, why: str, tmp_path: Path) -> None:
    study = make_study(PLANS["trees"], tmp_path)
    with pytest.raises(Infeasible, match=why):
        agree_keys(Meddling(LocalGrid(study.clients), change))


def test_nothing_is_answered_before_keys_and_no_step_twice(tmp_path: Path) -> None:
    study = make_study(PLANS["gossip"], tmp_path)
    bank = study.clients["bank"]
    for kind in ("ids", "train", "keep-model"):
        with pytest.raises(InvalidInput, match="before the parties have agreed"):
            bank.answer(Message(kind, "run", 0, {}))
    with pytest.raises(InvalidInput, match="did not begin here"):
        bank.answer(Message("keys", "run", 0, {}))
    recorder = Recorder(LocalGrid(study.clients))
    agree_keys(recorder)
    (listed, *_) = (one for one in recorder.seen if one.kind == "keys" and "names" in one.body)
    with pytest.raises(InvalidInput, match="or is over"):
        bank.answer(listed)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"shape": "gossip", "holds": VERTICAL}, "all members have the same columns"),
        ({"shape": "transfer"}, "say which columns"),
        ({"shape": "vertical", "holds": VERTICAL}, "needs the column that says whom"),
        ({"shape": "split", "model": "logistic"}, "needs hidden layers"),
        ({"shape": "split", "model": "boosting"}, "trees go with"),
        ({"shape": "gossip", "label_epsilon": 1.0}, "goes with vertical"),
        ({"shape": "vertical", "id": "nr", "holds": {"a": ["x"]}}, "at least two members"),
        ({"shape": "vertical", "id": "nr", "holds": VERTICAL, "least_clients": 2}, "can be spared"),
        ({"shape": "ring"}, "must be one of"),
    ],
)
def test_shapes_that_cannot_be_are_refused_by_name(said: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        AgreedShape(**said)


@pytest.mark.parametrize(
    ("holds", "why"),
    [
        ({"bank": ("age", "class"), "clinic": ("hours", "town", "boxes")}, "'boxes' is not in the schema"),
        ({"bank": ("age", "class"), "clinic": ("hours",)}, "nobody has column='town'"),
        ({"bank": ("age", "town"), "clinic": ("hours",)}, "0 have it"),
        ({"bank": ("age", "class"), "clinic": ("hours", "age", "town")}, "each column is one member's"),
        ({"bank": ("class",), "clinic": ("hours", "age", "town")}, "has no column to learn from"),
    ],
)
def test_columns_that_do_not_fit_the_schema_are_refused(holds: Any, why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        ShapeTask(SCHEMA, AgreedShape(shape="vertical", id="nr", holds=holds))


def test_a_member_says_where_its_model_goes_and_brings_one_row_for_each_person(tmp_path: Path) -> None:
    plan = PLANS["trees"]
    new = init_federation(tmp_path / "s", ShapeTask(SCHEMA, plan), dict.fromkeys(NAMES), FederationSettings())
    task = new.federation.task

    def join(name: str, frame: pl.DataFrame, **said: Any) -> None:
        member = FederationMember(new.federation, read_private_key(new.keys[name]), frame)
        task.join(member.owner(), ClientSettings(**said))

    file = tmp_path / "model.npz"
    with pytest.raises(InvalidParameter, match="name the file that the model"):
        join("bank", table_of(plan, "bank"))
    with pytest.raises(InvalidParameter, match="the model is with 'bank'"):
        join("shop", table_of(plan, "shop"), keep_model=file)
    with pytest.raises(InvalidParameter, match="policy: it is for"):
        join("bank", table_of(plan, "bank"), keep_model=file, policy={"k": 3})
    with pytest.raises(InvalidInput, match="ids=3 stand there more than once"):
        join("shop", pl.concat([table_of(plan, "shop"), table_of(plan, "shop")[:3]]))
    with pytest.raises(KeyError):
        join("shop", table_of(plan, "shop").drop("nr"))


def test_what_shapes_cannot_do_is_said(tmp_path: Path) -> None:
    """Going on after a crash, and asking other houses about new people."""
    study = make_study(PLANS["trees"], tmp_path)
    with pytest.raises(InvalidParameter, match="resume: a run of shape='vertical' cannot go on"):
        study.task.begin(tmp_path / "run", RunSettings(resume=tmp_path / "run"))
    study.task.learn(LocalGrid(study.clients), lambda _: None)
    mine = people(20, seed=3).select("nr", "age")
    with pytest.raises(InvalidInput, match="columns=hours, town of the model are not in this table"):
        predict_rows(tmp_path / "bank.npz", mine)
    with pytest.raises(KeyError, match="did you mean"):
        predict_rows(tmp_path / "bank.npz", people(20, seed=3).rename({"town": "towns"}))


def test_labels_are_randomised_once_for_all_runs(tmp_path: Path) -> None:
    plan = replace(PLANS["logistic"], label_epsilon=1.0)
    study = make_study(plan, tmp_path)
    labels = []
    for _ in range(2):
        study.task.learn(LocalGrid(study.clients), lambda _: None)
        party = study.clients["bank"].client.client
        labels.append(party.frame.sort("nr")["class"].to_list())
    assert labels[0] == labels[1]
    true = table_of(plan, "bank").sort("nr")["class"].to_list()
    kept = np.mean([one == other for one, other in zip(labels[0], true, strict=True)])
    assert abs(kept - 0.731) < 6 * np.sqrt(0.731 * 0.269 / len(true))  # six deviations
