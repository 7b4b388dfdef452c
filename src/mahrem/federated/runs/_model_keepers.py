"""Clients of shapes that write what they end with to their owner's files: a model, or predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mahrem.errors import InvalidInput
from mahrem.federated import shapes
from mahrem.federated.weights import SharedModel
from mahrem.federated.wire import Answerer, Message
from mahrem.files import write_whole


class ShapeClient(Answerer, Protocol):
    """A client of a shape: it has the model, or its part of it, in the end."""

    def model(self) -> SharedModel:
        """Give it."""


@dataclass
class ModelKeeper:
    """A client of a shape that writes its model to its owner's file when the run is over."""

    client: ShapeClient = field(repr=False)
    path: Path | None = None

    def answer(self, message: Message) -> Message:
        """Answer ``keep-model`` here, everything else by the client.

        Raises:
            InvalidInput: If there is no model yet.
        """
        if message.kind != "keep-model":
            return self.client.answer(message)
        if self.path is None:
            raise InvalidInput("this member has no model to keep")
        try:
            write_whole(self.path, self.client.model().to_bytes())
        except OSError:
            raise InvalidInput("the model cannot be written where this member keeps it") from None
        return message.reply()


@dataclass
class PredictionKeeper:
    """The client that asks about new people; it writes their predictions to its owner's file in the end."""

    client: shapes.AskingParty = field(repr=False)
    path: Path

    def answer(self, message: Message) -> Message:
        """Answer ``keep-predictions`` here, everything else by the client.

        Raises:
            InvalidInput: If there are none yet.
        """
        if message.kind != "keep-predictions":
            return self.client.answer(message)
        try:
            write_whole(self.path, self.client.predictions().write_csv().encode())
        except OSError:
            raise InvalidInput("predictions cannot be written where this member keeps them") from None
        return message.reply()


@dataclass
class LearnerOrTeller:
    """A member that learns with others or tells about new people, by what a run begins with."""

    learner: Answerer = field(repr=False)
    teller: shapes.TellingParty = field(repr=False)
    telling: bool = False

    def answer(self, message: Message) -> Message:
        """Answer by the one whose plan the run began under."""
        if message.kind == "ids":
            agreed = self.teller.plan.fingerprint(self.teller.classes)
            self.telling = message.body.get("agreed") == agreed
        return (self.teller if self.telling else self.learner).answer(message)
