"""What a coordinator and a client make of messages that are not what they should be; no process is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from federation_processes import load_flower
from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.federated.flower import Federation, FlowerGrid, FlowerNode, init_federation
from mahrem.federated.flower._connection import our_version, reply_statement
from mahrem.federated.flower._door import make_message
from mahrem.federated.rules import RulesPlan, RulesSchema, RulesSilo
from mahrem.federated.runs import ClientSettings, RulesTask
from mahrem.federated.runs._rules_task import perturb_for
from mahrem.federated.wire import Failure, Message, pack_message, unpack_message
from mahrem.federated.wire.certificates import read_private_key, sign_bytes
from mahrem.learning.rules import cba

PLAN = RulesPlan(sum="plain")
SCHEMA = RulesSchema(columns=("a",), target="y")
ANSWER = Message("counts", "run", 1, {"numbers": [1]})


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, missing_part: Callable[[str], None]) -> Path:
    load_flower(missing_part)
    folder = tmp_path_factory.mktemp("study") / "study"
    init_federation(folder, RulesTask(SCHEMA, PLAN), {"north": None, "south": None})
    return folder


def federation_of(study: Path) -> Federation:
    return Federation.read(study / "federation.toml")


def made(parts: dict[str, bytes], reply_to: str = "") -> Any:
    message = make_message(parts, run_id=1, reply_to_message_id=reply_to, message_type="query.mahrem")
    message.metadata.message_id = "m"
    return message


def reply(
    study: Path, *, signer: str = "north", to: str = "asked", says: str = "asked", **parts: bytes
) -> Any:
    """Make what a client sends: signed by one, as an answer to one message, said to answer another."""
    data, kind = parts.get("data", pack_message(ANSWER)), parts.get("kind", b"answer")
    version = parts.get("version", our_version().encode())
    statement = reply_statement(federation_of(study).fingerprint(), "north", to, kind, data)
    signed = sign_bytes(read_private_key(study / "clients" / f"{signer}.key"), statement)
    file = parts.get("federation", federation_of(study).parts().encode())
    said = {"data": data, "kind": kind, "signed": signed, "version": version, "federation": file}
    return made(said, says)


def test_only_a_clients_own_answer_to_this_very_question_counts(study: Path) -> None:
    grid = FlowerGrid(federation_of(study), None, 1, 1)
    found, size = grid._opened("north", reply(study))
    assert isinstance(found, Message)
    assert found.answers(ANSWER)
    assert size == len(pack_message(ANSWER))
    unsigned = Failure("an answer that this client did not sign")
    assert grid._opened("north", reply(study, signer="south"))[0] == unsigned  # one answers for another
    assert grid._opened("south", reply(study))[0] == unsigned
    assert grid._opened("north", reply(study, to="an older one"))[0] == unsigned  # replayed
    assert grid._opened("north", reply(study, says="an older one"))[0] == unsigned


def test_refusals_and_nonsense_are_failures_in_words(study: Path) -> None:
    grid = FlowerGrid(federation_of(study), None, 1, 1)
    assert grid._opened("north", reply(study, kind=b"refused", data=b"no"))[0] == Failure("no")
    red = reply(study, kind=b"refused", data=b"no\x1b[31m\nleft out: south")  # must not paint a terminal
    assert grid._opened("north", red)[0] == Failure("no [31m left out: south")
    nonsense = grid._opened("north", reply(study, data=b"nonsense"))[0]
    assert isinstance(nonsense, Failure)
    assert "cannot be read" in nonsense.reason
    nobodys = made({}, "asked")
    nobodys.content.Clear()
    other = grid._opened("north", nobodys)[0]
    assert isinstance(other, Failure)
    assert "another protocol" in other.reason


def test_a_server_that_is_lost_is_said(study: Path) -> None:
    import httpx

    class Gone:
        def __getattr__(self, _: str) -> Any:
            raise httpx.ConnectError("gone")

    grid = FlowerGrid(federation_of(study), Gone(), 1, 1)
    with pytest.raises(OutputFailed, match="lost during the run"):
        grid.nodes()
    with pytest.raises(OutputFailed, match="lost during the run"):
        grid.send({"north": ANSWER})


def asked(data: bytes, **parts: bytes) -> Any:
    """Make what a server sends."""
    return {"data": data, "version": our_version().encode(), **parts}


def answered(study: Path, content: Any) -> tuple[bytes, bytes]:
    federation = federation_of(study)
    rows = pl.DataFrame({"a": ["1", "2"] * 9, "y": ["n", "j"] * 9})
    answerer = RulesTask(SCHEMA, PLAN).client("north", RulesSilo(rows, target="y"))
    key = read_private_key(study / "clients" / "north.key")
    node = FlowerNode(federation, key, answerer, _name="north")
    parts = node._answered(made(content))
    statement = reply_statement(federation.fingerprint(), "north", "m", parts["kind"], parts["data"])
    assert federation.signed_by("north", statement, parts["signed"])
    return parts["kind"], parts["data"]


def test_a_client_answers_its_own_federation_only_and_no_nonsense_ends_it(study: Path) -> None:
    mark = federation_of(study).fingerprint().encode()
    body = {"columns": ["a"], "support": 0.2, "longest": 1, "by_rule": False, "most": None}
    question = pack_message(Message("frequent", "run", 1, body))
    kind, data = answered(study, asked(question, federation=mark))
    assert kind == b"answer"
    assert unpack_message(data).body["classes"] == ["j", "n"]
    kind, data = answered(study, asked(question, federation=b"another"))
    assert kind == b"refused"
    assert data.startswith(b"federation.toml of the server is another")
    for bad in (b"nonsense", pack_message(Message("frequent", "run", 1, {"columns": 7})), b""):
        kind, data = answered(study, asked(bad, federation=mark))
        assert kind == b"refused"
        assert data


def test_another_version_is_refused_by_both_sides_with_both_numbers(study: Path) -> None:
    grid = FlowerGrid(federation_of(study), None, 1, 1)
    for said, shown in ((b"0.0.1", "0.0.1"), (b"", "an older one")):
        words = f"mahrem={our_version()} runs here and {shown} on the other side; install the same version"
        told, _ = grid._opened("north", reply(study, version=said))
        assert isinstance(told, Failure)
        assert told.reason.startswith(words)
        mark = federation_of(study).fingerprint().encode()
        kind, data = answered(study, asked(pack_message(ANSWER), federation=mark, version=said))
        assert kind == b"refused"
        assert data.decode().startswith(words)


def test_noise_is_for_one_shot_rules_and_a_ledger_pays_for_noise(study: Path) -> None:
    once = RulesPlan(how="one-shot", sum="plain")
    assert perturb_for(once, ClientSettings(), "") is None
    with pytest.raises(InvalidParameter, match="one-shot"):
        perturb_for(PLAN, ClientSettings(epsilon=1.0), "")
    with pytest.raises(InvalidParameter, match="epsilon"):
        perturb_for(once, ClientSettings(ledger=study / "ledger"), "")
    noisy = perturb_for(once, ClientSettings(epsilon=0.01), "")
    assert noisy is not None
    rows = pl.DataFrame({"a": ["1", "2"] * 9})
    rules = cba(rows, ["n", "j"] * 9, PLAN.cba)
    assert any(noisy(rules).rows != rules.rows for _ in range(20))  # all 20 alike: less than 1 in 10^40
