"""A server that tells clients different lists, leaves the right ones out, or names some that do not exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.federated.sums import ClientKeys, MaskedClient, SumTerms
from mahrem.federated.sums._mask_graph import COMPLETE, holds_together, mask_graph
from mahrem.federated.sums._masks import WORD, list_digest, partners_of
from mahrem.federated.wire import KEY, Message, framed

RUN: dict[str, Any] = {"sum": 1}


class Server:
    """Takes masked clients through a sum by hand, so that it can lie at every step."""

    def __init__(self, clients: int, least: int, length: int = 3) -> None:
        names = [f"c{number:03d}" for number in range(clients)]
        plan = SumTerms(least_clients=least)
        self.clients = {
            name: MaskedClient(name, lambda *_, at=at: np.full(length, 10**at % 997), plan=plan)
            for at, name in enumerate(names)
        }
        keys = {name: self.ask(name, "sum-keys")["key"] for name in names}
        listed = {"names": names, "keys": b"".join(keys.values()), "signed": b"", "kind": "counts"}
        for name in names:
            self.ask(name, "sum-masked", **listed)
        seed = list_digest(framed(b"run", b"1"), keys)
        self.partners = {name: partners_of(name, names, seed) for name in names}

    def ask(self, name: str, step: str, **body: Any) -> Mapping[str, Any]:
        return self.clients[name].answer(Message(step, "run", 1, {**RUN, **body})).body

    def opened(self, told: Mapping[str, frozenset[str]]) -> set[str]:
        """Tell each client a list; gives those who then show the seed of their own mask."""
        words: dict[tuple[str, str], bytes] = {}
        for giver, listed in told.items():
            try:
                given = self.ask(giver, "sum-agree", names=sorted(listed))["words"]
            except InvalidInput:
                continue
            takers = [name for name in self.partners[giver] if name in listed]
            words |= {(giver, taker): given[WORD * at : WORD * at + WORD] for at, taker in enumerate(takers)}
        shown = set()
        for taker, listed in told.items():
            givers = [name for name in self.partners[taker] if name in listed]
            given = b"".join(words.get((giver, taker), bytes(WORD)) for giver in givers)
            try:
                assert len(self.ask(taker, "sum-reveal", words=given)["own"]) == KEY
            except InvalidInput:
                continue
            shown.add(taker)
        return shown


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_masks_come_off_only_where_all_of_a_list_were_told_this_list(data: st.DataObject) -> None:
    """The six of ten that a server once opened where seven were agreed, and every other way to tell lists."""
    server = Server(10, least=7)
    lists = data.draw(
        st.lists(st.sets(st.sampled_from(sorted(server.clients)), min_size=5), min_size=1, max_size=3)
    )
    told = {name: frozenset(data.draw(st.sampled_from(lists))) for name in server.clients}
    whole = [
        frozenset(one) for one in lists if len(one) >= 7 and all(told[name] == frozenset(one) for name in one)
    ]
    assert server.opened(told) == {name for one in whole for name in one}


def test_one_of_many_who_was_told_another_list_closes_the_sum() -> None:
    server = Server(COMPLETE + 20, least=30)
    everybody = frozenset(server.clients)
    told = dict.fromkeys(server.clients, everybody)
    told["c007"] = everybody - {"c003"}
    shown = server.opened(told)
    assert not shown & set(server.partners["c007"])  # so masks shared with them stay on


def test_a_server_that_leaves_the_partners_of_one_client_out_reads_nothing_of_it() -> None:
    server = Server(COMPLETE + 20, least=30)
    alone = frozenset(server.clients) - frozenset(server.partners["c000"])
    with pytest.raises(InvalidInput, match="parts of the sum could be read"):
        server.ask("c000", "sum-agree", names=sorted(alone))
    assert server.opened(dict.fromkeys(alone, alone)) == set()


@settings(max_examples=30, deadline=None)
@given(st.integers(COMPLETE + 1, 200), st.binary(min_size=4, max_size=4), st.data())
def test_lists_that_hold_together_are_connected(clients: int, seed: bytes, data: st.DataObject) -> None:
    """Against walking from one client to the next, slowly."""
    graph = mask_graph(clients, seed)
    out = data.draw(st.sets(st.integers(0, clients - 1), max_size=clients // 3))
    there = np.array([number not in out for number in range(clients)])
    reached, edge = set(), [int(np.flatnonzero(there)[0])]
    while edge:
        at = edge.pop()
        if at not in reached:
            reached.add(at)
            edge += [other for other in graph[at].tolist() if there[other]]
    for at, partners in enumerate(graph.tolist()):
        assert all(at in graph[other] for other in partners)
    kept = all(there[graph[at]].mean() >= 0.75 for at in reached)
    assert holds_together(graph, there) == (kept and len(reached) == there.sum())


def test_names_that_nobody_signed_for_do_not_make_up_the_numbers() -> None:
    """Two honest clients and a server that plays five more, where seven were agreed."""
    signed = {name: name.encode() * 8 for name in "ab"}
    keys = {
        name: ClientKeys(
            sign=lambda _, name=name: signed[name],
            verify=lambda who, _, given: given == signed.get(who),
        )
        for name in "ab"
    }
    clients = {
        name: MaskedClient(
            name, lambda *_: np.zeros(1, np.int64), plan=SumTerms(least_clients=7), keys=keys[name]
        )
        for name in "ab"
    }
    real = {name: client.answer(Message("sum-keys", "run", 1, RUN)).body for name, client in clients.items()}
    names = sorted([*"ab", *(f"x{number}" for number in range(5))])
    listed = [
        real[name]["key"] if name in real else bytes([number] * KEY) for number, name in enumerate(names)
    ]
    body = {**RUN, "names": names, "keys": b"".join(listed), "signed": b"a" * 8 + b"b" * 8 + b"a" * 40}
    for client in clients.values():
        with pytest.raises(InvalidInput, match="stands in between"):
            client.answer(Message("sum-masked", "run", 1, {**body, "kind": "counts"}))
        with pytest.raises(InvalidInput, match="fewer than 7"):
            client.answer(
                Message("sum-masked", "run", 1, {**RUN, "names": ["a", "b"], "keys": b"", "signed": b""})
            )
