"""Servers and clients that do not keep to the protocol: what they learn, and whether the others go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.flower import FederationSettings, init_federation
from mahrem.federated.rules import RulesPlan, RulesSchema, RulesSilo
from mahrem.federated.runs import RulesTask
from mahrem.federated.sums import (
    CountsScheme,
    EncryptedClient,
    EncryptedSum,
    MaskedClient,
    MaskedSum,
    SumTerms,
)
from mahrem.federated.wire import LocalGrid, Message, pack_message, unpack_message
from mahrem.federated.wire._message import MOST_BYTES, digest_message

QUESTION = Message("counts", "run", 7, {"which": "all"})
LENGTH = 40
VECTORS = {name: np.arange(LENGTH) + 100 * place for place, name in enumerate("abcdefg")}
OTHERS = [name for name in VECTORS if name != "b"]

Numbers = Callable[[str, Mapping[str, Any]], np.ndarray]


def fine(_: Any) -> None:
    return None


def numbers_of(name: str) -> Numbers:
    """Counts of a client; of a question about nothing they are known to be 0."""
    return lambda _, body: VECTORS[name] * (body["which"] == "all")


def total_of(names: Any) -> list[int]:
    total: list[int] = sum(VECTORS[name] for name in names).tolist()
    return total


class Lying(LocalGrid):
    """A server that changes what some clients are asked."""

    def send(self, messages: Mapping[str, Message]) -> Any:
        changed = {
            node: replace(message, body={**message.body, "q-which": "nothing"})
            if "q-which" in message.body and node != "a"
            else message
            for node, message in messages.items()
        }
        return super().send(changed)


def test_a_server_that_asks_one_client_in_earnest_and_the_others_nothing_gets_no_sum() -> None:
    clients = {name: MaskedClient(name, numbers_of(name)) for name in VECTORS}
    assert MaskedSum()(LocalGrid(clients), list(clients), QUESTION, fine).total.tolist() == total_of(VECTORS)
    clients = {name: MaskedClient(name, numbers_of(name)) for name in VECTORS}
    with pytest.raises(Infeasible, match="gave their word for the same list"):
        MaskedSum()(Lying(clients), list(clients), QUESTION, fine)


def test_no_sum_of_fewer_than_agreed_is_opened_whenever_they_are_lost() -> None:
    for least, lost in ((7, "b"), (6, "bc")):
        clients = {
            name: MaskedClient(name, numbers_of(name), plan=SumTerms(least_clients=least)) for name in VECTORS
        }
        grid = LocalGrid(
            clients, lambda node, message, lost=lost: node in lost and message.kind == "sum-masked"
        )
        with pytest.raises(Infeasible, match=f"a sum of fewer than {least} is refused"):
            MaskedSum()(grid, grid.nodes(), QUESTION, fine)


def test_sums_of_one_run_are_over_the_same_clients() -> None:
    clients = {name: MaskedClient(name, numbers_of(name)) for name in VECTORS}
    grid = LocalGrid(clients)
    MaskedSum()(grid, grid.nodes(), QUESTION, fine)
    with pytest.raises(Infeasible, match="the difference would tell a client's counts"):
        MaskedSum()(grid, OTHERS, replace(QUESTION, round=8), fine)
    other_run = MaskedSum()(grid, OTHERS, replace(QUESTION, run="other"), fine)
    assert other_run.total.tolist() == total_of(OTHERS)


def test_sums_that_are_begun_and_never_ended_are_forgotten() -> None:
    client = MaskedClient("a", numbers_of("a"))
    for number in range(40):
        client.answer(Message("sum-keys", "run", number, {"sum": number}))
    assert len(client._open) == 16
    with pytest.raises(InvalidInput, match="not begun"):
        client.answer(Message("sum-reveal", "run", 0, {"sum": 0, "names": ["a", "b"]}))


@dataclass
class Mangling:
    """A client that changes its answers to one kind of question."""

    inside: Any
    kind: str
    change: Callable[[dict[str, Any]], Any]

    def answer(self, message: Message) -> Message:
        said: Message = self.inside.answer(message)
        if message.kind != self.kind:
            return said
        body = dict(said.body)
        self.change(body)
        return replace(said, body=body)


MANGLED = [
    ("sum-keys", lambda body: body.pop("key")),
    ("sum-keys", lambda body: body.update(key=bytes(32))),  # nobody can agree on a secret with it
    ("sum-keys", lambda body: body.update(signed=b"odd")),
    ("sum-keys", lambda body: body.update(signed="odd")),
    ("sum-masked", lambda body: body.update(own=body["own"][1:])),
    ("sum-masked", lambda body: body.clear()),
    ("sum-masked", lambda body: body.update(masked=body["masked"][1:])),
    ("sum-masked", lambda body: body.update(masked=np.array([1, 2]))),
    ("sum-masked", lambda body: body.update(masked="all")),
]


@pytest.mark.parametrize(("kind", "change"), MANGLED)
def test_one_client_that_answers_nonsense_is_left_out_of_the_masked_sum(kind: str, change: Any) -> None:
    clients: dict[str, Any] = {name: MaskedClient(name, numbers_of(name)) for name in VECTORS}
    clients["b"] = Mangling(clients["b"], kind, change)
    found = MaskedSum()(LocalGrid(clients), list(clients), QUESTION, fine)
    assert list(found.nodes) == OTHERS
    assert found.failures == {"b": "an answer that cannot be read"}
    assert found.total.tolist() == total_of(OTHERS)


@pytest.mark.parametrize("kind", ["sum-agree", "sum-reveal"])
@pytest.mark.parametrize("change", [lambda body: body.clear(), lambda body: body.update(words=b"", own=b"")])
def test_a_client_that_answers_nonsense_after_it_was_named_closes_the_sum(kind: str, change: Any) -> None:
    clients: dict[str, Any] = {name: MaskedClient(name, numbers_of(name)) for name in VECTORS}
    clients["b"] = Mangling(clients["b"], kind, change)
    with pytest.raises(Infeasible, match="a sum is not opened unless all do"):
        MaskedSum()(LocalGrid(clients), list(clients), QUESTION, fine)


@pytest.fixture(scope="module")
def sum_keys(request: pytest.FixtureRequest) -> tuple[bytes, bytes]:
    try:
        import tenseal  # noqa: F401 - is it there?
    except ImportError:
        request.getfixturevalue("missing_part")("TenSEAL is not installed")
    return CountsScheme.make_keys()


def test_a_ciphertext_that_is_not_the_sum_of_the_named_clients_opens_to_noise(
    sum_keys: tuple[bytes, bytes],
) -> None:
    def made() -> dict[str, Any]:
        return {name: EncryptedClient(name, sum_keys[0], numbers_of(name)) for name in "ab"}

    clients = made()
    asked = Message("encrypted", "run", 7, {"kind": "counts", "clients": 2, "q-which": "all"})
    alone = clients["a"].answer(asked).body
    digest = digest_message(QUESTION)

    def opened(names: list[str]) -> np.ndarray:
        named = {"names": names, "asked": digest}
        agree = Message("agree-sum", "run", 7, named)
        words = b"".join(clients[name].answer(agree).body["agreed"] for name in names)
        body = {**alone, **named, "agreed": words}
        numbers: np.ndarray = clients["b"].answer(Message("open-sum", "run", 7, body)).body["numbers"]
        return numbers

    for names in (["a"], ["a", "a"]):
        with pytest.raises(InvalidInput, match="a sum of fewer than 2 is refused"):
            opened(names)
    assert np.count_nonzero(opened(["a", "b"]) == VECTORS["a"]) <= 1  # each by chance: 1 in 2^40
    told = EncryptedSum(sum_keys[1])(Lying(made()), ["a", "b"], QUESTION, fine).total
    assert np.count_nonzero(told == VECTORS["a"]) <= 1


def test_one_client_that_answers_nonsense_is_left_out_of_the_encrypted_sum(
    sum_keys: tuple[bytes, bytes],
) -> None:
    for change in (
        lambda body: body.clear(),
        lambda body: body.update(parts=b"x" * len(body["parts"])),
        lambda body: body.update(length=3),
        lambda body: body.update(sizes=[]),
    ):
        clients: dict[str, Any] = {
            name: EncryptedClient(name, sum_keys[0], numbers_of(name)) for name in "abc"
        }
        clients["b"] = Mangling(clients["b"], "encrypted", change)
        found = EncryptedSum(sum_keys[1])(LocalGrid(clients), list(clients), QUESTION, fine)
        assert list(found.nodes) == ["a", "c"]
        assert set(found.failures) == {"b"}
        assert found.total.tolist() == total_of("ac")
    lone = LocalGrid({"a": EncryptedClient("a", sum_keys[0], numbers_of("a"))})
    with pytest.raises(Infeasible, match="hides nothing"):
        EncryptedSum(sum_keys[1])(lone, ["a"], QUESTION, fine)


def test_a_key_of_sums_is_refused_where_the_other_one_belongs(
    sum_keys: tuple[bytes, bytes], tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="is none"):
        EncryptedClient("a", b"no key", numbers_of("a")).answer(QUESTION)
    with pytest.raises(InvalidInput, match="the secret one is needed"):
        EncryptedClient("a", sum_keys[1], numbers_of("a")).answer(QUESTION)
    with pytest.raises(InvalidInput, match="the public one is needed"):
        EncryptedSum(sum_keys[0])(LocalGrid({}), [], QUESTION, fine)
    (tmp_path / "sum.secret").write_bytes(sum_keys[0])
    for file, said in (("sum.secret", "the public one is needed"), ("nowhere", "cannot be read")):
        with pytest.raises(InvalidInput, match=said):
            init_federation(
                tmp_path / "study",
                RulesTask(SCHEMA, RulesPlan(sum="homomorphic")),
                {"north": None, "south": None},
                FederationSettings(sum_public=tmp_path / file),
            )
        assert not (tmp_path / "study").exists()  # no secret key was left with the server


SCHEMA = RulesSchema(columns=("a", "b"), target="y")


def agreed(plan: RulesPlan) -> Any:
    frame = pl.DataFrame({"a": ["1", "2"] * 5, "b": ["3"] * 10, "y": ["n", "j"] * 5})
    return RulesTask(SCHEMA, plan).client("north", RulesSilo(frame, target="y"))


def test_a_client_learns_with_the_agreed_settings_only() -> None:
    plan = RulesPlan(how="one-shot", sum="plain", confidence=0.6, longest=1)
    honest = asdict(plan.cba)
    client = agreed(plan)
    body = {"columns": ["a", "b"], "settings": honest}
    assert client.answer(Message("rules", "run", 1, body)).body["rules"]
    for lie in ({"confidence": 0.0}, {"longest": None}, {"support": 0.01}, {"support": float("nan")}):
        with pytest.raises(InvalidInput, match="settings"):
            client.answer(Message("rules", "run", 1, {**body, "settings": {**honest, **lie}}))


def test_a_client_tells_of_single_cells_and_counts_by_no_more_than_agreed() -> None:
    client = agreed(RulesPlan(sum="plain", longest=1))
    frequent = {"columns": ["a", "b"], "support": 0.2, "longest": 1, "by_rule": False, "most": None}
    assert client.answer(Message("frequent", "run", 1, frequent)).body["classes"] == ["j", "n"]
    for lie in ({"longest": 2}, {"longest": None}, {"support": float("nan")}):
        with pytest.raises(InvalidInput):
            client.answer(Message("frequent", "run", 1, {**frequent, **lie}))
    counts = {"columns": ["a", "b"], "places": [0, 1], "cells": ["1", "3"], "classes": ["j", "n"]}
    one, two = np.array([[0], [1]]), np.array([[0, 1]])
    assert client.answer(Message("counts", "run", 1, {**counts, "sets": one})).body["numbers"].size == 6
    with pytest.raises(InvalidInput, match="longest=1"):
        client.answer(Message("counts", "run", 1, {**counts, "sets": two}))
    cover = {**counts, "left": two, "right": np.array([0]), "sure": np.array([0])}
    with pytest.raises(InvalidInput, match="longest=1"):
        client.answer(Message("cover", "run", 1, cover))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))
def test_a_class_of_too_few_people_is_not_named(few: int, least: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = 20 + few
    target = ["common"] * 12 + ["usual"] * 8 + ["rare"] * few
    frame = pl.DataFrame(
        {"a": rng.integers(0, 3, rows).astype(str), "b": ["x"] * 20 + ["z"] * few, "y": target}
    )
    silo = RulesSilo(frame, target="y", least_count=least)
    asked = {"columns": ["a", "b"], "support": 0.01, "longest": 1, "by_rule": False, "most": None}
    classes = silo.answer(Message("frequent", "run", 1, asked)).body["classes"]
    assert ("rare" in classes) == (few >= least)
    assert {"common", "usual"} <= set(classes)
    body = {"columns": ["a", "b"], "settings": asdict(RulesPlan(support=0.01).cba)}
    rules = silo.answer(Message("rules", "run", 1, body)).body["rules"]
    assert (b"rare" in rules) == (few >= least)


def test_a_message_that_unfolds_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES <= 1 << 28
    long = Message("counts", "run", 1, {"text": "a" * (1 << 20)})
    bomb = pack_message(long)
    assert len(bomb) < 1 << 13
    monkeypatch.setattr("mahrem.federated.wire._message.MOST_BYTES", 1 << 20)
    with pytest.raises(InvalidInput, match="ask for less at once"):
        pack_message(long)
    with pytest.raises(InvalidInput, match="cannot be read"):
        unpack_message(bomb)


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=4),
        st.one_of(
            st.floats(allow_nan=False), st.lists(st.text(max_size=3)), st.binary(max_size=9), st.booleans()
        ),
        max_size=4,
    ),
    st.lists(st.integers(-(2**40), 2**40), max_size=6),
)
def test_both_sides_give_a_message_the_same_digest(body: dict[str, Any], numbers: list[int]) -> None:
    there = Message("counts", "run", 1, {**body, "numbers": np.array(numbers, np.int64)})
    back = unpack_message(pack_message(there))
    assert digest_message(back) == digest_message(there)
    assert digest_message(replace(back, round=2)) != digest_message(there)
