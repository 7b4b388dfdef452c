"""Options that the verbs of ``mahrem federate`` share, and what they become."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._federate_learning import LEARNING, MODEL, PROTECTIONS, learning_plan
from mahrem.cli._options import SOURCE_ROWS, Row, speaks
from mahrem.errors import InvalidParameter

__all__ = ["DIR", "FEDERATION", "MANY", "learns", "plan_from", "speaks_plan", "take_reading", "teller"]

DIR = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that init made.")]
FEDERATION = Annotated[Path, typer.Argument(metavar="FEDERATION", help="The federation file.")]
MANY = list[str] | None
RULES = "du-cba"

_BOTH: Sequence[Row] = (
    MODEL,
    ("sum", str | None, "--sum", "KIND", "How numbers are added: plain, masked or homomorphic (extra he)."),
    ("least_clients", int | None, "--least-clients", "N", "Fewer than this and there is no model; 2."),
)
# each is a field of Plan
_RULES: Sequence[Row] = (
    ("how", str | None, "--how", "NAME", "exact (the model of all rows together, default) or one-shot."),
    ("support", float | None, "--support", "X", "Least share of the rows of a rule's left side; 0.2."),
    ("confidence", float | None, "--confidence", "X", "Least confidence of a rule; 0.5."),
    ("longest", int | None, "--longest", "N", "Most cells of a left side; all by default."),
    (
        "cut",
        str | None,
        "--cut",
        "NAME",
        "Where the rules end: least (error, default), or shortest, which suits clients with few rows.",
    ),
    ("least_count", int | None, "--least-count", "N", "Counts of fewer people are sent as 0; not exact."),
    (
        "recount",
        bool | None,
        "--recount",
        None,
        "Count again if a client is lost: the difference tells its counts.",
    ),
)


def speaks_plan(verb: Callable[..., None], more: Mapping[str, Sequence[Row]] | None = None) -> Any:
    """Give a command the options that say what is learnt and how a table is read, and more."""
    panels = {"What is learnt": _BOTH, "Rules": _RULES, "Weights and trees": LEARNING}
    return speaks(verb, {**panels, "Protections": PROTECTIONS, **(more or {}), "Table": SOURCE_ROWS})


def learns(said: Mapping[str, Any]) -> bool:
    """Say whether weights or trees are to be learnt, and not rules."""
    return bool(said.get("model", RULES) != RULES)


def plan_from(said: Mapping[str, Any], usual: Mapping[str, Any] | None = None) -> Any:
    """Make the plan that was said, of rules or of learning; what belongs to the other kind is refused."""
    from mahrem.federated import RulesPlan

    given = dict(said)
    model = given.pop("model", RULES)
    other = _RULES if learns(said) else (*LEARNING, *PROTECTIONS)
    for name, _, spelling, *_ in other:
        if name in given:
            raise InvalidParameter(f"{name}: {spelling} does not go with --model {model}")
    if given.get("how") == "one-shot" and given.get("sum", "plain") != "plain":
        raise InvalidParameter(
            f"sum={given['sum']!r}: one-shot rules are not added up, the server sees those of every client; "
            "leave out --sum, or --how one-shot"
        )
    whole = {**(usual or {}), **given}
    return learning_plan({**whole, "model": model}) if learns(said) else RulesPlan(**whole)


def take_reading(said: dict[str, Any]) -> Any:
    """Take out of the settings how a table is read."""
    from mahrem.table import Reading

    return Reading(**{one.name: said.pop(one.name) for one in fields(Reading) if one.name in said})


def teller(*, quiet: bool) -> Callable[[str], None]:
    """Give what prints progress, or nothing."""

    def tell(line: str) -> None:
        if not quiet:
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress goes there

    return tell
