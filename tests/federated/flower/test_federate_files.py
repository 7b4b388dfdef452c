from __future__ import annotations

import asyncio
import base64
import datetime as dt
import json
import os
import re
import stat
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.federated.flower import (
    Federation,
    FederationSettings,
    Guard,
    init_federation,
    make_key_files,
    renew_certificate,
    serve_federation,
)
from mahrem.federated.rules import RulesPlan, RulesSchema, RulesSilo
from mahrem.federated.runs import RulesTask
from mahrem.federated.sums import MaskedSum
from mahrem.federated.wire import LocalGrid, Message
from mahrem.federated.wire.certificates import (
    make_authority,
    make_node_key,
    make_server_certificate,
    read_certificate,
    read_private_key,
    read_public_key,
    refuse_dates,
    sign_bytes,
    signature_holds,
)

SCHEMA = RulesSchema(columns=("a", "b"), target="y", bins={"b": (1.0, 2.5)})


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "study"
    init_federation(folder, RulesTask(SCHEMA), {"north": None, "south": None, "west": None})
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nothing_of_flowers_inside_is_imported() -> None:
    sources = Path(str(files("mahrem"))).rglob("*.py")
    imported = {
        name
        for path in sources
        for name in re.findall(
            r"^\s*(?:from|import) (flwr[\w.]*)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert imported
    assert {name for name in imported if not name.startswith("flwr.proto")} == set()


def test_private_files_are_their_owners_alone(study: Path) -> None:
    assert mode(study) == mode(study / "server") == mode(study / "clients") == 0o700
    private = ["server/authority.key", "server/server.key", "server/operator.token", "clients/north.key"]
    assert {mode(study / name) for name in private} == {0o600}
    shown = (study / "federation.toml").read_text()
    assert "PRIVATE" not in shown
    assert (study / "server" / "operator.token").read_text() not in shown


def test_a_federation_file_comes_back_as_it_was(study: Path, tmp_path: Path) -> None:
    read = Federation.read(study / "federation.toml")
    assert read.as_toml() == (study / "federation.toml").read_text()
    assert read.task == RulesTask(SCHEMA)
    copy = tmp_path / "copy.toml"
    copy.write_text((study / "federation.toml").read_text() + "\n# a remark changes nothing\n")
    assert Federation.read(copy).fingerprint() == read.fingerprint()
    other = replace(read, clients={**read.clients, "north": make_node_key()[1]})
    assert other.fingerprint() != read.fingerprint()
    assert replace(read, task=RulesTask(SCHEMA, RulesPlan(sum="plain"))).fingerprint() != read.fingerprint()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda said: said.pop("clients"), "missing"),
        (lambda said: said.update(extra=1), "not known"),
        (lambda said: said["learning"].update(supprt=0.1), "not known"),
        (lambda said: said.update(version=2), "version"),
        (lambda said: said["clients"].update(north="ssh-ed25519 AAAA"), "public key"),
        (lambda said: said.update(authority="nonsense"), "certificate"),
        (lambda said: said["clients"].update(north=said["clients"]["south"]), "same key"),
        (lambda said: said["clients"].update(north=said["clients"]["south"] + " north"), "same key"),
        (lambda said: said.update(address="nowhere"), "HOST:PORT"),
    ],
)
def test_a_file_that_cannot_be_is_refused(study: Path, tmp_path: Path, change: Any, said: str) -> None:
    import tomli_w

    content = tomllib.loads((study / "federation.toml").read_text())
    change(content)
    (tmp_path / "bad.toml").write_text(tomli_w.dumps(content))
    with pytest.raises((InvalidInput, InvalidParameter), match=said):
        Federation.read(tmp_path / "bad.toml")


def test_a_federation_is_made_whole_or_not_at_all(study: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="exists"):
        init_federation(study, RulesTask(SCHEMA), {"north": None})
    with pytest.raises(InvalidParameter, match="least_clients"):
        init_federation(tmp_path / "few", RulesTask(SCHEMA), {"north": None})
    (tmp_path / "bad.pub").write_text("no key")
    with pytest.raises(InvalidInput, match="public key"):
        init_federation(tmp_path / "few", RulesTask(SCHEMA), {"north": tmp_path / "bad.pub", "south": None})
    with pytest.raises(InvalidParameter, match="ASCII"):
        init_federation(
            tmp_path / "few",
            RulesTask(SCHEMA),
            {"north": None, "south": None},
            FederationSettings(address="ütopia:9443"),
        )
    assert not (tmp_path / "few").exists()


def test_a_key_is_never_written_over_and_never_read_if_open_to_others(tmp_path: Path) -> None:
    key, public = make_key_files(tmp_path / "north")
    with pytest.raises(InvalidParameter, match="never written over"):
        make_key_files(tmp_path / "north")
    with pytest.raises(InvalidParameter, match="letters"):
        make_key_files(tmp_path / "no way")
    assert read_private_key(key).public_key() == read_public_key(public.read_text())
    if os.name == "posix":
        key.chmod(0o644)
        with pytest.raises(InvalidInput, match="others"):
            read_private_key(key)


