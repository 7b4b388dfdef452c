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
    """What is asked of each party's columns; one kind of model knows one."""

    def question(self, name: str) -> bytes:
        """Give what a party is asked, as bytes."""

    def answer(self, columns: Columns, rows: Floats, question: bytes) -> bytes:
        """Answer for encoded rows of a party's columns.

        Raises:
            InvalidInput: If more is asked than such a model asks.
        """

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
        classes: How many.
        held: Everybody's columns.
        model: The model; the party that asks has it.
    """

    plan: VerticalPlan
    classes: int
    held: Mapping[str, Columns] = field(repr=False)
    model: SharedModel | None = field(default=None, repr=False)

    @property
    def outputs(self) -> int:
        """How many numbers a party answers for each row."""
        return self.plan.units or self.classes

    @property
    def holders(self) -> list[str]:
        """Parties with columns, in the order of the model's first layer."""
        return [name for name in sorted(self.held) if self.held[name]]

    def _layers(self) -> tuple[Weights, LayerStack | None, Weights]:
        """Give the first layer's matrix, the layers above it, and the first layer's offset."""
        assert self.model is not None  # noqa: S101 - the party that asks has one
        flat = np.asarray(self.model.arrays["weights"], np.float64)
        width = self.model.schema.encoder.width
        if not self.plan.units:
            matrix, offset = layers_of(flat, shapes_of([width, self.classes]))[0]
            return matrix, None, offset
        units = self.outputs * len(self.holders)
        first = units * (width + 1)
        matrix, offset = layers_of(flat[:first], shapes_of([width, units]))[0]
        sizes = [units, *self.plan.network.hidden, self.classes]
        return matrix, LayerStack(flat[first:].copy(), shapes_of(sizes)), offset

    def question(self, name: str) -> bytes:
        """See :class:`ColumnQuestions`."""
        assert self.model is not None  # noqa: S101
        columns = self.model.schema.columns
        widths = {column: about.width for column, about in columns.items()}
        matrix = self._layers()[0][:, encoded_places(columns, widths, self.held[name])]
        if self.plan.units:
            at = self.outputs * self.holders.index(name)
            matrix = matrix[at : at + self.outputs]
        return np.ascontiguousarray(matrix).tobytes()

    def answer(self, columns: Columns, rows: Floats, question: bytes) -> bytes:
        """See :class:`ColumnQuestions`."""
        width = sum(column.width for column in columns.values())
        if len(question) != 8 * self.outputs * width:
            raise InvalidInput("ask: a part of a first layer of another shape than was agreed")
        matrix = np.frombuffer(question).reshape(self.outputs, width)
        if not np.isfinite(matrix).all():
            raise InvalidInput("ask: a part of a first layer that is not numbers")
        return np.ascontiguousarray(rows.astype(np.float64) @ matrix.T).tobytes()

    def scores(self, answers: Mapping[str, bytes], rows: int) -> Floats:
        """See :class:`ColumnQuestions`."""
        parts = []
        for name in self.holders:
            if len(answers[name]) != 8 * rows * self.outputs:
                raise InvalidInput(f"party={name!r} answered for other rows than align")
            values = np.frombuffer(answers[name]).reshape(rows, self.outputs)
            parts.append(read_values(values, rows, self.outputs, f"party={name!r}"))
        _, above, offset = self._layers()
        if above is None:
            return shares_of(np.sum(parts, axis=0) + offset)
        return shares_of(above.forward(np.maximum(np.hstack(parts) + offset, 0.0)))


