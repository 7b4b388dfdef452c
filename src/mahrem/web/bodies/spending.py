"""What may be said to verbs that a budget pays: settings that the command line takes, and the cost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mahrem.learning.synthesis import SynthesisSettings
from mahrem.learning.training import TrainingSettings
from mahrem.readers import number
from mahrem.settings import Setting, settings_of
from mahrem.web.bodies._setting_bodies import Strict, setting_body

SpendVerb = Literal["synthesize", "train"]
_SPECS: Mapping[str, type] = {"synthesize": SynthesisSettings, "train": TrainingSettings}
_LARGEST = 1000
_COST: Mapping[str, Any] = {"group": "cost", "metavar": "X", "takes": "float"}
EPSILON = Setting(name="epsilon", read=number.within(0, _LARGEST), **_COST)
_DELTA = Setting(name="delta", read=number.within(0, 1), default=1e-6, **_COST)
# What a call says by arguments of its own, as settings of a form.
_ARGUMENTS: Mapping[str, tuple[Setting, ...]] = {"synthesize": (EPSILON, _DELTA), "train": (EPSILON,)}


@cache
def settings_of_spending(verb: str) -> Mapping[str, Setting]:
    """Give what a person says to a verb on its page: what it costs first, then the settings of its spec."""
    own = {name: known for name, known in settings_of(_SPECS[verb]).items() if known.on_page}
    return {**{known.name: known for known in _ARGUMENTS[verb]}, **own}


def only_typed(verb: str) -> tuple[str, ...]:
    """Name settings that the command line alone takes."""
    return tuple(name for name, known in settings_of(_SPECS[verb]).items() if not known.on_page)


if TYPE_CHECKING:

    class SynthesizeWish(Strict):
        """How a synthetic table is made, and what it may cost."""

        epsilon: float
        language: str | None = None

    class TrainWish(Strict):
        """How a private model learns, and what that may cost."""

        epsilon: float
        evaluate_epsilon: float | None = None
else:
    _Epsilon = Annotated[float, Field(gt=0, le=_LARGEST)]
    SynthesizeWish = setting_body(
        "SynthesizeWish",
        "How a synthetic table is made, and what it may cost.",
        settings_of_spending("synthesize"),
        epsilon=(_Epsilon, ...),
        delta=(Annotated[float, Field(gt=0, lt=1)], 1e-6),
    )
    TrainWish = setting_body(
        "TrainWish",
        "How a private model learns, and what that may cost.",
        settings_of_spending("train"),
        epsilon=(_Epsilon, ...),
    )

SPENDING: Mapping[str, type[Strict]] = {"synthesize": SynthesizeWish, "train": TrainWish}
