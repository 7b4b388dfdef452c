from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.runs import split_rows
from mahrem.federated.wire import Failure, LocalGrid, Message, pack_message, unpack_message

ARRAYS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6).map(lambda held: np.array(held, np.int64))
BODIES = st.dictionaries(
    st.text(max_size=5), st.text(max_size=9) | st.integers() | st.binary(max_size=600) | ARRAYS, max_size=5
)


@settings(max_examples=50, deadline=None)
@given(BODIES, st.text(max_size=6), st.integers(0, 9))
def test_a_message_comes_back_as_it_was_sent(body: dict[str, Any], run: str, number: int) -> None:
    there = Message("kind", run, number, body)
    back = unpack_message(pack_message(there))
    assert back.answers(there)
    assert back.body.keys() == body.keys()
    for name, value in body.items():
        same = np.array_equal if isinstance(value, np.ndarray) else (lambda one, other: one == other)
        assert same(back.body[name], value)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=80))
def test_any_other_bytes_are_refused(data: bytes) -> None:
    whole = pack_message(Message("kind", "run", 1, {"a": np.arange(5), "b": "text"}))
    for bad in (data, b"mhm1-" + data, b"mhm1z" + data, whole[: len(data)], whole + b"."):
        if bad != whole:
            with pytest.raises(InvalidInput):
                unpack_message(bad)


class Keeper:
    """Keeps what it was sent, and changes it."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def answer(self, message: Message) -> Message:
        self.seen.append(message.body["list"])
        message.body["list"].append(9)
        return message.reply(list=message.body["list"])


def test_clients_share_no_object_with_the_server_or_with_each_other() -> None:
    clients = {"a": Keeper(), "b": Keeper()}
    grid = LocalGrid(clients)
    sent = {"list": [1, 2]}
    message = Message("keep", "run", 1, sent)
    replies = grid.send({"a": message, "b": message})
    assert sent == {"list": [1, 2]}
    assert [reply.body["list"] for reply in replies.values()] == [[1, 2, 9], [1, 2, 9]]  # type: ignore[union-attr]
    assert clients["a"].seen[0] is not clients["b"].seen[0]
    assert grid.traffic.sent["a"] == len(pack_message(message))
    assert grid.traffic.rounds == 1


def test_a_refusal_is_a_failure_and_a_bug_is_raised() -> None:
    class Refusing:
        def answer(self, message: Message) -> Message:
            raise InvalidInput(f"kind={message.kind!r} is refused")

    class Broken:
        def answer(self, message: Message) -> Message:
            return message.reply(wrong=1 / 0)

    grid = LocalGrid({"a": Refusing(), "b": Broken()})
    assert grid.send({"a": Message("k", "r", 1)})["a"] == Failure("kind='k' is refused")
    with pytest.raises(ZeroDivisionError):
        grid.send({"b": Message("k", "r", 1)})
    with pytest.raises(InvalidParameter, match="not on the grid"):
        grid.send({"c": Message("k", "r", 1)})


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(0, 60), clients=st.integers(1, 20), skewed=st.booleans())
def test_a_split_gives_each_row_to_one_client(rows: int, clients: int, *, skewed: bool) -> None:
    value = np.arange(rows) % 3 if skewed else None
    parts = split_rows(rows, clients, seed=3, skew=value)
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    if value is not None and rows >= 3 * clients:
        assert value[parts[0]].mean() < value[parts[-1]].mean() or clients == 1
