"""A scikit-learn estimator with coefficients as what silos train."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.networks._stack import Weights
from mahrem.learning.private import SecretStream, TrainingPlan
from mahrem.types import Floats, Integers, Mask


@dataclass(frozen=True, kw_only=True)
class ScikitNetwork:
    """A linear estimator that silos train in turn: ``partial_fit``, or ``fit`` with ``warm_start``.

    Its own settings (loss, rate, penalty) are those of training; see :class:`TrainableNetwork`.

    Args:
        make: Gives an untrained estimator for so many inputs and classes.
        epochs: How often it goes through the rows of a silo in a round.
    """

    make: Callable[[int, int], Any] = field(repr=False)
    epochs: int = 1

    def __post_init__(self) -> None:
        estimator = self.make(2, 2)
        warm = getattr(estimator, "warm_start", False)
        if not hasattr(estimator, "partial_fit") and not warm:
            raise InvalidParameter("network: an estimator must have partial_fit, or warm_start=True")
        if hasattr(estimator, "random_state") and estimator.random_state is not None:
            raise InvalidParameter("network: leave random_state to the plan's seed")

    def _outputs(self, classes: int) -> int:
        return 1 if classes == 2 else classes

    def size(self, width: int, classes: int) -> int:
        """How many weights there are: coefficients and intercepts."""
        return self._outputs(classes) * (width + 1)

    def start(self, width: int, classes: int, seed: int) -> Floats:  # noqa: ARG002 - it is no choice of ours
        """Begin at zero."""
        return np.zeros(self.size(width, classes), np.float32)

    def steps(self, rows: int) -> int:  # noqa: ARG002 - it refuses
        """How many steps it takes nobody knows but the estimator."""
        raise InvalidParameter("scaffold needs to know the steps of training: use a torch module")

    def last_layers(self, width: int, classes: int, layers: int) -> Mask:
        """Say which weights belong to the last layers; there is one."""
        return np.full(self.size(width, classes), layers > 0)

    def _loaded(self, weights: Floats, width: int, classes: int, seed: int) -> Any:
        estimator, every = self.make(width, classes), np.arange(classes)
        if hasattr(estimator, "random_state"):
            estimator.set_params(random_state=seed % 2**32)
        first = np.zeros((classes, width))
        if hasattr(estimator, "partial_fit"):
            estimator.partial_fit(first, every, classes=every)
        else:
            estimator.fit(first, every)
        outputs, held = self._outputs(classes), np.asarray(weights, np.float64)
        estimator.coef_ = np.ascontiguousarray(held[: outputs * width].reshape(outputs, width))
        estimator.intercept_ = held[outputs * width :].copy()
        return estimator

    def train(
        self,
        weights: Floats,
        rows: Floats,
        labels: Integers,
        classes: int,
        *,
        seed: int,
        proximal: float = 0.0,
        drift: Floats | None = None,
    ) -> Weights:
        """Train from given weights on a silo's rows.

        Raises:
            InvalidInput: If the estimator cannot learn from them, one class only for instance.
        """
        if proximal or drift is not None:
            raise InvalidParameter("proximal and scaffold change single steps: use a torch module")
        estimator = self._loaded(weights, rows.shape[1], classes, seed)
        order = np.random.default_rng(seed).permutation(len(rows))
        inputs, truth = np.asarray(rows, np.float64)[order], labels[order]
        try:
            for _ in range(self.epochs if hasattr(estimator, "partial_fit") else 1):
                if hasattr(estimator, "partial_fit"):
                    estimator.partial_fit(inputs, truth)
                else:
                    estimator.fit(inputs, truth)
        except ValueError as error:
            raise InvalidInput("network: the estimator cannot learn from this silo's rows") from error
        return np.concatenate([estimator.coef_.ravel(), estimator.intercept_.ravel()]).astype(np.float32)

    def train_privately(
        self,
        weights: Floats,  # noqa: ARG002 - it refuses
        rows: Floats,  # noqa: ARG002
        labels: Integers,  # noqa: ARG002
        classes: int,  # noqa: ARG002
        plan: TrainingPlan,  # noqa: ARG002
        stream: SecretStream,  # noqa: ARG002
        steps: Iterable[int],  # noqa: ARG002
    ) -> Weights:
        """Refuse: an estimator shows no gradients of single rows."""
        raise InvalidParameter("unit='row' needs gradients of single rows: use a torch module")

    def scores(self, weights: Floats, rows: Floats, classes: int) -> Floats:
        """Give ``(n, classes)`` probabilities."""
        estimator = self._loaded(weights, rows.shape[1], classes, 0)
        if hasattr(estimator, "predict_proba"):
            return np.asarray(estimator.predict_proba(np.asarray(rows, np.float64)))
        scores = np.asarray(estimator.decision_function(np.asarray(rows, np.float64)))
        scores = np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))
