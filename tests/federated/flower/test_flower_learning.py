"""Weights and trees over Flower: silos that anonymise first, runs that go on, clocks and budgets."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from federation_processes import PATIENCE, Answering, Processes, Wire, free_port, load_flower
from mahrem.cli._app import _run
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.flower import (
    Federation,
    FederationSettings,
    FlowerGrid,
    FlowerNode,
    init_federation,
    join_federation,
    reveal_model,
    reveal_weights,
    run_federation,
)
from mahrem.federated.flower._connection import Clock
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.networks import OwnNetwork
from mahrem.federated.runs import (
    ClientSettings,
    RunSettings,
    WeightsSimulation,
    WeightsTask,
    predict_rows,
    simulate,
)
from mahrem.federated.runs._learning import LearningRun
from mahrem.federated.weights import (
    LearningPlan,
    Protections,
    SharedModel,
    TrainingSilo,
    WeightsResult,
    learn_together,
    propose_schema,
    read_schema,
    write_schema,
)
from mahrem.federated.weights._policy import silo_policy
from mahrem.federated.wire import ByteBudgetSpent, LocalGrid, Message
from mahrem.federated.wire.certificates import read_private_key

NAMES = ("north", "south", "west")
KEPT = {"quasi": ("age", "town"), "k": 3}
PLAN = LearningPlan(model="logistic", rounds=3, rate=0.1)
NOISY = replace(PLAN, protections=Protections(clip=0.5, noise=20.0))


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 90, rows), rng.choice(["ash", "elm", "oak"], rows)
    ill = (age + 15 * (town == "oak") + rng.normal(0, 8, rows)) > 60
    return pl.DataFrame({"age": age, "town": town, "class": np.where(ill, "yes", "no")})


SCHEMA = propose_schema(people(600, 9), "class")
TABLES = {name: people(150, seed) for seed, name in enumerate(NAMES)}


def in_process(plan: LearningPlan) -> SharedModel:
    """Learn the same on a grid of this process."""
    policy = silo_policy(KEPT, SCHEMA)
    silos = {name: TrainingSilo(name, table, SCHEMA, plan, policy) for name, table in TABLES.items()}
    grid = LocalGrid({name: silo.for_grid() for name, silo in silos.items()})
    return learn_together(grid, SCHEMA, plan).model


def same(first: SharedModel, second: SharedModel) -> bool:
    return all(np.array_equal(held, second.arrays[name]) for name, held in first.arrays.items())


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, missing_part: Callable[[str], None]) -> Path:
    load_flower(missing_part)
    folder = tmp_path_factory.mktemp("learning") / "study"
    init_federation(
        folder,
        WeightsTask(SCHEMA, PLAN),
        dict.fromkeys((*NAMES, "east")),
        FederationSettings(answer_seconds=0.3),
    )
    return folder


OWN_POLICIES = {"east": {**KEPT, "k": 30}}  # which its table cannot keep


def node_of(study: Path, federation: Federation, name: str, table: pl.DataFrame, **more: Any) -> FlowerNode:
    key = read_private_key(study / "clients" / f"{name}.key")
    answerer, _ = federation.task.join(
        FederationMember(federation, key, table).owner(more.get("sum_secret")),
        ClientSettings(policy=OWN_POLICIES.get(name, KEPT), **more),
    )
    return FlowerNode(federation, key, answerer, _name=name)


def learnt(
    study: Path,
    plan: LearningPlan,
    tables: Mapping[str, pl.DataFrame] = TABLES,
    *,
    public: bytes | None = None,
    **more: Any,
) -> WeightsResult:
    """Learn over Flower's messages with the two ends of the wire in this process."""
    federation = replace(Federation.read(study / "federation.toml"), task=WeightsTask(SCHEMA, plan))
    nodes = {name: node_of(study, federation, name, table, **more) for name, table in tables.items()}
    return learn_together(FlowerGrid(federation, Wire(nodes), 1, 1), SCHEMA, plan, public=public)


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, model="mlp", hidden=(8, 8, 4)),
        replace(PLAN, sum="masked", least_clients=3),
        replace(PLAN, aggregate="median"),
        replace(PLAN, proximal=0.1),
        replace(PLAN, fraction=0.7),
        replace(PLAN, protections=Protections(quantise=8, sparse=0.5)),
        replace(PLAN, protections=Protections(anomaly=50.0, norm_bound=9.0)),
        LearningPlan(model="boosting", rounds=2, depth=2),
        LearningPlan(model="boosting", rounds=2, depth=2, sum="masked", cell_epsilon=0, least_clients=3),
    ],
)
def test_what_is_learnt_over_flower_is_what_is_learnt_in_one_process(study: Path, plan: LearningPlan) -> None:
    found = learnt(study, plan)
    assert found.nodes == NAMES
    assert same(found.model, in_process(plan))
    assert all(report["anonymised"] and report["holds"] for report in found.reports.values())


