"""``mahrem federate simulate --model``: weights or trees learnt over anonymised silos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from mahrem.cli._options import Row
from mahrem.cli._print import print_table
from mahrem.errors import InvalidParameter
from mahrem.typed import value

__all__ = [
    "LEARNING",
    "MODEL",
    "PROTECTIONS",
    "SILOS",
    "learning_plan",
    "policy_words",
    "print_learning",
    "silo_policies",
]

MODEL: Row = (
    "model",
    str | None,
    "--model",
    "NAME",
    "mlp (five layers), logistic or boosting (trees); du-cba (rules) by default.",
)
# each is a field of LearningPlan
LEARNING: Sequence[Row] = (
    ("rounds", int | None, "--rounds", "N", "Rounds of averaging, or trees; 60 by default."),
    ("epochs", int | None, "--epochs", "N", "How often a client sees its rows in a round; 1 by default."),
    ("batch", int | None, "--batch", "N", "Rows of a step; 32 by default."),
    ("rate", float | None, "--rate", "X", "Learning rate: 0.01, of boosting 0.2."),
    ("aggregate", str | None, "--aggregate", "NAME", "mean (default), median, trimmed or krum."),
    ("malicious", int | None, "--malicious", "N", "How many clients trimmed and krum allow for; 1."),
    ("proximal", float | None, "--proximal", "X", "Pull of FedProx towards the common model; 0."),
    ("fraction", float | None, "--fraction", "0..1", "Share of the clients drawn in each round; all."),
    ("depth", int | None, "--depth", "N", "Depth of a tree of boosting; 4 by default."),
)
# each is a field of Protections
PROTECTIONS: Sequence[Row] = (
    ("clip", float | None, "--clip", "X", "Longest update of a client, or gradient of a row (L2)."),
    ("noise", float | None, "--noise", "X", "Standard deviation of Gaussian noise, in units of --clip."),
    ("epsilon", float | None, "--epsilon", "X", "Instead of --noise: the promise over all rounds."),
    ("delta", float | None, "--delta", "X", "The delta of the promise; 1e-6 by default."),
    ("unit", str | None, "--unit", "NAME", "What noise hides: client (default, a whole silo) or row."),
    ("noise_by", str | None, "--noise-by", "NAME", "Whose noise is enough: client (default) or sum."),
    ("rows", int | None, "--silo-rows", "N", "Public number of rows of a silo; with --unit row."),
    ("norm_bound", float | None, "--norm-bound", "X", "The server shortens longer updates (L2)."),
    ("anomaly", float | None, "--anomaly", "X", "Refuse updates with a higher anomaly score; 3.5 is usual."),
    ("held_out", float | None, "--held-out", "X", "Refuse updates that raise the loss on kept rows by more."),
    ("strikes", int | None, "--strikes", "N", "A client refused in so many rounds is left out."),
    ("dummies", float | None, "--dummies", "X", "Dummy numbers for each weight; only clients tell them."),
    ("quantise", int | None, "--quantise", "BITS", "Send each number in so many bits, 2 to 16."),
    ("sparse", float | None, "--sparse", "0..1", "Send this share of the numbers, the largest."),
)
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


def learning_plan(said: Mapping[str, Any]) -> Any:
    """Make the plan that was said."""
    from mahrem.federated import LearningPlan, Protections

    switches = {name for name, *_ in PROTECTIONS}
    protections = Protections(**{name: known for name, known in said.items() if name in switches})
    plan = {name: known for name, known in said.items() if name not in switches}
    return LearningPlan(**plan, protections=protections)


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
    for name, told in summary["refused"].items():
        typer.echo(f"refused: {name} in {len(told)} rounds: {next(iter(told.values()))}")


def _protected(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if "promise" in summary:
        said = summary["promise"]
        rows.append(
            (
                "differentially private",
                f"epsilon={said['epsilon']:.4g}, delta={said['delta']:g} per {said['unit']}",
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
            key, equals, said = (one.strip() for one in part.partition("="))
            column, of_column, setting = (one.strip() for one in said.partition("="))
            place = held.setdefault(key, {}) if of_column else held  # kind=zip=code: of one column
            if not (equals and key and said) or not isinstance(place, dict):
                raise InvalidParameter(f"anonymize={text!r} must read like k=3,l=2 or client-2:k=5")
            place[column if of_column else key] = value(setting if of_column else said)
    return usual or None, single
