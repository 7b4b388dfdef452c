"""``mahrem federate simulate --shape``: the other shapes of federation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from mahrem.cli._federate_options import take_settings
from mahrem.cli._options import option
from mahrem.cli._print import print_table
from mahrem.errors import InvalidParameter
from mahrem.federated.runs import SHAPES, TableSharing

SHAPE = Annotated[str | None, option("--shape", "NAME", f"Another shape: {', '.join(SHAPES)}.")]
LABEL_EPSILON = Annotated[
    float | None, option("--label-epsilon", "X", "Randomise the labels of vertical or u-shaped.")
]
_PLAN = ("model", "rounds", "epochs", "batch", "rate")  # what a shape takes of a plan
_SHARING = ("clients", "split", "alpha", "seed")


def shape_simulation(shape: str | None, label_epsilon: float | None, settings: dict[str, Any]) -> Any:
    """Give the simulation of a shape; what a shape does not know is refused."""
    from mahrem.federated import ShapeRun, ShapeSimulation

    if shape is None:
        raise InvalidParameter("label_epsilon: --label-epsilon goes with --shape vertical or u-shaped")
    sharing = take_settings(TableSharing, settings)
    for name in (*settings, *(["by"] if "by" in sharing else [])):
        if name not in _PLAN:
            raise InvalidParameter(f"{name}: --{name.replace('_', '-')} does not go with --shape")
    drawn = {name: value for name, value in sharing.items() if name in _SHARING}
    run = ShapeRun.usual(shape, label_epsilon=label_epsilon, **settings, **drawn)
    return ShapeSimulation(run, sharing.get("test", TableSharing.test))


def print_shape(summary: Mapping[str, Any]) -> None:
    """Print what was learnt, beside the same network in one place."""
    figures, central = summary["figures"], summary["central"]
    rows = [
        ("shape", f"{summary['shape']}, {summary['model']}, {summary['rounds']} rounds"),
        ("parties", f"{len(summary['clients'])}"),
        *_found(summary),
        ("accuracy", f"{figures['accuracy']:.4f} on {summary['test_rows']:,} untouched rows"),
        *(
            [("lowest of the parties", f"{summary['lowest_accuracy']:.4f}")]
            if len(summary["models"]) > 1
            else []
        ),
        ("in one place", f"{central['accuracy']:.4f}, difference {summary['difference']:+.4f}"),
        ("F1, in one place", f"{figures['f1']:.4f}, {central['f1']:.4f}"),
        ("bytes up, down", f"{summary['bytes']['up']:,}, {summary['bytes']['down']:,}"),
        ("seconds", f"{summary['seconds']:g}"),
        ("folder", summary["folder"]),
    ]
    print_table(("figure", "value"), rows)


def _found(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Give what only some shapes have to say."""
    rows = []
    if "aligned_rows" in summary:
        alone = ", ".join(f"{many:,}" for many in summary["ids_alone"].values())
        rows.append(("rows that align", f"{summary['aligned_rows']:,} (ids that others lack: {alone})"))
    if "spread" in summary:
        rows.append(("peers differ by at most", f"{summary['spread']:.2g}"))
    if summary["shape"] == "transfer":
        rows.append(("over all columns", f"{summary['central_all_columns']['accuracy']:.4f} in one place"))
    return rows
