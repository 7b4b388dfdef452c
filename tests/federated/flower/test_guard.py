"""What a client shows its owner, writes down for him, and refuses to take part in."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from federation_processes import Wire, load_flower
from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed
from mahrem.federated.flower import Federation, FlowerGrid, FlowerNode, init_federation, join_federation
from mahrem.federated.flower._guard import ClientGuard
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.flower._review import describe_federation
from mahrem.federated.rules import RulesPlan, RulesSchema
from mahrem.federated.runs import ClientSettings, RulesTask, WeightsTask
from mahrem.federated.weights import LearningPlan, propose_schema
from mahrem.federated.wire import Failure, Message
from mahrem.federated.wire.certificates import read_private_key
from silo_learning import people

NAMES = ("east", "north", "south")
SCHEMA = RulesSchema(columns=("a", "b"), target="y")


@pytest.fixture
def study(tmp_path: Path, missing_part: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Path:
    load_flower(missing_part)
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    rng = np.random.default_rng(1)
    for name in NAMES:
        cells = {column: rng.choice(["p", "q"], 60) for column in ("a", "b", "y")}
        pl.DataFrame(cells).write_csv(tmp_path / f"{name}.csv")
    init_federation(tmp_path / "study", RulesTask(SCHEMA), dict.fromkeys(NAMES))
    return tmp_path / "study"


def guard_of(study: Path, name: str, federation: Federation | None = None) -> ClientGuard:
    key = read_private_key(study / "clients" / f"{name}.key")
    agreed = federation or Federation.read(study / "federation.toml")
    return ClientGuard(FederationMember(agreed, key, study.parent / f"{name}.csv"))


def node_of(study: Path, name: str, members: frozenset[str] | None = None) -> FlowerNode:
    """Make a client as ``join`` does, without the server."""
    guard = guard_of(study, name)
    history = guard.history(guard.member.source, members)
    answerer, _ = guard.federation.task.join(guard.member.owner(None, history), ClientSettings())
    return FlowerNode(guard.federation, guard.member.key, answerer, note=guard.note, _name=name)


def learnt(study: Path, names: Sequence[str] = NAMES, **more: Any) -> Any:
    nodes = {name: node_of(study, name, **more) for name in names}
    federation = Federation.read(study / "federation.toml")
    return federation.task.learn(FlowerGrid(federation, Wire(nodes), 1, 1))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_question_stands_in_a_file_that_the_owner_alone_can_read(study: Path) -> None:
    learnt(study)
    log = guard_of(study, "north").log
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    asked = lines(log)
    assert {line["kind"] for line in asked} == {
        "frequent",
        "sum-keys",
        "sum-masked",
        "sum-agree",
        "sum-reveal",
    }
    assert {line["about"] for line in asked if line["kind"] == "sum-masked"} == {"counts", "cover"}
    assert all(line["answer"] == "answer" and len(line["digest"]) == 64 for line in asked)
    assert {tuple(line["clients"]) for line in asked if line["kind"] == "sum-agree"} == {NAMES}


def test_a_refusal_is_written_down_with_its_reason(study: Path) -> None:
    node = node_of(study, "north")
    wire, federation = Wire({"north": node}), node.federation
    grid = FlowerGrid(federation, wire, 1, 1)
    grid.send({"north": Message("counts", "run", 1)})
    other = replace(federation, answer_seconds=1.0)
    FlowerGrid(other, wire, 1, 1).send({"north": Message("frequent", "run", 1)})
    first, second = lines(guard_of(study, "north").log)
    assert first["answer"] == second["answer"] == "refused"
    assert "hidden only" in first["why"]
    assert "federation.toml of the server is another" in second["why"]


def test_nothing_leaves_a_client_that_cannot_write_down_what_it_answers(study: Path) -> None:
    node = node_of(study, "north")

    def full(*_: object) -> None:
        raise OutputFailed("file='log' cannot be written: No space left on device")

    node.note = full
    grid = FlowerGrid(node.federation, Wire({"north": node}), 1, 1)
    (said,) = grid.send({"north": Message("sum-keys", "run", 1, {"sum": 1})}).values()
    assert "cannot keep its log" in getattr(said, "reason", "")


@pytest.mark.parametrize(
    "question",
    [
        Message("k" * 10**6, "run", 1),
        Message("sum-keys", "r" * 10**6, 1, {"sum": 1}),
        Message("sum-keys", "run", 1, {"sum": "s" * 10**6}),
        Message("sum-masked", "run", 1, {"kind": "k" * 10**6, "names": ["n" * 1000] * 1000}),
        Message("sum-agree", "run", 1, {"kind": [["k"] * 1000] * 1000, "names": [["n"] * 1000] * 1000}),
        Message("frequent", "run", 1, {"columns": ["c" * 1000] * 1000, "support": "s" * 10**6}),
    ],
)
def test_a_server_does_not_fill_a_clients_disk_by_what_it_calls_things(
    study: Path, question: Message
) -> None:
    """A megabyte in every question was a megabyte in the file of questions, and in memory."""
    node = node_of(study, "north")
    FlowerGrid(node.federation, Wire({"north": node}), 1, 1).send({"north": question})
    assert 0 < guard_of(study, "north").log.stat().st_size < 5000
    assert sum(len(seen) for seen in node.answerer._seen) <= 32  # type: ignore[attr-defined]


def test_a_federation_without_one_member_is_refused_until_the_others_agree(study: Path) -> None:
    """The same keys and tables in a new federation of two, made to subtract the third."""
    learnt(study)
    two = study.parent / "two"
    keys = {name: study / "clients" / f"{name}.pub" for name in NAMES[:2]}
    init_federation(two, RulesTask(SCHEMA), keys)
    (two / "clients").symlink_to(study / "clients")
    with pytest.raises(Exception, match="has to agree to these members"):
        learnt(two, NAMES[:2])
    refused = [line for line in lines(guard_of(two, "north").log) if line["answer"] == "refused"]
    assert "rows of south alone" in refused[-1]["why"]
    assert learnt(two, NAMES[:2], members=frozenset(NAMES[:2])).nodes == NAMES[:2]


def test_by_default_hidden_sums_are_over_all_members(study: Path) -> None:
    assert Federation.read(study / "federation.toml").least == 3
    with pytest.raises(Exception, match="fewer than 3 is refused"):
        learnt(study, NAMES[:2])


@pytest.mark.parametrize("agrees", [True, False])
def test_an_owner_who_does_not_agree_to_the_plan_stays_out(study: Path, *, agrees: bool) -> None:
    shown: list[str] = []

    def confirm(words: Sequence[str]) -> bool:
        shown.extend(words)
        return agrees

    guard = guard_of(study, "north")
    let_go = guard.hold()  # so that joining ends before it connects
    file, table, key = study / "federation.toml", study.parent / "north.csv", study / "clients" / "north.key"
    with pytest.raises(InvalidInput, match="another process" if agrees else "not agreed to"):
        join_federation(file, table, key, ClientSettings(review=True), confirm=confirm)
    let_go()
    text = "\n".join(shown)
    for part in (
        "predict 'y'",
        "a, b",
        "sums only (masked), over at least 3 of 3",
        "counts are exact",
        *NAMES,
    ):
        assert part in text
    approved = guard.folder / "approvals.jsonl"
    assert approved.exists() is agrees
    if agrees:
        (line,) = lines(approved)
        assert guard.federation.signed_by(
            "north",
            guard.federation.fingerprint().encode() + b"mahrem-approved-1",
            bytes.fromhex(line["signed"]),
        )


def test_another_plan_than_the_one_that_was_agreed_to_is_refused(study: Path) -> None:
    guard = guard_of(study, "north")
    guard.refuse_unapproved()
    guard.approve()
    guard.refuse_unapproved()
    changed = replace(guard.federation, task=RulesTask(SCHEMA, RulesPlan(support=0.01, least_clients=2)))
    with pytest.raises(InvalidInput, match="agree: review=True"):
        guard_of(study, "north", changed).refuse_unapproved()
    guard_of(study, "south", changed).refuse_unapproved()
    (guard.folder / "approvals.jsonl").write_text("broken")
    with pytest.raises(InvalidInput, match="mend it"):
        guard.refuse_unapproved()


def test_an_old_approval_that_was_made_to_name_another_plan_counts_for_nothing(study: Path) -> None:
    guard = guard_of(study, "north")
    guard.approve()
    changed = replace(guard.federation, task=RulesTask(SCHEMA, RulesPlan(support=0.01, least_clients=2)))
    approvals = guard.folder / "approvals.jsonl"
    (line,) = lines(approvals)
    approvals.write_text(json.dumps({**line, "federation": changed.fingerprint()}) + "\n")
    with pytest.raises(InvalidInput, match="agree: review=True"):
        guard_of(study, "north", changed).refuse_unapproved()


def test_a_federation_of_fewer_that_swaps_class_and_column_is_refused_too(study: Path) -> None:
    learnt(study)
    two = study.parent / "two"
    keys = {name: study / "clients" / f"{name}.pub" for name in NAMES[:2]}
    init_federation(two, RulesTask(RulesSchema(columns=("y", "b"), target="a")), keys)
    (two / "clients").symlink_to(study / "clients")
    with pytest.raises(Exception, match="has to agree to these members"):
        learnt(two, NAMES[:2])


def joined(study: Path, cuts: Sequence[float], **settings: Any) -> Any:
    """Join a federation that cuts ages there, up to the server, which is not there."""
    folder = study.parent / f"cut-{'-'.join(map(str, cuts))}-{len(settings)}"
    schema = RulesSchema(columns=("age", "b"), target="y", bins={"age": tuple(cuts)})
    keys = {name: study / "clients" / f"{name}.pub" for name in NAMES}
    if not folder.exists():
        init_federation(folder, RulesTask(schema, RulesPlan(least_count=5)), keys)
    table = study.parent / "ages.csv"
    if not table.exists():
        rng = np.random.default_rng(3)
        cells = {"age": [*range(20, 80)] * 10, "b": rng.choice(["p", "q"], 600), "y": ["n", "y"] * 300}
        pl.DataFrame(cells).vstack(pl.DataFrame({"age": [99], "b": ["p"], "y": ["y"]})).write_csv(table)
    chosen = ClientSettings(patience=0.01, known=tuple(map(str, keys.values())), **settings)
    return join_federation(folder / "federation.toml", table, study / "clients" / "north.key", chosen)


def test_bins_drawn_around_one_person_are_refused_unless_the_owner_says_so(study: Path) -> None:
    with pytest.raises(InvalidInput, match=r"fewer than five people.*despite='few:age'"):
        joined(study, (40.0, 95.0))
    with pytest.raises(OutputFailed, match="not reached"):
        joined(study, (40.0, 95.0), despite=("few:age",))


def test_another_federation_that_cuts_elsewhere_is_refused_unless_the_owner_says_so(study: Path) -> None:
    """Counts below 40 and below 41 tell by their difference who is forty."""
    for _ in range(2):  # the same cuts again tell nothing new
        with pytest.raises(OutputFailed, match="not reached"):
            joined(study, (40.0,))
    with pytest.raises(InvalidInput, match=r"people between the cuts.*despite='recut:age'"):
        joined(study, (41.0,))
    with pytest.raises(OutputFailed, match="not reached"):
        joined(study, (41.0,), despite=("recut",))
    guard = guard_of(study, "north")
    assert stat.S_IMODE((guard.folder / "cuts.jsonl").stat().st_mode) == 0o600
    (guard.folder / "cuts.jsonl").write_text("[]")
    with pytest.raises(InvalidInput, match="mend it"):
        joined(study, (41.0,))


def test_one_key_is_used_by_one_process(study: Path) -> None:
    guard = guard_of(study, "north")
    let_go = guard.hold()
    with pytest.raises(InvalidInput, match="another process takes part with this key"):
        guard.hold()
    guard_of(study, "south").hold()()
    let_go()
    guard.hold()()


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (LearningPlan(model="boosting", sum="masked", depth=3), ("trees of depth 3", "epsilon 4 at delta")),
        (LearningPlan(model="boosting", sum="masked", cell_epsilon=0), ("NO noise",)),
        (LearningPlan(model="logistic"), ("SEES this client's own numbers", "NO noise")),
        (LearningPlan(sum="masked", fraction=0.5), ("DIFFERENT clients",)),
        (LearningPlan(sum="masked", least_clients=2), ("refused until you agree",)),
    ],
)
def test_what_a_plan_lets_out_is_said_in_words(
    study: Path, plan: LearningPlan, said: tuple[str, ...]
) -> None:
    task = WeightsTask(propose_schema(people(), "class"), plan)
    words = "\n".join(
        describe_federation(replace(Federation.read(study / "federation.toml"), task=task), "north")
    )
    assert all(part in words for part in said)


SUM = Message("sum-keys", "run", 1, {"sum": 1})
BAD_SERVERS: dict[str, tuple[list[Message], str]] = {
    "asks twice": ([SUM, SUM], "was begun already"),
    "replays the sum of another run": (
        [SUM, Message("sum-agree", "older", 1, {"sum": 1, "names": list(NAMES)})],
        "not begun here",
    ),
    "drops the first step": ([Message("sum-masked", "run", 1, {"sum": 1, "names": []})], "not begun here"),
    "asks for the end before the middle": (
        [SUM, Message("sum-reveal", "run", 1, {"sum": 1, "words": b""})],
        "",
    ),
    "gives a word before numbers": ([SUM, Message("sum-agree", "run", 1, {"sum": 1, "names": []})], ""),
    "asks in the clear": ([Message("counts", "run", 1, {"columns": ["a", "b"]})], "hidden only"),
    "asks for another column": (
        [
            Message(
                "frequent",
                "run",
                1,
                {"columns": ["a", "y"], "support": 0.2, "longest": 1, "by_rule": False, "most": None},
            )
        ],
        "other columns than were agreed",
    ),
    "asks for rarer cells": (
        [
            Message(
                "frequent",
                "run",
                1,
                {"columns": ["a", "b"], "support": 0.001, "longest": 1, "by_rule": False, "most": None},
            )
        ],
        "support other than the agreed",
    ),
    "asks for weights": ([Message("train", "run", 1, {"weights": np.zeros(3, np.float32)})], "hidden only"),
    "asks for something that is none": ([Message("../../etc/passwd", "run", 1, {})], "refused"),
}


@pytest.mark.parametrize("name", BAD_SERVERS)
def test_a_server_that_does_not_keep_to_the_protocol_is_refused_in_words_that_stand_in_the_log(
    study: Path, name: str
) -> None:
    questions, why = BAD_SERVERS[name]
    node = node_of(study, "north")
    grid = FlowerGrid(node.federation, Wire({"north": node}), 1, 1)
    for question in questions:
        (said,) = grid.send({"north": question}).values()
    assert isinstance(said, Failure)
    assert why in said.reason
    assert said.reason != "this client could not answer"
    written = lines(guard_of(study, "north").log)[-1]
    assert (written["answer"], written["kind"]) == ("refused", questions[-1].kind)
    assert said.reason in written["why"]


def test_a_federation_file_that_changed_between_review_and_run_is_not_answered(study: Path) -> None:
    node = node_of(study, "north")
    task = RulesTask(SCHEMA, RulesPlan(support=0.01, least_clients=2))
    grid = FlowerGrid(replace(node.federation, task=task), Wire({"north": node}), 1, 1)
    (said,) = grid.send({"north": SUM}).values()
    assert isinstance(said, Failure)
    assert "federation.toml differs from the server's in learning" in said.reason
    written = lines(guard_of(study, "north").log)[-1]
    assert "federation.toml of the server is another" in written["why"]


@pytest.mark.parametrize("name", ["../../north", "/etc/north", "north\n", "..", "nor/th", ""])
def test_names_of_clients_that_lead_elsewhere_are_refused(study: Path, name: str) -> None:
    federation = Federation.read(study / "federation.toml")
    key = federation.clients["north"]
    others = {other: held for other, held in federation.clients.items() if other != "north"}
    with pytest.raises(InvalidParameter):
        replace(federation, clients={**others, name: key})
