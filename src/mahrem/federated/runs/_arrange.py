"""One table shared out in another shape: parties or clients in this process, and what they then hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.federated.networks import Network
from mahrem.federated.runs._simulate import Split, split_table
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
    model_of,
)
from mahrem.federated.weights import SharedModel, SharedSchema
from mahrem.federated.wire import LocalGrid

__all__ = ["Shape", "ShapeFederation", "ShapeModel", "ShapeRun", "arrange", "mean_model"]

Shape: TypeAlias = Literal["vertical", "split", "u-shaped", "gossip", "transfer"]
ShapeModel: TypeAlias = Literal["mlp", "logistic"]
After: TypeAlias = Callable[[int], None]
_HIDDEN = {
    "vertical": (16,),
    "split": (32, 16),
    "u-shaped": (32, 16, 8),
    "gossip": (32, 16),
    "transfer": (32, 16),
}


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

    shape: Shape
    clients: int = 3
    split: Split = "iid"
    alpha: float = 0.5
    overlap: float = 0.95
    units: int = 16
    label_epsilon: float | None = None
    tail: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check.one_of(get_args(Shape), shape=self.shape)
        check.at_least(2, clients=check.whole(clients=self.clients))
        check.between(0.1, 1, overlap=self.overlap)
        check.at_least(1, units=check.whole(units=self.units))
        if self.label_epsilon is not None and self.shape not in {"vertical", "u-shaped"}:
            raise InvalidParameter(f"label_epsilon goes with vertical and u-shaped, not with {self.shape}")
        if not self.network.hidden and self.shape not in {"vertical", "gossip"}:
            raise InvalidParameter(f"shape={self.shape!r} needs hidden layers: model='mlp'")

    @classmethod
    def usual(
        cls,
        shape: Shape,
        model: ShapeModel = "mlp",
        *,
        rate: float = 0.05,
        batch: int = 64,
        epochs: int = 1,
        **said: Any,
    ) -> ShapeRun:
        """Give a run with the layers that suit its shape."""
        hidden = _HIDDEN[check.one_of(get_args(Shape), shape=shape)]
        flat = check.one_of(get_args(ShapeModel), model=model) == "logistic"
        network = Network(hidden=() if flat else hidden, rate=rate, batch=batch, epochs=epochs)
        return cls(shape=shape, network=network, **said)

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
    if run.shape in {"vertical", "transfer"} and len(schema.columns) < run.clients:
        raise InvalidParameter(
            f"clients={run.clients}: each needs a column of its own, there are {len(schema.columns)}"
        )
    match run.shape:
        case "vertical":
            return _vertical(run, learning, schema)
        case "gossip":
            return _gossip(run, learning, schema)
        case "transfer":
            return _transfer(run, learning, schema)
        case _:
            return _split(run, learning, schema)


def _parts(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> dict[str, pl.DataFrame]:
    return split_table(
        learning, schema.target, clients=run.clients, split=run.split, alpha=run.alpha, seed=run.seed
    )


def _common(run: ShapeRun) -> dict[str, Any]:
    return {"network": run.network, "rounds": run.rounds, "seed": run.seed}


def _key(run: ShapeRun) -> bytes:
    """Draw the key that only parties would know; a simulation's comes from its seed, to be repeatable."""
    return hashlib.sha256(f"simulated/{run.seed}".encode()).digest()


def _vertical(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
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
        found = learn_vertical(grid, plan, schema.classes, after=after)
        told = {"label_party": found.label, "aligned_rows": found.rows, "ids_alone": dict(found.alone)}
        return {**told, "clients": list(found.parties)}

    def models() -> dict[str, SharedModel]:
        return {"all": join_parties(list(parties.values()))}

    joined = {name: known for _, party in sorted(parties.items()) for name, known in party.columns.items()}
    return ShapeFederation(
        LocalGrid(parties), learn, models, {"all": replace(schema, columns=joined, hierarchies={})}
    )


def _split(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
    bent = run.shape == "u-shaped"
    plan, key = SplitPlan(**_common(run), tail=run.tail if bent else 0), _key(run)
    clients: dict[str, SplitClient | UShapedClient] = {
        name: UShapedClient(name, part, schema, plan, key, noise=run.noise())
        if bent
        else SplitClient(name, part, schema, plan, key)
        for name, part in _parts(run, learning, schema).items()
    }
    held: dict[str, SharedModel] = {}

    def learn(grid: Any, after: After) -> Mapping[str, Any]:
        def told(number: int, found: SplitResult) -> None:
            held["all"] = join_split(clients[found.last].turns, found.top)
            after(number)

        found = (learn_u_shaped if bent else learn_split)(grid, plan, schema.classes, after=told)
        return {"clients": list(found.nodes), "missed_turns": sum(map(len, found.missed.values()))}

    return ShapeFederation(LocalGrid(clients), learn, lambda: held, {"all": schema})


def _gossip(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
    plan, parts = GossipPlan(**_common(run)), _parts(run, learning, schema)
    ring = Neighbours.ring(parts)
    peers = {name: GossipPeer(name, part, schema, plan, ring) for name, part in parts.items()}

    def learn(grid: Any, after: After) -> Mapping[str, Any]:
        found = learn_by_gossip(peers, plan, grid=grid, after=after)
        told = {"spread": found.spread, "failed_talks": found.failed}
        return {**told, "clients": list(found.peers)}

    def models() -> dict[str, SharedModel]:
        return {name: peer.model() for name, peer in peers.items()}

    return ShapeFederation(LocalGrid(peers), learn, models, dict.fromkeys(peers, schema))


def _transfer(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> ShapeFederation:
    plan, names = TransferPlan(**_common(run)), list(schema.columns)
    clients: dict[str, TransferClient] = {}
    for place, (name, part) in enumerate(_parts(run, learning, schema).items()):
        lacking = set(names[place :: run.clients])
        columns = {column: known for column, known in schema.columns.items() if column not in lacking}
        own = replace(schema, columns=columns, hierarchies={})
        clients[name] = TransferClient(name, part.select([*columns, schema.target]), own, plan)

    def learn(grid: Any, after: After) -> Mapping[str, Any]:
        found = learn_transfer(grid, plan, schema.classes, after=after)
        return {
            "clients": list(found.nodes),
            "refused": {name: len(told) for name, told in found.refused.items()},
        }

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
    return model_of(first.schema, first.plan.network(), weights, first.rounds)
