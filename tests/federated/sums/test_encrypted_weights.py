from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.sums import (
    ClientKeys,
    CountsScheme,
    EncryptedClient,
    EncryptedSum,
    SumTerms,
    WeightsScheme,
    make_adder,
    scheme_of,
)
from mahrem.federated.sums._encrypted_weights import TOLD
from mahrem.federated.sums._fixed_point import from_fixed, to_fixed
from mahrem.federated.sums._scheme import SharedDraws, sized
from mahrem.federated.weights import LearningPlan, Protections
from mahrem.federated.wire import LocalGrid, Message
from mahrem.federated.wire._message import digest_message, pack_message, unpack_message
from silo_learning import learnt, people, silos

pytest.importorskip("tenseal")
PLAN = LearningPlan(model="logistic", rounds=2, rate=0.1, sum="homomorphic")
QUESTION = Message("train", "run", 1, {"round": 1})


@pytest.fixture(scope="module")
def keys() -> tuple[bytes, bytes]:
    return WeightsScheme.make_keys()


def clients(keys: tuple[bytes, bytes], values: dict[str, Any], **more: Any) -> LocalGrid:
    return LocalGrid(
        {
            name: EncryptedClient(
                name,
                keys[0],
                lambda *_, one=one: to_fixed(one, np.inf),
                plan=SumTerms(numbers="weights", **more),
            )
            for name, one in values.items()
        }
    )


def added(keys: tuple[bytes, bytes], grid: Any) -> Any:
    return EncryptedSum(keys[1], "weights")(grid, grid.nodes(), QUESTION, lambda _: None)


@pytest.mark.parametrize("size", [1, 4095, 4096, 9000])
def test_an_encrypted_sum_is_the_sum_to_many_digits(keys: tuple[bytes, bytes], size: int) -> None:
    rng = np.random.default_rng(size)
    values = {name: rng.normal(size=size) * 10.0 ** rng.integers(-4, 6) for name in "abcd"}
    found = added(keys, clients(keys, values))
    assert found.nodes == ("a", "b", "c", "d")
    assert (
        np.abs(from_fixed(found.total) - sum(values.values())).max() < 4 * 2.0**-17 + 1e-6
    )  # half a step each
    assert (found.total % 2**8 == 0).all()  # the digits that would tell about the key are not told


def test_the_model_is_that_of_plain_sums(keys: tuple[bytes, bytes]) -> None:
    sealed = {f"client_{at}": lambda silo: silo.for_grid(ClientKeys(secret=keys[0])) for at in (1, 2, 3)}
    for model in ("logistic", "boosting"):
        exact = {"cell_epsilon": 0} if model == "boosting" else {}
        plan = replace(PLAN, model=model, depth=2, rate=None, **exact)
        hidden = learnt(plan, more={"public": keys[1]}, **sealed)
        plain = learnt(replace(plan, sum="plain"))
        for name, held in plain.model.arrays.items():
            assert np.allclose(held, hidden.model.arrays[name], atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
    st.floats(-0.12, 0.12),
)
def test_what_is_told_of_a_sum_does_not_depend_on_the_error_of_encryption(
    numbers: list[int], seed: int, error: float
) -> None:
    """Otherwise the error, seen often enough, would give the key away."""
    scheme, drawn = WeightsScheme(), SharedDraws(bytes(32), "run", 1, b"asked")
    values = {
        "a": np.array(numbers),
        "b": np.random.default_rng(seed).integers(-(2**40), 2**40, len(numbers)),
    }
    closed = {name: scheme.closed(held, drawn, name) for name, held in values.items()}
    exact = [np.sum(parts, axis=0) for parts in zip(*closed.values(), strict=True)]
    told = scheme.opened(exact, drawn, list(values), len(numbers))
    strayed = [np.append(part[:-1] + error * TOLD, part[-1]) for part in exact]
    assert np.array_equal(scheme.opened(strayed, drawn, list(values), len(numbers)), told)
    assert (
        np.abs(from_fixed(told - sum(values.values()))).max() <= 2 * TOLD
    )  # half a step of each, and to spare
    far = [np.append(part[:-1] + 0.4 * TOLD, part[-1]) for part in exact]
    with pytest.raises(InvalidInput, match="stays closed"):
        scheme.opened(far, drawn, list(values), len(numbers))


