"""Real processes on loopback: a server and three clients, with certificates and keys.

Starting them takes seconds, so one test walks through everything that needs them. Each step is a function
with assertions of its own; one that fails is told by its name, the others still run, and the test fails.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl
import pytest

from federation_processes import PATIENCE, Answering, Processes, agreeing, free_port, load_flower
from mahrem.errors import Infeasible, InvalidInput, OutputFailed
from mahrem.federated.flower import (
    Federation,
    FederationSettings,
    FlowerNode,
    federation_status,
    init_federation,
    join_federation,
    make_key_files,
    run_federation,
)
from mahrem.federated.flower._door import MEDIA, node_headers
from mahrem.federated.flower._link import NODE_PATHS
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.rules import RulesPlan, RulesSchema
from mahrem.federated.runs import ClientSettings, RulesTask, RunSettings
from mahrem.federated.wire import Message
from mahrem.federated.wire.certificates import make_authority, make_server_certificate, read_private_key
from mahrem.learning.rules import RuleList, cba

PLAN = RulesPlan(sum="masked", support=0.1, confidence=0.4, longest=2, least_clients=2)
SCHEMA = RulesSchema(columns=("sky", "wind"), target="class")
NAMES = ("north", "south", "west")


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sky, wind = rng.integers(0, 3, rows), rng.integers(0, 4, rows)
    wet = (sky + wind + (rng.random(rows) < 0.15)) % 2
    return pl.DataFrame({"sky": sky, "wind": wind, "class": wet}).cast(pl.String)


TABLES = {name: people(90, seed) for seed, name in enumerate(NAMES)}


def central(*tables: pl.DataFrame) -> RuleList:
    whole = pl.concat(tables)
    return cba(whole.drop("class"), whole["class"], PLAN.cba)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory, missing_part: Callable[[str], None]) -> Processes:
    """A federation and its tables; nothing runs."""
    load_flower(missing_part)
    base = tmp_path_factory.mktemp("federation")
    init_federation(
        base / "study",
        RulesTask(SCHEMA, PLAN),
        dict.fromkeys((*NAMES, "east")),
        FederationSettings(address=f"127.0.0.1:{free_port()}", answer_seconds=PATIENCE),
    )
    for name, table in TABLES.items():
        table.write_csv(base / f"{name}.csv")
    return Processes(base / "study", NAMES)


@pytest.fixture
def processes(idle: Processes) -> Iterator[Processes]:
    try:
        idle.everybody()
        yield idle
    finally:
        idle.end_all()


def learnt(processes: Processes, name: str, **options: Any) -> tuple[dict[str, Any], RuleList]:
    output = processes.folder.parent / name
    said = run_federation(processes.folder, RunSettings(output=output, wait=PATIENCE, **options))
    return said, RuleList.from_json((output / "model.json").read_text())


def three_processes_learn_what_all_their_rows_together_teach(processes: Processes, _: Path) -> None:
    processes.everybody()
    output = processes.folder.parent / "first"
    command = ["federate", "run", processes.folder, "-o", output, "--clients", 3, "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "mahrem", *map(str, command)],
        capture_output=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert RuleList.from_json((output / "model.json").read_text()) == central(*TABLES.values())
    assert said["exact"] is True
    assert said["clients"] == sorted(NAMES)
    assert said["left_out"] == {"east": "not online"}
    assert said["superlink"] == "finished:completed"
    assert json.loads((processes.folder.parent / "first" / "state.json").read_text())["state"] == "finished"
    rounds = (processes.folder.parent / "first" / "rounds.csv").read_text().splitlines()
    assert len(rounds) == 1 + said["exchanges"]


def signed_headers(key: Path) -> dict[str, str]:
    """Make what Flower's own client sends to prove who it is."""
    return dict(node_headers(read_private_key(key))())


