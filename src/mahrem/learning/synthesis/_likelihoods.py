"""What the raw outputs of a generating network stand for: pixels, or the cells of the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from mahrem.learning.private.steps import torch_of
from mahrem.types import Floats

DARK = -2.0  # images are taken to be dark at first
TINY = 1e-7  # keeps logarithms of random numbers finite
FLOOR = 1e-4  # a start never rules a cell or a bright pixel out


class Likelihood(Protocol):
    """How outputs become rows, and how well they explain a row that is there."""

    @property
    def width(self) -> int:
        """Numbers in a row."""
        ...

    def start(self) -> Any:
        """Give the ``(width,)`` outputs to begin with: what is known before training."""
        ...

    def losses(self, outputs: Any, rows: Any) -> Any:
        """Give ``(B,)`` negative log-likelihoods of rows."""
        ...

    @property
    def draws(self) -> int:
        """How many random numbers a row takes."""
        ...

    def drawn(self, outputs: Any, uniforms: Any) -> Any:
        """Give rows that gradients can flow through, from ``(B, draws)`` numbers between 0 and 1."""
        ...


@dataclass(frozen=True)
class PixelLikelihood:
    """Each pixel is a shade from 0 to 1, as likely as a coin of that chance (Bernoulli).

    Attributes:
        width: How many.
    """

    width: int

    def start(self) -> Any:
        return torch_of().full((self.width,), DARK)

    def losses(self, outputs: Any, rows: Any) -> Any:
        torch = torch_of()
        return torch.nn.functional.binary_cross_entropy_with_logits(outputs, rows, reduction="none").sum(1)

    @property
    def draws(self) -> int:
        return 0

    def drawn(self, outputs: Any, uniforms: Any) -> Any:  # noqa: ARG002 - a shade needs none
        return torch_of().sigmoid(outputs)


@dataclass(frozen=True)
class CellLikelihood:
    """Each column is one of so many cells; columns are independent given what the network was fed.

    Attributes:
        shares: For each column, the ``(cells,)`` shares of its cells that are known beforehand.
    """

    shares: Sequence[Floats] = field(repr=False)

    @property
    def sizes(self) -> list[int]:
        """Cells of each column."""
        return [len(one) for one in self.shares]

    @property
    def width(self) -> int:
        """All cells."""
        return sum(self.sizes)

    def start(self) -> Any:
        logs = [np.log(np.maximum(one, FLOOR)) for one in self.shares]
        return torch_of().from_numpy(np.concatenate(logs).astype(np.float32))

    def losses(self, outputs: Any, rows: Any) -> Any:
        logs = [one.log_softmax(1) for one in outputs.split(self.sizes, dim=1)]
        return -(torch_of().cat(logs, dim=1) * rows).sum(1)

    @property
    def draws(self) -> int:
        """One for each cell."""
        return self.width

    def drawn(self, outputs: Any, uniforms: Any) -> Any:
        """Draw cells by Gumbel noise; gradients pass as if a cell were its chance (straight through)."""
        torch = torch_of()
        noisy = outputs - torch.log(-torch.log(uniforms.clamp(TINY, 1 - TINY)))
        soft = [one.softmax(1) for one in noisy.split(self.sizes, dim=1)]
        hard = [torch.nn.functional.one_hot(one.argmax(1), one.shape[1]).to(one) for one in soft]
        return torch.cat([one + (two - two.detach()) for one, two in zip(hard, soft, strict=True)], dim=1)