def test_noise_and_encryption_go_together(keys: tuple[bytes, bytes]) -> None:
    plan = replace(PLAN, protections=Protections(clip=1.0, noise=0.01, noise_by="sum"))
    sealed = {f"client_{at}": lambda silo: silo.for_grid(ClientKeys(secret=keys[0])) for at in (1, 2, 3)}
    found = learnt(plan, more={"public": keys[1]}, **sealed)
    again = learnt(plan, more={"public": keys[1]}, **sealed)
    assert not np.allclose(found.model.arrays["weights"], again.model.arrays["weights"], atol=1e-5)
    assert all(report["private"]["unit"] == "client" for report in found.reports.values())


class Curious(LocalGrid):
    """A server that hands over something else than the sum to be opened."""

    def __init__(self, grid: LocalGrid, forge: Any) -> None:
        super().__init__(grid.clients)
        self.forge = forge
        self.seen: dict[str, Any] = {}

    def send(self, messages: Any) -> Any:
        if any(message.kind == "open-sum" for message in messages.values()):
            messages = {
                name: replace(message, body={**message.body, **self.forge(self.seen)})
                for name, message in messages.items()
            }
        replies = super().send(messages)
        self.seen |= {
            name: reply.body for name, reply in replies.items() if "parts" in getattr(reply, "body", {})
        }
        return replies


def test_a_client_opens_nothing_but_the_sum_of_those_named(keys: tuple[bytes, bytes]) -> None:
    values = {name: np.arange(5.0) + place for place, name in enumerate("abc")}
    forged = {
        "one part": lambda seen: {key: seen["a"][key] for key in ("parts", "sizes", "length")},
        "others named": lambda _: {"names": ["a", "b"]},
        "one named": lambda seen: {**seen["a"], "names": ["a"]},
        "other question": lambda _: {"asked": b"other"},
        "shorter": lambda _: {"length": 3},
    }
    for forge in forged.values():
        with pytest.raises(Infeasible, match="none of them opened"):
            added(keys, Curious(clients(keys, values), forge))
    assert added(keys, Curious(clients(keys, values), lambda _: {})).nodes == ("a", "b", "c")


def test_a_difference_or_a_doubled_part_is_not_opened(keys: tuple[bytes, bytes]) -> None:
    import tenseal

    context = tenseal.context_from(keys[1])
    values = {name: np.arange(5.0) + place for place, name in enumerate("ab")}

    def forge(how: Any) -> Any:
        def made(seen: dict[str, Any]) -> dict[str, Any]:
            one, other = (tenseal.ckks_vector_from(context, seen[name]["parts"]) for name in "ab")
            part = how(one, other).serialize()
            return {"parts": part, "sizes": [len(part)], "length": 5}

        return made

    for how in (lambda a, b: a - b, lambda a, b: a + a + b, lambda a, _: a + a):
        with pytest.raises(Infeasible, match="stays closed"):
            added(keys, Curious(clients(keys, values), forge(how)))
    assert added(keys, Curious(clients(keys, values), forge(lambda a, b: a + b))).nodes == ("a", "b")


