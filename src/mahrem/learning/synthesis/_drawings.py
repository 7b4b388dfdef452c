"""Rows from a trained network: cells that meet conditions, drawn without any cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mahrem.learning.private.steps import torch_of
from mahrem.types import Floats, Integers

CHUNK = 4096  # rows that a network makes at a time


@dataclass(frozen=True)
class CellsAsked:
    """Which cells are to be drawn.

    Attributes:
        sizes: How many groups each column has.
        rows: So many rows.
        tried: From so many; those that are likelier to meet the conditions are taken more often.
        labels: ``(tried,)`` of those that are tried; None without.
        kept: The share of each group that meets its column's condition, by the column's place.
    """

    sizes: Sequence[int]
    rows: int
    tried: int
    labels: Integers | None = None
    kept: Mapping[int, Floats] = field(default_factory=dict)

    def labels_as_ones(self, labels: int) -> npt.NDArray[np.float32]:
        """Give ``(tried, labels)`` ones and zeros."""
        ones = np.zeros((self.tried, labels), dtype=np.float32)
        if self.labels is not None:
            ones[np.arange(self.tried), self.labels] = 1
        return ones


class NetworkDrawing(ABC):
    """A trained network that rows are drawn from; asking it costs nothing."""

    @abstractmethod
    def cells(self, asked: CellsAsked, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw ``(rows, columns)`` groups, and say which of those tried each row comes from."""


@dataclass(frozen=True)
class CodedDrawing(NetworkDrawing):
    """A network that turns random codes, and labels, into outputs.

    Attributes:
        network: Takes ``(B, code + labels)``.
        code: Numbers in a code.
        labels: How many labels.
    """

    network: Any
    code: int
    labels: int

    def outputs(self, labels: Integers | None, rows: int, rng: np.random.Generator) -> Floats:
        """Give ``(rows, width)`` outputs for random codes, each with its label."""
        torch = torch_of()
        blocks = []
        for start in range(0, rows, CHUNK):
            part = min(CHUNK, rows - start)
            fed = np.zeros((part, self.code + self.labels), dtype=np.float32)
            fed[:, : self.code] = rng.standard_normal((part, self.code))
            if labels is not None:
                fed[np.arange(part), self.code + labels[start : start + part]] = 1
            with torch.no_grad():
                blocks.append(self.network(torch.from_numpy(fed)).numpy())
        return np.concatenate(blocks)

    def cells(self, asked: CellsAsked, rng: np.random.Generator) -> tuple[Integers, Integers]:
        outputs = self.outputs(asked.labels, asked.tried, rng).astype(np.float64)
        parts = np.split(outputs, np.cumsum(asked.sizes)[:-1], axis=1)
        likely = np.zeros(asked.tried)
        for place, shares in asked.kept.items():
            parts[place], met = admitted_chances(parts[place], shares)
            likely += met
        taken = resampled(likely, asked.rows, rng) if asked.kept else np.arange(asked.rows)
        return np.stack([drawn_cells(part[taken], rng) for part in parts], axis=1), taken


def admitted_chances(outputs: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Narrow outputs to groups that meet a condition, and say how likely it was met; both in logarithms."""
    with np.errstate(divide="ignore"):
        narrowed = outputs + np.log(shares)
    return narrowed, np.logaddexp.reduce(narrowed, axis=1) - np.logaddexp.reduce(outputs, axis=1)


def resampled(likely: Floats, rows: int, rng: np.random.Generator) -> Integers:
    """Take rows as often as they are likely (in logarithms), as evenly as that goes."""
    edges = np.cumsum(np.exp(likely - likely.max()))
    points = (rng.random() + np.arange(rows)) / rows * edges[-1]
    return rng.permutation(np.minimum(np.searchsorted(edges, points, side="right"), len(likely) - 1))


def drawn_cells(outputs: Floats, rng: np.random.Generator) -> Integers:
    """Draw one group of each row from the logarithms of chances, which need not add up to 1."""
    chances = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    edges = np.cumsum(chances, axis=1)
    points = rng.random(len(edges)) * edges[:, -1]
    groups = (points[:, None] >= edges).sum(axis=1)
    last = (chances > 0).cumsum(axis=1).argmax(axis=1)  # rounding must not reach past it
    return np.asarray(np.minimum(groups, last), dtype=np.int64)
