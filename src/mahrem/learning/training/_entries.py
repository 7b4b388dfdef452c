"""The private models: names, where each lives, what is known before it is made. A new one is one entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from mahrem.entries import Entries, Entry
from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from mahrem.learning.training._task import TrainingTask

GRADIENTS = "gradients"


@dataclass(frozen=True, kw_only=True)
class PrivateModel(Entry):
    """A model that is private by construction; its name is ``model``, or ``model/how``.

    Attributes:
        learns: What its target may be; ``rows`` are their own target.
        pure: It can promise a pure epsilon (delta 0).
        torch: It runs in PyTorch, so it needs the extra ``train``; others need ``dp``.
        hidden: How many sizes of hidden layers it takes.
        rounds: It is boosted, round by round.
    """

    learns: tuple[Literal["classes", "number", "rows"], ...]
    pure: bool = True
    torch: bool = False
    hidden: Literal["none", "one", "any"] = "none"
    rounds: bool = False

    @property
    def model(self) -> str:
        """What is learnt."""
        return self.name.partition("/")[0]

    @property
    def how(self) -> str:
        """Where the noise goes."""
        return self.name.partition("/")[2] or GRADIENTS

    def load(self) -> Callable[[TrainingTask], Any]:
        """Import the factory: it makes an estimator for a task."""
        return cast("Callable[[TrainingTask], Any]", super().load())


def _network(
    name: str,
    hidden: Literal["none", "one", "any"],
    learns: tuple[Literal["classes", "number", "rows"], ...] = ("classes", "number"),
) -> PrivateModel:
    home = "mahrem.learning.training._estimators:network"
    return PrivateModel(name=name, home=home, learns=learns, torch=True, hidden=hidden)


def _linear(
    name: str,
    factory: str,
    learns: tuple[Literal["classes", "number", "rows"], ...] = ("classes",),
    *,
    pure: bool = True,
) -> PrivateModel:
    home = f"mahrem.learning.training._estimators:{factory}"
    return PrivateModel(name=name, home=home, learns=learns, pure=pure)


MODELS: Entries[PrivateModel] = Entries(
    "mahrem.private_models",
    PrivateModel,
    (
        _network("dnn", "any"),
        _network("logistic", "none"),
        _network("cnn", "one"),
        _network("lstm", "one"),
        _network("scattering", "none", ("classes",)),
        _network("autoencoder", "any", ("rows",)),
        PrivateModel(
            name="boosting",
            home="mahrem.learning.training._estimators:boosting",
            learns=("classes", "number"),
            pure=False,
            rounds=True,
        ),
        _linear("logistic/objective", "objective_logistic"),
        _linear("svm/objective", "objective_svm"),
        _linear("logistic/output", "output_logistic", pure=False),
        _linear("logistic/functional", "functional_logistic"),
        _linear("linear/functional", "functional_linear", ("number",)),
    ),
)


def model_names() -> tuple[str, ...]:
    """Name what can be learnt."""
    return tuple(dict.fromkeys(name.partition("/")[0] for name in MODELS))


def noise_places() -> tuple[str, ...]:
    """Name the places where noise can go."""
    return tuple(dict.fromkeys(name.partition("/")[2] or GRADIENTS for name in MODELS))


def find_model(model: str, how: str) -> PrivateModel:
    """Give the entry of a model whose noise goes there."""
    name = model if how == GRADIENTS else f"{model}/{how}"
    if name not in MODELS:
        known = ", ".join(entry if "/" in entry else f"{entry}/{GRADIENTS}" for entry in MODELS)
        raise InvalidParameter(f"model={model!r}, how={how!r} is not known; there are {known}")
    return MODELS[name]