@dataclass
class Asking:
    """A server that asks as it likes, with the ciphertexts of an honest sum."""

    keys: tuple[bytes, bytes]
    clients: dict[str, Any]
    scheme: Any
    question: Message = QUESTION

    def __post_init__(self) -> None:
        inner = {f"q-{name}": value for name, value in self.question.body.items()}
        body = {"kind": self.question.kind, **inner}
        self.parts = {name: self.said(name, "encrypted", body)["parts"] for name in self.clients}
        self.asked = digest_message(self.question)

    def said(self, name: str, kind: str, body: dict[str, Any]) -> Any:
        message = Message(kind, self.question.run, self.question.round, body)
        return self.clients[name].answer(unpack_message(pack_message(message))).body

    def agreed(self, names: str) -> bytes:
        body = {"names": list(names), "asked": self.asked}
        return b"".join(self.said(name, "agree-sum", body)["agreed"] for name in names)

    def opened(self, by: str, names: str, agreed: bytes, shift: Any = 0) -> Any:
        import tenseal

        context = tenseal.context_from(self.keys[1])
        added = sum(self.scheme.read(tenseal, context, self.parts[name]) for name in names) + shift
        part = added.serialize()
        body = {"parts": part, "sizes": [len(part)], "length": 5, "names": list(names)}
        return self.said(by, "open-sum", {**body, "asked": self.asked, "agreed": agreed})["numbers"]


