"""A party of vertical learning: some columns of people whom others know too, and perhaps the labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import polars as pl

from mahrem import check
from mahrem.dp import Ledger
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.networks import Weights, read_values
from mahrem.federated.shapes._alignment import hash_ids
from mahrem.federated.shapes._label_noise import LabelNoise
from mahrem.federated.shapes._private_ids import Points, new_exponent, points_of, raise_points
from mahrem.federated.shapes._vertical_logistic import LinearPart, SummedTop
from mahrem.federated.shapes._vertical_network import JoinedTop, units_of
from mahrem.federated.shapes._vertical_plan import VerticalPlan
from mahrem.federated.weights import number_classes
from mahrem.federated.wire import Message, Seal
from mahrem.learning.classifiers import DeclaredEncoder, DeclaredNumbers, DeclaredWords
from mahrem.types import Integers


class PartyPart(Protocol):
    """What a party computes from its own columns."""

    def forward(self, rows: Weights) -> Weights:
        """Give what the party with the labels gets."""

    def back(self, slope: Weights) -> Any:
        """Find the gradient."""

    def step(self, rate: float) -> None:
        """Go down it."""


@dataclass
class VerticalParty:
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

    Guarantees:
        - The coordinator gets points that keyed hashes of ids became under the secrets of all parties,
          counts, and bytes that it cannot open. No party gets more of others' ids than points.
        - Other parties get numbers for the rows that all have: the party with the labels a part of the scores
          or the units, the others the slope of the loss by them. Neither is the columns or the labels, but
          the slope of a logistic regression has the sign of the label.
    """

    name: str
    frame: pl.DataFrame = field(repr=False)
    id: str
    columns: Mapping[str, DeclaredNumbers | DeclaredWords] = field(repr=False)
    classes: tuple[str, ...]
    key: bytes = field(repr=False)
    plan: VerticalPlan = field(default_factory=VerticalPlan)
    target: str | None = None
    noise: LabelNoise | None = None
    ledger: Ledger | None = field(default=None, repr=False)
    part: PartyPart | None = field(default=None, init=False, repr=False)
    top: SummedTop | JoinedTop | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._seal = Seal(self.key)
        named = [self.id, *self.columns, *(() if self.target is None else (self.target,))]
        check.columns_exist(named, self.frame.columns)
        if len(set(named)) < len(named):
            raise InvalidParameter("columns: neither the id nor the target is learnt from")
        if not self.columns and self.target is None:
            raise InvalidParameter(f"party={self.name!r} has neither columns nor labels")
        self._codes: Integers = np.zeros(self.frame.height, np.int64)  # of all rows, also those of no class
        if self.target is not None:
            self._codes = number_classes(self.frame[self.target], self.classes)
            # Of all rows: refused rows that it chose, the coordinator would learn their labels from that.
            if self.noise is None and len(np.unique(self._codes[self._codes >= 0])) < 2:
                raise InvalidInput("labels: all rows are of one class; there is nothing to learn")
            if self.noise is not None:
                self._codes = self.noise(self._codes, len(self.classes), self.ledger)
        self._run, self._label, self._next, self._count = "", "", 0, 0
        self._aligned: set[str] = set()
        self._exponent, self._raised = b"", set[str]()
        self._sent: Integers = np.empty(0, np.int64)
        self._rows: Weights = np.empty((0, 0))
        self._right: Weights = np.empty((0, 0))

    def answer(self, message: Message) -> Message:
        """Answer one question: ``ids``, ``raise``, ``align``, ``parts``, ``slopes`` or ``done``.

        Raises:
            InvalidInput: If it is none, out of turn, or about another plan.
        """
        if message.kind == "ids":
            return message.reply(**self._ids(message))
        if message.run != self._run:
            raise InvalidInput("a question of a run that did not begin here")
        if message.kind == "raise":
            return message.reply(ids=self._raise(message.body))
        if message.kind == "align":
            return message.reply(rows=self._align(message.body))
        if message.kind in {"parts", "slopes", "done"} and message.round != self._next:
            raise InvalidInput(f"step={message.round} is out of turn; {self._next} is next")
        if message.kind == "slopes" and self.top is not None:
            return message.reply(**self._slopes(message))
        if message.kind in {"parts", "done"} and self.part is not None and self.top is None:
            return message.reply(part=self._part(message, self.part))
        raise InvalidInput(f"kind={message.kind!r} is no question that this party answers now")

    def _ids(self, message: Message) -> dict[str, Any]:
        if message.body.get("agreed") != self.plan.fingerprint(self.classes):
            raise InvalidInput("the plan, the classes or the version is not the one agreed on here")
        if message.run in self._aligned:
            raise InvalidInput("a run that began here already; other rows need another run")
        kept = np.flatnonzero(self._codes >= 0)
        hashed = hash_ids(self.frame[self.id].gather(kept), self._seal.secret("ids", message.run))
        self._run, self._next, self._sent = message.run, 0, kept[hashed.rows]
        self._exponent, self._raised = new_exponent(), set()
        self.part = self.top = None
        points = raise_points(points_of(hashed.words), self._exponent)
        return {"ids": points, "missing": hashed.missing, "labels": self.target is not None}

    def _raise(self, body: Mapping[str, Any]) -> Points:
        """Multiply another party's points by the secret of this run; once for each party."""
        whose, points = str(body.get("of")), body.get("ids")
        if whose == self.name or whose in self._raised or self._run in self._aligned:
            raise InvalidInput("raise: points of this party, or of one whose were raised already")
        self._raised.add(whose)
        return raise_points(points, self._exponent)  # type: ignore[arg-type] # it refuses what is none

    def _align(self, body: Mapping[str, Any]) -> int:
        places, parties, label = (body.get(name) for name in ("places", "parties", "label"))
        if self.part is not None or self.top is not None or not isinstance(places, np.ndarray):
            raise InvalidInput("align: no rows, or rows that were given already")
        if len(np.unique(places)) < len(places) or not np.isin(places, np.arange(len(self._sent))).all():
            raise InvalidInput("align: rows that this party does not have, or one of them twice")
        if len(places) < self.plan.least_rows:
            raise InvalidInput(f"align: rows={len(places)}; at least {self.plan.least_rows} were agreed on")
        self._aligned.add(self._run)
        held = self._sent[places]
        # an order of their own, which the coordinator does not know
        held = held[hash_ids(self.frame[self.id].gather(held), self._seal.secret("order")).rows]
        frame = self.frame[held]
        seed = self._seal.seed("start", self.name, str(self.plan.seed))
        self._label, self._count = str(label), frame.height
        if self.columns:
            self._rows = DeclaredEncoder(columns=self.columns)(frame, ()).astype(np.float64)
            width, units = self._rows.shape[1], self.plan.units
            self.part = units_of(width, units, seed) if units else LinearPart(width, len(self.classes))
        if self.target is not None:
            self._begin_top(self._codes[held], sorted(parties or ()), seed)
        return self._count

    def _begin_top(self, labels: Integers, parties: list[str], seed: int) -> None:
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
            slope = self._seal.open(message.body.get("slope"), self._run, self._label, self.name, number - 1)
            part.back(read_values(slope, len(before), width, "slope"))
            part.step(self.plan.network.rate)
        self._next += 1
        if message.kind == "done":
            return b""
        values = part.forward(self._rows[self.plan.batch(number, self._count)])
        return self._seal.close(values, self._run, self.name, self._label, number)

    def _slopes(self, message: Message) -> dict[str, bytes]:
        """Take a step with everybody's parts; give each party the slope by its part."""
        number, rate = message.round, self.plan.network.rate
        batch = self.plan.batch(number, self._count)
        parts = {
            name: self._seal.open(held, self._run, name, self.name, number)
            for name, held in message.body.items()
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
        return {
            name: self._seal.close(slope, self._run, self.name, name, number)
            for name, slope in slopes.items()
        }