def without_the_operators_token_nobody_controls_anything(processes: Processes, _: Path) -> None:
    processes.served()
    federation = processes.federation
    trusted = ssl.create_default_context(cadata=federation.authority)
    token = (processes.folder / "server" / "operator.token").read_text()
    protobuf = {"content-type": MEDIA}
    with httpx.Client(base_url=f"https://{federation.address}", verify=trusted, headers=protobuf) as client:
        operator = {"x-mahrem-operator": token}
        assert client.post("/v1/control/list-runs", headers=operator).status_code == 200
        assert client.post("/v1/control/list-nodes", headers=operator).status_code == 200
        north, south = (signed_headers(processes.key(name)) for name in ("north", "south"))
        for path in NODE_PATHS:  # a public key is public: who shows one must own it
            for who in (
                {"flwr-public-key": north["flwr-public-key"]},
                {**north, "flwr-signature": south["flwr-signature"]},
                {**north, "flwr-timestamp": south["flwr-timestamp"]},
            ):
                assert client.post(path, headers=who).status_code == 401, path
        for who in ({}, signed_headers(processes.key("north")), {"x-mahrem-operator": token[:-1] + "x"}):
            for path in (
                "/v1/control/start-run",
                "/v1/control/list-runs",
                "/v1/control/list-nodes",
                "/v1/control/register-node",
                "/v1/control/stop-run",
                "/v1/runtime/acquire-task",
                "/v1/runtime/pull-messages",
                "/v1/fleet/register-node",
                "/v1/fleet/get-fab",
                "/docs",
                "/openapi.json",
                "/v1/fleet/../control/list-runs",
                "//v1/control/list-runs",
            ):
                assert client.post(path, headers=who).status_code in {403, 404}, path
                assert client.get(path, headers=who).status_code in {403, 404}, path
    trusted.maximum_version = ssl.TLSVersion.TLSv1_2
    trusted.set_ciphers("ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0")  # without authenticated encryption
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"https://{federation.address}/", timeout=5, verify=trusted)
    with pytest.raises(httpx.ConnectError):  # the authority is ours; the world does not vouch for it
        httpx.get(f"https://{federation.address}/", timeout=5)
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"http://{federation.address}/", timeout=5)


def a_key_that_is_not_registered_is_refused(processes: Processes, tmp_path: Path) -> None:
    processes.served()
    key, public = make_key_files(tmp_path / "west")
    table = processes.table("west")
    with pytest.raises(InvalidInput, match="not among"):
        join_federation(processes.folder / "federation.toml", table, key)
    federation = processes.federation
    forged = replace(federation, clients={**federation.clients, "west": public.read_text().strip()})
    (tmp_path / "forged.toml").write_text(forged.as_toml())
    with pytest.raises(InvalidInput, match="the server refuses this key"):
        join_federation(tmp_path / "forged.toml", table, key, agreeing(processes.folder, patience=PATIENCE))


def a_server_of_another_authority_is_refused(processes: Processes, tmp_path: Path) -> None:
    processes.served()
    other = replace(processes.federation, authority=make_authority(2)[1].decode())
    (tmp_path / "federation.toml").write_text(other.as_toml())
    settings = agreeing(processes.folder, patience=PATIENCE, audit=tmp_path / "audit.jsonl")
    with pytest.raises(InvalidInput, match="certificate is refused"):
        join_federation(tmp_path / "federation.toml", TABLES["north"], processes.key("east"), settings)
    assert "certificate is refused" in (tmp_path / "audit.jsonl").read_text()


def a_client_whose_clock_is_off_by_a_day_is_told_so(processes: Processes, tmp_path: Path) -> None:
    processes.served()
    later = 86_400.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mahrem.federated.flower._node.clock_here", lambda: time.time() + later)
        patch.setattr("mahrem.federated.flower._connection.time", lambda: time.time() + later)
        with pytest.raises(InvalidInput, match=r"clock: the clock here is 86,[34]\d\d seconds ahead"):
            join_federation(
                processes.folder / "federation.toml",
                TABLES["north"],
                processes.key("east"),
                agreeing(processes.folder, patience=PATIENCE, audit=tmp_path / "audit.jsonl"),
            )
    assert "the clock here is" in (tmp_path / "audit.jsonl").read_text()


def test_a_client_of_another_schema_says_so_and_does_not_begin(idle: Processes, tmp_path: Path) -> None:
    TABLES["north"].rename({"sky": "heaven"}).write_csv(tmp_path / "other.csv")
    with pytest.raises(KeyError, match="sky"):
        join_federation(idle.folder / "federation.toml", tmp_path / "other.csv", idle.key("north"))


@dataclass
class _Leaving:
    """Answers until it is asked for its masked numbers, and is gone."""

    inside: Any

    def answer(self, message: Message) -> Message:
        if message.kind == "sum-masked":
            raise SystemExit
        answer: Message = self.inside.answer(message)
        return answer


def a_client_that_drops_after_its_masks_are_shared_is_survived(processes: Processes, _: Path) -> None:
    processes.everybody()
    federation = processes.federation
    key = read_private_key(processes.key("east"))
    honest = federation.task.join(FederationMember(federation, key, people(90, 9)).owner(), ClientSettings())[
        0
    ]
    with Answering(FlowerNode(federation, key, _Leaving(honest))):
        said, model = learnt(processes, "dropped", clients=4)
    assert said["clients"] == sorted(NAMES)
    assert said["left_out"]["east"] in {"lost before it answered", "no answer in time"}
    assert model == central(*TABLES.values())
    assert said["exact"] is True


