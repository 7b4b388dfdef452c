"""Split, U-shaped, gossip and transfer learning over a real wire, beside the same network in one place."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Ledger
from mahrem.errors import BudgetExceeded, Infeasible, InvalidInput, InvalidParameter
from mahrem.experiments._federated_shapes import guess_labels
from mahrem.federated.networks import Network
from mahrem.federated.networks._network import client_seed, even_batches
from mahrem.federated.networks._stack import LayerStack, cross_entropy_slope
from mahrem.federated.runs import ShapeRun, ShapeSimulation, compare_shape, simulate, split_table
from mahrem.federated.shapes import (
    GossipPeer,
    GossipPlan,
    LabelNoise,
    Neighbours,
    SplitClient,
    SplitPlan,
    TransferClient,
    TransferPlan,
    UShapedClient,
    join_split,
    learn_by_gossip,
    learn_split,
    learn_transfer,
    learn_u_shaped,
    mix_values,
)
from mahrem.federated.shapes._split import server_layers
from mahrem.federated.weights import SharedModel, propose_schema
from mahrem.federated.wire import LocalGrid, Message, Seal
from wires import Lying, Recorder

KEY = bytes(range(32))
SMALL = Network(hidden=(12, 8), rate=0.2, batch=16)
BENT = Network(hidden=(12, 8, 6), rate=0.2, batch=16)


def people(rows: int = 600, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 90, rows), rng.integers(0, 60, rows)
    town = rng.choice(["ash", "elm", "oak"], rows)
    rich = age / 2 + hours + 12 * (town == "oak") + rng.normal(0, 4, rows) > 60
    return pl.DataFrame({"age": age, "hours": hours, "town": town, "class": np.where(rich, "yes", "no")})


SCHEMA = propose_schema(people(), "class")


def split_clients(plan: SplitPlan, clients: int = 3) -> dict[str, Any]:
    kind = UShapedClient if plan.tail else SplitClient
    parts = split_table(people(), "class", clients=clients)
    return {name: kind(name, part, SCHEMA, plan, KEY) for name, part in parts.items()}


@pytest.mark.parametrize(
    "plan", [SplitPlan(network=SMALL, rounds=2), SplitPlan(network=BENT, tail=1, rounds=2)]
)
def test_every_step_of_a_split_network_is_that_of_the_whole_one_bit_for_bit(plan: SplitPlan) -> None:
    clients = split_clients(plan)
    learn = learn_u_shaped if plan.tail else learn_split
    found = learn(LocalGrid(clients), plan, SCHEMA.classes)
    joined = join_split(clients[found.last].turns, found.top).arrays["weights"]
    assert np.array_equal(joined, in_one_place(plan))


def in_one_place(plan: SplitPlan) -> Any:
    """Train the whole network on the same batches, in the order of the turns."""
    clients = split_clients(plan)
    bottom, *tail = (stack.flat for stack in clients["client-1"].turns.stacks)
    middle = server_layers(plan, 2).flat
    whole = LayerStack(np.concatenate([bottom, middle, *tail]), plan.network.shapes(SCHEMA.encoder.width, 2))
    right = np.eye(2, dtype=np.float32)
    for number in range(1, plan.rounds + 1):
        for name, part in split_table(people(), "class", clients=3).items():
            rows, labels = SCHEMA.rows(part)
            order = np.random.default_rng(client_seed(plan.seed, number, name)).permutation(len(rows))
            for batch in even_batches(order, plan.network.batch):
                whole.back(
                    cross_entropy_slope(whole.forward(rows[batch]), right[labels[batch]]), further=False
                )
                whole.step(plan.network.rate)
    return whole.flat


def affine(ones: Any, others: Any) -> float:
    """Give how close any two columns are to being the same but for scale and shift; 1 is the same.

    Columns in which fewer than eight rows stand out are left out: two of them may be alike by chance.
    """
    held = [np.asarray(one, np.float64).reshape(len(one), -1) for one in (ones, others)]
    held = [one[:, (one != np.median(one, axis=0)).sum(axis=0) >= 8] for one in held]
    held = [one - one.mean(axis=0) for one in held]
    held = [one / np.maximum(np.sqrt((one**2).sum(axis=0)), 1e-9) for one in held]
    return float(np.abs(held[0].T @ held[1]).max(initial=0.0))


def recorded(plan: SplitPlan) -> tuple[Recorder, list[tuple[Any, Any]]]:
    """Learn with a recorder on the wire; gives it and the rows and labels of every batch, in order."""
    wire = Recorder(LocalGrid(split_clients(plan, clients=1)))
    (learn_u_shaped if plan.tail else learn_split)(wire, plan, SCHEMA.classes)
    rows, labels = SCHEMA.rows(split_table(people(), "class", clients=1)["client-1"])
    batches = []
    for number in range(1, plan.rounds + 1):
        order = np.random.default_rng(client_seed(plan.seed, number, "client-1")).permutation(len(rows))
        batches += [(rows[batch], labels[batch]) for batch in even_batches(order, plan.network.batch)]
    return wire, batches


def test_a_recorder_on_the_wire_of_a_u_finds_neither_labels_nor_rows() -> None:
    plan = SplitPlan(network=replace(BENT, batch=50), tail=1, rounds=2)
    wire, batches = recorded(plan)
    assert {name for one in wire.seen for name in one.body} == {"agreed", "sealed", "slope", "turn", "values"}
    assert all(held.dtype == np.float32 for held in wire.arrays())  # labels would be whole numbers
    words = wire.bytes()
    closest = {"labels": 0.0, "rows": 0.0}
    for rows, labels in batches:
        assert labels.astype(np.uint8).tobytes() not in words
        assert rows.tobytes() not in words
        for held in (one for one in wire.arrays() if len(one) == len(labels)):
            closest["labels"] = max(closest["labels"], affine(held, labels))
            closest["rows"] = max(closest["rows"], affine(held, rows))
    assert 0 < closest["labels"] < 0.9999
    assert 0 < closest["rows"] < 0.9999


def test_slopes_of_a_u_give_labels_away_and_randomised_labels_do_not() -> None:
    plan = SplitPlan(network=BENT, tail=1, rounds=3)
    for noise, wanted in ((None, 1.0), (LabelNoise(epsilon=0.5), None)):
        client = UShapedClient("a", people(2000), SCHEMA, plan, KEY, noise=noise)
        wire = Recorder(LocalGrid({"a": client}))
        learn_u_shaped(wire, plan, SCHEMA.classes)
        slopes = [one.body["slope"] for one in wire.seen if one.kind == "tail" and "slope" in one.body]
        order = np.random.default_rng(client_seed(0, 3, "a")).permutation(2000)
        batches = even_batches(order, plan.network.batch)
        labels = client.turns.labels[np.concatenate(batches)]
        guessed = guess_labels(np.vstack(slopes[-len(batches) :]), labels)
        # the truth is kept with chance 0.622; six deviations of 2,000 coins are 0.065: false alarm < 1e-8
        assert guessed == wanted if wanted else guessed < 0.69


def test_the_same_recorder_finds_the_labels_of_plain_split_learning() -> None:
    plan = SplitPlan(network=SMALL, rounds=1)
    wire, batches = recorded(plan)
    sent = [one.body["labels"] for one in wire.seen if "labels" in one.body]
    assert all(np.array_equal(held, labels) for held, (_, labels) in zip(sent, batches, strict=True))
    assert max(affine(one, labels) for one, (_, labels) in zip(sent, batches, strict=True)) > 0.9999


def test_the_clients_layers_pass_the_server_sealed() -> None:
    plan = SplitPlan(network=BENT, tail=1, rounds=1)
    clients = split_clients(plan)
    wire = Recorder(LocalGrid(clients))
    learn_u_shaped(wire, plan, SCHEMA.classes)
    words = wire.bytes()
    for client in clients.values():
        for stack in client.turns.stacks:
            for kind in (np.float32, np.float64):
                assert stack.flat.astype(kind).tobytes()[:64] not in words
    agreed, sealed = plan.fingerprint(SCHEMA.classes), wire.seen[-1].body["sealed"]
    handed = Message("turn", wire.seen[-1].run, 1, {"agreed": agreed, "turn": 2, "sealed": sealed})
    friend, stranger = (UShapedClient("client-4", people(), SCHEMA, plan, key) for key in (KEY, bytes(32)))
    friend.answer(handed)
    for mine, theirs in zip(friend.turns.stacks, clients["client-3"].turns.stacks, strict=True):
        assert np.array_equal(mine.flat, theirs.flat)
    with pytest.raises(InvalidInput, match="tampered"):
        stranger.answer(handed)


@pytest.mark.parametrize("tail", [0, 1])
def test_a_client_that_is_lost_misses_its_turn_and_the_others_go_on(tail: int) -> None:
    plan = SplitPlan(network=BENT, tail=tail, rounds=3)
    asked = {"client-2": 0}

    def lost(node: str, message: Message) -> bool:
        if node == "client-2" and message.kind == "forward":
            asked["client-2"] += 1
            return asked["client-2"] == 4
        return False

    clients = split_clients(plan)
    learn = learn_u_shaped if tail else learn_split
    found = learn(LocalGrid(clients, lost=lost), plan, SCHEMA.classes)
    assert found.missed == {"client-2": {1: "no answer in time"}}
    assert accuracy(join_split(clients[found.last].turns, found.top)) > 0.8
    with pytest.raises(Infeasible, match="clients=0"):
        learn(LocalGrid(split_clients(plan), lost=lambda *_: True), plan, SCHEMA.classes)


def accuracy(model: SharedModel) -> float:
    other = people(seed=9)
    return float((model.predict(other) == other["class"].to_numpy()).mean())


@pytest.mark.parametrize(
    ("kind", "lie", "why"),
    [
        ("forward", lambda body: {**body, "values": np.full_like(body["values"], np.nan)}, "NaN"),
        ("forward", lambda body: {**body, "values": np.full_like(body["values"], np.inf)}, "NaN or infinite"),
        ("forward", lambda body: {**body, "values": np.full_like(body["values"], 1e9)}, "beyond"),
        ("forward", lambda body: {**body, "values": body["values"][:, 1:]}, "another shape"),
        ("forward", lambda body: {**body, "values": [["a"]]}, "no numbers"),
        ("forward", lambda body: {**body, "values": 5}, "no numbers"),
        ("tail", lambda body: {"slope": body["slope"][1:]}, "another shape"),
        ("tail", lambda _: {}, "no numbers"),
    ],
)
def test_values_that_cannot_be_cost_a_client_its_turn(kind: str, lie: Any, why: str) -> None:
    plan = SplitPlan(network=BENT, tail=1, rounds=1)
    clients = split_clients(plan)
    clients["client-2"] = Lying(clients["client-2"], kind, lie)
    found = learn_u_shaped(LocalGrid(clients), plan, SCHEMA.classes)
    assert list(found.missed) == ["client-2"]
    assert why in found.missed["client-2"][1]
    assert np.isfinite(found.top.flat).all()


@pytest.mark.parametrize("labels", [np.array([7]), np.array([-1]), np.zeros(2, np.int64), "none"])
def test_labels_that_cannot_be_cost_a_client_its_turn(labels: Any) -> None:
    plan = SplitPlan(network=replace(SMALL, batch=1), rounds=1)
    clients = split_clients(plan)
    clients["client-1"] = Lying(clients["client-1"], "forward", lambda body: {**body, "labels": labels})
    found = learn_split(LocalGrid(clients), plan, SCHEMA.classes)
    assert "labels" in found.missed["client-1"][1]


def test_randomised_labels_are_paid_for_once_and_never_beyond_the_budget() -> None:
    plan = SplitPlan(network=BENT, tail=1)
    ledger = Ledger.temporary(epsilon=3.0, rows=600, relation="replace")
    noise = LabelNoise(epsilon=2.0)
    UShapedClient("a", people(), SCHEMA, plan, KEY, noise=noise, ledger=ledger)
    assert ledger.spent().epsilon == pytest.approx(2.0)
    with pytest.raises(BudgetExceeded):
        UShapedClient("a", people(), SCHEMA, plan, KEY, noise=noise, ledger=ledger)
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(InvalidParameter, match="epsilon"):
            LabelNoise(epsilon=wrong)


def test_a_cut_that_leaves_somebody_nothing_is_refused() -> None:
    for wrong in ({"cut": 3}, {"cut": 0}, {"cut": 2, "tail": 1}, {"rounds": 0}, {"tail": -1}, {"seed": -1}):
        with pytest.raises(InvalidParameter):
            SplitPlan(network=SMALL, **wrong)
    bent, plain = SplitPlan(network=BENT, tail=1), SplitPlan(network=SMALL)
    for make in (
        lambda: SplitClient("a", people(), SCHEMA, bent, KEY),
        lambda: UShapedClient("a", people(), SCHEMA, plain, KEY),
    ):
        with pytest.raises(InvalidParameter, match="tail"):
            make()
    with pytest.raises(InvalidInput, match="rows=0"):
        SplitClient("a", people().with_columns(pl.lit("?").alias("class")), SCHEMA, plain, KEY)
    with pytest.raises(InvalidParameter, match="16"):
        SplitClient("a", people(), SCHEMA, plain, b"short")


# gossip


NAMES = [f"p{number}" for number in range(6)]
GRAPHS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=9).map(
    lambda more: Neighbours([*pairwise(NAMES), *(pair for pair in more if pair[0] != pair[1])])
)
VALUES = st.lists(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), min_size=6, max_size=6).map(
    lambda held: dict(zip(NAMES, map(np.array, held), strict=True))
)


@settings(max_examples=50, deadline=None)
@given(GRAPHS, VALUES, st.sets(st.sampled_from(NAMES)))
def test_mixing_keeps_the_mean_and_the_range_whoever_is_silent(
    graph: Neighbours, values: dict[str, Any], silent: set[str]
) -> None:
    found = mix_values(values, graph, silent)
    before, after = (np.stack(list(held.values())) for held in (values, found))
    assert np.allclose(after.mean(axis=0), before.mean(axis=0), atol=1e-9)
    assert (after.max(axis=0) <= before.max(axis=0) + 1e-9).all()
    assert (after.min(axis=0) >= before.min(axis=0) - 1e-9).all()
    for name in silent:
        assert np.array_equal(found[name], values[name])


@settings(max_examples=20, deadline=None)
@given(GRAPHS, VALUES)
def test_mixing_again_and_again_comes_to_the_mean(graph: Neighbours, values: dict[str, Any]) -> None:
    mean = np.mean(list(values.values()), axis=0)
    for _ in range(400):
        values = mix_values(values, graph)
    assert np.abs(np.stack(list(values.values())) - mean).max() < 1e-3


@settings(max_examples=20, deadline=None)
@given(GRAPHS)
def test_metropolis_weights_are_symmetric_and_leave_something_to_each(graph: Neighbours) -> None:
    for name in graph.names:
        mine = graph.of(name)
        assert sum(mine.values()) < 1
        assert all(graph.of(other)[name] == weight for other, weight in mine.items())


def test_a_graph_that_falls_apart_is_refused() -> None:
    for edges in ([], [("a", "a")], [("a", "b"), ("c", "d")]):
        with pytest.raises(InvalidParameter, match="edges"):
            Neighbours(edges)
    with pytest.raises(InvalidParameter, match="peers=1"):
        Neighbours.ring(["a"])
    assert len(Neighbours.all_of("abcd").edges) == 6


def gossiping(plan: GossipPlan, clients: int = 5) -> dict[str, GossipPeer]:
    parts = split_table(people(), "class", clients=clients)
    ring = Neighbours.ring(parts)
    return {name: GossipPeer(name, part, SCHEMA, plan, ring, KEY) for name, part in parts.items()}


def test_peers_mix_over_the_wire_as_the_formula_says_and_drop_outs_are_survived() -> None:
    plan = GossipPlan(network=Network(hidden=(), rate=0.2), rounds=1, mixes=1)
    for away in (set(), {"client-2"}, {"client-1", "client-4"}):
        peers, still = gossiping(plan), gossiping(plan)
        for peer in still.values():
            peer.train(1)
        grid = LocalGrid(peers, lost=lambda node, _, away=away: node in away)
        found = learn_by_gossip(grid, plan, SCHEMA.classes)
        ring = Neighbours.ring(peers)
        wanted = mix_values({name: peer.weights for name, peer in still.items()}, ring, away)
        for name, peer in peers.items():
            assert np.allclose(peer.weights, wanted[name], atol=1e-6)
        assert found.failed == sum(bool({*pair} & away) for pair in ring.edges)


def test_gossip_learns_with_a_peer_that_comes_and_goes() -> None:
    plan = GossipPlan(network=replace(SMALL, rate=0.1), rounds=8)
    peers = gossiping(plan)
    grid = LocalGrid(peers, lost=lambda node, message: node == "client-3" and message.round % 3 == 0)
    found = learn_by_gossip(grid, plan, SCHEMA.classes)
    assert found.failed > 0
    assert min(accuracy(peer.model()) for peer in peers.values()) > 0.85
    assert np.ptp(np.stack([peer.weights for peer in peers.values()]), axis=0).max() < 2


def test_peers_refuse_strangers_bad_weights_and_a_grid_of_silence() -> None:
    plan = GossipPlan(network=Network(hidden=(), rate=0.2), rounds=1)
    peers = gossiping(plan)
    agreed = {"agreed": plan.fingerprint(SCHEMA.classes), "round": 1, "mix": 1}
    size, one = len(peers["client-1"].weights), peers["client-1"]
    contents = {
        "client-2": np.zeros(size - 1, "<f4"),  # another shape
        "client-3": np.zeros(size, "<f4"),  # no neighbour
        "client-5": np.full(size, np.nan, "<f4"),
    }
    sealed = {
        name: Seal(KEY).close_bytes(held.tobytes(), "run", name, "client-1", 7)
        for name, held in contents.items()
    }
    assert one.answer(Message("hear", "run", 7, {**sealed, **agreed})).body["heard"] == []
    for kind, body, why in (
        ("hear", agreed, "late, or again"),
        ("offer", agreed, "late, or again"),
        ("train", {**agreed, "round": 2}, "rounds=1 were agreed"),
        ("settle", {**agreed, "mix": 2, "agreed": "?"}, "not the one agreed on"),
        ("keep", agreed, "no question"),
    ):
        with pytest.raises(InvalidInput, match=why):
            one.answer(Message(kind, "run", 8, body))
    with pytest.raises(Infeasible, match="heard"):
        learn_by_gossip(LocalGrid(peers, lost=lambda *_: True), plan, SCHEMA.classes)


def test_whoever_carries_what_peers_say_cannot_read_it() -> None:
    plan = GossipPlan(network=Network(hidden=(), rate=0.2), rounds=2)
    peers = gossiping(plan)
    recorder = Recorder(LocalGrid(peers))
    assert learn_by_gossip(recorder, plan, SCHEMA.classes).failed == 0
    assert not recorder.arrays()
    weights = {peer.weights[:2].tobytes() for peer in peers.values()}
    assert not any(
        part in bytes(held)
        for part in weights
        for one in recorder.seen
        for held in one.body.values()
        if isinstance(held, bytes)
    )


# transfer


def transferring(plan: TransferPlan) -> dict[str, Any]:
    parts = split_table(people(), "class", clients=3)
    made = {}
    for (name, part), lacking in zip(parts.items(), ("town", "hours", "age"), strict=True):
        own = part.drop(lacking)
        made[name] = TransferClient(name, own, propose_schema(own, "class"), plan)
    return made


def test_only_the_common_head_leaves_a_client() -> None:
    plan = TransferPlan(network=SMALL, rounds=3)
    clients = transferring(plan)
    wire = Recorder(LocalGrid(clients))
    found = learn_transfer(wire, plan, SCHEMA.classes)
    assert {name for one in wire.seen for name in one.body} == {"rows", "weights"}
    assert {held.size for held in wire.arrays()} == {8 * 2 + 2}
    for client in clients.values():
        assert np.array_equal(client.weights[-18:], found.head)
    widths = {client.schema.encoder.width for client in clients.values()}
    assert len(widths) > 1


@pytest.mark.parametrize(
    "lie", [{"weights": np.zeros(3, np.float32)}, {"rows": 0}, {"weights": "none"}, {"rows": "9"}]
)
def test_heads_that_cannot_be_are_refused_client_by_client(lie: Any) -> None:
    plan = TransferPlan(network=SMALL, rounds=2)
    clients = transferring(plan)
    clients["client-2"] = Lying(clients["client-2"], "head", lambda body: {**body, **lie})
    found = learn_transfer(LocalGrid(clients), plan, SCHEMA.classes)
    assert found.nodes == ("client-1", "client-3")
    assert list(found.refused) == ["client-2"]
    with pytest.raises(Infeasible, match="at least 2"):
        learn_transfer(LocalGrid({"a": clients["client-1"]}), plan, SCHEMA.classes)


@pytest.mark.parametrize("kind", ["head", "take"])
def test_training_that_ends_in_no_numbers_leaves_a_client_with_the_weights_it_had(kind: str) -> None:
    client = transferring(TransferPlan(network=replace(SMALL, rate=100.0, epochs=20)))["client-1"]
    before, steep = client.weights.copy(), np.repeat([900, -900], 9).astype(np.float32)
    with np.errstate(all="ignore"), pytest.raises(InvalidInput, match="lower rate"):
        client.answer(Message(kind, "r", 1, {"weights": steep}))
    assert np.array_equal(client.weights, before)


def test_a_head_without_private_layers_is_refused() -> None:
    for wrong in ({"head": 3}, {"head": 0}, {"least_clients": 0}):
        with pytest.raises(InvalidParameter):
            TransferPlan(network=SMALL, **wrong)


# all of them


@pytest.mark.parametrize("shape", ["vertical", "split", "u-shaped", "gossip", "transfer"])
def test_every_shape_comes_within_two_hundredths_of_one_place(shape: Any) -> None:
    frame = people(4000)
    learning, judged = frame[:2000], frame[2000:]
    run = ShapeRun.usual(shape, rounds=10, rate=0.1, batch=16)
    found = compare_shape(run, learning, judged, propose_schema(learning, "class"))
    assert found.figures["accuracy"] > found.central["accuracy"] - 0.02
    assert found.central["accuracy"] > 0.75


@pytest.mark.parametrize("shape", ["vertical", "transfer"])
def test_a_run_folder_holds_models_rounds_and_bytes(shape: Any, tmp_path: Path) -> None:
    said = simulate(people(), "class", tmp_path / "run", ShapeSimulation(ShapeRun.usual(shape, rounds=2)))
    files = {path.name for path in (tmp_path / "run").iterdir()}
    models = {"model.npz"} if shape == "vertical" else {f"model-client-{number}.npz" for number in (1, 2, 3)}
    assert models | {"rounds.csv", "traffic.csv", "learning.csv", "summary.json"} <= files
    rounds = pl.read_csv(tmp_path / "run" / "rounds.csv")
    assert rounds.height == 2
    # before the first round and after the last one parties say a little more
    assert rounds["bytes_up"].sum() <= said["bytes"]["up"]
    for name in models:
        assert SharedModel.from_bytes((tmp_path / "run" / name).read_bytes()).rounds == 2
    with pytest.raises(InvalidParameter, match="force"):
        simulate(people(), "class", tmp_path / "run", ShapeSimulation(ShapeRun.usual(shape, rounds=2)))


def test_what_a_shape_cannot_do_is_refused_before_there_is_a_folder(tmp_path: Path) -> None:
    for wrong in ({"clients": 1}, {"overlap": 0.0}, {"rounds": 0}, {"units": 0}):
        with pytest.raises(InvalidParameter):
            ShapeRun.usual("vertical", **wrong)
    for shape, model in (("split", "logistic"), ("star", "mlp"), ("gossip", "boosting")):
        with pytest.raises(InvalidParameter):
            ShapeRun.usual(shape, model)
    one = people().with_columns(pl.lit("yes").alias("class"))
    with pytest.raises(InvalidParameter, match="classes=1"):
        simulate(one, "class", tmp_path / "run", ShapeSimulation(ShapeRun.usual("gossip")))
    with pytest.raises(InvalidParameter, match="clients=4"):
        simulate(people(), "class", tmp_path / "run", ShapeSimulation(ShapeRun.usual("transfer", clients=4)))
    assert not (tmp_path / "run").exists()
