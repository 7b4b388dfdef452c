"""A network that makes a series step by step, each from those before, trained with differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahrem.check import extra
from mahrem.errors import InvalidParameter
from mahrem.learning.private import SecretStream, TrainingPlan
from mahrem.learning.private.steps import torch_of
from mahrem.learning.synthesis._drawings import (
    CellsAsked,
    NetworkDrawing,
    admitted_chances,
    drawn_cells,
    resampled,
)
from mahrem.learning.synthesis._generators import Generator, GeneratorExamples, layer_sizes
from mahrem.learning.synthesis._likelihoods import CellLikelihood, Likelihood
from mahrem.types import Integers

WAVES = 2  # how often the clock of a step turns in a series


@dataclass(frozen=True, kw_only=True)
class Recurrent(Generator):
    """An LSTM that reads a series so far and says which cell its next step lies in.

    A row is one series: its columns are its steps, in their order. The unit of privacy is the row (one series
    of one person); who has several must be declared to the ledger, which limits them. The network is shared
    by all steps, so columns should be of one kind and have the same bounds.

    Args:
        hidden: One size: numbers the network remembers.

    References:
        Hochreiter, Schmidhuber: Long short-term memory, 1997.
    """

    hidden: int | Sequence[int] = 32
    learning_rate: float = 0.01

    name: ClassVar[str] = "lstm"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(layer_sizes(hidden=self.hidden)) != 1:
            raise InvalidParameter(f"hidden={self.hidden!r}: lstm takes one size")

    def prepared(
        self, examples: GeneratorExamples, likelihood: Likelihood, plan: TrainingPlan, stream: SecretStream
    ) -> Callable[[], NetworkDrawing]:
        if not isinstance(likelihood, CellLikelihood):
            raise InvalidParameter("lstm makes series of numbers or words from a table, not pictures")
        torch = torch_of()
        width, labels = likelihood.width, len(examples.shares)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream.torch_seed("start"))
            model = _reader(layer_sizes(hidden=self.hidden)[0], likelihood, labels)
        targets = torch.from_numpy(examples.rows)[:, :width]
        steps = self.private_steps(model, likelihood.losses, examples, targets, plan, stream)

        def train() -> NetworkDrawing:
            return _SeriesDrawing(steps.run().cpu(), labels)

        return train


@dataclass(frozen=True)
class _SeriesDrawing(NetworkDrawing):
    """Draws series: each step is drawn before the next is asked for."""

    network: Any
    labels: int

    def cells(self, asked: CellsAsked, rng: np.random.Generator) -> tuple[Integers, Integers]:
        with torch_of().no_grad():
            drawn, taken = self._series(asked, rng)
        last = rng.permutation(asked.tried)[: asked.rows]  # all of them are equally likely by now
        return drawn[last], taken[last]

    def _series(self, asked: CellsAsked, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw step by step; after a condition, series that meet it more likely are gone on with more often.

        That is a particle filter: taken again are whole beginnings, which part ways at the next step.
        """
        torch, network, sizes, kept = torch_of(), self.network, asked.sizes, asked.kept
        most, labels = max(sizes), torch.from_numpy(asked.labels_as_ones(self.labels))
        drawn = np.zeros((len(labels), len(sizes)), dtype=np.int64)
        taken, before, state = np.arange(len(labels)), torch.zeros(len(labels), 1, most + 1), None
        for step, (size, start) in enumerate(zip(sizes, network.start.split(list(sizes)), strict=True)):
            fed = network.fed(before, network.clock[step : step + 1], labels)
            states, state = network.series(fed, state)
            outputs = (network.answer(states)[:, 0, :size] + start).double().numpy()
            if step in kept:
                outputs, likely = admitted_chances(outputs, kept[step])
                again = resampled(likely, len(labels), rng)
                outputs, drawn, taken, labels = outputs[again], drawn[again], taken[again], labels[again]
                state = tuple(one[:, again] for one in state)
            chosen = drawn_cells(outputs, rng)
            drawn[:, step] = chosen
            places = torch.nn.functional.one_hot(torch.from_numpy(chosen), most).float()
            before = torch.cat([places, network.levels[step, chosen][:, None]], dim=1)[:, None]
        return drawn, taken


def _reader(hidden: int, likelihood: CellLikelihood, labels: int) -> Any:
    """Make the network: what it is fed at a step is the cell before, as place and level, time and label."""
    torch = torch_of()
    try:
        from opacus.layers import DPLSTM
    except ImportError:
        raise extra("train", needed_for="private LSTM layers") from None
    sizes = likelihood.sizes
    most, length = max(sizes), len(sizes)

    class SeriesMaker(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Gives the outputs of all steps of series; a step sees those before it."""

        def __init__(self) -> None:
            super().__init__()
            self.series = DPLSTM(most + 1 + 2 * WAVES + labels, hidden, batch_first=True)
            self.answer = torch.nn.Linear(hidden, most)
            self.register_buffer("start", likelihood.start())
            self.register_buffer("clock", _clock(length))
            self.register_buffer("levels", torch.stack([_level(size, most) for size in sizes]))

        def forward(self, rows: Any) -> Any:
            cells, label = rows.split([sum(sizes), labels], dim=1)
            pad = torch.nn.functional.pad
            places = torch.stack([pad(one, (0, most - one.shape[1])) for one in cells.split(sizes, 1)], dim=1)
            level = (places * self.levels).sum(dim=2, keepdim=True)
            before = pad(torch.cat([places, level], dim=2), (0, 0, 1, 0))[:, :-1]
            states = self.series(self.fed(before, self.clock, label))[0]
            outputs = self.answer(states)
            kept = [outputs[:, step, :size] for step, size in enumerate(sizes)]
            return torch.cat(kept, dim=1) + self.start

        def fed(self, before: Any, clock: Any, label: Any) -> Any:
            many = before.shape[:2]
            return torch.cat([before, clock.expand(*many, -1), label[:, None].expand(*many, -1)], dim=2)

    return SeriesMaker()


def _clock(length: int) -> Any:
    torch = torch_of()
    turn = 2 * math.pi * torch.arange(length)[:, None] / length * torch.arange(1, WAVES + 1)
    return torch.cat([turn.sin(), turn.cos()], dim=1)


def _level(size: int, most: int) -> Any:
    """Give how high each cell of a step lies, from -1 to 1."""
    torch = torch_of()
    return torch.nn.functional.pad(torch.linspace(-1, 1, size), (0, most - size))