def a_silo_that_spells_otherwise_or_has_another_file_does_not_join_silently(
    processes: Processes, tmp_path: Path
) -> None:
    processes.everybody()
    strange = people(90, 9).with_columns(sky=pl.lit("3"))
    told: list[str] = []
    agreed = replace(processes.federation.task.schema, values={"sky": ("0", "1", "2")})
    other = replace(processes.federation, task=RulesTask(agreed, PLAN))
    (tmp_path / "federation.toml").write_text(other.as_toml())
    with pytest.raises(InvalidInput, match="sky: cells that were not agreed on"):
        join_federation(tmp_path / "federation.toml", strange, processes.key("east"), tell=told.append)
    assert not any("connected" in line for line in told)
    settings = ClientSettings(despite=("undeclared:sky",))
    member = FederationMember(other, read_private_key(processes.key("east")), strange)
    answerer = other.task.join(member.owner(), settings)[0]
    with Answering(FlowerNode(other, member.key, answerer)):
        said, _ = learnt(processes, "differs", clients=4)
    assert said["left_out"]["east"].startswith("its federation.toml differs from the server's in table;")
    assert said["checks"] == {name: {"passed": True} for name in NAMES}


def a_run_that_loses_a_client_waits_for_it_and_goes_on(processes: Processes, tmp_path: Path) -> None:
    processes.everybody()
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        if sum(each.startswith("round 1:") for each in told) == 1 and line.startswith("round 1:"):
            processes.end("west", signal.SIGTERM)
        if "to come back" in line:
            processes.everybody()

    said = run_federation(
        processes.folder, RunSettings(output=tmp_path / "run", clients=3, wait=PATIENCE), tell=tell
    )
    assert any("waiting for north, south and west to come back" in line for line in told), told
    assert said["clients"] == sorted(NAMES)
    assert RuleList.from_json((tmp_path / "run" / "model.json").read_text()) == central(*TABLES.values())
    assert federation_status(processes.folder).missing == ("east",)


def a_killed_client_does_not_stop_the_others_once_they_agree(processes: Processes, _: Path) -> None:
    """Runs before were over three: the difference would tell what is true of the killed one."""
    processes.everybody()
    processes.end("west", signal.SIGKILL)
    with pytest.raises(Infeasible, match="has to agree to these members"):
        learnt(processes, "without", clients=2)
    for name in ("north", "south"):
        assert "rows of west alone" in processes.log(name).read_text()
        processes.end(name, signal.SIGINT)  # leaves
        agreed = ("--members", "north,south", "--key", processes.key(name))
        processes.start(name, "join", processes.folder / "federation.toml", processes.table(name), *agreed)
        processes.wait(name, "connected")
    said, model = learnt(processes, "without", clients=2)
    assert model == central(TABLES["north"], TABLES["south"])
    assert said["clients"] == ["north", "south"]
    assert said["left_out"]["west"] in {"no answer in time", "not online", "lost before it answered"}
    assert said["exact"] is True
    assert said["superlink"] == "finished:completed"


def after_a_lost_server_the_run_says_so_and_everybody_comes_back(processes: Processes, _: Path) -> None:
    processes.served()
    there = [name for name in NAMES if name in processes.running]
    processes.end("server", signal.SIGKILL)
    with pytest.raises(OutputFailed, match="cannot be reached"):
        run_federation(processes.folder, RunSettings(output=processes.folder.parent / "lost", wait=0.5))
    state = json.loads((processes.folder.parent / "lost" / "state.json").read_text())
    assert state["state"] == "failed"
    processes.served()
    said, model = learnt(processes, "lost", clients=len(there))  # the same folder: its run did not finish
    assert model == central(*(TABLES[name] for name in there))
    assert said["clients"] == sorted(there)


def too_few_clients_are_said_with_their_number(processes: Processes, _: Path) -> None:
    processes.served()
    output = processes.folder.parent / "few"
    for name in NAMES[1:]:
        processes.end(name)  # says good-bye
    with pytest.raises(Infeasible, match="at least 2 must be online") as refused:
        run_federation(processes.folder, RunSettings(output=output, wait=1))
    assert refused.value.reached in {0, 1}
    assert json.loads((output / "state.json").read_text())["state"] == "failed"


def test_a_key_that_is_used_on_another_machine_says_so_and_ends(idle: Processes) -> None:
    """Each machine has a memory of its own, so only the server sees that there are two."""
    told: dict[str, list[str]] = {"first": [], "second": []}
    key = read_private_key(idle.key("east"))

    def node(which: str) -> FlowerNode:
        owner = FederationMember(idle.federation, key, people(90, 9)).owner()
        answerer, _ = idle.federation.task.join(owner, ClientSettings())
        return FlowerNode(idle.federation, key, answerer, 2.0, told[which].append)

    try:
        idle.served()
        with Answering(node("first")):
            end = time.monotonic() + PATIENCE
            while not told["first"] and time.monotonic() < end:
                time.sleep(0.05)
            with pytest.raises(InvalidInput, match="another process takes part with this key, on another"):
                node("second").run()
        assert [line for line in told["second"] if "is there already" in line] == told["second"]
        assert len(told["second"]) == 1
        second = node("second")
        with Answering(second):  # the other one left
            while len(told["second"]) == 1 and time.monotonic() < end:
                time.sleep(0.05)
        assert "connected" in told["second"][1]
    finally:
        idle.end_all()