@pytest.mark.parametrize("recount", [False, True])
@pytest.mark.parametrize("numbers", ["weights", "counts"])
def test_no_two_clients_open_sums_that_differ_by_one(
    keys: tuple[bytes, bytes], numbers: str, *, recount: bool
) -> None:
    scheme = scheme_of(numbers)
    pair = keys if numbers == "weights" else scheme.make_keys()
    values = {name: to_fixed(np.arange(5.0) + place, np.inf) // 2**10 for place, name in enumerate("abcd")}
    server = Asking(
        pair,
        {
            name: EncryptedClient(
                name,
                pair[0],
                lambda *_, one=one: one,
                plan=SumTerms(numbers=numbers, recount=recount),
            )
            for name, one in values.items()
        },
        scheme,
    )
    words = server.agreed("abc")
    for forged in (words[:64], words, b""):  # those that a and b gave for the longer list
        with pytest.raises(InvalidInput, match="over 3 others"):
            server.opened("b", "ab", forged)
    with pytest.raises(InvalidInput, match="over 3 others"):
        server.agreed("ad")
    with pytest.raises(InvalidInput, match="not all of them agreed"):
        server.opened("d", "ad", bytes(64))
    with pytest.raises(InvalidInput, match="not among them"):
        server.opened("d", "abc", words)
    total = server.opened("a", "abc", words)
    assert np.abs(total - sum(values[name] for name in "abc")).max() < 2**8
    with pytest.raises(InvalidInput, match="tried here already"):
        server.opened("a", "abc", words)
    server.question = replace(QUESTION, round=2)
    if recount:
        assert len(server.agreed("abcd")) == 4 * 32  # d first named in this round
        server.question = QUESTION  # but no round is gone back to
        with pytest.raises(InvalidInput, match="a later one"):
            server.agreed("abcd")
    else:
        with pytest.raises(InvalidInput, match="over 3 others"):
            server.agreed("abcd")


def test_a_client_answers_one_guess_at_its_checks(keys: tuple[bytes, bytes]) -> None:
    values = {name: np.arange(5.0) + place for place, name in enumerate("abcd")}
    server = Asking(keys, dict(clients(keys, values).clients), WeightsScheme())
    words = server.agreed("abcd")
    guess = [1.0, 0, 0, 0, 0, 1.5]  # right if the first factor is 1.5: each answer would halve what it can be
    for said in ("is not their sum", "tried here already", "tried here already"):
        with pytest.raises(InvalidInput, match=said):
            server.opened("a", "abcd", words, shift=guess)
    with pytest.raises(InvalidInput, match="tried here already"):  # what is the sum comes too late
        server.opened("a", "abcd", words)
    with pytest.raises(InvalidInput, match="only the first 3"):
        server.opened("d", "abcd", words)
    assert server.opened("b", "abcd", words).shape == (5,)
    server.question = replace(QUESTION, round=2)
    words = server.agreed("abcd")
    with pytest.raises(InvalidInput, match="one of the run was none"):
        server.opened("a", "abcd", words)


def test_no_round_is_answered_twice(keys: tuple[bytes, bytes]) -> None:
    """Where noise is shared, a mean of one client's answers would fit the checks and hold less of it."""
    grid = clients(keys, {name: np.ones(3) for name in "ab"})
    asked = Message("encrypted", "run", 1, {"kind": "train", "q-round": 1})
    assert grid.clients["a"].answer(asked).body["length"] == 3
    for number in (1, 0):
        with pytest.raises(InvalidInput, match="answered already"):
            grid.clients["a"].answer(replace(asked, round=number))
    assert grid.clients["a"].answer(replace(asked, round=2)).body["length"] == 3
    assert grid.clients["a"].answer(replace(asked, run="other")).body["length"] == 3


def test_a_client_lost_before_it_agreed_is_named(keys: tuple[bytes, bytes]) -> None:
    grid = clients(keys, {name: np.ones(3) for name in "abc"})
    grid.lost = lambda node, message: node == "b" and message.kind == "agree-sum"
    with pytest.raises(Infeasible, match=r"clients=2 of 3 agreed .*b: no answer in time"):
        added(keys, grid)
    grid = clients(keys, {name: np.ones(3) for name in "abc"})
    grid.lost = lambda node, message: node == "b" and message.kind == "encrypted"
    assert added(keys, grid).nodes == ("a", "c")


@pytest.mark.parametrize("length", [10**15, -1, True, 3.0, "3", None])
def test_a_length_that_cannot_be_costs_the_server_nothing(keys: tuple[bytes, bytes], length: Any) -> None:
    for scheme in (WeightsScheme(), CountsScheme()):
        assert not sized(scheme, length, [4])
    assert sized(WeightsScheme(), 3, [4])
    assert sized(CountsScheme(), 8193, [8192, 1])
    grid = clients(keys, {name: np.ones(3) for name in "abc"})

    class Boasting:
        def answer(self, message: Message) -> Message:
            said = inside.answer(message)
            return replace(said, body={**said.body, "length": length})

    inside = grid.clients["b"]
    found = added(keys, LocalGrid({**grid.clients, "b": Boasting()}))
    assert found.nodes == ("a", "c")
    assert found.failures == {"b": "an answer that cannot be read"}


def test_a_wrong_key_is_named(keys: tuple[bytes, bytes]) -> None:
    counts = CountsScheme.make_keys()
    with pytest.raises(InvalidInput, match="kind of sums"):
        EncryptedSum(counts[1], "weights")(LocalGrid({}), [], QUESTION, lambda _: None)
    with pytest.raises(InvalidInput, match="public one is needed"):
        EncryptedSum(keys[0], "weights")(LocalGrid({}), [], QUESTION, lambda _: None)
    other = WeightsScheme.make_keys()
    mixed = clients(keys, {"a": np.ones(3), "b": np.ones(3)})
    stranger = {**mixed.clients, **clients(other, {"c": np.ones(3)}).clients}
    with pytest.raises(Infeasible, match="none of them opened"):
        added(keys, LocalGrid(stranger))


def test_a_plan_of_encrypted_sums_needs_its_keys() -> None:
    silo = silos(PLAN, {"a": people()})["a"]
    with pytest.raises(InvalidParameter, match="secret key"):
        silo.for_grid()
    with pytest.raises(InvalidParameter, match="public key"):
        make_adder(PLAN)


def test_one_client_alone_and_huge_numbers_are_refused(keys: tuple[bytes, bytes]) -> None:
    with pytest.raises(Infeasible, match="fewer than 2"):
        added(keys, clients(keys, {"a": np.ones(3)}))
    with pytest.raises(Infeasible):
        added(keys, clients(keys, {"a": np.full(3, 1e11), "b": np.full(3, 1e11)}))
