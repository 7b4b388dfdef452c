"""What a model asks of columns that it does not see, and how it predicts from what is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.networks import LayerStack, Weights, layers_of, read_values, shapes_of
from mahrem.federated.shapes._aligned_party import Columns
from mahrem.federated.shapes._vertical_plan import VerticalPlan, VerticalTreesPlan
from mahrem.federated.weights import SharedBins, SharedForest, SharedModel, SharedSchema, shares_of
from mahrem.types import Floats, Integers


class ColumnQuestions(Protocol):
    """What a model asks of each party's columns; of every kind of model something else."""

    def question(self, name: str) -> bytes:
        """Give what a party is asked, as bytes."""

    def scores(self, answers: Mapping[str, bytes], rows: int) -> Floats:
        """Give ``(n, classes)`` how likely each class is, from everybody's answers.

        Raises:
            InvalidInput: If one has another shape.
        """


def encoded_places(columns: Columns, widths: Mapping[str, int], wanted: Columns) -> Integers:
    """Say where some columns stand among the numbers that all columns become."""
    starts = dict(zip(columns, np.cumsum([0, *(widths[name] for name in columns)]).tolist(), strict=False))
    places = [np.arange(starts[name], starts[name] + widths[name]) for name in wanted]
    return np.concatenate(places) if places else np.empty(0, np.int64)


@dataclass(frozen=True)
class LayerShares:
    """Of layers each party is asked for its columns times its part of the first layer: such parts add up.

    Args:
        plan: What was learnt.
        held: Everybody's columns.
        model: What came of it.
    """

    plan: VerticalPlan
    held: Mapping[str, Columns] = field(repr=False)
    model: SharedModel = field(repr=False)

    @property
    def outputs(self) -> int:
        """How many numbers a party answers for each row."""
        return _outputs(self.plan, self.model.schema.classes)

    @property
    def holders(self) -> list[str]:
        """Parties with columns, in the order of the model's first layer."""
        return [name for name in sorted(self.held) if self.held[name]]

    def _layers(self) -> tuple[Weights, Weights, LayerStack | None]:
        """Give matrix and offset of the first layer, and the layers above it."""
        flat = np.asarray(self.model.arrays["weights"], np.float64)
        width, classes = self.model.schema.encoder.width, len(self.model.schema.classes)
        units = self.outputs * len(self.holders) if self.plan.units else classes
        first = units * (width + 1)
        matrix, offset = layers_of(flat[:first], shapes_of([width, units]))[0]
        if not self.plan.units:
            return matrix, offset, None
        sizes = [units, *self.plan.network.hidden, classes]
        return matrix, offset, LayerStack(flat[first:].copy(), shapes_of(sizes))

    def question(self, name: str) -> bytes:
        """See :class:`ColumnQuestions`."""
        columns = self.model.schema.columns
        widths = {column: about.width for column, about in columns.items()}
        matrix = self._layers()[0][:, encoded_places(columns, widths, self.held[name])]
        if self.plan.units:
            at = self.outputs * self.holders.index(name)
            matrix = matrix[at : at + self.outputs]
        return np.ascontiguousarray(matrix).tobytes()

    def scores(self, answers: Mapping[str, bytes], rows: int) -> Floats:
        """See :class:`ColumnQuestions`."""
        parts = []
        for name in self.holders:
            if len(answers[name]) != 8 * rows * self.outputs:
                raise InvalidInput(f"party={name!r} answered for other rows than align")
            values = np.frombuffer(answers[name]).reshape(rows, self.outputs)
            parts.append(read_values(values, rows, self.outputs, f"party={name!r}"))
        _, offset, above = self._layers()
        if above is None:
            return shares_of(np.sum(parts, axis=0) + offset)
        return shares_of(above.forward(np.maximum(np.hstack(parts) + offset, 0.0)))