@pytest.fixture
def server_of_another_day(
    idle: Processes, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Federation]:
    """A server by the right authority whose certificate begins so many days from now, and holds for two."""
    federation = idle.federation
    authority = (idle.folder / "server" / "authority.key").read_bytes()
    first = dt.datetime.now(dt.UTC) + dt.timedelta(days=request.param)
    key, certificate = make_server_certificate(
        authority, federation.authority.encode(), ["127.0.0.1"], 2, first
    )
    (tmp_path / "key").write_bytes(key)
    (tmp_path / "crt").write_bytes(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with suppress(OSError), context.wrap_socket(connection, server_side=True):
                    pass
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield replace(federation, address=f"127.0.0.1:{listening.getsockname()[1]}")
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("server_of_another_day", "why"),
    [(-9, "certificate has expired"), (9, "certificate is not yet valid")],
    indirect=["server_of_another_day"],
)
def test_a_certificate_of_another_day_is_refused_with_the_time_here(
    idle: Processes, server_of_another_day: Federation, why: str, tmp_path: Path
) -> None:
    here = rf"{why} \(it is {dt.datetime.now(dt.UTC):%Y}-.* UTC by the clock here; is it right\?\)"
    (tmp_path / "federation.toml").write_text(server_of_another_day.as_toml())
    with pytest.raises(InvalidInput, match=f"certificate is refused: {here}"):
        join_federation(
            tmp_path / "federation.toml",
            TABLES["north"],
            idle.key("north"),
            agreeing(idle.folder, patience=5, audit=tmp_path / "audit.jsonl"),
        )
    assert why in (tmp_path / "audit.jsonl").read_text()
    folder = tmp_path / "copy"
    (folder / "server").mkdir(parents=True)
    (folder / "federation.toml").write_text(server_of_another_day.as_toml())
    (folder / "server" / "operator.token").write_text("0" * 64)
    with pytest.raises(InvalidInput, match=here):
        run_federation(folder, RunSettings(output=tmp_path / "run", wait=5))
    assert why in (tmp_path / "run" / "state.json").read_text()


def a_token_of_another_server_is_refused(processes: Processes, tmp_path: Path) -> None:
    processes.served()
    (tmp_path / "study" / "server").mkdir(parents=True)
    (tmp_path / "study" / "federation.toml").write_text(processes.federation.as_toml())
    (tmp_path / "study" / "server" / "operator.token").write_text("0" * 64)
    with pytest.raises(InvalidInput, match=r"operator\.token is refused"):
        run_federation(tmp_path / "study", RunSettings(output=tmp_path / "run", wait=5))


def flower_tells_nobody_anything_and_keeps_nothing(processes: Processes, _: Path) -> None:
    assert os.environ["FLWR_TELEMETRY_ENABLED"] == "0"
    assert os.environ["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    home = processes.folder / "server" / "flower"
    assert home.stat().st_mode & 0o777 == 0o700
    files = {path.name for path in home.rglob("*") if path.is_file()}
    assert files <= {"source"}  # a number that Flower draws and, with telemetry off, sends to nobody


STEPS = (
    three_processes_learn_what_all_their_rows_together_teach,
    without_the_operators_token_nobody_controls_anything,
    a_key_that_is_not_registered_is_refused,
    a_token_of_another_server_is_refused,
    a_server_of_another_authority_is_refused,
    a_client_whose_clock_is_off_by_a_day_is_told_so,
    a_client_that_drops_after_its_masks_are_shared_is_survived,
    a_silo_that_spells_otherwise_or_has_another_file_does_not_join_silently,
    a_run_that_loses_a_client_waits_for_it_and_goes_on,
    a_killed_client_does_not_stop_the_others_once_they_agree,
    after_a_lost_server_the_run_says_so_and_everybody_comes_back,
    too_few_clients_are_said_with_their_number,
    flower_tells_nobody_anything_and_keeps_nothing,
)


def test_a_federation_of_real_processes(
    processes: Processes, subtests: pytest.Subtests, tmp_path: Path
) -> None:
    held = []
    for step in STEPS:
        with subtests.test(step.__name__.replace("_", " ")):
            (tmp_path / step.__name__).mkdir()
            step(processes, tmp_path / step.__name__)
            held.append(step)
    assert held == list(STEPS)
