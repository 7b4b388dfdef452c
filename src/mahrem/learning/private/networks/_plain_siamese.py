"""A Siamese or triplet network trained without privacy: the twin that shows what privacy costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.learning._estimator import Estimator
from mahrem.learning.private.networks._embedding import Embedding, group_losses, shared_network
from mahrem.learning.private.networks._layers import network_maker, network_outputs
from mahrem.learning.private.networks._slots import Slots
from mahrem.learning.private.steps import torch_of
from mahrem.types import Floats


@dataclass(kw_only=True)
class PlainSiamese(Estimator, Embedding):
    """A network that puts rows of one class near each other; it promises no privacy.

    Args:
        network: A name of :data:`~mahrem.learning.private.NETWORKS`, or a function of the input
            shape and the number of outputs that makes a module.
        options: Settings of the network.
        kind: ``pairs`` or ``triplets``.
        code: Numbers in an embedding.
        margin: See :class:`~mahrem.learning.private.PrivateSiamese`.
        batch: Rows that pairs are drawn from in a step.
        steps: How many steps.
        learning_rate: Of Adam.
        seed: Of first weights and pairs.

    Example:
        >>> X = np.random.default_rng(1).normal(size=(300, 6)).astype(np.float32)
        >>> model = PlainSiamese(code=2, steps=200).fit(X, X[:, 0] > 0)
        >>> bool(model.score(X, X[:, 0] > 0) > 0.9)
        True
    """

    network: str | Callable[..., Any] = "dnn"
    options: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "pairs"
    code: int = 16
    margin: float = 1.0
    batch: int = 256
    steps: int = 1000
    learning_rate: float = 0.01
    seed: int = 0

    def score(self, X: Any, y: Any) -> float:
        """Give the share of rows whose nearest other row has their label."""
        return self.nearest_alike(X, y)

    def fit(self, X: Any, y: Any) -> Self:
        """Train."""
        torch = torch_of()
        rows = np.ascontiguousarray(X, dtype=np.float32)
        classes, labels = np.unique(np.asarray(y), return_inverse=True)
        if len(rows) != len(labels):
            raise InvalidInput(f"X={len(rows)} rows, y={len(labels)}: every row needs one label")
        slots, losses = Slots(self.kind, len(classes), self.batch), group_losses(self.kind, self.margin)
        draws = np.random.default_rng(self.seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            shared = shared_network(
                network_maker(self.network)(tuple(rows.shape[1:]), self.code, **self.options)
            )
        optimiser = torch.optim.Adam(shared.parameters(), lr=self.learning_rate)
        for _ in range(self.steps):
            some = draws.choice(len(rows), min(self.batch, len(rows)), replace=False)
            groups = some[slots(labels[some], draws.random(len(some)))]
            optimiser.zero_grad(set_to_none=True)
            codes = shared(torch.from_numpy(rows[groups]))
            losses(codes, torch.from_numpy(labels[groups])).sum().div(max(1, len(groups))).backward()
            optimiser.step()
        self.model_ = shared.network.eval()
        return self

    def outputs(self, X: object) -> Floats:
        """Give the raw outputs of the network."""
        return network_outputs(self.model_, np.ascontiguousarray(X, dtype=np.float32))
