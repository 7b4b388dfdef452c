"""A party of vertical learning: some columns of people whom others know too, and perhaps the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.federated.networks import LayerStack, Network, Weights, read_values
from mahrem.federated.shapes._aligned_party import AlignedParty, Columns
from mahrem.federated.shapes._hidden_products import MatrixHolder, VectorHolder, read_seed
from mahrem.federated.shapes._plan import model_of
from mahrem.federated.shapes._vertical_logistic import LinearPart, SummedTop
from mahrem.federated.shapes._vertical_network import JoinedTop, joined_layers, units_of
from mahrem.federated.shapes._vertical_plan import VerticalPlan
from mahrem.federated.weights import SharedModel, SharedSchema
from mahrem.federated.wire import Message, Words
from mahrem.learning.classifiers import DeclaredEncoder
from mahrem.types import Integers

FINE, SLOPES = 2.0**24, 2.0**32  # steps of columns and of slopes: a sum of their products stays below 2^62
CROWD = 4  # rows of a batch for each number of a party's columns, where slopes are hidden


class PartyPart(Protocol):
    """What a party computes from its own columns."""

    def forward(self, rows: Weights) -> Weights:
        """Give what the party with the labels gets."""

    def back(self, slope: Weights) -> Any:
        """Find the gradient."""

    def step(self, rate: float) -> None:
        """Go down it."""


def flat_of(part: PartyPart) -> Weights:
    """Give the weights of a part as one row, in their place."""
    return part.matrix.reshape(-1) if isinstance(part, LinearPart) else part.flat  # type: ignore[attr-defined]


@dataclass
class VerticalParty(AlignedParty):
    """A party: its columns, and perhaps the labels, never leave it.

    Args:
        name: Its name on the grid.
        frame: Its table, one row for each person.
        id: The column that says whom a row is about.
        columns: What was agreed of its columns; only the party with the labels may have none.
        classes: Values of the target, which everybody knows.
        key: What all parties share and the coordinator does not have.
        plan: What is learnt.
        target: The column with the labels, at the one party that has it.
        noise: Randomises them, so that slopes do not give them away.
        ledger: Pays for that.
        held: What was agreed of everybody's columns, by party; needed where parts are joined in the end.

    Guarantees:
        - The coordinator gets points that keyed hashes of ids became under the secrets of all parties,
          counts, and bytes that it cannot open. No party gets more of others' ids than points.
        - Other parties get numbers for the rows that all have: the party with the labels a part of the scores
          or the units, the others the slope of the loss by them. Neither is the columns or the labels, but
          the slope of a logistic regression has the sign of the label; with ``hide_slopes`` they get sums of
          slopes over a batch instead, by their own columns.
    """

    plan: VerticalPlan = field(default_factory=VerticalPlan)
    part: PartyPart | None = field(default=None, init=False, repr=False)
    top: SummedTop | JoinedTop | None = field(default=None, init=False, repr=False)
    others: dict[str, PartyPart] = field(default_factory=dict, init=False, repr=False)  # in the end
    _rows: Weights = field(default_factory=lambda: np.empty((0, 0)), init=False, repr=False)
    _right: Weights = field(default_factory=lambda: np.empty((0, 0)), init=False, repr=False)
    _hidden: MatrixHolder | dict[str, Words] | None = field(default=None, init=False, repr=False)

    @property
    def begun(self) -> bool:
        """See :class:`AlignedParty`."""
        return self.part is not None or self.top is not None

    def forget(self) -> None:
        """See :class:`AlignedParty`."""
        self.part = self.top = self._hidden = None
        self.others = {}

    def learn(self, message: Message) -> Message:
        """Answer ``parts``, ``slopes``, ``done`` or ``join``.

        Raises:
            InvalidInput: If it is none, or out of turn.
        """
        if message.kind in {"shift", "begin"} and self.plan.hide_slopes and self._hidden is None:
            return message.reply(**(self._shift if self.top is None else self._take)(message.body))
        if message.kind in {"parts", "slopes", "done"} and message.round != self._next:
            raise InvalidInput(f"step={message.round} is out of turn; {self._next} is next")
        last = self.plan.rounds * self.plan.steps(self._count)
        if message.kind in {"parts", "slopes"} and self._next >= last:
            raise InvalidInput(f"step={self._next}: {last} steps were agreed on")
        if message.kind in {"done", "join"} and message.round != last:
            raise InvalidInput(f"kind={message.kind!r}: it comes after {last} steps")
        if message.kind == "slopes" and self.top is not None:
            return message.reply(**self._slopes(message))
        if message.kind == "join" and self.top is not None and not self.others:
            self.others = self._joined(message)
            return message.reply()
        if message.kind in {"parts", "done"} and self.part is not None and self.top is None:
            return message.reply(part=self._part(message, self.part))
        raise InvalidInput(f"kind={message.kind!r} is no question that this party answers now")

    def begin(self, frame: pl.DataFrame, labels: Integers, parties: Sequence[str]) -> None:
        """See :class:`AlignedParty`."""
        seed = self._seal.seed("start", self.name, str(self.plan.seed))
        if self.columns:
            self._rows = DeclaredEncoder(columns=self.columns)(frame, ()).astype(np.float64)
            self.part = self._new_part(self._rows.shape[1], seed)
        if self.target is not None:
            self._begin_top(labels, parties, seed)

    def _new_part(self, width: int, seed: int = 0) -> PartyPart:
        units = self.plan.units
        return units_of(width, units, seed) if units else LinearPart(width, len(self.classes))

    def _joined(self, message: Message) -> dict[str, PartyPart]:
        """Read the parts that others learnt.

        Raises:
            InvalidInput: If one is of another shape than was agreed, or not numbers.
        """
        parts = {}
        for name, held in message.body.items():
            part = self._new_part(DeclaredEncoder(columns=self.held.get(name, {})).width)
            given = self._seal.open(held, self._run, name, self.name, message.round).ravel()
            flat = flat_of(part)
            if given.shape != flat.shape or not np.isfinite(given).all():
                raise InvalidInput(f"party={name!r} sent a part of another shape, or no numbers")
            flat[:] = given
            parts[name] = part
        return parts

    def _begin_top(self, labels: Integers, parties: Sequence[str], seed: int) -> None:
        plan, classes = self.plan, len(self.classes)
        self._right = np.eye(classes)[labels]
        named = [name for name in parties if name != self.name or self.columns]
        if plan.units:
            self.top = JoinedTop(named, plan.units, plan.network.hidden, classes, seed + 1)
        else:
            self.top = SummedTop(classes)

    def _part(self, message: Message, part: PartyPart) -> bytes:
        """Learn from the slope of the last step; give what the next one needs."""
        number = message.round
        if number:
            before, width = self.plan.batch(number - 1, self._count), self.plan.units or len(self.classes)
            slope, bound = message.body.get("slope"), (self._run, self._label, self.name)
            if isinstance(self._hidden, MatrixHolder) and isinstance(part, LinearPart):
                rest = self._seal.open_words(message.body.get("rest"), *bound, -number)
                masked = self._seal.open_words(slope, *bound, number - 1)
                if masked.shape != (len(before), width) or rest.shape != part.matrix.T.shape:
                    raise InvalidInput("slope: numbers of another shape than agreed")
                whole = self._hidden.product(masked, read_seed(message.body), before) + rest
                part.gradient = (whole.view(np.int64) / (FINE * SLOPES)).T
            else:
                part.back(
                    read_values(self._seal.open(slope, *bound, number - 1), len(before), width, "slope")
                )
            part.step(self.plan.network.rate)
        self._next += 1
        if message.kind == "done":  # its part of the model, for the party with the labels
            return self._seal.close(flat_of(part), self._run, self.name, self._label, number)
        values = part.forward(self._rows[self.plan.batch(number, self._count)])
        return self._seal.close(values, self._run, self.name, self._label, number)

    def _slopes(self, message: Message) -> dict[str, bytes]:
        """Take a step with everybody's parts; give each party the slope by its part."""
        number, rate = message.round, self.plan.network.rate
        batch = self.plan.batch(number, self._count)
        parts = {
            name: self._seal.open(held, self._run, name, self.name, number)
            for name, held in message.body.items()
            if not name.startswith(":")  # what was dealt
        }
        if self.part is not None:
            parts[self.name] = self.part.forward(self._rows[batch])
        if self.top is None or (isinstance(self.top, JoinedTop) and set(parts) != set(self.top.parties)):
            raise InvalidInput("slopes: parts of other parties than those that aligned")
        slopes = self.top.learn(parts, self._right[batch], rate)
        if self.part is not None:
            self.part.back(slopes.pop(self.name))
            self.part.step(rate)
        self._next += 1
        if isinstance(self._hidden, dict):
            return self._masked(message, slopes, batch, self._hidden)
        return {
            name: self._seal.close(slope, self._run, self.name, name, number)
            for name, slope in slopes.items()
        }

    def _shift(self, body: Mapping[str, object]) -> dict[str, object]:
        """Give the columns less noise, for the party with the labels."""
        self._hidden = MatrixHolder(np.rint(self._rows.T * FINE).astype(np.int64))
        shifted = self._hidden.shift(read_seed(body))
        sealed = self._seal.close(shifted, self._run, self.name, self._label, -1)
        return {"cells": len(shifted), "shifted": sealed}

    def _take(self, body: Mapping[str, object]) -> dict[str, object]:
        """Keep what others' columns are less noise; refuses batches whose sums would tell single labels."""
        held = {
            name: self._seal.open_words(part, self._run, name, self.name, -1) for name, part in body.items()
        }
        rows = len(self.plan.batch(0, self._count))
        for name, shifted in held.items():
            if shifted.shape[1] != self._count:
                raise InvalidInput(f"party={name!r} sent numbers of other rows than align")
            if rows < CROWD * len(shifted):
                raise InvalidInput(
                    f"batch={rows} rows: sums over so few would tell party={name!r} single labels, for its "
                    f"columns are {len(shifted)} numbers; at least {CROWD * len(shifted)} are needed"
                )
        self._hidden = held
        return {}

    def _masked(
        self, message: Message, slopes: Mapping[str, Weights], batch: Integers, hidden: Mapping[str, Words]
    ) -> dict[str, bytes]:
        """Give slopes under noise, and what is left of it: with its own numbers it is a party's gradient."""
        answer, number = {}, message.round
        for name, slope in slopes.items():
            dealt, shifted = message.body.get(f":{name}"), hidden[name][:, batch]
            if (
                not isinstance(dealt, np.ndarray)
                or dealt.dtype != np.uint64
                or dealt.shape
                != (
                    len(shifted),
                    slope.shape[1],
                )
            ):
                raise InvalidInput("slopes: what was dealt has another shape")
            asker = VectorHolder(np.rint(slope * SLOPES).astype(np.int64), shifted)
            rest = asker.product(np.zeros_like(dealt), dealt).view(np.uint64)
            masked = asker.mask(read_seed({"seed": message.body.get(":seed")}))
            answer[name] = self._seal.close(masked, self._run, self.name, name, number)
            answer[f":{name}"] = self._seal.close(rest, self._run, self.name, name, -1 - number)
        return answer

    def model(self) -> SharedModel:
        """Give the model over all columns, at the party with the labels, once the parts were joined.

        Raises:
            InvalidInput: If they were not, or this is another party.
        """
        if self.top is None or not self.others:
            raise InvalidInput("model: its parts were not brought to this party")
        return self.joined(self.held, {**self.others, self.name: self.part})

    def joined(self, held: Mapping[str, Columns], parts: Mapping[str, PartyPart | None]) -> SharedModel:
        """Put parts together with what this party, which has the labels, learnt above them."""
        holders = [name for name in sorted(held) if held[name]]
        columns = {name: column for party in holders for name, column in held[party].items()}
        schema = SharedSchema(columns=columns, target=str(self.target), classes=self.classes)
        plan, network = self.plan, self.plan.network
        hidden = (plan.units * len(holders), *network.hidden) if plan.units else ()
        ordered = [parts[name] for name in holders]
        if isinstance(self.top, JoinedTop):
            stacks = [part for part in ordered if isinstance(part, LayerStack)]
            weights = joined_layers(stacks, self.top.stack)
        else:
            offset = np.zeros(len(self.classes)) if self.top is None else self.top.offset
            matrices = [part.matrix for part in ordered if isinstance(part, LinearPart)]
            weights = np.concatenate([np.hstack(matrices).ravel(), offset])
        whole = Network(hidden=hidden, rate=network.rate, batch=network.batch)
        return model_of(schema, whole, weights, plan.rounds)
