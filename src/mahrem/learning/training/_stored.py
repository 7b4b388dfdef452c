"""Trained models as plain data: public facts and weights, no code; and models made from them again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mahrem.learning.private import (
    NETWORKS,
    BoostedTrees,
    FunctionalLinear,
    FunctionalLogistic,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateAutoencoder,
    PrivateBoosting,
    PrivateBoostingRegressor,
    PrivateClassifier,
    PrivateNetwork,
    PrivateRegressor,
    RandomTrees,
)

Stored = Mapping[str, Any]  # what a model folder's plan.json says

_LINEAR: Mapping[str, Any] = {
    kind.__name__: kind
    for kind in (FunctionalLinear, FunctionalLogistic, ObjectivePerturbation, OutputPerturbation)
}
_NETWORKS: Mapping[str, Any] = {
    kind.__name__: kind for kind in (PrivateAutoencoder, PrivateClassifier, PrivateRegressor)
}
_BOOSTED: Mapping[str, Any] = {kind.__name__: kind for kind in (PrivateBoosting, PrivateBoostingRegressor)}


def model_settings(model: Any) -> dict[str, Any]:
    """Write down what is needed to make a fitted model again; public facts only."""
    shared: dict[str, object] = {
        "kind": type(model).__name__,
        "classes": list(getattr(model, "classes_", ()) or ()),
    }
    if isinstance(model, PrivateNetwork):
        bounds = list(model.bounds_) if isinstance(model, PrivateRegressor) else None
        own = {"options": dict(model.options), "shape": list(model.shape_), "bounds": bounds}
        return shared | own | {"plan": model.plan_.as_dict()}
    if isinstance(model, BoostedTrees):
        return shared | {"bounds": getattr(model, "bounds", None), "plan": model.plan_.as_dict()}
    own = {"norm": model.norm, "intercept": model.intercept, "bounds": getattr(model, "bounds", None)}
    return shared | own


def model_weights(model: Any) -> dict[str, Any]:
    """Give the released numbers of a fitted model by name."""
    if isinstance(model, PrivateNetwork):
        return {name: value.cpu().numpy() for name, value in model.model_.state_dict().items()}
    if isinstance(model, BoostedTrees):
        return model.trees_.arrays()
    return {"coef_": np.asarray(model.coef_)}


def can_rebuild(stored: Stored) -> bool:
    """Say whether a model is of a kind that this version knows."""
    kind = stored.get("kind")
    return kind in _LINEAR or kind in _BOOSTED or (kind in _NETWORKS and stored.get("model") in NETWORKS)


def rebuild_model(stored: Stored, weights: Mapping[str, object]) -> Any:
    """Make a model again from what was written down."""
    makers = (_LINEAR, _linear), (_BOOSTED, _boosted), (_NETWORKS, _network)
    model = next(make for kinds, make in makers if stored["kind"] in kinds)(stored, weights)
    model._encoder = None  # noqa: SLF001 - built by hand, as fit would
    model.classes_, model.cost_ = tuple(stored["classes"]), tuple(stored["cost"])
    model.guarantee_ = stored["guarantee"]
    if stored["bounds"] is not None:
        model.bounds_ = tuple(stored["bounds"])
    return model


def _network(stored: Stored, weights: Mapping[str, object]) -> Any:
    import torch

    kind, network, shape = stored["kind"], stored["model"], tuple(stored["shape"])
    model = _NETWORKS[kind](network=network, options=stored["options"], shape=stored["shape"])
    outputs = len(stored["classes"]) or (math.prod(shape) if kind == "PrivateAutoencoder" else 1)
    module = NETWORKS[network](shape, outputs, **stored["options"])
    module.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    model.model_ = module.eval()
    return model


def _boosted(stored: Stored, weights: Mapping[str, object]) -> Any:
    epsilon, delta = stored["cost"]
    trees = RandomTrees.from_arrays(weights)
    model = _BOOSTED[stored["kind"]](epsilon=epsilon, delta=delta, widths=trees.widths)
    model.trees_ = trees
    return model


def _linear(stored: Stored, weights: Mapping[str, object]) -> Any:
    bounds = stored["bounds"]
    own = {"classes": tuple(stored["classes"])} if bounds is None else {"bounds": tuple(bounds)}
    epsilon, delta = stored["cost"]
    model = _LINEAR[stored["kind"]](
        epsilon=epsilon, delta=delta, norm=stored["norm"], intercept=stored["intercept"], **own
    )
    model.coef_ = weights["coef_"]
    return model
