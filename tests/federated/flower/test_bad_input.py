"""All that can be wrong on either side, as tables: a sentence where somebody can act, in the log, no cell.

What needs a clock, a certificate or a second process of the real server is in ``test_flower_processes.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from federation_processes import Wire, load_flower
from mahrem.errors import InvalidParameter, MahremError
from mahrem.federated.flower import (
    Federation,
    FederationSettings,
    FlowerGrid,
    FlowerNode,
    init_federation,
    join_federation,
)
from mahrem.federated.flower._guard import ClientGuard
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.rules import RulesPlan, RulesSchema
from mahrem.federated.runs import ClientSettings, RulesTask, RunSettings, WeightsTask
from mahrem.federated.weights import LearningPlan, SharedModel, propose_schema
from mahrem.federated.wire import Failure, Message
from mahrem.federated.wire.certificates import read_private_key
from silo_learning import people

NAMES = ("east", "north", "south")
SECRET = "elm-street-7"  # a town of the tables; it must stand nowhere
TABLE = people(90).with_columns(town=pl.col("town").replace("elm", SECRET))
FEW = people(90).with_columns(town=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit(SECRET)).otherwise("town"))
SCHEMA = propose_schema(people(90), "class")
RULES = RulesTask(RulesSchema(columns=("town",), target="class"), RulesPlan(sum="plain", least_count=5))
MASKED = RulesTask(RULES.schema, RulesPlan(least_count=5))
WEIGHTS = WeightsTask(SCHEMA, LearningPlan(model="logistic", rounds=3, rate=0.1))
HIDDEN = WeightsTask(SCHEMA, replace(WEIGHTS.plan, sum="masked"))
TREES = WeightsTask(SCHEMA, LearningPlan(model="boosting", rounds=2, depth=2, sum="masked"))
ODD = people(30, 1).with_columns(pl.lit("maybe").alias("class"))
START = SharedModel.fresh(SCHEMA, WEIGHTS.plan).arrays["weights"]
OTHER = START + np.float32(0.25)
Task = RulesTask | WeightsTask


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, missing_part: Callable[[str], None]) -> Path:
    load_flower(missing_part)
    folder = tmp_path_factory.mktemp("bad") / "study"
    init_federation(folder, RULES, dict.fromkeys(NAMES), FederationSettings(answer_seconds=0.3))
    return folder


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))


def federation_of(study: Path, task: Task) -> Federation:
    return replace(Federation.read(study / "federation.toml"), task=task)


def node_of(federation: Federation, study: Path, name: str, table: pl.DataFrame) -> tuple[FlowerNode, Path]:
    """Make a client as ``join`` does, with its guard's log."""
    member = FederationMember(federation, read_private_key(study / "clients" / f"{name}.key"), table)
    guard = ClientGuard(member)
    answerer, _ = federation.task.join(member.owner(None, guard.history(table, None)), ClientSettings())
    return FlowerNode(federation, member.key, answerer, note=guard.note, _name=name), guard.log


def written(folder: Path) -> str:
    """Give all that a side wrote into a folder."""
    return "".join(path.read_text("utf-8") for path in sorted(folder.rglob("*.json*")))


@dataclass
class Lying:
    """A client whose answers to one kind of question are changed on their way."""

    inside: Any
    kind: str
    change: Mapping[str, Callable[[Any], Any]]

    def answer(self, message: Message) -> Message:
        said: Message = self.inside.answer(message)
        if message.kind != self.kind:
            return said
        lies = {name: lie(said.body.get(name)) for name, lie in self.change.items()}
        return message.reply(**{**said.body, **lies})


