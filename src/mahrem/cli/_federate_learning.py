"""``mahrem federate simulate --model``: weights or trees learnt over anonymised silos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from mahrem.cli._options import Row
from mahrem.cli._print import print_table
from mahrem.errors import InvalidParameter
from mahrem.typed import value

# how the silos of a simulation anonymise
SILOS: Sequence[Row] = (
    (
        "anonymize",
        list[str] | None,
        "--anonymize",
        "K=V",
        "Each silo anonymises first: k=3,l=2,kind=zip=code; client-2:k=5 for one. Repeatable.",
    ),
    (
        "quasi",
        list[str] | None,
        "--qi --quasi",
        "A,B",
        "Quasi-identifiers of --anonymize; all columns by default.",
    ),
)


def silo_policies(
    anonymize: Sequence[str], quasi: Sequence[str]
) -> tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]:
    """Give the policy of all silos of a simulation, and what is another for single ones."""
    usual, single = policy_words(anonymize)
    if quasi:
        if usual is None and not single:
            raise InvalidParameter("quasi: --qi goes with --anonymize")
        usual = {**(usual or {}), "quasi": tuple(quasi)}
    return usual, single


def print_learning(summary: Mapping[str, Any]) -> None:
    """Print what was learnt and what it cost."""
    figures, privacy = summary["figures"], summary["privacy"]
    kept = f"{privacy['anonymised']} of {privacy['silos']} silos"
    rows = [
        ("model", f"{summary['model']}, {summary['rounds']} rounds"),
        ("clients", f"{len(summary['clients'])}, left out {len(summary['left_out'])}"),
        *([] if "promise" in summary else [("rows to learn from", f"{privacy['rows']:,}")]),
        ("anonymised first", kept + (", every promise holds" if privacy["anonymised"] else "")),
        *_protected(summary),
        *_measured(figures, summary["test_rows"]),
        ("bytes up, down", f"{summary['bytes']['up']:,}, {summary['bytes']['down']:,}"),
        ("seconds", f"{summary['seconds']:g}"),
        *([("the SuperLink says", summary["superlink"])] if "superlink" in summary else []),
        ("folder", summary["folder"]),
    ]
    print_table(("figure", "value"), rows)
    if summary["state"] == "stopped":
        typer.echo(f"stopped after round {summary['rounds']}, the model so far is kept: {summary['why']}")
    for name, rounds in summary["refused"].items():
        typer.echo(f"refused: {name} in {len(rounds)} rounds: {next(iter(rounds.values()))}")


def _protected(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if "promise" in summary:
        promise = summary["promise"]
        rows.append(
            (
                "differentially private",
                f"epsilon={promise['epsilon']:.4g}, delta={promise['delta']:g} per {promise['unit']}",
            )
        )
    if "vetting" in summary:
        rows.append(("updates", ", ".join(f"{many} {how}" for how, many in summary["vetting"].items())))
    return rows


def _measured(figures: Mapping[str, float], rows: int) -> list[tuple[str, str]]:
    if not figures:
        return [("accuracy", "not known: there were no rows to judge by (--test)")]
    shares = ", ".join(f"{figures[name]:.4f}" for name in ("precision", "recall", "f1"))
    return [
        ("accuracy", f"{figures['accuracy']:.4f} on {rows:,} untouched rows"),
        ("precision, recall, F1", shares),
    ]


def policy_words(texts: Sequence[str]) -> tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]:
    """Read policies as people write them: ``k=3,l=2`` for all silos, ``client-2:k=5`` for one.

    Example:
        >>> policy_words(["k=3,t=0.2,kind=zip=code", "client-2:k=5"])
        ({'k': 3, 't': 0.2, 'kind': {'zip': 'code'}}, {'client-2': {'k': 5}})
    """
    usual: dict[str, Any] = {}
    single: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, mark, rest = text.rpartition(":")
        held = single.setdefault(name, {}) if mark else usual
        for part in rest.split(","):
            key, equals, typed = (word.strip() for word in part.partition("="))
            column, of_column, setting = (word.strip() for word in typed.partition("="))
            place = held.setdefault(key, {}) if of_column else held  # kind=zip=code: of one column
            if not (equals and key and typed) or not isinstance(place, dict):
                raise InvalidParameter(f"anonymize={text!r} must read like k=3,l=2 or client-2:k=5")
            place[column if of_column else key] = value(setting if of_column else typed)
    return usual or None, single
