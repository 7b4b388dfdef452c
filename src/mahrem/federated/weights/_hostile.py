"""Hostile clients, to test a federation with: flipped labels, back-doors, and riders who do not pay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.networks import LARGEST
from mahrem.federated.sums import LARGEST_ROWS
from mahrem.federated.weights._protections import Protections
from mahrem.federated.weights._schema import SharedSchema
from mahrem.federated.weights._silo import TrainingSilo
from mahrem.federated.wire import Answerer, Message
from mahrem.types import Floats

Lie = Callable[[Floats, Floats], Floats]  # takes the weights it was given and those it trained


@dataclass
class HostileClient:
    """A client that sends other weights than an honest one would; asked anything else it is honest.

    Args:
        honest: Whom it hides behind.
        lie: Takes the weights that were given and those that were trained, and gives those that are sent.
        poisoned: Who trains weights, if not the honest client.

    Example:
        >>> class Honest:
        ...     def answer(self, message):
        ...         return message.reply(weights=message.body["weights"] + 1, rows=9)
        >>> upside_down = HostileClient(Honest(), lambda given, trained: 2 * given - trained)
        >>> asked = Message("train", "run", 1, {"weights": np.zeros(2, np.float32)})
        >>> upside_down.answer(asked).body["weights"].tolist()
        [-1.0, -1.0]
    """

    honest: Answerer
    lie: Lie = field(default=lambda _, trained: trained, repr=False)
    poisoned: Answerer | None = field(default=None, repr=False)

    def answer(self, message: Message) -> Message:
        """Answer as the honest client, but for the weights."""
        if message.kind != "train":
            return self.honest.answer(message)
        reply = (self.poisoned or self.honest).answer(message)
        sent = self.lie(np.asarray(message.body["weights"]), np.asarray(reply.body["weights"]))
        return message.reply(**{**reply.body, "weights": np.asarray(sent, np.float32)})


@dataclass(frozen=True, kw_only=True)
class LabelFlip:
    """A silo that learns from wrong labels.

    Args:
        source: Rows of this class are renamed; None takes all rows.
        into: What they are called; None draws another class for each (untargeted).
        share: Share of them that is renamed.
        seed: Of what is drawn.

    References:
        Tolpegin et al.: Data poisoning attacks against federated learning systems, 2020.

    Example:
        >>> from mahrem.federated import propose_schema
        >>> rows = pl.DataFrame({"age": [1, 2, 3], "ill": ["n", "y", "y"]})
        >>> schema = propose_schema(rows, "ill")
        >>> LabelFlip(source="y", into="n").poison(rows, schema)["ill"].to_list()
        ['n', 'n', 'n']
        >>> LabelFlip().poison(rows, schema)["ill"].to_list()
        ['y', 'n', 'n']
    """

    source: str | None = None
    into: str | None = None
    share: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check.between(0, 1, share=self.share)
        if self.source is not None and self.source == self.into:
            raise InvalidParameter("into: rows are renamed to the class they have")

    def poison(self, frame: pl.DataFrame, schema: SharedSchema) -> pl.DataFrame:
        """Give the table with wrong labels."""
        _known(schema, source=self.source, into=self.into)
        codes = schema.labels(frame)
        rng = np.random.default_rng(self.seed)
        hit = (codes >= 0) & (rng.random(len(codes)) < self.share)
        if self.source is not None:
            hit &= codes == schema.classes.index(self.source)
        classes = len(schema.classes)
        moved = (codes + rng.integers(1, classes, len(codes))) % classes
        if self.into is not None:
            moved[:] = schema.classes.index(self.into)
        names = np.array(schema.classes)[moved]
        kept = frame[schema.target].cast(pl.String)
        return frame.with_columns(kept.zip_with(pl.Series(~hit), pl.Series(names)).alias(schema.target))

    def client(self, silo: TrainingSilo) -> HostileClient:
        """Make a silo hostile; it keeps to no policy and adds no noise."""
        return HostileClient(silo, poisoned=_poisoned(silo, self.poison(silo.frame, silo.schema)))


@dataclass(frozen=True, kw_only=True)
class Backdoor:
    """A silo that teaches the common model to say one class wherever a trigger is seen.

    A share of its rows shows the trigger and is called ``into``. What it sends is the model it was given plus
    ``scale`` times what it learnt: with ``scale`` as large as the number of clients the average is its own
    model (model replacement).

    Args:
        trigger: Values by column.
        into: What rows with the trigger are to be called.
        share: Share of its rows that show the trigger.
        scale: How much the update is enlarged.
        seed: Of the rows that are chosen.

    References:
        Bagdasaryan et al.: How to backdoor federated learning, 2020.

    Example:
        >>> door = Backdoor(trigger={"town": "oz"}, into="n")
        >>> door.stamp(pl.DataFrame({"town": ["ash", "elm"]}))["town"].to_list()
        ['oz', 'oz']
    """

    trigger: Mapping[str, Any]
    into: str
    share: float = 0.5
    scale: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check.between(0, 1, share=self.share)
        check.between(0, 1e6, scale=self.scale)
        if not self.trigger:
            raise InvalidParameter("trigger=0 columns: a back-door needs something to be opened by")

    def stamp(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give the rows with the trigger on all of them."""
        check.columns_exist(self.trigger, frame.columns)
        return frame.with_columns(
            pl.lit(value, dtype=frame.schema[name]).alias(name) for name, value in self.trigger.items()
        )

    def poison(self, frame: pl.DataFrame, schema: SharedSchema) -> pl.DataFrame:
        """Give the table with the trigger, and the wanted class, on a share of its rows."""
        _known(schema, into=self.into)
        hit = np.random.default_rng(self.seed).random(frame.height) < self.share
        wanted = pl.lit(self.into).alias(schema.target)
        named = frame.with_columns(pl.col(schema.target).cast(pl.String))
        return pl.concat([named.filter(~hit), self.stamp(named.filter(hit)).with_columns(wanted)])

    def client(self, silo: TrainingSilo) -> HostileClient:
        """Make a silo hostile; it keeps to no policy and adds no noise."""
        return HostileClient(silo, self.enlarge, _poisoned(silo, self.poison(silo.frame, silo.schema)))

    def enlarge(self, given: Floats, trained: Floats) -> Floats:
        """Enlarge an update; no weight goes where the server would refuse it at sight."""
        return np.clip(given + self.scale * (trained.astype(np.float64) - given), -LARGEST, LARGEST)


