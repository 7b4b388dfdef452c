"""One table shared out in another shape: parties or clients in this process, and what they then hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.federated.networks import Network
from mahrem.federated.runs._entries import SHAPES
from mahrem.federated.runs._sharing import SPLITS
from mahrem.federated.runs._split import split_table
from mahrem.federated.shapes import (
    GossipPeer,
    GossipPlan,
    LabelNoise,
    Neighbours,
    ShapePlan,
    SplitClient,
    SplitPlan,
    SplitResult,
    TransferClient,
    TransferPlan,
    UShapedClient,
    VerticalParty,
    VerticalPlan,
    join_parties,
    join_split,
    learn_by_gossip,
    learn_split,
    learn_transfer,
    learn_u_shaped,
    learn_vertical,
)
from mahrem.federated.weights import SharedModel, SharedSchema
from mahrem.federated.wire import LocalGrid

MODELS = ("mlp", "logistic")
After: TypeAlias = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class ShapeRun(ShapePlan):
    """A table, shared out in one of the other shapes.

    Args:
        shape: ``vertical`` (columns at different parties), ``split`` and ``u-shaped`` (layers at clients and
            server), ``gossip`` (peers on a ring) or ``transfer`` (clients with different columns).
        network: Its hidden layers; of ``vertical`` those above the parties' units. Without any it is logistic
            regression, which has no layers to share out: for ``vertical`` and ``gossip``.
        clients: How many parties, clients or peers.
        split: How rows are shared out, see :func:`split_table`; not for ``vertical``.
        alpha: How even a ``dirichlet`` split is.
        overlap: Share of the people that each party of ``vertical`` knows.
        units: What a party's columns become in a ``vertical`` network.
        label_epsilon: Randomises labels of ``vertical`` and ``u-shaped``, see :class:`LabelNoise`.
        tail: Layers that clients have after the server's; only for ``u-shaped``.

    Example:
        >>> ShapeRun.usual("gossip", rounds=5).network.hidden
        (32, 16)
    """

    shape: str
    clients: int = 3
    split: str = "iid"
    alpha: float = 0.5
    overlap: float = 0.95
    units: int = 16
    label_epsilon: float | None = None
    tail: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check.one_of(tuple(SHAPES), shape=self.shape)
        check.one_of(SPLITS, split=self.split)
        check.at_least(2, clients=check.whole(clients=self.clients))
        check.between(0.1, 1, overlap=self.overlap)
        check.at_least(1, units=check.whole(units=self.units))
        if self.label_epsilon is not None and not SHAPES[self.shape].noisy_labels:
            raise InvalidParameter(f"label_epsilon goes with vertical and u-shaped, not with {self.shape}")
        if not self.network.hidden and SHAPES[self.shape].layered:
            raise InvalidParameter(f"shape={self.shape!r} needs hidden layers: model='mlp'")

    @classmethod
    def usual(
        cls,
        shape: str,
        model: str = "mlp",
        *,
        rate: float = 0.05,
        batch: int = 64,
        epochs: int = 1,
        **more: Any,
    ) -> ShapeRun:
        """Give a run with the layers that suit its shape."""
        hidden = SHAPES[check.one_of(tuple(SHAPES), shape=shape)].hidden
        flat = check.one_of(MODELS, model=model) == "logistic"
        network = Network(hidden=() if flat else hidden, rate=rate, batch=batch, epochs=epochs)
        return cls(shape=shape, network=network, **more)

    def noise(self) -> LabelNoise | None:
        """Give what randomises labels."""
        return None if self.label_epsilon is None else LabelNoise(epsilon=self.label_epsilon)

    def central(self) -> Network:
        """Give the network that one place with all rows and columns would train."""
        if self.shape == "vertical" and self.network.hidden:
            return replace(self.network, hidden=(self.units * self.clients, *self.network.hidden))
        return self.network


@dataclass
class ShapeFederation:
    """A federation that is ready to learn."""

    grid: LocalGrid
    learn: Callable[[Any, After], Mapping[str, Any]]  # by a grid; gives what there is to say
    models: Callable[[], dict[str, SharedModel]]
    alike: Mapping[str, SharedSchema] = field(default_factory=dict)  # what each model reads


def arrange(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
    """Share a table out, as a shape wants it.

    Raises:
        InvalidParameter: If there are fewer columns than parties that need some.
    """
    if SHAPES[run.shape].by_column and len(schema.columns) < run.clients:
        raise InvalidParameter(
            f"clients={run.clients}: each needs a column of its own, there are {len(schema.columns)}"
        )
    federation: ShapeFederation = SHAPES[run.shape].load()(run, learning, schema)
    return federation


def _parts(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> dict[str, pl.DataFrame]:
    return split_table(
        learning, schema.target, clients=run.clients, split=run.split, alpha=run.alpha, seed=run.seed
    )


def _common(run: ShapeRun) -> dict[str, Any]:
    return {"network": run.network, "rounds": run.rounds, "seed": run.seed}


def _key(run: ShapeRun) -> bytes:
    """Draw the key that only parties would know; a simulation's comes from its seed, to be repeatable."""
    return hashlib.sha256(f"simulated/{run.seed}".encode()).digest()


