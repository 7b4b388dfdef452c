"""A client that answers what was agreed and nothing else, whoever asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.rules._plan import RulesPlan
from mahrem.federated.rules._schema import RulesSchema
from mahrem.federated.rules._silo import RulesSilo
from mahrem.federated.wire import Message
from mahrem.types import Integers


@dataclass
class AgreedClient:
    """A table's answers, held to the plan: kinds of questions, columns, settings, the least support.

    A server that asks for more than was agreed (rarer cells, counts in the clear where masks were agreed,
    rules where counts were) is refused, whatever it says about itself.
    """

    plan: RulesPlan
    schema: RulesSchema
    silo: RulesSilo
    open_kind: ClassVar[str] = "frequent"

    def answer(self, message: Message) -> Message:
        """Answer a question about frequent cells or rules, or about counts where they may be seen."""
        self._refuse(message.kind, message.body)
        return self.silo.answer(message)

    def numbers(self, kind: str, body: Mapping[str, Any]) -> Integers:
        """Give counts to be hidden."""
        self._refuse(kind, body)
        return self.silo.numbers(kind, body)

    def _refuse(self, kind: str, body: Mapping[str, Any]) -> None:
        kinds = ("rules",) if self.plan.how == "one-shot" else ("frequent", "counts", "cover")
        if kind not in kinds:
            raise InvalidInput(f"kind={kind!r} is refused: {self.plan.how} was agreed")
        if list(body.get("columns", ())) != list(self.schema.columns):
            raise InvalidInput("the question is about other columns than were agreed")
        if kind == "rules":
            self._refuse_settings(body.get("settings"))
        elif kind == "frequent":
            self._refuse_frequent(body)
        else:
            self._refuse_long(body.get("sets" if kind == "counts" else "left"))

    def _refuse_settings(self, settings: object) -> None:
        """Rules are learnt here with the agreed settings and no others."""
        if settings != asdict(self.plan.cba):
            raise InvalidInput(f"settings other than the agreed support={self.plan.support} ... are refused")

    def _refuse_frequent(self, body: Mapping[str, object]) -> None:
        """What is frequent here is told of single cells only, and of none rarer than agreed."""
        support = body.get("support")
        if not isinstance(support, int | float) or not support >= self.plan.support:
            raise InvalidInput(f"support below the agreed {self.plan.support} is refused")
        if body.get("longest") != 1:
            raise InvalidInput("frequent sets of several cells are refused: single cells were agreed")

    def _refuse_long(self, sets: object) -> None:
        """Nobody is counted by more cells than agreed."""
        if not isinstance(sets, np.ndarray) or sets.ndim != 2:
            raise InvalidInput("the question holds no sets to count")
        longest = self.plan.longest
        if longest is not None and sets.size and int((sets >= 0).sum(axis=1).max()) > longest:
            raise InvalidInput(f"sets of more than the agreed longest={longest} cells are refused")
