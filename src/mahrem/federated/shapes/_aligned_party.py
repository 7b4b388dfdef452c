"""A party whose rows are aligned with others' by private set intersection, before anything is learnt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.dp import Ledger, refuse_one_value_twice
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.shapes._alignment import hash_ids
from mahrem.federated.shapes._label_noise import LabelNoise
from mahrem.federated.shapes._plan import AlignedPlan
from mahrem.federated.shapes._private_ids import Points, new_exponent, points_of, raise_points
from mahrem.federated.weights import number_classes
from mahrem.federated.wire import Message, Seal
from mahrem.learning.classifiers import DeclaredNumbers, DeclaredWords
from mahrem.types import Integers

Columns = Mapping[str, DeclaredNumbers | DeclaredWords]


@dataclass
class AlignedParty(ABC):
    """A party of vertical learning, as far as it is about whose rows are the same people.

    See :class:`VerticalParty` for what its fields mean.
    """

    name: str
    frame: pl.DataFrame = field(repr=False)
    id: str
    columns: Columns = field(repr=False)
    classes: tuple[str, ...]
    key: bytes | Seal = field(repr=False)
    plan: AlignedPlan
    target: str | None = None
    noise: LabelNoise | None = None
    ledger: Ledger | None = field(default=None, repr=False)
    held: Mapping[str, Columns] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._seal = Seal.of(self.key)
        named = [self.id, *self.columns, *(() if self.target is None else (self.target,))]
        check.columns_exist(named, self.frame.columns)
        if len(set(named)) < len(named):
            raise InvalidParameter("columns: neither the id nor the target is learnt from")
        if not self.columns and not self.leads:
            raise InvalidParameter(f"party={self.name!r} has neither columns nor labels")
        self._codes: Integers = np.zeros(self.frame.height, np.int64)  # of all rows, also those of no class
        if self.target is not None:
            if self.noise is not None:
                refuse_one_value_twice(self.target, self.classes)
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
        self._held_rows: Integers = np.empty(0, np.int64)  # of the table, in the common order

    @property
    def leads(self) -> bool:
        """Whether this is the one party that others answer: it has the labels."""
        return self.target is not None

    @property
    @abstractmethod
    def begun(self) -> bool:
        """Whether rows were aligned and learning began."""

    @abstractmethod
    def forget(self) -> None:
        """Forget what was learnt: another run begins."""

    @abstractmethod
    def begin(self, frame: pl.DataFrame, labels: Integers, parties: Sequence[str]) -> None:
        """Begin to learn from rows in the common order."""

    @abstractmethod
    def learn(self, message: Message) -> Message:
        """Answer what comes after the alignment."""

    def answer(self, message: Message) -> Message:
        """Answer one question: ``ids``, ``raise``, ``align``, or one of learning.

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
        return self.learn(message)

    def _ids(self, message: Message) -> dict[str, object]:
        if message.body.get("agreed") != self.plan.fingerprint(self.classes):
            raise InvalidInput("the plan, the classes or the version is not the one agreed on here")
        if message.run in self._aligned:
            raise InvalidInput("a run that began here already; other rows need another run")
        kept = np.flatnonzero(self._codes >= 0)
        hashed = hash_ids(self.frame[self.id].gather(kept), self._seal.secret("ids", message.run))
        self._run, self._next, self._sent = message.run, 0, kept[hashed.rows]
        self._exponent, self._raised = new_exponent(), set()
        self.forget()
        points = raise_points(points_of(hashed.words), self._exponent)
        return {"ids": points, "missing": hashed.missing, "labels": self.leads}

    def _raise(self, body: Mapping[str, object]) -> Points:
        """Multiply another party's points by the secret of this run; once for each party."""
        whose, points = str(body.get("of")), body.get("ids")
        if whose == self.name or whose in self._raised or self._run in self._aligned:
            raise InvalidInput("raise: points of this party, or of one whose were raised already")
        self._raised.add(whose)
        return raise_points(points, self._exponent)  # type: ignore[arg-type] # it refuses what is none

    def _align(self, body: Mapping[str, Any]) -> int:
        places, parties, label = (body.get(name) for name in ("places", "parties", "label"))
        if self.begun or not isinstance(places, np.ndarray):
            raise InvalidInput("align: no rows, or rows that were given already")
        if len(np.unique(places)) < len(places) or not np.isin(places, np.arange(len(self._sent))).all():
            raise InvalidInput("align: rows that this party does not have, or one of them twice")
        if len(places) < self.plan.least_rows:
            raise InvalidInput(f"align: rows={len(places)}; at least {self.plan.least_rows} were agreed on")
        self._aligned.add(self._run)
        held = self._sent[places]
        # an order of their own, which the coordinator does not know
        held = held[hash_ids(self.frame[self.id].gather(held), self._seal.secret("order")).rows]
        self._label, self._count, self._held_rows = str(label), len(held), held
        self.begin(self.frame[held], self._codes[held], sorted(parties or ()))
        return self._count