def test_only_the_owner_of_a_key_is_known_by_its_name(study: Path, tmp_path: Path) -> None:
    federation = Federation.read(study / "federation.toml")
    south = read_private_key(study / "clients" / "south.key")
    assert federation.name_of(south) == "south"
    stranger = read_private_key(make_key_files(tmp_path / "south")[0])
    with pytest.raises(InvalidInput, match="not among"):
        federation.name_of(stranger)
    assert federation.signed_by("south", b"word", sign_bytes(south, b"word"))
    assert not federation.signed_by("north", b"word", sign_bytes(south, b"word"))
    assert not federation.signed_by("nobody", b"word", sign_bytes(south, b"word"))


@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=50), st.binary(max_size=100), st.integers(0, 95))
def test_a_signature_holds_for_its_statement_only(statement: bytes, other: bytes, place: int) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.derive_private_key(7, ec.SECP384R1())
    signed = sign_bytes(key, statement)
    assert len(signed) == 96
    assert signature_holds(key.public_key(), statement, signed)
    assert signature_holds(key.public_key(), other, signed) == (other == statement)
    broken = signed[:place] + bytes([signed[place] ^ 1]) + signed[place + 1 :]
    assert not signature_holds(key.public_key(), statement, broken)
    assert not signature_holds(key.public_key(), statement, other[:95])