def test_encrypted_weights_travel_over_flower_with_the_keys_that_init_makes(
    study: Path, tmp_path: Path, missing_part: Callable[[str], None]
) -> None:
    plan = replace(PLAN, sum="homomorphic", rounds=1, least_clients=3)
    try:
        made = init_federation(tmp_path / "study", WeightsTask(SCHEMA, plan), dict.fromkeys(NAMES))
    except ImportError:
        missing_part("TenSEAL is not installed")
    public = (tmp_path / "study" / "server" / "sum.public").read_bytes()
    found = learnt(study, plan, public=public, sum_secret=made.sum_secret)
    plain = in_process(replace(plan, sum="plain"))
    assert np.allclose(found.model.arrays["weights"], plain.arrays["weights"], atol=1e-4)


def test_a_ledger_of_other_data_pays_for_no_noise(study: Path, tmp_path: Path) -> None:
    from mahrem.dp import Ledger

    TABLES["north"].write_csv(tmp_path / "north.csv")
    TABLES["south"].write_csv(tmp_path / "south.csv")
    Ledger.create(tmp_path / "ledger", tmp_path / "south.csv", epsilon=9)
    file = tmp_path / "federation.toml"
    file.write_text(
        replace(Federation.read(study / "federation.toml"), task=WeightsTask(SCHEMA, NOISY)).as_toml()
    )
    key = study / "clients" / "north.key"
    with pytest.raises(InvalidInput, match="made for other data"):
        join_federation(file, tmp_path / "north.csv", key, ClientSettings(ledger=tmp_path / "ledger"))


def test_a_ledger_pays_before_weights_leave_a_client(study: Path, tmp_path: Path) -> None:
    from mahrem.dp import Ledger

    federation = replace(Federation.read(study / "federation.toml"), task=WeightsTask(SCHEMA, NOISY))
    TABLES["north"].write_csv(tmp_path / "north.csv")
    Ledger.create(tmp_path / "ledger", tmp_path / "north.csv", epsilon=9, delta=1e-5)
    member = FederationMember(
        federation, read_private_key(study / "clients" / "north.key"), tmp_path / "north.csv"
    )
    client, _ = federation.task.join(member.owner(), ClientSettings(policy=KEPT, ledger=tmp_path / "ledger"))
    assert Ledger.open(tmp_path / "ledger").history() == []
    agreed = NOISY.fingerprint(SCHEMA.fingerprint())
    said = client.answer(Message("prepare", "r", 0, {"protocol": 1, "agreed": agreed, "rounds": 3}))
    (spend,) = Ledger.open(tmp_path / "ledger").history()
    assert spend["what"].startswith("3 rounds")
    assert said.body["report"]["private"]["paid"] is True


def test_weights_with_dummies_travel_over_flower_and_clients_open_them(study: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, protections=Protections(dummies=0.5))
    file, key = tmp_path / "federation.toml", tmp_path / "weights.key"
    file.write_text(
        replace(Federation.read(study / "federation.toml"), task=WeightsTask(SCHEMA, plan)).as_toml()
    )
    key.touch(mode=0o600)
    key.write_bytes(bytes(range(32)))
    (tmp_path / "model.npz").write_bytes(learnt(study, plan, disguise=key).model.to_bytes())
    opened = reveal_weights(file, tmp_path / "model.npz", key, tmp_path / "open.npz")
    assert np.allclose(
        opened.arrays["weights"], in_process(PLAN).arrays["weights"], atol=1e-6
    )  # both begin at 0
    with pytest.raises(InvalidParameter, match="each client needs the clients' key"):
        learnt(study, plan)


