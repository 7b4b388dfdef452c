"""A start that costs nothing: a network learns from public or synthetic examples before the private steps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem import check
from mahrem.learning.private.steps import torch_of

BATCH = 128


@dataclass(frozen=True, kw_only=True)
class WarmStart:
    """Examples that anybody may see, and how long to learn from them; no noise, and nothing is paid.

    Whoever gives private rows here publishes them: what was synthesised from a ledger is paid for already,
    what somebody else has published is public.

    Args:
        inputs: ``(n, ...)`` numbers, as those that are trained on.
        targets: ``(n,)`` labels or numbers, the same.
        epochs: How often each is seen.
        learning_rate: Of Adam.
    """

    inputs: Any = field(repr=False)
    targets: Any = field(repr=False)
    epochs: int = 5
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        check.at_least(1, epochs=check.whole(epochs=self.epochs))
        check.above_zero(learning_rate=self.learning_rate)

    @property
    def digest(self) -> str:
        """What a checkpoint knows it by: other examples make another model on the same noise."""
        digest = hashlib.sha256(f"{self.epochs} {self.learning_rate!r}".encode())
        for part in (self.inputs, self.targets):
            array = np.asarray(part)
            digest.update(f"{array.shape} {array.dtype}".encode())
            digest.update(array.tobytes() if array.dtype != object else repr(array.tolist()).encode())
        return digest.hexdigest()

    def __call__(self, model: Any, losses: Callable[[Any, Any], Any], inputs: Any, targets: Any) -> None:
        """Train a model in place on tensors; randomness is torch's."""
        torch = torch_of()
        weights = [one for one in model.parameters() if one.requires_grad]
        optimiser = torch.optim.Adam(weights, lr=self.learning_rate)
        model.train()
        for _ in range(self.epochs):
            for rows in torch.randperm(len(inputs)).split(BATCH):
                optimiser.zero_grad(set_to_none=True)
                losses(model(inputs[rows]), targets[rows]).mean().backward()
                optimiser.step()
        optimiser.zero_grad(set_to_none=True)
