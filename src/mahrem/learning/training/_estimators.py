"""How private models are made for a task: the factories that :data:`MODELS` names."""

from __future__ import annotations

from typing import Any

from mahrem.errors import InvalidParameter
from mahrem.learning.private import (
    Augmentation,
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
)
from mahrem.learning.private.steps import Descent
from mahrem.learning.training._settings import TrainingSettings
from mahrem.learning.training._task import TrainingTask

# Settings of noisy gradients that a network has under the same name.
_SAME = ("batch", "epochs", "clip", "noise", "shape", "device", "checkpoint")
_NETWORKS_ONLY = (*_SAME, "optimiser", "hidden", "average", "copies", "shift", "warm_start")
_ADAM_RATE = 0.01


def network(task: TrainingTask) -> PrivateNetwork:
    """Make a network that is trained by noisy gradients."""
    settings = task.settings
    if settings.rounds is not None:
        raise InvalidParameter("rounds: a network has epochs; rounds belong to boosting")
    given = {name: getattr(settings, name) for name in _SAME if getattr(settings, name) is not None}
    shared: dict[str, Any] = {
        "network": task.entry.model,
        "options": {} if settings.hidden is None else {"hidden": _hidden(task, settings.hidden)},
        "epsilon": settings.epsilon,
        "delta": task.delta,
        "rows": task.rows,
        "poisson": settings.poisson,
        "accept_no_amplification": settings.accept_no_amplification,
        "descent": _descent(settings),
        "augmentation": Augmentation(copies=settings.copies or 1, shift=settings.shift or 0),
        "progress": task.progress,
        **given,
    }
    if task.entry.learns == ("rows",):
        return PrivateAutoencoder(**shared)
    if task.classes is not None:
        return PrivateClassifier(classes=task.classes, **shared)
    if task.bounds is None:
        raise InvalidParameter("target=None: name the column to learn; only an autoencoder needs none")
    return PrivateRegressor(lower=task.bounds[0], upper=task.bounds[1], **shared)


def boosting(task: TrainingTask) -> BoostedTrees:
    """Make boosted trees whose leaves learn from noisy sums."""
    settings = task.settings
    _refuse(settings, *_NETWORKS_ONLY)
    shared: dict[str, Any] = {
        "epsilon": settings.epsilon,
        "delta": task.delta,
        "widths": task.inputs().widths,
        "rounds": settings.rounds,
    }
    if settings.learning_rate is not None:
        shared["learning_rate"] = settings.learning_rate
    if task.classes is not None:
        return PrivateBoosting(classes=task.classes, **shared)
    return PrivateBoostingRegressor(bounds=task.bounds, **shared)


def objective_logistic(task: TrainingTask) -> ObjectivePerturbation:
    """Make a logistic regression with noise on its loss."""
    return ObjectivePerturbation(epsilon=task.settings.epsilon, delta=task.delta, classes=_classes(task))


def objective_svm(task: TrainingTask) -> ObjectivePerturbation:
    """Make an SVM with noise on its loss."""
    classes = _classes(task)
    return ObjectivePerturbation(epsilon=task.settings.epsilon, delta=task.delta, classes=classes, loss="svm")


def output_logistic(task: TrainingTask) -> OutputPerturbation:
    """Make a logistic regression with noise on its coefficients."""
    return OutputPerturbation(epsilon=task.settings.epsilon, delta=task.delta, classes=_classes(task))


def functional_logistic(task: TrainingTask) -> FunctionalLogistic:
    """Make a logistic regression with noise on a polynomial of its loss."""
    return FunctionalLogistic(epsilon=task.settings.epsilon, delta=task.delta, classes=_classes(task))


def functional_linear(task: TrainingTask) -> FunctionalLinear:
    """Make a linear regression with noise on the coefficients of its loss."""
    _refuse(task.settings, *_NETWORKS_ONLY, "learning_rate", "rounds")
    return FunctionalLinear(epsilon=task.settings.epsilon, delta=task.delta, bounds=task.bounds)


def _classes(task: TrainingTask) -> tuple[str, ...]:
    _refuse(task.settings, *_NETWORKS_ONLY, "learning_rate", "rounds")
    if task.classes is None:
        raise InvalidParameter("target: its values must be declared (categories) for this model")
    return task.classes


def _refuse(settings: TrainingSettings, *others: str) -> None:
    """Refuse settings that only other models have."""
    given = [name for name in others if getattr(settings, name) is not None]
    given += [] if settings.poisson else ["poisson"]
    given += ["accept_no_amplification"] if settings.accept_no_amplification else []
    if given:
        whose = "boosting" if given[0] == "rounds" else "networks (how='gradients')"
        raise InvalidParameter(f"{given[0]}: this model has no such setting; it belongs to {whose}")


def _hidden(task: TrainingTask, sizes: tuple[int, ...]) -> int | tuple[int, ...]:
    if task.entry.hidden == "none":
        raise InvalidParameter("hidden: a logistic regression has no hidden layer")
    if task.entry.hidden == "any":
        return sizes
    if len(sizes) != 1:
        raise InvalidParameter(f"hidden={sizes}: {task.entry.model} takes one size")
    return sizes[0]


def _descent(settings: TrainingSettings) -> Descent:
    kind = settings.optimiser or "sgd"
    usual = _ADAM_RATE if kind == "adam" else Descent().learning_rate
    rate = usual if settings.learning_rate is None else settings.learning_rate
    return Descent(learning_rate=rate, optimiser=kind, average=settings.average or 0.0)
