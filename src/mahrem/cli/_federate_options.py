"""Options that the verbs of ``mahrem federate`` share, and what they become."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "CONFIDENCE",
    "DIR",
    "HOW",
    "LEAST_CLIENTS",
    "LEAST_COUNT",
    "LONGEST",
    "MANY",
    "RECOUNT",
    "SUM",
    "SUPPORT",
    "listed",
    "option",
    "plan",
    "reading",
    "teller",
]

DIR = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that init made.")]
MANY = list[str] | None


def option(spelling: str, metavar: str, means: str) -> Any:
    return typer.Option(*spelling.split(), metavar=metavar, help=means, show_default=False)


HOW = Annotated[str, typer.Option("--how", help="exact (the model of all rows together) or one-shot.")]
SUM = Annotated[
    str, typer.Option("--sum", help="How counts are added: plain, masked or homomorphic (extra he).")
]
SUPPORT = Annotated[float, typer.Option("--support", help="Least share of the rows of a rule's left side.")]
CONFIDENCE = Annotated[float, typer.Option("--confidence", help="Least confidence of a rule.")]
LONGEST = Annotated[int | None, option("--longest", "N", "Most cells of a left side; all by default.")]
LEAST_CLIENTS = Annotated[int, typer.Option("--least-clients", help="Fewer than this and there is no model.")]
LEAST_COUNT = Annotated[
    int, typer.Option("--least-count", help="Counts of fewer people are sent as 0; above 1 is not exact.")
]
RECOUNT = Annotated[
    bool,
    typer.Option("--recount", help="Count again if a client is lost: the difference tells its counts."),
]


def plan(**said: Any) -> Any:
    from mahrem.federated import Plan

    return Plan(**said)


def reading(**said: Any) -> Any:
    from mahrem.table import Reading

    said["null"] = said["null"] or ()
    return Reading(**said)


def teller(*, quiet: bool) -> Callable[[str], None]:
    def tell(line: str) -> None:
        if not quiet:
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress goes there

    return tell


def listed(said: Iterable[str]) -> list[str]:
    return [part.strip() for text in said for part in text.split(",") if part.strip()]