@dataclass(frozen=True)
class TreeSides:
    """Of trees each party is asked on which side of the cuts of its columns everybody is.

    Args:
        held: Everybody's columns.
        model: The trees.
    """

    held: Mapping[str, Columns] = field(repr=False)
    model: SharedModel = field(repr=False)

    def _numbers(self, name: str) -> Integers:
        """Say which numbers of the model's binning a party's columns become, in their own order."""
        columns = self.model.schema.columns
        return encoded_places(columns, _binned(columns), self.held[name])

    def _cuts(self, name: str) -> list[tuple[int, int]]:
        """Give the cuts of the trees in a party's columns, numbered as that party numbers them."""
        forest = SharedForest.of_body(self.model.arrays, "forest")
        own = {int(number): place for place, number in enumerate(self._numbers(name))}
        asked = np.stack([forest.feature.ravel(), forest.cut.ravel()], axis=1)
        asked = np.unique(asked[asked[:, 0] >= 0], axis=0)
        return [(own[number], cut) for number, cut in asked.tolist() if number in own]

    def question(self, name: str) -> bytes:
        """See :class:`ColumnQuestions`."""
        return json.dumps(self._cuts(name)).encode()

    def scores(self, answers: Mapping[str, bytes], rows: int) -> Floats:
        """See :class:`ColumnQuestions`; a bin that lies on the same sides of all cuts stands for the own."""
        bins = np.zeros((rows, sum(_binned(self.model.schema.columns).values())), np.uint8)
        for name, answer in answers.items():
            cuts, numbers = self._cuts(name), self._numbers(name)
            if len(answer) != -(-len(cuts) * rows // 8):
                raise InvalidInput(f"party={name!r} answered for other rows or cuts than it was asked")
            above = np.unpackbits(np.frombuffer(answer, np.uint8), count=len(cuts) * rows)
            for (number, cut), side in zip(cuts, above.reshape(len(cuts), rows), strict=True):
                at = numbers[number]
                bins[:, at] = np.maximum(bins[:, at], np.where(side, cut + 1, 0))
        forest = SharedForest.of_body(self.model.arrays, "forest")
        return shares_of(forest.scores(bins, self.model.outputs))


def questions_of(
    plan: VerticalPlan | VerticalTreesPlan, held: Mapping[str, Columns], model: SharedModel
) -> ColumnQuestions:
    """Give what a model asks of everybody's columns."""
    return LayerShares(plan, held, model) if isinstance(plan, VerticalPlan) else TreeSides(held, model)


def answer_question(
    plan: VerticalPlan | VerticalTreesPlan,
    classes: Sequence[str],
    columns: Columns,
    rows: Floats,
    question: bytes,
) -> bytes:
    """Answer what a model asks of a party's columns, for encoded rows.

    Raises:
        InvalidInput: If more is asked than a model of this plan asks.
    """
    if isinstance(plan, VerticalPlan):
        return _answer_share(_outputs(plan, classes), columns, rows, question)
    trees = plan.rounds * (1 if len(classes) == 2 else len(classes))
    return _answer_sides(trees * ((1 << plan.depth) - 1), columns, rows, question)


def _outputs(plan: VerticalPlan, classes: Sequence[str]) -> int:
    return plan.units or len(classes)


def _answer_share(outputs: int, columns: Columns, rows: Floats, question: bytes) -> bytes:
    width = sum(column.width for column in columns.values())
    if len(question) != 8 * outputs * width:
        raise InvalidInput("ask: a part of a first layer of another shape than was agreed")
    matrix = np.frombuffer(question).reshape(outputs, width)
    if not np.isfinite(matrix).all():
        raise InvalidInput("ask: a part of a first layer that is not numbers")
    return np.ascontiguousarray(rows.astype(np.float64) @ matrix.T).tobytes()


def _answer_sides(most: int, columns: Columns, rows: Floats, question: bytes) -> bytes:
    bins, cuts = _bins_of(columns), read_cuts(question)
    known = all(0 <= number < len(bins.cuts) and cut >= 0 for number, cut in cuts)
    if len(cuts) > most or not known:
        raise InvalidInput("ask: more cuts than trees as agreed have, or of columns of others")
    numbers, places = np.array(cuts, np.int64).reshape(-1, 2).T
    return np.packbits(places[:, None] < bins(rows)[:, numbers].T).tobytes()


def read_cuts(content: bytes) -> list[tuple[int, int]]:
    """Read cuts that a party sealed.

    Raises:
        InvalidInput: If they are none.
    """
    try:
        return [(int(number), int(cut)) for number, cut in json.loads(content)]
    except (ValueError, TypeError):
        raise InvalidInput("cuts: no pairs of whole numbers") from None


def _bins_of(columns: Columns) -> SharedBins:
    return SharedBins.of(SharedSchema(columns=columns, target="", classes=("0", "1")))


def _binned(columns: Columns) -> dict[str, int]:
    """Say how many numbers of a binning each column becomes."""
    return {name: len(_bins_of({name: column}).cuts) for name, column in columns.items()}
