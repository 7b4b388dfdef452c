"""New people whose columns lie in different houses, predicted together: no house shows its columns."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.federated.shapes._aligned_party import AlignedParty
from mahrem.federated.shapes._joint_questions import answer_question, questions_of
from mahrem.federated.shapes._plan import AlignedPlan
from mahrem.federated.shapes._vertical import VerticalResult, VerticalRounds
from mahrem.federated.shapes._vertical_plan import VerticalPlan, VerticalTreesPlan
from mahrem.federated.weights import SharedModel
from mahrem.federated.wire import Message, MessageGrid
from mahrem.learning.classifiers import DeclaredEncoder
from mahrem.types import Floats, Integers


@dataclass(frozen=True, kw_only=True)
class PredictionPlan(AlignedPlan):
    """What parties agree on about new people.

    Args:
        learnt: The plan of the model that is asked.
        least_rows: Fewer people whom all parties know are an error.
    """

    learnt: VerticalPlan | VerticalTreesPlan
    least_rows: int = 1
    fewest: ClassVar[int] = 1


def predict_vertical(grid: MessageGrid, plan: PredictionPlan, classes: Sequence[str]) -> VerticalResult:
    """Align new people by private set intersection and predict them from columns of different parties.

    Args:
        grid: How to reach the parties: one :class:`AskingParty`, which has the model, and others that tell
            (:class:`TellingParty`).
        plan: What was agreed.
        classes: Values of the target.

    Guarantees:
        - Predictions are those of the model with all columns in one place, to rounding.
        - The party with the model learns of people whom all parties know what trees ask: on which side of
          their cuts a person is; of layers, each party's part of what enters them. Others learn which of
          their people are asked about, and the model's part on their columns. The coordinator learns counts.

    Raises:
        Infeasible: If a party gives no answer, or nobody is known to all.
        InvalidInput: If not exactly one party asks.

    Example:
        >>> from mahrem.federated import LocalGrid
        >>> from mahrem.federated.shapes import TreeParty, learn_vertical_trees
        >>> from mahrem.learning.classifiers import DeclaredNumbers
        >>> held = {"bank": {}, "shop": {"year": DeclaredNumbers(lower=0, upper=99)}}
        >>> bank = pl.DataFrame({"id": range(99), "old": ["n"] * 50 + ["y"] * 49})
        >>> shop = pl.DataFrame({"id": range(200), "year": [*range(99), *range(101)]})
        >>> learnt = VerticalTreesPlan(rounds=3, depth=1, cell_epsilon=0)
        >>> classes, key = ("n", "y"), bytes(32)
        >>> one = TreeParty("bank", bank, "id", held["bank"], classes, key, learnt, target="old", held=held)
        >>> two = TreeParty("shop", shop, "id", held["shop"], classes, key, learnt, held=held)
        >>> _ = learn_vertical_trees(LocalGrid({"bank": one, "shop": two}), learnt, classes)
        >>> plan, new = PredictionPlan(learnt=learnt), pl.DataFrame({"id": [190, 104, 999]})
        >>> asks = AskingParty("bank", new, "id", {}, classes, key, plan, held=held, model=one.model())
        >>> tells = TellingParty("shop", shop, "id", held["shop"], classes, key, plan, held=held)
        >>> predict_vertical(LocalGrid({"bank": asks, "shop": tells}), plan, classes).rows
        2
        >>> asks.predictions()["prediction"].to_list()
        ['y', 'n', None]
    """
    rounds = VerticalRounds(grid, plan, secrets.token_hex(8))
    result = rounds.align(classes)
    (asked,) = rounds.ask("ask", 0, {result.label: {}}).values()
    answers = rounds.ask("tell", 0, {name: {"asked": asked.body.get(name)} for name in result.holders})
    rounds.ask("told", 0, {result.label: {name: reply.body.get("answer") for name, reply in answers.items()}})
    return result


@dataclass
class _PredictingParty(AlignedParty):
    """What both sides have: rows of the people whom all know, encoded as was agreed."""

    plan: PredictionPlan
    _rows: Floats | None = field(default=None, init=False, repr=False)

    @property
    def begun(self) -> bool:
        """See :class:`AlignedParty`."""
        return self._rows is not None

    def forget(self) -> None:
        """See :class:`AlignedParty`."""
        self._rows = None

    def begin(self, frame: pl.DataFrame, labels: Integers, parties: Sequence[str]) -> None:  # noqa: ARG002
        """See :class:`AlignedParty`."""
        if sorted(parties) != sorted(self.held):
            raise InvalidInput("align: other parties than those whose columns were agreed on")
        self._rows = (
            DeclaredEncoder(columns=self.columns)(frame, ())
            if self.columns
            else np.empty((frame.height, 0), np.float32)
        )

    def _aligned_rows(self, message: Message, kind: str) -> Floats:
        if message.kind != kind or self._rows is None or message.round != 0:
            raise InvalidInput(f"kind={message.kind!r}: not what comes next here")
        return self._rows


@dataclass
class TellingParty(_PredictingParty):
    """A party that tells of its columns what a model asks, once in a run. Fields as of :class:`TreeParty`."""

    _answered: bool = field(default=False, init=False, repr=False)

    def forget(self) -> None:
        """See :class:`AlignedParty`."""
        super().forget()
        self._answered = False

    def learn(self, message: Message) -> Message:
        """Answer ``tell``.

        Raises:
            InvalidInput: If it is another question, or a second one.
        """
        rows = self._aligned_rows(message, "tell")
        if self._answered:
            raise InvalidInput("tell: this party has told what was asked in this run")
        question = self._seal.open_bytes(message.body.get("asked"), self._run, self._label, self.name, 0)
        answer = answer_question(self.plan.learnt, self.classes, self.columns, rows, question)
        self._answered = True
        return message.reply(answer=self._seal.close_bytes(answer, self._run, self.name, self._label, 1))


@dataclass
class AskingParty(_PredictingParty):
    """The party that has the model; its table names new people.

    Args:
        model: What was learnt.
        The others are those of :class:`TreeParty`.
    """

    model: SharedModel = field(kw_only=True, repr=False)
    _likely: Floats | None = field(default=None, init=False, repr=False)
    _asked: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        agreed = {name: column for columns in self.held.values() for name, column in columns.items()}
        if dict(self.model.schema.columns) != agreed or tuple(self.model.schema.classes) != self.classes:
            raise InvalidInput("model: it was learnt from other columns or classes than were agreed on")

    @property
    def leads(self) -> bool:
        """See :class:`AlignedParty`: it has no labels, but it is the one that gets an answer."""
        return True

    def forget(self) -> None:
        """See :class:`AlignedParty`."""
        super().forget()
        self._likely, self._asked = None, False

    def learn(self, message: Message) -> Message:
        """Answer ``ask`` with what others are asked, and take what they told by ``told``.

        Raises:
            InvalidInput: If it is neither, or out of turn.
        """
        rows = self._aligned_rows(message, "told" if self._asked else "ask")
        others = [name for name in sorted(self.held) if name != self.name and self.held[name]]
        questions = questions_of(self.plan.learnt, self.held, self.model)
        if not self._asked:
            self._asked = True
            sealed = {
                name: self._seal.close_bytes(questions.question(name), self._run, self.name, name, 0)
                for name in others
            }
            return message.reply(**sealed)
        if self._likely is not None:
            raise InvalidInput("told: answers came already")
        answers = {
            name: self._seal.open_bytes(message.body.get(name), self._run, name, self.name, 1)
            for name in others
        }
        if self.columns:
            own = questions.question(self.name)
            answers[self.name] = answer_question(self.plan.learnt, self.classes, self.columns, rows, own)
        self._likely = questions.scores(answers, len(rows))
        return message.reply()

    def predictions(self) -> pl.DataFrame:
        """Give the ids of all rows in their order with class and probabilities; null of whom others lack.

        Raises:
            InvalidInput: If nobody answered yet.
        """
        if self._likely is None:
            raise InvalidInput("predictions: the others were not asked yet")
        classes = np.array(self.classes)[self._likely.argmax(axis=1)].tolist()
        likely = {f"p({name})": self._likely[:, place] for place, name in enumerate(self.classes)}
        predicted = pl.DataFrame({"row": self._held_rows, "prediction": classes, **likely})
        rows = self.frame.select(self.id).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
        return rows.join(predicted, on="row", how="left", maintain_order="left").drop("row")
