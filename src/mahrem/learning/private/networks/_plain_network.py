"""A network trained without privacy: teachers, shadows, and the twin that shows what privacy costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.learning._estimator import Estimator
from mahrem.learning.private.networks._layers import network_maker
from mahrem.learning.private.steps import torch_of
from mahrem.types import Floats


@dataclass(kw_only=True)
class PlainNetwork(Estimator):
    """A classifier of PyTorch with scikit-learn's manners; it promises no privacy.

    Args:
        network: A name of :data:`~mahrem.learning.private.NETWORKS`, or a function of the input
            shape and the number of outputs that makes a module.
        options: Settings of the network.
        classes: The labels there may be; by default those of the rows.
        epochs: How often each row is seen.
        batch: Rows in a batch.
        learning_rate: Of Adam.
        seed: Of first weights and batches.

    Example:
        >>> X = np.random.default_rng(1).normal(size=(200, 2)).astype(np.float32)
        >>> model = PlainNetwork(network="logistic", epochs=60).fit(X, X[:, 0] > 0)
        >>> bool(np.mean(model.predict(X) == (X[:, 0] > 0)) > 0.9)
        True
    """

    network: str | Callable[..., Any] = "dnn"
    options: Mapping[str, Any] = field(default_factory=dict)
    classes: Sequence[Any] | None = None
    epochs: int = 10
    batch: int = 128
    learning_rate: float = 0.01
    seed: int = 0

    _estimator_type = "classifier"

    def fit(self, X: Any, y: Any) -> Self:
        """Train."""
        torch = torch_of()
        rows = torch.from_numpy(np.ascontiguousarray(X, dtype=np.float32))
        self.classes_ = np.unique(np.asarray(y)) if self.classes is None else np.asarray(self.classes)
        equal = np.asarray(y)[:, None] == self.classes_[None, :]
        if len(rows) != len(equal) or not equal.any(axis=1).all():
            raise InvalidInput(f"X={len(rows)} rows, y={len(equal)}: every row needs one of the classes")
        codes = torch.from_numpy(equal.argmax(axis=1))
        make = network_maker(self.network)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.model_ = make(tuple(rows.shape[1:]), len(self.classes_), **self.options)
            optimiser = torch.optim.Adam(self.model_.parameters(), lr=self.learning_rate)
            for _ in range(self.epochs):
                for part in torch.randperm(len(rows)).split(self.batch):
                    optimiser.zero_grad(set_to_none=True)
                    torch.nn.functional.cross_entropy(self.model_(rows[part]), codes[part]).backward()
                    optimiser.step()
        self.model_.eval()
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Give ``(n, classes)`` probabilities."""
        torch = torch_of()
        rows = torch.from_numpy(np.ascontiguousarray(X, dtype=np.float32))
        with torch.no_grad():
            parts = [torch.softmax(self.model_(part).double(), dim=1).numpy() for part in rows.split(4096)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.classes_)))

    def predict(self, X: Any) -> Any:
        """Give the likeliest class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