@dataclass(frozen=True)
class TreeSides:
    """Of trees each party is asked on which side of the cuts of its columns everybody is.

    Args:
        plan: What was learnt.
        classes: How many.
        held: Everybody's columns.
        model: The model; the party that asks has it.
    """

    plan: VerticalTreesPlan
    classes: int
    held: Mapping[str, Columns] = field(repr=False)
    model: SharedModel | None = field(default=None, repr=False)

    @property
    def most(self) -> int:
        """The most cuts that trees as agreed have."""
        trees = self.plan.rounds * (1 if self.classes == 2 else self.classes)
        return trees * ((1 << self.plan.depth) - 1)

    def _numbers(self, name: str) -> Integers:
        """Say which numbers of the model's binning a party's columns become, in their own order."""
        assert self.model is not None  # noqa: S101
        columns = self.model.schema.columns
        return encoded_places(columns, _binned(columns), self.held[name])

    def _cuts(self, name: str) -> list[tuple[int, int]]:
        """Give the cuts of the trees in a party's columns, numbered as that party numbers them."""
        assert self.model is not None  # noqa: S101
        forest = SharedForest.of_body(self.model.arrays, "forest")
        own = {int(number): place for place, number in enumerate(self._numbers(name))}
        asked = np.stack([forest.feature.ravel(), forest.cut.ravel()], axis=1)
        asked = np.unique(asked[asked[:, 0] >= 0], axis=0)
        return [(own[number], cut) for number, cut in asked.tolist() if number in own]

    def question(self, name: str) -> bytes:
        """See :class:`ColumnQuestions`."""
        return json.dumps(self._cuts(name)).encode()

    def answer(self, columns: Columns, rows: Floats, question: bytes) -> bytes:
        """See :class:`ColumnQuestions`."""
        bins = SharedBins.of(SharedSchema(columns=columns, target="", classes=("0", "1")))
        cuts = read_cuts(question)
        known = all(0 <= number < len(bins.cuts) and cut >= 0 for number, cut in cuts)
        if len(cuts) > self.most or not known:
            raise InvalidInput("ask: more cuts than trees as agreed have, or of columns of others")
        numbers, places = np.array(cuts, np.int64).reshape(-1, 2).T
        return np.packbits(places[:, None] < bins(rows)[:, numbers].T).tobytes()

    def scores(self, answers: Mapping[str, bytes], rows: int) -> Floats:
        """See :class:`ColumnQuestions`; a bin that lies on the same sides of all cuts stands for the own."""
        assert self.model is not None  # noqa: S101
        forest = SharedForest.of_body(self.model.arrays, "forest")
        bins = np.zeros((rows, sum(_binned(self.model.schema.columns).values())), np.uint8)
        for name, answer in answers.items():
            cuts, numbers = self._cuts(name), self._numbers(name)
            if len(answer) != -(-len(cuts) * rows // 8):
                raise InvalidInput(f"party={name!r} answered for other rows or cuts than it was asked")
            above = np.unpackbits(np.frombuffer(answer, np.uint8), count=len(cuts) * rows)
            for (number, cut), side in zip(cuts, above.reshape(len(cuts), rows), strict=True):
                at = numbers[number]
                bins[:, at] = np.maximum(bins[:, at], np.where(side, cut + 1, 0))
        return shares_of(forest.scores(bins, self.model.outputs))


def read_cuts(content: bytes) -> list[tuple[int, int]]:
    """Read cuts that a party sealed.

    Raises:
        InvalidInput: If they are none.
    """
    try:
        return [(int(number), int(cut)) for number, cut in json.loads(content)]
    except (ValueError, TypeError):
        raise InvalidInput("cuts: no pairs of whole numbers") from None


def _binned(columns: Columns) -> dict[str, int]:
    """Say how many numbers of a binning each column becomes."""
    schema = {
        name: SharedSchema(columns={name: column}, target="", classes=("0", "1"))
        for name, column in columns.items()
    }
    return {name: len(SharedBins.of(one).cuts) for name, one in schema.items()}


def questions_about(
    plan: VerticalPlan | VerticalTreesPlan,
    classes: Sequence[str],
    held: Mapping[str, Columns],
    model: SharedModel | None = None,
) -> LayerShares | TreeSides:
    """Give what is asked about columns, by what was learnt."""
    if isinstance(plan, VerticalPlan):
        return LayerShares(plan, len(classes), held, model)
    return TreeSides(plan, len(classes), held, model)
