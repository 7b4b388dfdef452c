"""A private last layer: noise on the coefficients of a polynomial loss over features of a frozen network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.check import extra
from mahrem.dp import Relation
from mahrem.learning.private.regressions._functional_mechanism import functional_promise
from mahrem.learning.private.regressions._private_linear import PrivateClassifier
from mahrem.learning.private.regressions._quadratic import QuadraticPlan, release_moments, solve_quadratic
from mahrem.types import Floats, Integers


@dataclass(kw_only=True)
class PolynomialLastLayer(PrivateClassifier):
    """The last layer of a network as noisy coefficients of its loss: any number of classes, one release.

    Each class has the logistic loss against the rest, taken as ``log 2 - m/2 + m**2/8``. The matrix
    ``sum h h^T`` of the features is the same for all classes and is released once; ``sum h`` of each class
    comes beside it. A row is in one class, so ten classes cost no more noise than two.

    Args:
        ridge: Added to the matrix, in units of the noise's own largest eigenvalue.

    Guarantees:
        - ``(epsilon, delta)``-DP of the last layer under the ledger's relation, if each row of features
          depends on its own record alone: the network must be fixed without looking at the private data
          (random, or trained elsewhere), or trained privately on it and paid for from the same ledger.
        - Nothing is promised for features of a network that was trained on these records without privacy,
          or that mixes records (batch normalisation in training mode).

    References:
        Zhang et al., 2012. Phan, Wang, Wu, Dou: Differential privacy preservation for deep auto-encoders,
        2016, and its followers perturb such polynomials, but train the hidden layers on the data, which this
        proof does not cover.

    Example:
        >>> from mahrem.dp import Ledger
        >>> rng = np.random.default_rng(1)
        >>> features, labels = rng.normal(size=(3000, 4)), rng.integers(3, size=3000)
        >>> features[np.arange(3000), labels] += 5
        >>> model = PolynomialLastLayer(epsilon=1, delta=1e-8, classes=(0, 1, 2))
        >>> model = model.fit(features, labels, ledger=Ledger.temporary(epsilon=1, delta=1e-8))
        >>> bool((model.predict(features) == labels).mean() > 0.9)
        True
    """

    ridge: float = 0.25

    def predict(self, X: object) -> Any:
        """Give the likeliest class of each row."""
        return np.asarray(self.classes_)[self.decision_function(X).argmax(axis=1)]

    def _title(self) -> str:
        return "polynomial last layer"

    def _plan(self, width: int, classes: int, relation: Relation) -> QuadraticPlan:
        check.at_least(0, ridge=self.ridge)
        return QuadraticPlan.make(
            epsilon=self.epsilon, delta=self.delta, width=width, targets=classes, relation=relation
        )

    def _compute(self, plan: QuadraticPlan, rows: Floats, targets: Integers, classes: int) -> Floats:
        flags = (targets[:, None] == np.arange(classes)[None, :]).astype(np.float64)
        moments, sums = release_moments(rows / self.norm, flags, plan)
        products = 2 * sums - sums.sum(axis=1, keepdims=True)  # sum of h times 1 for the class, -1 for others
        return solve_quadratic(moments / 4, products / 2, self.ridge * plan.ridge / 4).T / self.norm

    def _promise(self, plan: QuadraticPlan, relation: Relation) -> str:
        what = "last layer only, logistic loss of each class taken as a polynomial of degree 2"
        limits = (
            " The network below must not have been trained on these records, or privately and paid for from "
            "the same ledger; else nothing is promised."
        )
        return functional_promise(self, plan, relation, what) + limits


def frozen_features(network: Any, images: Any, *, batch: int = 1024) -> Floats:
    """Run a frozen PyTorch network over records, one by one in effect; needs the extra ``train``.

    Args:
        network: Gives ``(n, width)`` features; evaluation mode is set, so that no record sees another.
        images: Records, as an array or tensor.
        batch: So many at once.
    """
    try:
        import torch
    except ImportError:
        raise extra("train", needed_for="features of a network") from None
    network.eval()
    given = torch.as_tensor(images, dtype=torch.float32)
    with torch.no_grad():
        starts = range(0, len(given), batch)
        parts = [network(given[first : first + batch]).flatten(start_dim=1) for first in starts]
    return np.asarray(torch.cat(parts).numpy(), dtype=np.float64)
