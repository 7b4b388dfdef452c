"""A client that answers what was agreed and nothing else, whoever asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.rules._answered import AnsweredQuestions
from mahrem.federated.rules._plan import RulesPlan
from mahrem.federated.rules._protocol import ExactProtocol
from mahrem.federated.rules._schema import RulesSchema
from mahrem.federated.rules._silo import RulesSilo, readable
from mahrem.federated.wire import Message
from mahrem.types import Integers


@dataclass
class AgreedClient:
    """A table's answers, held to the plan: kinds of questions, their order, columns, settings, the support.

    A server that asks for more than was agreed (other cells, counts in the clear where masks were agreed,
    rules where counts were, lists of rules that no run comes to) is refused, whatever it says about itself.

    Args:
        plan: What was agreed.
        schema: What was agreed of the columns.
        silo: The table.
        lost: How many members a run may lose and go on; those that are left are asked anew, see
            :class:`ExactProtocol`.
        answered: Where it is written down which questions were answered.
    """

    plan: RulesPlan
    schema: RulesSchema
    silo: RulesSilo
    lost: int = 0
    answered: AnsweredQuestions | None = field(default=None, repr=False)
    open_kind: ClassVar[str] = "frequent"
    _protocol: ExactProtocol = field(init=False, repr=False)

    def __post_init__(self) -> None:
        longest = self.plan.longest or len(self.schema.columns)
        self._protocol = ExactProtocol(longest, self.lost + 1, self.answered)

    def answer(self, message: Message) -> Message:
        """Answer a question about frequent cells or rules, or about counts where they may be seen."""
        if message.kind in {"frequent", "rules"}:
            self._refuse(message.kind, message.body)
            if message.kind == "frequent":
                self._protocol.begin(message.kind, message.body)
            return self.silo.answer(message)
        return message.reply(numbers=self.numbers(message.kind, message.body))

    def numbers(self, kind: str, body: Mapping[str, Any]) -> Integers:
        """Give counts to be hidden."""
        with readable(kind):
            self._refuse(kind, body)
            return self._protocol.answer(kind, body, self.silo.numbers)

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
            self._refuse_shapeless(body.get("sets" if kind == "counts" else "left"))

    def _refuse_settings(self, settings: object) -> None:
        """Rules are learnt here with the agreed settings and no others."""
        if settings != asdict(self.plan.cba):
            raise InvalidInput(f"settings other than the agreed support={self.plan.support} ... are refused")

    def _refuse_frequent(self, body: Mapping[str, object]) -> None:
        """What is frequent here is told of single cells only, at one support: many would tell counts."""
        if body.get("support") != self.plan.support:
            raise InvalidInput(f"support other than the agreed {self.plan.support} is refused")
        if body.get("longest") != 1:
            raise InvalidInput("frequent sets of several cells are refused: single cells were agreed")
        by_rule = self.plan.cba.support_of == "rule"
        if body.get("by_rule") is not by_rule or body.get("most") is not None:
            raise InvalidInput("frequent cells are told as agreed: all, and by what was agreed")

    @staticmethod
    def _refuse_shapeless(sets: object) -> None:
        if not isinstance(sets, np.ndarray) or sets.ndim != 2 or sets.dtype.kind != "i":
            raise InvalidInput("the question holds no sets to count")
