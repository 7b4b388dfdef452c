"""A model that is attacked: what is known of it, and how rows are put to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mahrem.attacks.on_models import Attributes, AuditedBound, Examples
from mahrem.dp import Facts, public_cells
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning.private import NETWORKS, PlainNetwork, PrivateClassifier, PublicInputs
from mahrem.pipeline.modelling import LoadedModel, TrainedModel, load_model
from mahrem.table import ColumnDeclaration, Reading

IMITATION_EPOCHS = 20


@dataclass(frozen=True, kw_only=True)
class AttackedModel:
    """A model and how it is asked.

    Attributes:
        model: What gives probabilities.
        classes: In the order of its columns.
        target: The column it foretells; None where rows come as ``(X, y)``.
        inputs: How a table becomes numbers; None where rows come as such.
        attributes: Which inputs are one attribute.
        cost: What it promises: epsilon and delta.
        guarantee: The same in words.
        audit: What an audit of its training showed.
    """

    model: Any = field(repr=False)
    classes: tuple[Any, ...]
    target: str | None = None
    inputs: PublicInputs | None = field(default=None, repr=False)
    attributes: Attributes | None = field(default=None, repr=False)
    cost: tuple[float, float] | None = None
    guarantee: str | None = None
    audit: AuditedBound | None = None

    def examples(self, table: Any, reading: Reading | None, name: str) -> Examples:
        """Give rows and labels of a table, or of ``(X, y)`` where the model is not ours."""
        if self.inputs is None or self.target is None:
            if isinstance(table, Examples):
                return table
            if not isinstance(table, tuple) or len(table) != 2:
                raise InvalidInput(f"{name} must be (X, y) beside a model that is not ours")
            return Examples(np.asarray(table[0]), np.asarray(table[1]))
        rows = self.inputs(table, reading)
        facts = Facts(columns={self.target: ColumnDeclaration(categories=self.classes)})
        places = public_cells(table, facts, [self.target], reading=reading)[self.target]
        labelled = ~np.isnan(places)
        labels = np.array(self.classes, dtype=object)[places[labelled].astype(np.int64)]
        return Examples(rows[labelled], labels)

    def imitation(self) -> Callable[[int], Any]:
        """Give a maker of models of the same kind: a copy, or a network of the same form without noise."""
        model = self.model
        if self.inputs is None and hasattr(model, "get_params") and not hasattr(model, "guarantee_"):
            from sklearn.base import clone

            def copy(seed: int) -> Any:
                fresh = clone(model)
                return fresh.set_params(random_state=seed) if "random_state" in fresh.get_params() else fresh

            return copy
        network: Any = "logistic"
        options: Mapping[str, object] = {}
        if isinstance(model, PrivateClassifier):
            network, options = _of_flat_rows(model), dict(model.options)

        def network_of(seed: int) -> Any:
            return PlainNetwork(
                network=network, options=options, classes=self.classes, epochs=IMITATION_EPOCHS, seed=seed
            )

        return network_of


def _of_flat_rows(model: PrivateClassifier) -> Any:
    """Give the network of a model; one of images or series shapes its rows itself."""
    network, shape = model.network, tuple(model.shape or ())
    if len(shape) < 2 or not isinstance(network, str):
        return network

    def make(_: Sequence[int], outputs: int, **options: Any) -> Any:
        import torch

        return torch.nn.Sequential(torch.nn.Unflatten(1, shape), NETWORKS[network](shape, outputs, **options))

    return make


def is_model(folder: object) -> bool:
    """Say whether this is a folder that ``train`` wrote."""
    if not isinstance(folder, str | Path):
        return False
    return (Path(folder) / "plan.json").is_file() and (Path(folder) / "model.npz").is_file()


def attacked_model(model: object, target: str | None) -> AttackedModel:
    """Find out what is known of a model: from its folder, from itself, or that it has ``predict_proba``."""
    if isinstance(model, str | Path):
        if not is_model(model):
            raise InvalidInput(f"model={Path(model).name!r} is no model folder; train -o DIR writes one")
        model = load_model(model)
    if isinstance(model, TrainedModel | LoadedModel):
        return _ours(model, target)
    classes = tuple(getattr(model, "classes_", ()))
    if not hasattr(model, "predict_proba") or len(classes) < 2:
        raise InvalidParameter(
            f"model of type {type(model).__name__} must have predict_proba and classes_, or be a model folder"
        )
    return AttackedModel(model=model, classes=classes, cost=getattr(model, "cost_", None))


def _ours(model: TrainedModel | LoadedModel, target: str | None) -> AttackedModel:
    inner = model.estimator
    classes = tuple(getattr(inner, "classes_", ()) or ())
    column = target or model.target
    if len(classes) < 2 or not hasattr(inner, "predict_proba"):
        raise InvalidParameter("model: these attacks need one that gives probabilities of classes")
    if column is None:
        raise InvalidParameter("target=None: name the column that the model foretells")
    return AttackedModel(
        model=inner,
        classes=classes,
        target=column,
        inputs=model.inputs,
        attributes=_declared(model.inputs),
        cost=(model.epsilon, model.delta) if isinstance(model, TrainedModel) else model.cost,
        guarantee=model.guarantee,
        audit=model.audit,
    )


def _declared(inputs: PublicInputs) -> Attributes:
    """Give the columns of declared values: one place for each value."""
    attributes, start = {}, 0
    for name in inputs.features:
        values = inputs.facts.columns[name].categories
        width = 1 if values is None else len(values)
        if values is not None and width > 1:
            attributes[name] = (range(start, start + width), np.eye(width))
        start += width
    return attributes