# what a client sends: the task, the kind of question, the lie, and what the server reads of it
LIES: dict[str, tuple[Task, str, dict[str, Callable[[Any], Any]], str]] = {
    "more rows than people": (RULES, "counts", {"numbers": lambda n: n + 2**40}, "more rows than"),
    "rows below none": (RULES, "counts", {"numbers": lambda n: n - 1000}, "below 0"),
    "counts of another length": (RULES, "counts", {"numbers": lambda n: n[:-1]}, "numbers="),
    "counts that are NaN": (RULES, "counts", {"numbers": lambda n: n * np.nan}, "no whole numbers"),
    "a column that is not there": (RULES, "frequent", {"places": lambda n: n + 9}, "cannot be read"),
    "weights of more rows": (WEIGHTS, "train", {"rows": lambda _: 10**12}, "rows that cannot be"),
    "weights of fewer rows": (WEIGHTS, "train", {"rows": lambda _: -3}, "rows that cannot be"),
    "weights that are NaN": (WEIGHTS, "train", {"weights": lambda n: n * np.nan}, "not numbers (NaN"),
    "weights of another length": (WEIGHTS, "train", {"weights": lambda n: n[:-1]}, "another shape than"),
    "an answer to an older round": (WEIGHTS, "train", {}, "another run or round"),
    "masked numbers of another length": (
        HIDDEN,
        "sum-masked",
        {"masked": lambda n: n[:-1]},
        "cannot be read",
    ),
    "masked numbers that are NaN": (HIDDEN, "sum-masked", {"masked": lambda n: n * np.nan}, "cannot be read"),
    "masks that do not fit": (
        HIDDEN,
        "sum-masked",
        {"masked": lambda n: n + np.uint64(2**62)},
        "nobody can say",
    ),
    "masked counts of more rows": (
        MASKED,
        "sum-masked",
        {"masked": lambda n: n + np.uint64(2**50)},
        "nobody can",
    ),
}


class Late(Lying):
    """Answers every question with what it said to the first of its kind."""

    def answer(self, message: Message) -> Message:
        said: Message = self.inside.answer(message)
        first: Message = self.__dict__.setdefault(message.kind, said)
        return first


@pytest.mark.parametrize("name", LIES)
def test_a_client_that_lies_is_told_of_in_the_run_and_shows_no_cell(
    study: Path, name: str, tmp_path: Path
) -> None:
    task, kind, change, why = LIES[name]
    task = replace(task, plan=replace(task.plan, least_clients=2))  # type: ignore[arg-type]
    federation = federation_of(study, task)
    nodes = {each: node_of(federation, study, each, people(90, seed)) for seed, each in enumerate(NAMES)}
    nodes["north"] = node_of(federation, study, "north", FEW)
    liar = nodes["north"][0]
    liar.answerer = (Lying if change else Late)(liar.answerer, kind, change)
    run = task.begin(tmp_path / "run", RunSettings(retries=0))
    grid = FlowerGrid(federation, Wire({each: node for each, (node, _) in nodes.items()}), 1, 1)
    with suppress(MahremError), run.folder.recording():  # under masks nobody can say who, so the run ends
        run.finish(run.learn(grid, None))  # type: ignore[arg-type]
    log = written(tmp_path / "run")
    assert why in log
    assert "Traceback" not in log
    assert SECRET not in log


def sums(*bodies: Mapping[str, Any], run: str = "run") -> list[Message]:
    """Ask in the steps of a masked sum."""
    kinds = ("sum-keys", "sum-masked", "sum-agree", "sum-reveal")
    return [Message(kind, run, 1, {"sum": 1, **body}) for kind, body in zip(kinds, bodies, strict=False)]


def train(number: int, weights: Any, run: str = "run") -> Message:
    return Message("train", run, number, {"weights": weights, "round": number})


PREPARE = {"protocol": 1, "agreed": WEIGHTS.plan.fingerprint(SCHEMA.fingerprint()), "rounds": 3}
NAMED = {"names": list(NAMES)}