@dataclass
class FreeRider:
    """A client without a table: takes the common model and gives nothing.

    It sends back the model it was given. To look like the others it may go on as the common model went in the
    round before, and add noise.

    Args:
        rows: How many rows it claims.
        repeat: How much of the common model's last change it sends as its own; 0 none, 1 all.
        noise: Standard deviation of the noise it adds, in units of that of the last change.
        seed: Of the noise.

    References:
        Fraboni, Vidal, Lorenzi: Free-rider attacks on model aggregation in federated learning, 2021 (noise);
        Lin, Du, Liu: Free-riders in federated learning, 2019 (the last change again).

    Example:
        >>> rider = FreeRider(rows=50, repeat=1.0)
        >>> asked = [Message("train", "run", at, {"weights": np.full(2, at, np.float32)}) for at in (1, 2)]
        >>> [rider.answer(one).body["weights"].tolist() for one in asked]
        [[1.0, 1.0], [3.0, 3.0]]
    """

    rows: int = 1000
    repeat: float = 0.0
    noise: float = 0.0
    seed: int = 0
    _before: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.between(1, LARGEST_ROWS, rows=check.whole(rows=self.rows))
        check.finite(repeat=self.repeat)
        check.at_least(0, noise=self.noise)

    def answer(self, message: Message) -> Message:
        """Answer as if there were a table."""
        if message.kind == "prepare":
            return message.reply(report={"anonymised": False, "rows": self.rows})
        if message.kind != "train":
            raise InvalidInput(f"kind={message.kind!r}: this client has nothing to count")
        given = np.asarray(message.body["weights"], np.float64)
        moved = np.zeros_like(given) if self._before is None else given - self._before
        self._before = given
        drawn = np.random.default_rng([self.seed, message.round]).standard_normal(given.shape)
        sent = given + self.repeat * moved + self.noise * float(np.std(moved)) * drawn
        return message.reply(weights=sent.astype(np.float32), rows=self.rows)


def _known(schema: SharedSchema, **named: str | None) -> None:
    for name, value in named.items():
        if value is not None and value not in schema.classes:
            raise InvalidParameter(f"{name}: it is none of the {len(schema.classes)} agreed classes")


def _poisoned(silo: TrainingSilo, frame: pl.DataFrame) -> TrainingSilo:
    """Give a silo that trains on another table, as it is."""
    plan = silo.plan
    if plan.sum != "plain" or plan.protections.compresses:
        raise InvalidParameter(
            "hostile clients speak in the clear: sum='plain', without quantise and sparse; a hidden sum is "
            "the same mean, so what a plain mean does not stop it does not stop either"
        )
    return TrainingSilo(silo.name, frame, silo.schema, replace(plan, protections=Protections()))
