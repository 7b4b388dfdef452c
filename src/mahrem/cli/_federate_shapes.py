"""``mahrem federate simulate --shape``: the other shapes of federation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from mahrem.cli._options import option
from mahrem.cli._print import print_table
from mahrem.errors import InvalidParameter

__all__ = ["LABEL_EPSILON", "SHAPE", "print_shape", "simulated_shape"]

SHAPE = Annotated[
    str | None,
    option("--shape", "NAME", "Another shape: vertical, split, u-shaped, gossip or transfer."),
]
LABEL_EPSILON = Annotated[
    float | None, option("--label-epsilon", "X", "Randomise the labels of vertical or u-shaped.")
]
_SAID = ("label_epsilon", "model", "rounds", "epochs", "batch", "rate")  # what a shape takes of the settings


def simulated_shape(
    source: str,
    shape: str | None,
    said: Mapping[str, Any],
    shared: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Mapping[str, Any]:
    """Run :func:`~mahrem.federated.simulate_shape`; what a shape does not know is refused."""
    from mahrem.federated import ShapeRun, simulate_shape

    if shape is None:
        raise InvalidParameter("label_epsilon: --label-epsilon goes with --shape vertical or u-shaped")
    given = {name: value for name, value in settings.items() if value}
    for name in given:
        if name not in _SAID:
            raise InvalidParameter(f"{name}: --{name.replace('_', '-')} does not go with --shape")
    if shared["by"] is not None:
        raise InvalidParameter("by: --by does not go with --shape")
    drawn = {name: shared[name] for name in ("clients", "split", "alpha", "seed")}
    return simulate_shape(source, run=ShapeRun.usual(shape, **given, **drawn), test=shared["test"], **said)  # type: ignore[arg-type]


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
