"""Private networks by what they answer: classes, numbers, or the rows themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem.dp import Facts
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning.private.inputs import label_codes, length_of, target_numbers
from mahrem.learning.private.networks._private_network import PrivateNetwork
from mahrem.learning.private.steps import torch_of
from mahrem.types import Floats


@dataclass(kw_only=True)
class LabelledNetwork(PrivateNetwork):
    """What networks that learn from declared classes share; use one of its kinds.

    Args:
        classes: The labels there may be, if numbers are fitted; never read off the data. Rows with another
            label are left out.
    """

    classes: Sequence[Any] | None = None

    def _begin(self, facts: Facts, *, table: bool) -> None:
        super()._begin(facts, table=table)
        if table and self.target is None:
            raise InvalidParameter("target=None: name the column to learn, or give y beside X")
        classes = (
            facts.categories(self.target) if table and self.target is not None else tuple(self.classes or ())
        )
        if len(set(classes)) < 2:
            raise InvalidParameter(
                f"classes={len(set(classes))}: at least two must be declared; they are never read off "
                f"the data"
            )
        self.classes_ = classes

    def _targets(self, inputs: Floats, y: object) -> Any:
        if length_of(y) != (len(inputs),):
            raise InvalidInput(f"X={len(inputs)} rows, y of shape {length_of(y)}: every row needs one label")
        return label_codes(y, self.classes_)

    def _declared_targets(self, inputs: Floats, cells: Floats | None) -> Any:
        codes = np.full(len(inputs), np.nan) if cells is None else cells
        return np.where(np.isnan(codes), -1, codes).astype(np.int64)

    def _whole(self, targets: Any) -> Any:
        return targets >= 0


@dataclass(kw_only=True)
class PrivateClassifier(LabelledNetwork):
    """A network that tells declared classes apart, trained with differential privacy.

    Guarantees:
        - ``(epsilon, delta)``-DP for the model, under the ledger's relation and unit.
        - All steps are paid for before the first; a training taken up again pays nothing and adds nothing.
        - A row that is not finite adds nothing and harms no other.

    References:
        Abadi et al.: Deep learning with differential privacy, 2016.

    Example:
        >>> from mahrem.dp import Ledger
        >>> rng = np.random.default_rng(1)
        >>> X = rng.normal(size=(500, 2)).astype(np.float32)
        >>> ledger = Ledger.temporary(epsilon=2, delta=1e-6, rows=500)
        >>> model = PrivateClassifier(network="logistic", classes=(0, 1), epsilon=2, epochs=4, batch=100)
        >>> model.fit(X, (X[:, 0] > 0).astype(int), ledger=ledger).cost_[0] <= 2
        True
        >>> model.predict_proba(X).shape
        (500, 2)
    """

    def predict_proba(self, X: object) -> Floats:
        """Give ``(n, classes)`` probabilities."""
        scores = self.outputs(X).astype(np.float64)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: object) -> Any:
        """Give the likeliest class of each row."""
        return np.asarray(self.classes_)[self.outputs(X).argmax(axis=1)]

    def _open_score(self, X: object, y: object) -> float:
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def _width(self, shape: Sequence[int]) -> int:  # noqa: ARG002 - the number of classes says it
        return len(self.classes_)

    def _losses(self, outputs: Any, targets: Any) -> Any:
        return torch_of().nn.functional.cross_entropy(outputs, targets, reduction="none")


@dataclass(kw_only=True)
class PrivateRegressor(PrivateNetwork):
    """A network that foretells a number within public bounds, trained with differential privacy.

    Args:
        lower: The smallest target, if numbers are fitted; smaller ones count as this.
        upper: The largest.

    Guarantees:
        - As :class:`PrivateClassifier`; rows without a finite target are left out.

    Example:
        >>> from mahrem.dp import Ledger
        >>> X = np.random.default_rng(1).uniform(-1, 1, (500, 2)).astype(np.float32)
        >>> ledger = Ledger.temporary(epsilon=2, delta=1e-6, rows=500)
        >>> model = PrivateRegressor(network="logistic", lower=-2, upper=2, epsilon=2, epochs=4, batch=100)
        >>> bool(np.abs(model.fit(X, X.sum(axis=1), ledger=ledger).predict(X)).max() <= 2)
        True
    """

    lower: float | None = None
    upper: float | None = None

    _estimator_type = "regressor"

    def predict(self, X: object) -> Floats:
        """Foretell numbers, within the bounds."""
        low, high = self.bounds_
        return low + (high - low) * (np.clip(self.outputs(X)[:, 0].astype(np.float64), -1, 1) + 1) / 2

    def _open_score(self, X: object, y: object) -> float:
        """Give the share of the variance that is explained (R2)."""
        truth = np.asarray(y, dtype=np.float64)
        return float(1 - np.mean((truth - self.predict(X)) ** 2) / np.var(truth))

    def _begin(self, facts: Facts, *, table: bool) -> None:
        super()._begin(facts, table=table)
        if table:
            if self.target is None:
                raise InvalidParameter("target=None: name the column to learn, or give y beside X")
            self.bounds_ = facts.bounds(self.target)
            return
        if self.lower is None or self.upper is None or not self.lower < self.upper:
            raise InvalidParameter(
                f"lower={self.lower!r}, upper={self.upper!r}: public bounds of the target must be declared"
            )
        self.bounds_ = (float(self.lower), float(self.upper))

    def _width(self, shape: Sequence[int]) -> int:  # noqa: ARG002 - one number
        return 1

    def _losses(self, outputs: Any, targets: Any) -> Any:
        return (outputs[:, 0] - targets).square()

    def _targets(self, inputs: Floats, y: object) -> Any:
        low, high = self.bounds_
        truth = target_numbers(y, "y")
        if truth.shape != (len(inputs),):
            raise InvalidInput(f"X={len(inputs)} rows, y of shape {truth.shape}: every row needs one number")
        return (2 * (np.clip(truth, low, high) - low) / (high - low) - 1).astype(np.float32)

    def _declared_targets(self, inputs: Floats, cells: Floats | None) -> Any:
        numbers = np.full(len(inputs), np.nan) if cells is None else cells
        return (2 * numbers - 1).astype(np.float32)

    def _whole(self, targets: Any) -> Any:
        return np.isfinite(targets)


@dataclass(kw_only=True)
class PrivateAutoencoder(PrivateNetwork):
    """A network that squeezes rows and writes them out again, trained with differential privacy.

    Guarantees:
        - As :class:`PrivateClassifier`. The code of a row is *not* private by itself: it is a function of it.

    Example:
        >>> from mahrem.dp import Ledger
        >>> X = np.random.default_rng(1).uniform(-1, 1, (300, 6)).astype(np.float32)
        >>> ledger = Ledger.temporary(epsilon=2, delta=1e-6, rows=300)
        >>> model = PrivateAutoencoder(options={"code": 2}, epsilon=2, epochs=2, batch=100)
        >>> model = model.fit(X, ledger=ledger)
        >>> model.transform(X).shape, model.inverse_transform(model.transform(X)).shape
        ((300, 2), (300, 6))
    """

    network: str | Callable[..., Any] = "autoencoder"

    _estimator_type = "transformer"

    def transform(self, X: object) -> Floats:
        """Give the code of each row."""
        return self._half(0, self._inputs(X))

    def inverse_transform(self, codes: Floats) -> Floats:
        """Write codes out as rows."""
        return self._half(1, np.ascontiguousarray(codes, dtype=np.float32))

    def predict(self, X: object) -> Floats:
        """Write rows out again after squeezing them."""
        return self.outputs(X)

    def _open_score(self, X: object, y: object = None) -> float:  # noqa: ARG002 - it has none
        """Give the negative mean squared error."""
        rows = self._inputs(X)
        return -float(np.mean((self.outputs(X) - rows.reshape(len(rows), -1)) ** 2))

    def _half(self, half: int, rows: Floats) -> Floats:
        torch = torch_of()
        device = next(self.model_.parameters()).device
        with torch.no_grad():
            outputs: Floats = (
                list(self.model_.children())[half](torch.from_numpy(rows).to(device)).cpu().numpy()
            )
        return outputs

    def _width(self, shape: Sequence[int]) -> int:
        return math.prod(shape)

    def _losses(self, outputs: Any, targets: Any) -> Any:
        return (outputs - targets).square().mean(dim=1)

    def _targets(self, inputs: Floats, y: object) -> Any:  # noqa: ARG002 - a row is its own target
        return inputs.reshape(len(inputs), -1)

    def _declared_targets(self, inputs: Floats, cells: Floats | None) -> Any:  # noqa: ARG002 - the same
        return inputs.reshape(len(inputs), -1)

    def _whole(self, targets: Any) -> Any:
        return np.isfinite(targets).all(axis=1)
