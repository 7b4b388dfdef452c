"""A party of trees over different columns: counts its cells for others, or grows the trees by its labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.shapes._aligned_party import AlignedParty
from mahrem.federated.shapes._hidden_products import read_seed
from mahrem.federated.shapes._joint_questions import read_cuts
from mahrem.federated.shapes._tree_grower import TreeCells, TreeGrower
from mahrem.federated.shapes._vertical_plan import VerticalTreesPlan
from mahrem.federated.sums import to_fixed
from mahrem.federated.weights import SharedModel
from mahrem.federated.wire import Message, Words
from mahrem.learning.private import SecretStream, new_stream
from mahrem.types import Integers

# What is sealed in one step, so that one cannot be taken for another.
_STEPS = {name: place for place, name in enumerate(("begin", "gradients", "product", "cuts", "sides"))}


@dataclass
class TreeParty(AlignedParty):
    """A party of :func:`learn_vertical_trees`; its columns, and the labels if it has them, never leave it.

    Fields are those of :class:`VerticalParty`; ``held`` is needed here.
    """

    plan: VerticalTreesPlan = field(default_factory=VerticalTreesPlan)
    _cells: TreeCells | None = field(default=None, init=False, repr=False)
    _trees: TreeGrower | None = field(default=None, init=False, repr=False)
    _stream: SecretStream = field(default_factory=new_stream, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if dict(self.held.get(self.name, {})) != dict(self.columns):
            raise InvalidParameter(f"held: the columns of party={self.name!r} are others there")
        self._opening = False  # of the noise on cells, which comes before the first level
        self._answers: dict[str, Callable[[Mapping[str, object], int], dict[str, object]]] = {
            "shift": self._shift,
            "product": self._product,
            "sides": self._sides,
            "begin": self._take,
            "gradients": self._gradients,
            "sums": self._sums,
            "place": self._place,
        }

    @property
    def begun(self) -> bool:
        """See :class:`AlignedParty`."""
        return self._cells is not None or self._trees is not None

    def forget(self) -> None:
        """See :class:`AlignedParty`."""
        self._cells = self._trees = None
        self._opening = False

    def begin(self, frame: pl.DataFrame, labels: Integers, parties: Sequence[str]) -> None:
        """See :class:`AlignedParty`."""
        if sorted(parties) != sorted(self.held):
            raise InvalidInput("align: other parties than those whose columns were agreed on")
        cells = TreeCells.of(self.columns, self.classes, frame) if self.columns else None
        if self.target is None:
            self._cells = cells
        else:
            self._trees = TreeGrower(
                self.name, str(self.target), self.classes, self.held, self.plan, cells, labels
            )

    def model(self) -> SharedModel:
        """Give the trees so far, over everybody's columns; the party with the labels has them.

        Raises:
            InvalidInput: If this is another party, or nothing was learnt.
        """
        if self._trees is None:
            raise InvalidInput(f"party={self.name!r} has no trees: the one with the labels grows them")
        return self._trees.model()

    def learn(self, message: Message) -> Message:
        """Answer ``shift``, ``product`` and ``sides``; with the labels ``begin``, ``gradients`` and so on.

        Each is answered once for each level, in order.

        Raises:
            InvalidInput: If it is none, or out of turn.
        """
        mine = (
            ("shift", "product", "sides") if self._trees is None else ("begin", "gradients", "sums", "place")
        )
        level, place = divmod(self._next, len(mine) - 1)
        wanted = mine[1 + place] if self._opening else mine[0]
        late = level >= self.plan.rounds * self.plan.depth
        if not self.begun or late or (message.kind, message.round) != (wanted, level):
            raise InvalidInput(f"kind={message.kind!r}, level={message.round}: not what comes next here")
        answer = self._answers[wanted](message.body, level)
        self._next += self._opening
        self._opening = True
        return message.reply(**answer)

    def _close(self, what: str, reader: str, level: int, content: Words | bytes) -> bytes:
        bound = self._run, self.name, reader, level * len(_STEPS) + _STEPS[what]
        if isinstance(content, bytes):
            return self._seal.close_bytes(content, *bound)
        return self._seal.close(content, *bound)

    def _opened(self, what: str, sender: str, level: int, text: object) -> bytes:
        step = level * len(_STEPS) + _STEPS[what]
        return self._seal.open_bytes(text, self._run, sender, self.name, step)

    def _words(self, what: str, sender: str, level: int, text: object, shape: tuple[int, int]) -> Words:
        step = level * len(_STEPS) + _STEPS[what]
        words = self._seal.open_words(text, self._run, sender, self.name, step)
        if words.shape != shape:
            raise InvalidInput(f"{what}: numbers of another shape than agreed")
        return words

    # a party without labels

    def _own(self) -> TreeCells:
        assert self._cells is not None  # noqa: S101 - `learn` has looked
        return self._cells

    def _shift(self, body: Mapping[str, object], level: int) -> dict[str, object]:
        own = self._own()
        shifted = own.holder.shift(read_seed(body))
        return {"cells": own.bins.cells, "shifted": self._close("begin", self._label, level, shifted)}

    def _product(self, body: Mapping[str, object], level: int) -> dict[str, object]:
        own = self._own()
        width = self.plan.width(level, len(self.classes))
        masked = self._words("gradients", self._label, level, body.get("masked"), (self._count, width))
        answer = own.holder.product(masked, read_seed(body))
        if self.plan.cell_epsilon:
            spread = self.plan.deviation(self.columns, len(self.classes))
            drawn = spread * self._stream.normals(f"cells of {self._run}", level + 1, answer.size)
            answer = answer + to_fixed(drawn, np.inf).view(np.uint64).reshape(answer.shape)
        return {"sealed": self._close("product", self._label, level, answer)}

    def _sides(self, body: Mapping[str, object], level: int) -> dict[str, object]:
        """Say of the cuts that were chosen, and of no more than a level has, who is above them."""
        own = self._own()
        cuts = read_cuts(self._opened("cuts", self._label, level, body.get("cuts")))
        if len(cuts) > self.plan.width(level, len(self.classes)) // 2 or not own.known(cuts):
            raise InvalidInput("cuts: more than a level has, or of columns that this party does not hold")
        above = np.packbits(own.above(cuts)).tobytes()
        return {"sealed": self._close("sides", self._label, level, above)}

    # the party with the labels

    def _growing(self) -> TreeGrower:
        assert self._trees is not None  # noqa: S101 - `learn` has looked
        return self._trees

    def _take(self, body: Mapping[str, object], level: int) -> dict[str, object]:
        grower = self._growing()
        for name in grower.others:
            shape = (grower.cells_of(name), self._count)
            grower.shifted[name] = self._words("begin", name, level, body.get(name), shape)
        return {}

    def _gradients(self, body: Mapping[str, object], level: int) -> dict[str, object]:
        grower = self._growing()
        masked = grower.gradients(level % self.plan.depth).mask(read_seed(body))
        closed = {name: self._close("gradients", name, level, masked) for name in grower.others}
        return {"width": masked.shape[1], **closed}

    def _sums(self, body: Mapping[str, object], level: int) -> dict[str, object]:
        grower, products = self._growing(), {}
        for name in grower.others:
            shape = (grower.cells_of(name), grower.asked.vectors.shape[1])
            answer, dealt = (
                self._words("product", name, level, body.get(name), shape),
                body.get(f":{name}"),
            )
            if not isinstance(dealt, np.ndarray) or dealt.dtype != np.uint64 or dealt.shape != shape:
                raise InvalidInput("sums: what was dealt has another shape")
            products[name] = replace(grower.asked, shifted=grower.shifted[name]).product(answer, dealt)
        cuts = grower.grow(level % self.plan.depth, products)
        return {
            name: self._close("cuts", name, level, json.dumps(cuts[name]).encode()) for name in grower.others
        }

    def _place(self, body: Mapping[str, object], level: int) -> dict[str, object]:
        grower = self._growing()
        above = {
            name: _read_sides(self._opened("sides", name, level, body.get(name)), self._count)
            for name in grower.others
        }
        grower.place(level % self.plan.depth, above)
        return {}


def _read_sides(content: bytes, rows: int) -> object:
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    cuts = len(bits) // rows
    return bits[: cuts * rows].reshape(cuts, rows).astype(bool)
