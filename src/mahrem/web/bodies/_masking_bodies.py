"""What may be said to verbs beside a release, made from the settings that the command line takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mahrem.partition.lattice import OBJECTIVES
from mahrem.pipeline.masking import MASKING
from mahrem.readers import number
from mahrem.settings import Setting, settings_of, text
from mahrem.web.bodies._setting_bodies import Strict, setting_body

MaskVerb = Literal["suppress", "perturb", "generalize", "risk", "lattice"]
PUBLISHING = ("suppress", "perturb", "generalize")  # what comes of them is a folder to hand out
# What a call says by arguments of its own, as settings of a form.
_ARGUMENTS: Mapping[str, tuple[Setting, ...]] = {
    "generalize": (
        Setting(name="epsilon", read=number.within(0, 1000), group="method", metavar="X", takes="float"),
        Setting(
            name="delta",
            read=number.within(0, 1),
            group="method",
            metavar="X",
            takes="float",
            default=1e-6,
        ),
    ),
    "lattice": (
        Setting(
            name="loss",
            read=text,
            group="method",
            metavar="NAME",
            takes="str",
            default="ncp",
            choices=lambda: tuple(name for name, entry in OBJECTIVES.items() if not entry.needs),
        ),
    ),
}


@cache
def settings_of_mask(verb: str) -> Mapping[str, Setting]:
    """Give what a person says to a verb on its page: arguments first, then the settings of its own spec."""
    own = settings_of(MASKING[verb]) if verb in MASKING else {}
    return {**{known.name: known for known in _ARGUMENTS.get(verb, ())}, **own}


def _body(name: str, verb: str, about: str, **more: Any) -> Any:
    return setting_body(name, about, settings_of_mask(verb), **more)


if TYPE_CHECKING:

    class SuppressWish(Strict):
        """Which combinations of columns must be frequent."""

    class PerturbWish(Strict):
        """What is done to which columns."""

    class GeneralizeWish(Strict):
        """What real rows may cost."""

    class RiskWish(Strict):
        """What is known of the population."""

    class LatticeWish(Strict):
        """What nodes are ranked by."""
else:
    SuppressWish = _body("SuppressWish", "suppress", "Which combinations of columns must be frequent.")
    PerturbWish = _body("PerturbWish", "perturb", "What is done to which columns.")
    GeneralizeWish = _body(
        "GeneralizeWish",
        "generalize",
        "What real rows may cost.",
        epsilon=(Annotated[float, Field(gt=0, le=1000)], ...),
        delta=(Annotated[float, Field(gt=0, lt=1)], 1e-6),
    )
    RiskWish = _body("RiskWish", "risk", "What is known of the population.")
    LatticeWish = _body("LatticeWish", "lattice", "What nodes are ranked by.")

WISHES: Mapping[str, type[Strict]] = {
    "suppress": SuppressWish,
    "perturb": PerturbWish,
    "generalize": GeneralizeWish,
    "risk": RiskWish,
    "lattice": LatticeWish,
}
