"""``mahrem federate simulate --model``: weights or trees learnt over anonymised silos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from mahrem.cli._federate_options import MANY, option
from mahrem.cli._print import print_json, print_table
from mahrem.errors import InvalidParameter

__all__ = [
    "AGGREGATE",
    "ALPHA",
    "ANONYMIZE",
    "DEPTH",
    "EPOCHS",
    "FRACTION",
    "MALICIOUS",
    "MODEL",
    "PROXIMAL",
    "QUASI",
    "RATE",
    "ROUNDS",
    "learn",
]

MODEL = Annotated[
    str, typer.Option("--model", help="du-cba (rules), mlp (five layers), logistic or boosting (trees).")
]
ANONYMIZE = Annotated[
    MANY,
    option("--anonymize", "K=V", "Each silo anonymises first: k=3,l=2; client-2:k=5 for one. Repeatable."),
]
QUASI = Annotated[
    MANY, option("--qi --quasi", "A,B", "Quasi-identifiers of --anonymize; all columns by default.")
]
ALPHA = Annotated[float, typer.Option("--alpha", help="How even --split dirichlet is; small is uneven.")]
ROUNDS = Annotated[int, typer.Option("--rounds", help="Rounds of averaging, or trees.")]
EPOCHS = Annotated[int, typer.Option("--epochs", help="How often a client sees its rows in a round.")]
RATE = Annotated[float | None, option("--rate", "X", "Learning rate: 0.01, of boosting 0.2.")]
AGGREGATE = Annotated[
    str, typer.Option("--aggregate", help="mean, median, trimmed or krum: how weights are put together.")
]
MALICIOUS = Annotated[int, typer.Option("--malicious", help="How many clients trimmed and krum allow for.")]
PROXIMAL = Annotated[float, typer.Option("--proximal", help="Pull of FedProx towards the common model.")]
FRACTION = Annotated[float, typer.Option("--fraction", help="Share of the clients drawn in each round.")]
DEPTH = Annotated[int, typer.Option("--depth", help="Depth of a tree of boosting.")]


def learn(
    source: str,
    said: Mapping[str, Any],
    plan: Mapping[str, Any],
    shared: Mapping[str, Any],
    anonymize: Sequence[str],
    quasi: Sequence[str],
    *,
    json: bool,
) -> None:
    """Run :func:`~mahrem.federated.simulate_learning` and print its summary."""
    from mahrem.federated import LearningPlan, Shared, simulate_learning

    usual, single = policy_words(anonymize)
    if quasi:
        if usual is None and not single:
            raise InvalidParameter("quasi: --qi goes with --anonymize")
        usual = {**(usual or {}), "quasi": tuple(quasi)}
    summary = simulate_learning(
        source,
        plan=LearningPlan(**plan),
        shared=Shared(**shared),
        anonymise=usual,
        policies=single,
        **said,
    )
    if json:
        print_json(summary)
    else:
        _print(summary)


def _print(summary: Mapping[str, Any]) -> None:
    figures, privacy = summary["figures"], summary["privacy"]
    kept = f"{privacy['anonymised']} of {privacy['silos']} silos"
    rows = [
        ("model", f"{summary['model']}, {summary['rounds']} rounds"),
        ("clients", f"{len(summary['clients'])}, left out {len(summary['left_out'])}"),
        ("rows to learn from", f"{privacy['rows']:,}"),
        ("anonymised first", kept + (", every promise holds" if privacy["anonymised"] else "")),
        ("accuracy", f"{figures['accuracy']:.4f} on {summary['test_rows']:,} untouched rows"),
        (
            "precision, recall, F1",
            ", ".join(f"{figures[name]:.4f}" for name in ("precision", "recall", "f1")),
        ),
        ("bytes up, down", f"{summary['bytes']['up']:,}, {summary['bytes']['down']:,}"),
        ("seconds", f"{summary['seconds']:g}"),
        ("folder", summary["folder"]),
    ]
    print_table(("figure", "value"), rows)
    for name, why in summary["left_out"].items():
        typer.echo(f"left out: {name}: {why}")
    for name, told in summary["refused"].items():
        typer.echo(f"refused: {name} in {len(told)} rounds: {next(iter(told.values()))}")


def policy_words(said: Sequence[str]) -> tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]:
    """Read policies as people write them: ``k=3,l=2`` for all silos, ``client-2:k=5`` for one.

    Example:
        >>> policy_words(["k=3,t=0.2", "client-2:k=5"])
        ({'k': 3, 't': 0.2}, {'client-2': {'k': 5}})
    """
    usual: dict[str, Any] = {}
    single: dict[str, dict[str, Any]] = {}
    for text in said:
        name, mark, rest = text.rpartition(":")
        held = single.setdefault(name, {}) if mark else usual
        for part in rest.split(","):
            key, equals, value = part.partition("=")
            if not equals or not key.strip() or not value.strip():
                raise InvalidParameter(f"anonymize={text!r} must read like k=3,l=2 or client-2:k=5")
            held[key.strip()] = _value(value.strip())
    return usual or None, single


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