def test_an_expired_certificate_is_refused_by_the_server_itself_and_can_be_renewed(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    init_federation(folder, RulesTask(SCHEMA), {"north": None, "south": None})
    federation = Federation.read(folder / "federation.toml")
    past = dt.datetime.now(dt.UTC) - dt.timedelta(days=9)
    server = folder / "server"
    _, old = make_server_certificate(
        (server / "authority.key").read_bytes(), federation.authority.encode(), ["127.0.0.1"], 2, past
    )
    (server / "server.crt").write_bytes(old)
    with pytest.raises(InvalidInput, match=r"not now.*renew"):
        serve_federation(folder)
    renew_certificate(folder, days=3)
    refuse_dates(read_certificate((server / "server.crt").read_bytes(), "new"), "new")
    pair = [(server / name).read_bytes() for name in ("server.key", "server.crt")]
    assert mode(server / "server.key") == 0o600
    assert {file.name for file in folder.iterdir()} == {
        "federation.toml",
        "server",
        "clients",
    }  # no stage is left
    assert {"authority.key", "operator.token", "server.crt", "server.key"} <= {
        file.name for file in server.iterdir()
    }
    (server / "authority.key").unlink()
    with pytest.raises(InvalidInput, match=r"authority\.key"):
        renew_certificate(folder)
    assert [(server / name).read_bytes() for name in ("server.key", "server.crt")] == pair
    with pytest.raises(InvalidInput, match="not now"):
        replace(federation, authority=make_authority(-0.001)[1].decode()).refuse_expired()


def test_a_schema_takes_its_columns_and_nothing_else() -> None:
    frame = pl.DataFrame({"id": ["1", "2"], "b": ["0.5", "3"], "a": ["x", None], "y": ["n", "j"]})
    assert SCHEMA.cells(frame).rows() == [("x", "< 1", "n"), (None, ">= 2.5", "j")]
    with pytest.raises(ColumnNotFound):
        SCHEMA.cells(frame.drop("a"))
    with pytest.raises(InvalidInput, match="no numbers") as refused:
        SCHEMA.cells(frame.with_columns(b=pl.Series(["secret", "3"])))
    assert "secret" not in str(refused.value)
    for bad in ({"columns": ()}, {"columns": ("y",)}, {"bins": {"a": (2, 1)}}, {"bins": {"c": (1,)}}):
        with pytest.raises((InvalidParameter, ColumnNotFound)):
            RulesSchema(**{"columns": ("a", "b"), "target": "y", **bad})  # type: ignore[arg-type]


def test_a_plan_that_hides_needs_two_clients() -> None:
    with pytest.raises(InvalidParameter, match="hides nothing"):
        RulesPlan(sum="masked", least_clients=1)
    assert RulesPlan(sum="plain", least_clients=1).hides is False
    with pytest.raises(InvalidParameter, match="one-shot rules are not added up"):
        RulesPlan(how="one-shot", sum="masked")
    for bad in ({"how": "magic"}, {"sum": "none"}, {"support": 2.0}, {"least_count": 0}):
        with pytest.raises(InvalidParameter):
            RulesPlan(**bad)  # type: ignore[arg-type]


def silo() -> RulesSilo:
    return RulesSilo(pl.DataFrame({"a": ["1", "2"] * 5, "b": ["3"] * 10, "y": ["n", "j"] * 5}), target="y")


def asked(kind: str, **body: Any) -> Message:
    whole = {"columns": ["a", "b"], "support": 0.2, "longest": 1, "by_rule": False, "most": None}
    return Message(kind, "run", 1, {**whole, **body})


@pytest.mark.parametrize("kind", ["counts", "cover", "rules"])
def test_a_client_under_masks_gives_nothing_away_in_the_clear(kind: str) -> None:
    client = RulesTask(SCHEMA, RulesPlan(sum="masked")).client("north", silo())
    with pytest.raises(InvalidInput, match="refused"):
        client.answer(asked(kind))
    assert client.answer(asked("frequent")).body["classes"] == ["j", "n"]


def test_a_server_that_asks_for_more_than_was_agreed_is_refused() -> None:
    exact = RulesTask(SCHEMA, RulesPlan(sum="plain")).client("north", silo())
    for bad in (
        asked("frequent", support=0.01),
        asked("frequent", support="0"),
        asked("frequent", columns=["a"]),
        asked("rules"),
        asked("nonsense"),
    ):
        with pytest.raises(InvalidInput):
            exact.answer(bad)
    once = RulesTask(SCHEMA, RulesPlan(how="one-shot", sum="plain")).client("north", silo())
    with pytest.raises(InvalidInput, match="one-shot"):
        once.answer(asked("frequent"))
    with pytest.raises(InvalidInput, match="support"):
        once.answer(asked("rules", settings={"support": 0.01}))
    with pytest.raises(InvalidParameter, match="secret"):
        RulesTask(SCHEMA, RulesPlan(sum="homomorphic")).client("north", silo())


def test_a_client_refuses_a_sum_of_fewer_than_agreed() -> None:
    plan = RulesPlan(sum="masked", least_clients=3)
    clients = {name: RulesTask(SCHEMA, plan).client(name, silo()) for name in ("a", "b")}
    grid = LocalGrid(clients)
    with pytest.raises(Exception, match="fewer than 3 is refused"):
        MaskedSum()(grid, grid.nodes(), asked("counts"), lambda _: None)


def request(path: str, *headers: tuple[bytes, bytes], kind: str = "http") -> dict[str, Any]:
    return {"type": kind, "path": path, "headers": list(headers)}


def test_the_guard_lets_nodes_do_a_nodes_work_and_nobody_else_anything() -> None:
    node = (b"flwr-public-key", base64.b64encode(b"pem"))
    stranger = (b"flwr-public-key", base64.b64encode(b"other"))
    operator = (b"x-mahrem-operator", b"word")
    guard = Guard(None, frozenset({b"pem"}), "word")
    assert guard._may(request("/v1/fleet/pull-messages", node))
    assert guard._may(request("/v1/fleet/pull-messages", node, (b"host", b"[::1]:9443")))
    assert guard._may(request("/v1/control/list-runs", operator))
    assert guard._may(request("/v1/runtime/acquire-task", operator))
    for refused in (
        request("/v1/fleet/pull-messages"),
        request("/v1/fleet/pull-messages", stranger),
        request("/v1/fleet/pull-messages", (b"flwr-public-key", b"%")),
        request("/v1/fleet/pull-messages", stranger, node),
        request("/v1/fleet/deactivate-node", node, (b"host", b"x/v1/control/unregister-node?")),
        request("/v1/fleet/register-node", node, operator),
        request("/v1/fleet/get-fab", node, operator),
        request("/v1/control/list-runs", node),
        request("/v1/control/list-runs", (b"x-mahrem-operator", b"")),
        request("/v1/control/list-runs", (b"x-mahrem-operator", b"wordy")),
        request("/v1/runtime/acquire-task", node),
        request("/docs", operator),
        request("/openapi.json", operator),
        request("/v1/control/stream-logs", operator, kind="websocket"),
    ):
        assert not guard._may(refused), json.dumps(refused, default=str)


def test_the_guard_hangs_up_on_a_node_that_sends_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahrem.federated.flower._link.MOST_BODY", 10)
    seen: list[str] = []

    async def inside(_: Any, receive: Any, __: Any) -> None:
        for _turn in range(3):
            seen.append((await receive())["type"])  # noqa: PERF401 - it must be asked for each time

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"12345", "more_body": True}

    guard = Guard(inside, frozenset({b"pem"}), "word")
    node = (b"flwr-public-key", base64.b64encode(b"pem"))
    asyncio.run(guard(request("/v1/fleet/push-messages", node), receive, None))  # type: ignore[arg-type]
    assert seen == ["http.request", "http.request", "http.disconnect"]


def test_key_and_certificate_change_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "study"
    init_federation(folder, RulesTask(SCHEMA), {"north": None, "south": None})
    server = folder / "server"
    before = {file.name: file.read_bytes() for file in server.iterdir()}
    write = Path.write_bytes

    def fails(path: Path, data: bytes) -> int:
        if path.name == "server.crt":
            raise OSError(28, "No space left on device")
        return write(path, data)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "write_bytes", fails)  # the key is written, its certificate is not
        with pytest.raises(OSError, match="No space"):
            renew_certificate(folder)
    assert {file.name: file.read_bytes() for file in server.iterdir()} == before
    renew_certificate(folder)
    after = {file.name: file.read_bytes() for file in server.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {"server.key", "server.crt"}