def arrange_vertical(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
    """Give parties different columns of mostly the same people."""
    plan = VerticalPlan(**_common(run), units=run.units if run.network.hidden else 0)
    rng, names = np.random.default_rng([run.seed, 1]), list(schema.columns)
    known = "id"
    while known in learning.columns:
        known += "_"
    whole = learning.with_columns(pl.int_range(pl.len()).alias(known))
    parties = {}
    for place in range(run.clients):
        columns = {name: schema.columns[name] for name in names[place :: run.clients]}
        people = rng.permutation(whole.height)[: int(run.overlap * whole.height)]
        target = schema.target if place == 0 else None
        frame = whole[people].select([known, *columns, *([target] if target else [])])
        name = f"party-{place + 1:0{len(str(run.clients))}d}"
        noise = run.noise() if target else None
        parties[name] = VerticalParty(
            name, frame, known, columns, schema.classes, _key(run), plan, target, noise
        )

    def learn(grid: Any, after: After) -> Mapping[str, Any]:
        result = learn_vertical(grid, plan, schema.classes, after=after)
        facts = {"label_party": result.label, "aligned_rows": result.rows, "ids_alone": dict(result.alone)}
        return {**facts, "clients": list(result.parties)}

    def models() -> dict[str, SharedModel]:
        return {"all": join_parties(list(parties.values()))}

    joined = {name: known for _, party in sorted(parties.items()) for name, known in party.columns.items()}
    return ShapeFederation(
        LocalGrid(parties), learn, models, {"all": replace(schema, columns=joined, hierarchies={})}
    )


def arrange_split(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
    """Give clients rows and the first layers, and of a U the last ones."""
    u_shaped = run.shape == "u-shaped"
    plan, key = SplitPlan(**_common(run), tail=run.tail if u_shaped else 0), _key(run)
    clients: dict[str, SplitClient | UShapedClient] = {
        name: UShapedClient(name, part, schema, plan, key, noise=run.noise())
        if u_shaped
        else SplitClient(name, part, schema, plan, key)
        for name, part in _parts(run, learning, schema).items()
    }
    held: dict[str, SharedModel] = {}

    def learn(grid: Any, after: After) -> Mapping[str, Any]:
        def keep(number: int, result: SplitResult) -> None:
            held["all"] = join_split(clients[result.last].turns, result.top)
            after(number)

        result = (learn_u_shaped if u_shaped else learn_split)(grid, plan, schema.classes, after=keep)
        return {"clients": list(result.nodes), "missed_turns": sum(map(len, result.missed.values()))}

    return ShapeFederation(LocalGrid(clients), learn, lambda: held, {"all": schema})


def arrange_gossip(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
    """Put peers with rows of their own on a ring."""
    plan, parts = GossipPlan(**_common(run)), _parts(run, learning, schema)
    ring = Neighbours.ring(parts)
    peers = {name: GossipPeer(name, part, schema, plan, ring, _key(run)) for name, part in parts.items()}

    def learn(grid: Any, after: After) -> Mapping[str, Any]:
        result = learn_by_gossip(grid, plan, schema.classes, after=after)
        held = np.stack([peer.weights for peer in peers.values()]).astype(np.float64)
        spread = float(np.abs(held - held.mean(axis=0)).max())
        return {"spread": spread, "failed_talks": result.failed, "clients": list(result.peers)}

    def models() -> dict[str, SharedModel]:
        return {name: peer.model() for name, peer in peers.items()}

    return ShapeFederation(LocalGrid(peers), learn, models, dict.fromkeys(peers, schema))


def arrange_transfer(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
    """Give clients rows of their own, each without some columns."""
    plan, names = TransferPlan(**_common(run)), list(schema.columns)
    clients: dict[str, TransferClient] = {}
    for place, (name, part) in enumerate(_parts(run, learning, schema).items()):
        lacking = set(names[place :: run.clients])
        columns = {column: known for column, known in schema.columns.items() if column not in lacking}
        own = replace(schema, columns=columns, hierarchies={})
        clients[name] = TransferClient(name, part.select([*columns, schema.target]), own, plan)

    def learn(grid: Any, after: After) -> Mapping[str, Any]:
        result = learn_transfer(grid, plan, schema.classes, after=after)
        refused = {name: len(rounds) for name, rounds in result.refused.items()}
        return {"clients": list(result.nodes), "refused": refused}

    def models() -> dict[str, SharedModel]:
        return {name: client.model() for name, client in clients.items()}

    return ShapeFederation(
        LocalGrid(clients), learn, models, {name: client.schema for name, client in clients.items()}
    )


def mean_model(models: Mapping[str, SharedModel]) -> SharedModel | None:
    """Give the mean of models of one schema; None if they read different columns."""
    first, *_ = models.values()
    if any(model.schema.columns != first.schema.columns for model in models.values()):
        return None
    weights = np.mean([model.arrays["weights"] for model in models.values()], axis=0)
    return first.next(first.rounds, {"weights": weights})
