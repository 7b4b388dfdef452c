"""Which private models there are, and what each of them is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, refuse_undeclared
from mahrem.errors import InvalidParameter
from mahrem.learning.private import (
    FunctionalLinear,
    FunctionalLogistic,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateAutoencoder,
    PrivateClassifier,
    PrivateNetwork,
    PrivateRegressor,
)
from mahrem.types import Floats

__all__ = ["GRADIENTS", "MODELS", "Wish", "model_name", "wish_for"]

GRADIENTS = "gradients"


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a person asked for, as a factory of :data:`MODELS` needs it."""

    network: str
    classes: tuple[str, ...] | None
    bounds: tuple[float, float] | None
    epsilon: float
    delta: float
    rows: int | None
    options: Mapping[str, Any]
    settings: Mapping[str, Any]

    def labels(self, cells: Floats) -> Any:
        """Give targets as estimators take them: declared labels (None: not declared), or numbers."""
        if self.classes is not None:
            names = np.array([*self.classes, None], dtype=object)
            return names[np.where(np.isnan(cells), len(self.classes), cells).astype(np.int64)]
        low, high = self.bounds or (0.0, 1.0)
        return low + (high - low) * cells


def _network(wish: Wish) -> PrivateNetwork:
    settings = {
        "network": wish.network,
        "options": wish.options,
        "epsilon": wish.epsilon,
        "delta": wish.delta,
        "rows": wish.rows,
        **wish.settings,
    }
    if wish.network == "autoencoder":
        return PrivateAutoencoder(**settings)
    if wish.classes is not None:
        return PrivateClassifier(classes=wish.classes, **settings)
    if wish.bounds is None:
        raise InvalidParameter("target=None: name the column to learn; only an autoencoder needs none")
    return PrivateRegressor(lower=wish.bounds[0], upper=wish.bounds[1], **settings)


def _linear(kind: Callable[..., Any], **fixed: Any) -> Callable[[Wish], Any]:
    def make(wish: Wish) -> Any:
        strange = next((one for one in [*wish.settings, *wish.options] if one != "progress"), None)
        if strange is not None:
            raise InvalidParameter(
                f"{strange}: this model has no such setting; it belongs to how='gradients'"
            )
        if kind is FunctionalLinear:
            return FunctionalLinear(epsilon=wish.epsilon, delta=wish.delta, bounds=wish.bounds)
        if wish.classes is None:
            raise InvalidParameter("target: its values must be declared (categories) for this model")
        return kind(epsilon=wish.epsilon, delta=wish.delta, classes=wish.classes, **fixed)

    return make


# "model" for noise on gradients, "model/how" for every other place where noise can go.
MODELS: dict[str, Callable[[Wish], Any]] = {
    "logistic": _network,
    "dnn": _network,
    "cnn": _network,
    "lstm": _network,
    "autoencoder": _network,
    "logistic/objective": _linear(ObjectivePerturbation),
    "svm/objective": _linear(ObjectivePerturbation, loss="svm"),
    "logistic/output": _linear(OutputPerturbation),
    "logistic/functional": _linear(FunctionalLogistic),
    "linear/functional": _linear(FunctionalLinear),
}


def wish_for(
    book: Ledger,
    model: str,
    target: str | None,
    epsilon: float,
    delta: float,
    holdout: float,
    hidden: Sequence[int] | None,
    settings: Mapping[str, Any],
) -> Wish:
    """Put what was asked for and what the ledger declares together; refuses what does not fit."""
    facts = book.facts
    if (target is None) != (model == "autoencoder"):
        raise InvalidParameter(
            f"target={target!r}: an autoencoder takes none, every other model needs the column to learn"
        )
    known = facts.columns.get(target) if target is not None else None
    if target is not None:
        refuse_undeclared(facts, [target])
    check.above_zero(epsilon=epsilon)
    bounded = known is not None and known.categories is None
    return Wish(
        network=model,
        classes=None if known is None else known.categories,
        bounds=facts.bounds(str(target)) if bounded else None,
        epsilon=epsilon,
        delta=delta,
        rows=None if facts.rows is None else max(1, round(facts.rows * (1 - holdout))),
        options={} if hidden is None else {"hidden": _hidden(model, hidden)},
        settings={name: value for name, value in settings.items() if value is not None},
    )


def model_name(model: str, how: str) -> str:
    """Give the key in :data:`MODELS`."""
    name = model if how == GRADIENTS else f"{model}/{how}"
    if name not in MODELS:
        known = [one if "/" in one else f"{one}/{GRADIENTS}" for one in MODELS]
        raise InvalidParameter(f"model={model!r}, how={how!r} is not known; there are {', '.join(known)}")
    return name


def _hidden(model: str, hidden: Sequence[int]) -> Any:
    if model in {"cnn", "lstm"}:
        if len(hidden) != 1:
            raise InvalidParameter(f"hidden={tuple(hidden)}: {model} takes one size")
        return hidden[0]
    if model == "logistic":
        raise InvalidParameter("hidden: a logistic regression has no hidden layer")
    return tuple(hidden)
