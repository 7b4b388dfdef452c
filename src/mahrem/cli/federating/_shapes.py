"""``mahrem federate init --shape`` and ``simulate --shape``: the other shapes of federation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mahrem.cli._options import Row, VerbSettings
from mahrem.cli.federating._options import rows_of_spec, take_settings
from mahrem.errors import InvalidParameter
from mahrem.federated.runs import SHAPES, AgreedShape, TableSharing
from mahrem.settings import settings_of
from mahrem.typed import listed, pairs

SIMULATED_SHAPE: Sequence[Row] = (
    ("shape", str | None, "--shape", "NAME", f"Another shape: {', '.join(SHAPES)}."),
    ("label_epsilon", float | None, "--label-epsilon", "X", "Randomise the labels of vertical or u-shaped."),
)
_SHAPE_ALONE = ("shape", "label_epsilon", "units", "tail", "least_rows", "predict", "id", "holds")
SHAPE_ROWS = rows_of_spec(AgreedShape, only=_SHAPE_ALONE)
_PLAN = ("model", "rounds", "epochs", "batch", "rate")  # what a shape takes of a plan
_SHARING = ("clients", "split", "alpha", "seed")


def shape_simulation(settings: VerbSettings) -> Any:
    """Give the simulation of a shape; what a shape does not know is refused."""
    from mahrem.federated import ShapeRun, ShapeSimulation

    shape, label_epsilon = settings.pop("shape", None), settings.pop("label_epsilon", None)
    if shape is None:
        raise InvalidParameter("label_epsilon: --label-epsilon goes with --shape vertical or u-shaped")
    sharing = take_settings(TableSharing, settings)
    for name in (*settings, *(["by"] if "by" in sharing else [])):
        if name not in _PLAN:
            raise InvalidParameter(f"{name}: --{name.replace('_', '-')} does not go with --shape")
    drawn = {name: value for name, value in sharing.items() if name in _SHARING}
    run = ShapeRun.usual(shape, label_epsilon=label_epsilon, **settings, **drawn)
    return ShapeSimulation(run, sharing.get("test", TableSharing.test))


def agreed_shape(settings: Mapping[str, Any]) -> Any:
    """Give the shape that members agree on; what a shape does not know is refused."""
    known = settings_of(AgreedShape)
    for name in settings:
        if name not in known:
            raise InvalidParameter(f"{name}: --{name.replace('_', '-')} does not go with --shape")
    given = {name: value for name, value in settings.items() if name != "holds"}
    if "holds" in settings:
        given["holds"] = {
            name: tuple(listed([columns]))
            for name, columns in pairs("holds", settings["holds"], "NAME=A,B").items()
        }
    return AgreedShape.from_dict(given)


def refuse_shape_settings(settings: Mapping[str, object]) -> None:
    """Refuse what only a shape knows where none was said."""
    for name in _SHAPE_ALONE:
        if name in settings:
            raise InvalidParameter(f"{name}: --{name.replace('_', '-')} goes with --shape")