def test_a_silos_policy_may_name_columns_that_are_not_learnt_from() -> None:
    said = silo_policy({"k": 3, "quasi": "age", "identifier": ["name", "town"]}, SCHEMA)
    assert said["identifier"] == ("town",)
    silo = TrainingSilo(
        "north", TABLES["north"], SCHEMA, PLAN, silo_policy({**KEPT, "insensitive": "x"}, SCHEMA)
    )
    assert silo.ready[2]["holds"]


def test_a_silo_whose_policy_fails_stays_to_say_so_and_is_left_out(study: Path) -> None:
    found = learnt(study, PLAN, {**TABLES, "east": people(25, 5)})
    assert found.nodes == NAMES
    assert list(found.left_out) == ["east"]
    assert "k-anonymity=30 cannot be reached" in found.left_out["east"]
    assert same(found.model, in_process(PLAN))


def test_a_federation_of_learning_comes_back_as_it_was(study: Path, tmp_path: Path) -> None:
    read = Federation.read(study / "federation.toml")
    assert read.as_toml() == (study / "federation.toml").read_text()
    assert isinstance(read.task, WeightsTask)
    assert read.task.schema == SCHEMA
    assert read.task.plan.as_dict() == PLAN.as_dict()
    longer = WeightsTask(SCHEMA, replace(PLAN, rounds=4))
    assert replace(read, task=longer).fingerprint() != read.fingerprint()
    with pytest.raises(InvalidParameter, match="no rules"):
        reveal_model(study / "federation.toml", tmp_path / "model.json", TABLES["north"], tmp_path / "key")
    write_schema(SCHEMA, tmp_path / "schema.toml")
    assert read_schema(tmp_path / "schema.toml").fingerprint() == SCHEMA.fingerprint()
    for bad in ("", "target = 3", "classes = 3\ntarget = 'y'\ncolumns = 4", "x = 1", "no toml"):
        (tmp_path / "bad.toml").write_text(bad)
        with pytest.raises((InvalidInput, InvalidParameter)):
            read_schema(tmp_path / "bad.toml")


@pytest.mark.parametrize("rows", [1, 2, 19])
def test_a_table_of_few_rows_is_not_learnt_from_without_noise(study: Path, tmp_path: Path, rows: int) -> None:
    """Of one row everything could be read off its update, also within a sum over three clients."""
    TABLES["north"].head(rows).write_csv(tmp_path / "few.csv")
    key = study / "clients" / "north.key"
    kept = ClientSettings(patience=0.01, despite=("narrow", "range", "label"))
    with pytest.raises(InvalidInput, match=f"rows={rows}: updates of fewer than 20 rows give rows away"):
        join_federation(study / "federation.toml", tmp_path / "few.csv", key, kept)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 1.0}, "epsilon"),
        ({"least_count": 3}, "least_count"),
        ({"policy": {"quasi": ("age",)}}, "no promise"),
        ({"policy": {"k": 3, "quasi": ("shoe",)}}, "shoe"),
        ({"policy": {"kk": 3}}, "kk"),
        ({"ledger": Path("book")}, "ledger: it pays for noise"),
        ({"disguise": Path("weights.key")}, "no dummies"),
    ],
)
def test_what_does_not_fit_a_learning_client_is_said_before_it_connects(
    study: Path, options: Any, said: str
) -> None:
    key = study / "clients" / "north.key"
    with pytest.raises(InvalidParameter, match=said):
        join_federation(study / "federation.toml", TABLES["north"], key, ClientSettings(**options))


def test_rows_to_vet_by_go_with_a_plan_that_vets_by_rows(tmp_path: Path, study: Path) -> None:
    with pytest.raises(InvalidParameter, match="vet_by"):
        run_federation(study, RunSettings(output=tmp_path / "run", vet_by=TABLES["north"], wait=0))
    plan = replace(PLAN, protections=Protections(held_out=0.1))
    init_federation(tmp_path / "study", WeightsTask(SCHEMA, plan), dict.fromkeys(NAMES))
    with pytest.raises(InvalidParameter, match="vet_by"):
        run_federation(tmp_path / "study", RunSettings(output=tmp_path / "run", wait=0))
    assert not (tmp_path / "run").exists()


