"""How results look in a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer

__all__ = ["print_json", "print_report", "print_table", "stages", "while_read"]

_FIGURES = {
    "classes": "classes",
    "published_classes": "classes as published",
    "mean_class_size": "mean class size",
    "dm": "discernibility (DM)",
    "c_avg": "C_avg",
    "gcp": "loss (GCP, 0 none to 1 all)",
    "gcp_sum": "loss summed (gcp_sum)",
    "iloss": "ILoss",
    "distortion": "generalised cells",
    "suppressed": "suppressed rows",
}


def print_json(document: object) -> None:
    """Print one JSON document."""
    from mahrem.report import to_json

    typer.echo(
        to_json(document) if isinstance(document, Mapping) else json.dumps(document, indent=2, default=str)
    )


def print_report(report: Mapping[str, Any]) -> None:
    """Print what a release or a file promises, and what it is still good for."""
    typer.echo("holds" if report["holds"] else "DOES NOT HOLD")
    rows: list[tuple[str, ...]] = []
    for promise in report["promises"]:
        name = promise["model"] + (f" ({promise['column']})" if promise.get("column") else "")
        verdict = (
            "yes"
            if promise["holds"]
            else f"no: {promise['violating_classes']} classes, {promise['violating_rows']} rows"
        )
        rows.append((name, _figure(promise["wanted"]), _figure(promise["reached"]), verdict))
    print_table(("promise", "wanted", "reached", "holds"), rows)
    typer.echo("")
    rows = [("rows", _figure(report["rows"]))]
    rows += [
        (words, _figure(report["utility"][key]))
        for key, words in _FIGURES.items()
        if key in report["utility"]
    ]
    rows += [("highest risk", _figure(report["risk"]["highest"])), ("seconds", _figure(report["seconds"]))]
    print_table(("figure", "value"), rows)
    for warning in report.get("warnings", ()):
        typer.echo(f"note: {warning}")


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, as plain text so that it can be piped."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@contextmanager
def while_read() -> Iterator[None]:
    """Print as long as somebody reads: ``| head`` must not change how a command ends."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def stages(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show on stderr which stage a long job is in; nothing when nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda stage: status.update(f"{stage} …")


def _figure(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
