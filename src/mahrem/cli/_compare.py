"""``mahrem compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, speaks_policy
from mahrem.cli._print import print_json, print_table, stages
from mahrem.errors import InvalidParameter

__all__ = ["compare"]


@speaks_policy
def compare(
    source: SOURCE,
    methods: Annotated[
        str | None,
        typer.Option("--methods", help="Which to run; default: all that suit the size.", metavar="A,B"),
    ] = None,
    ks: Annotated[
        str | None, typer.Option("--ks", help="Which k; default: 2,3,5,10,20,50.", metavar="2,5,10")
    ] = None,
    strategies: Annotated[
        str | None, typer.Option("--strategies", help="strict,relaxed for methods that cut.", metavar="A,B")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Runs of methods that draw.", min=1)] = 1,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Begin no run after so many seconds.", metavar="SECONDS")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", help="Column to predict: adds what is left for learning.", metavar="COL"),
    ] = None,
    classifiers: Annotated[
        str | None,
        typer.Option("--classifiers", help="With --target; see the guide for names.", metavar="A,B"),
    ] = None,
    splits: Annotated[int, typer.Option("--splits", help="Splits into training and test rows.", min=1)] = 5,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder for table, picture and page; a second call goes on.", metavar="DIR"
        ),
    ] = None,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: dict[str, Any],
) -> None:
    """Sweep methods over k on one table: loss, risk, time, one row each. Nothing is published.

    mahrem compare patients.csv --qi age,zip,sex --sensitive disease --rest drop -o comparison/
    """
    from mahrem.pipeline import compare as verb
    from mahrem.report import frontier_advice

    with stages(quiet=quiet) as progress:
        found = verb(
            source,
            policy=policy,
            methods=_listed(methods),
            ks=None if ks is None else _whole_numbers(ks),
            strategies=_listed(strategies),
            seeds=seeds,
            budget=budget,
            target=target,
            classifiers=_listed(classifiers),
            splits=splits,
            output=output,
            progress=progress,
            **settings,
        )
    if json:
        print_json(found.as_dict())
    elif not quiet:
        _show(found.rows, found.left_out)
        typer.echo("\n" + " ".join(frontier_advice(found.rows)))
        if found.original is not None:
            _show_learnt(found)
        if output is not None:
            typer.echo(f"\npage:    {output / 'comparison.html'}\npicture: {output / 'frontier.svg'}")
    raise typer.Exit(0 if all(row["holds"] or row["note"] for row in found.rows) else 1)


def _show(rows: Any, left_out: Any) -> None:
    head = ("method", "strategy", "k", "seed", "loss (GCP)", "classes", "top risk", "mean risk", "seconds")
    keys = ("method", "strategy", "k", "seed", "gcp", "classes", "highest_risk", "average_risk", "seconds")
    lines = [(*(_figure(row[key]) for key in keys), _verdict(row)) for row in rows]
    print_table((*head, "holds"), lines)
    for name, reason in left_out.items():
        typer.echo(f"note: {name}: {reason}")


def _show_learnt(found: Any) -> None:
    """Print what classifiers reach on untouched rows, the original first."""
    from mahrem.report import correlation_sentences

    typer.echo(f"\ntrained on anonymised rows, tested on untouched ones; target {found.target}")
    keys = ("method", "strategy", "k", "seed", "entropy_loss", "entropy_loss_cells")
    head = (
        "method",
        "strategy",
        "k",
        "seed",
        "entropy loss",
        "by cells",
        "classifier",
        "accuracy",
        "F1",
        "AUC",
    )
    lines = [
        (*(_figure(row[key]) for key in keys), name, *(_spread(row, figure, name) for figure in _LEARNT))
        for row in (found.original, *found.rows)
        for name in found.classifiers
    ]
    print_table(head, lines)
    for sentence in correlation_sentences(found.as_dict()):
        typer.echo(sentence)


_LEARNT = ("accuracy", "macro_f1", "auc")


def _spread(row: Any, figure: str, name: str) -> str:
    mean = row[f"{figure}_{name}"]
    return "-" if mean is None else f"{mean:.4f} ± {row[f'{figure}_std_{name}']:.4f}"


def _verdict(row: Any) -> str:
    return "yes" if row["holds"] else row["note"] or "NO"


def _figure(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidParameter(f"ks={text!r} must be whole numbers: 2,5,10") from error