def budgeted(path: Path, budget: int | None, rounds: int = 6, **more: Any) -> dict[str, Any]:
    plan = replace(PLAN, rounds=rounds, **more)
    return simulate(people(300, 3), "class", path, WeightsSimulation(plan=plan, byte_budget=budget))


@pytest.mark.parametrize("more", [{}, {"sum": "masked"}, {"model": "boosting", "rate": 0.2, "depth": 2}])
def test_a_byte_budget_stops_a_run_before_it_is_exceeded_and_keeps_the_model(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    whole = budgeted(tmp_path / "whole", None, **more)
    spent = whole["bytes"]["up"] + whole["bytes"]["down"]
    budget = spent * 3 // 5
    said = budgeted(tmp_path / "run", budget, **more)
    assert said["bytes"]["up"] + said["bytes"]["down"] <= budget
    assert said["state"] == "stopped"
    assert f"byte_budget={budget:,}" in said["why"]
    assert 0 < said["rounds"] < 6
    assert SharedModel.load(tmp_path / "run").rounds == said["rounds"]
    assert json.loads((tmp_path / "run" / "state.json").read_text())["state"] == "stopped"
    by_round = said["bytes"]["by_round"]
    assert list(by_round) == [str(number + 1) for number in range(said["rounds"])]
    assert sum(one["up"] for one in by_round.values()) == said["bytes"]["up"]
    more_bytes = budgeted(tmp_path / "run", 2 * spent, **more)  # the same folder goes on with a larger budget
    assert more_bytes["state"] == "finished"
    assert more_bytes["bytes"]["up"] > said["bytes"]["up"]
    assert same(SharedModel.load(tmp_path / "run"), SharedModel.load(tmp_path / "whole"))


def test_a_byte_budget_below_the_first_round_leaves_no_model(tmp_path: Path) -> None:
    with pytest.raises(ByteBudgetSpent, match="byte_budget=2,000"):
        budgeted(tmp_path / "run", 2_000)
    assert not (tmp_path / "run" / "model.npz").exists()
    with pytest.raises(InvalidParameter, match="byte_budget"):
        budgeted(tmp_path / "none", 0)
    assert not (tmp_path / "none").exists()


def begun(path: Path, plan: LearningPlan = PLAN, **more: Any) -> LearningRun:
    depends_on, resume = more.pop("depends_on", "this"), more.pop("resume", True)
    settings = RunSettings(resume=path if resume else None, depends_on=depends_on, **more)
    return WeightsTask(SCHEMA, plan).begin(path, settings)


def test_only_an_unfinished_run_of_the_same_federation_goes_on(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no round of it was kept"):
        begun(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    run = begun(tmp_path / "run", resume=False)
    silos = {name: TrainingSilo(name, table, SCHEMA, PLAN) for name, table in TABLES.items()}
    found = run.learn(LocalGrid(silos))
    with pytest.raises(InvalidInput, match="another plan, schema, federation"):
        begun(tmp_path / "run", depends_on="that")
    with pytest.raises(InvalidInput, match="another plan, schema, federation"):
        begun(tmp_path / "run", replace(PLAN, rate=0.2))
    run.folder.let_go()  # as the system does when its process dies
    assert begun(tmp_path / "run").progress.model is not None
    run.finish(found)
    with pytest.raises(InvalidInput, match="it is finished"):
        begun(tmp_path / "run")


def test_a_run_that_died_while_writing_goes_on_with_what_is_whole(tmp_path: Path) -> None:
    silos = {name: TrainingSilo(name, table, SCHEMA, PLAN) for name, table in TABLES.items()}
    run = begun(tmp_path / "run", replace(PLAN, rounds=2), resume=False)
    run.learn(LocalGrid(silos))
    before = run.folder.log.bytes()
    run.folder.let_go()
    for name in ("rounds.csv", "traffic.csv"):
        with (tmp_path / "run" / name).open("a") as file:
            file.write("9,tra")  # the machine went off
    again = begun(tmp_path / "run")
    assert again.folder.log.bytes() == before
    found = again.learn(LocalGrid(silos))
    assert same(found.model, learn_together(LocalGrid(silos), SCHEMA, PLAN).model)
    assert [line["round"] for line in again.progress.history] == [1, 2, 3]


@pytest.mark.parametrize(
    "plan", [replace(PLAN, sum="masked"), LearningPlan(model="boosting", rounds=3, depth=2)]
)
def test_a_run_that_is_stopped_in_the_middle_of_a_round_ends_in_the_same_model(
    tmp_path: Path, plan: LearningPlan
) -> None:
    def grid(**more: Any) -> LocalGrid:
        made = {name: TrainingSilo(name, table, SCHEMA, plan) for name, table in TABLES.items()}
        return LocalGrid({name: silo.for_grid() for name, silo in made.items()}, **more)

    asked: list[str] = []

    def stop(node: str, message: Any) -> bool:
        asked.append(message.kind)
        if node == "south" and asked.count("sum-masked") + asked.count("histogram") == 8:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        begun(tmp_path / "run", plan, resume=False).learn(grid(lost=stop))
    again = begun(tmp_path / "run", plan)
    assert again.progress.model is not None
    assert 0 < again.progress.model.rounds < 3
    assert same(again.learn(grid()).model, learn_together(grid(), SCHEMA, plan).model)


def test_a_run_that_goes_on_without_a_client_still_names_it_and_its_report(tmp_path: Path) -> None:
    silos = {name: TrainingSilo(name, table, SCHEMA, PLAN) for name, table in TABLES.items()}
    begun(tmp_path / "run", replace(PLAN, rounds=1), resume=False).learn(LocalGrid(silos))
    small = TrainingSilo("west", people(2, 5), SCHEMA, PLAN, silo_policy(KEPT, SCHEMA))  # it came back small
    again = begun(tmp_path / "run")
    found = again.learn(LocalGrid({**silos, "west": small}))
    assert found.nodes == NAMES
    assert "k-anonymity=3" in found.left_out["west"]
    again.finish(found)
    assert set(json.loads((tmp_path / "run" / "privacy.json").read_text())) == set(NAMES)


def told(clock: Clock, ahead: float) -> None:
    """Let a clock read an answer of a server whose own clock is so far behind."""
    answer = SimpleNamespace(headers={"date": formatdate(time.time() - ahead, usegmt=True)})
    clock.timed(lambda: answer)
    assert abs(clock.ahead - ahead) <= 1


def test_a_clock_that_is_wrong_is_said_and_messages_are_dated_by_the_servers(study: Path) -> None:
    clock = Clock()
    for ahead in (0, 3, -200):
        told(clock, ahead)
        clock.refuse()
    for ahead, which in ((86_400, "ahead of"), (-86_400, "behind"), (90, "ahead of"), (-4000, "behind")):
        told(clock, ahead)
        with pytest.raises(InvalidInput, match=f"seconds {which} the server's, which refuses"):
            clock.refuse()
    clock.timed(lambda: SimpleNamespace(headers={"date": "nonsense"}))
    assert abs(clock.ahead + 4000) <= 1
    grid = FlowerGrid(Federation.read(study / "federation.toml"), None, 1, 1, clock)
    grid._question(1, b"")  # loads what messages are made of, which may take a while
    assert abs(grid._question(1, b"").metadata.created_at - time.time() - 4000) < 5


@pytest.fixture
def processes(
    tmp_path_factory: pytest.TempPathFactory, missing_part: Callable[[str], None]
) -> Iterator[Processes]:
    """A server and three silos that anonymise first, each in a process of its own."""
    load_flower(missing_part)
    base = tmp_path_factory.mktemp("silos")
    plan = replace(PLAN, model="mlp", hidden=(8, 8, 4), sum="masked", rounds=12, least_clients=3)
    init_federation(
        base / "study",
        WeightsTask(SCHEMA, plan),
        dict.fromkeys((*NAMES, "east", "old")),
        FederationSettings(address=f"127.0.0.1:{free_port()}", answer_seconds=PATIENCE),
    )
    for name, table in TABLES.items():
        table.write_csv(base / f"{name}.csv")
    made = Processes(base / "study", NAMES, ("--qi", "age,town", "-k", "3"))
    try:
        made.everybody()
        yield made
    finally:
        made.end_all()


def test_three_processes_learn_together_and_a_killed_run_and_server_go_on(
    processes: Processes, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, run = processes.folder, processes.folder.parent / "run"
    processes.start("coordinator", "run", folder, "-o", run, "--clients", 3)
    processes.wait("coordinator", "round 2 of 12: 3 clients")
    processes.end("coordinator", signal.SIGKILL)
    processes.end("server", signal.SIGKILL)
    processes.served()
    processes.start_other_version("old", "0.0.1")
    federation = processes.federation
    with Answering(node_of(folder, federation, "east", people(25, 5))):  # fewer than its k
        wait = ["--wait", PATIENCE, "--clients", 5]
        code = _run(["federate", "run", *map(str, [folder, "--resume", run, *wait, "--json"])])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert err.count("going on after round") == 1
    said = json.loads(out)
    assert said["superlink"] == "finished:completed"
    assert said["state"] == "finished"
    assert said["clients"] == list(NAMES)
    assert "tells nobody why" in said["left_out"]["east"]  # its own log has the reason
    assert "0.0.1 on the other side; install the same version" in said["left_out"]["old"]
    assert "mahrem=0.0.1 runs here and" in processes.log("old").read_text()
    assert said["privacy"] == {"silos": 3, "anonymised": 3, "all_hold": True, "rows": 450}
    assert set(json.loads((run / "privacy.json").read_text())) == set(NAMES)
    assert list(said["bytes"]["by_round"]) == [str(number) for number in range(1, 13)]
    assert len((run / "learning.csv").read_text().splitlines()) == 13
    found, alone, rows = SharedModel.load(run), in_process(federation.task.plan), pl.concat(TABLES.values())
    assert not same(found, alone)  # silos go through their rows in an order that nobody knows
    assert (found.predict(rows) == alone.predict(rows)).mean() > 0.9
    with pytest.raises(InvalidInput, match="it is finished"):
        run_federation(folder, RunSettings(resume=run, wait=0))
    with pytest.raises(Infeasible, match="byte_budget"):
        run_federation(
            folder, RunSettings(output=folder.parent / "poor", clients=3, wait=PATIENCE, byte_budget=3000)
        )


NETWORK = """
import torch

def make(width, classes):
    return torch.nn.Sequential(torch.nn.Linear(width, 8), torch.nn.Tanh(), torch.nn.Linear(8, classes))
"""


def test_a_network_of_ones_own_learns_under_masks_and_noise_between_processes(
    tmp_path: Path, missing_part: Callable[[str], None]
) -> None:
    load_flower(missing_part)
    pytest.importorskip("torch")
    file = tmp_path / "network.py"
    file.write_text(NETWORK, encoding="utf-8")
    protections = Protections(unit="row", clip=1.0, epsilon=8.0, delta=1e-5, rows=200)
    plan = LearningPlan(
        model="own",
        own=OwnNetwork.read(file),
        sum="masked",
        least_clients=2,
        rounds=4,
        rate=1.0,
        batch=100,
        protections=protections,
    )
    address = FederationSettings(address=f"127.0.0.1:{free_port()}", answer_seconds=PATIENCE, network=file)
    init_federation(tmp_path / "study", WeightsTask(SCHEMA, plan), dict.fromkeys(NAMES[:2]), address)
    for seed, name in enumerate(NAMES[:2]):
        people(200, seed).write_csv(tmp_path / f"{name}.csv")
    people(300, 9).write_csv(tmp_path / "test.csv")
    made = Processes(tmp_path / "study", NAMES[:2], ("--network", str(file)))
    try:
        made.everybody()
        chosen = RunSettings(output=tmp_path / "run", test=tmp_path / "test.csv", wait=PATIENCE)
        said = run_federation(made.folder, chosen)
    finally:
        made.end_all()
    assert said["promise"] == {**said["promise"], "unit": "row", "rounds": 4}
    assert 0 < said["promise"]["epsilon"] <= 8.0001
    assert said["figures"]["accuracy"] > 0.6
    found = predict_rows(tmp_path / "run", tmp_path / "test.csv", network=file)
    assert found.accuracy == pytest.approx(said["figures"]["accuracy"], abs=1e-6)