# what a server asks one client: the task, its questions, and what the client says to the last
SERVERS: dict[str, tuple[Task, list[Message], str]] = {
    "changes the plan": (
        WEIGHTS,
        [Message("prepare", "r", 0, {**PREPARE, "agreed": "x"})],
        "not the one agreed",
    ),
    "speaks another protocol": (
        WEIGHTS,
        [Message("prepare", "r", 0, {**PREPARE, "protocol": 9})],
        "protocol=1",
    ),
    "begins elsewhere": (WEIGHTS, [train(1, OTHER)], "begins with the agreed weights"),
    "asks twice with other weights": (
        WEIGHTS,
        [train(1, START), train(2, START), train(2, OTHER)],
        "come to round 2",
    ),
    "goes back": (WEIGHTS, [train(1, START), train(3, OTHER), train(2, OTHER)], "come to round 3"),
    "goes on beyond the end": (WEIGHTS, [train(1, START), train(4, OTHER)], "rounds=3 were agreed"),
    "sends NaN": (WEIGHTS, [train(1, START * np.nan)], "the server sent"),
    "sends another length": (WEIGHTS, [train(1, START[:-1])], "the server sent"),
    "sends no weights": (WEIGHTS, [Message("train", "run", 1, {"round": 1})], "the server sent"),
    "asks in the clear": (HIDDEN, [train(1, START)], "hidden only"),
    "asks for trees": (WEIGHTS, [Message("histogram", "run", 1, {})], "no question that this client"),
    "asks for right answers unagreed": (
        WEIGHTS,
        [Message("validate", "run", 1, {})],
        "no question that this",
    ),
    "begins a sum twice": (HIDDEN, [*sums({}), *sums({})], "was begun already"),
    "drops the beginning": (HIDDEN, sums({}, NAMED)[1:], "not begun here"),
    "replays a sum of another run": (HIDDEN, [*sums({}), *sums({}, NAMED, run="old")[1:]], "not begun here"),
    "asks for the end first": (
        HIDDEN,
        [*sums({}), sums({}, {}, {}, {"words": b""})[-1]],
        "not all of them gave their word",
    ),
    "asks for weights of trees": (TREES, [train(1, START)], "hidden only"),
    "asks for counts of weights": (
        WEIGHTS,
        [Message("counts", "run", 1, {})],
        "no question that this client",
    ),
    "asks for rules of weights": (HIDDEN, [Message("rules", "run", 1, {})], "hidden only"),
    "asks for rules of counts": (
        RULES,
        [Message("rules", "run", 1, {"columns": ["town"]})],
        "refused: exact was agreed",
    ),
    "asks for nothing at all": (RULES, [Message("", "", -1, {})], "refused: exact was agreed"),
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_that_does_not_keep_to_the_plan_is_refused_in_the_log_of_the_client(
    study: Path, name: str
) -> None:
    task, questions, why = SERVERS[name]
    federation = federation_of(study, task)
    node, log = node_of(federation, study, "north", TABLE)
    grid = FlowerGrid(federation, Wire({"north": node}), 1, 1)
    for question in questions[:-1]:
        assert isinstance(grid.send({"north": question})["north"], Message)
    said = grid.send({"north": questions[-1]})["north"]
    assert isinstance(said, Failure)
    assert why
    assert why in said.reason
    assert said.reason != "this client could not answer"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["answer"] for line in lines] == ["answer"] * (len(questions) - 1) + ["refused"]
    assert said.reason in lines[-1]["why"]
    assert SECRET not in log.read_text()
    assert SECRET not in said.reason


# tables with which a client does not begin, and why
BEGINNINGS: dict[str, tuple[Task, pl.DataFrame, str]] = {
    "no row": (WEIGHTS, TABLE.clear(), "rows=0"),
    "no row, for rules": (RULES, TABLE.clear(), "no row to learn from"),
    "one row, for rules": (RULES, TABLE.head(1), "fewer than five people"),
    "one row with a class, for rules": (
        RULES,
        TABLE.with_columns(pl.when(pl.int_range(pl.len()) == 0).then("class").alias("class")),
        "fewer than five people",
    ),
    "one row": (WEIGHTS, TABLE.head(1), "rows=1"),
    "another class": (WEIGHTS, TABLE.with_columns(pl.lit("maybe").alias("class")), "an agreed class"),
    "another class among them": (WEIGHTS, pl.concat([people(60), ODD]), "a class that was not agreed on"),
    "another column": (WEIGHTS, TABLE.rename({"town": "city"}), "town"),
    "a cell that nobody agreed on": (WEIGHTS, FEW, "cells that were not agreed on"),
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_client_that_cannot_begin_says_why_and_writes_it_down(
    study: Path, name: str, tmp_path: Path
) -> None:
    task, table, why = BEGINNINGS[name]
    (tmp_path / "federation.toml").write_text(federation_of(study, task).as_toml())
    table.write_csv(tmp_path / "table.csv")
    told: list[str] = []
    settings = ClientSettings(patience=0.01, yes=True, audit=tmp_path / "audit.jsonl")
    with pytest.raises(MahremError) as refused:
        join_federation(
            tmp_path / "federation.toml",
            tmp_path / "table.csv",
            study / "clients" / "north.key",
            settings,
            tell=told.append,
        )
    assert why in str(refused.value)
    (line,) = map(json.loads, (tmp_path / "audit.jsonl").read_text().splitlines())
    assert (line["answer"], line["client"]) == ("stayed away", "north")
    assert why in line["why"]
    assert not any("connected" in each for each in told)
    assert not any(cell in each for each in [*told, line["why"]] for cell in (SECRET, "maybe"))


def test_one_key_under_two_names_makes_no_federation(study: Path) -> None:
    federation = Federation.read(study / "federation.toml")
    with pytest.raises(InvalidParameter, match="two of them have the same key"):
        replace(federation, clients={**federation.clients, "west": federation.clients["north"] + " again"})
