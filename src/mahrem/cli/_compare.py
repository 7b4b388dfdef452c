"""``mahrem compare``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, VerbSettings, option, speaks_policy, spec_panels
from mahrem.cli._print import print_json, print_table, stages


def _speaks_sweep(verb: Callable[..., None]) -> Callable[..., None]:
    from mahrem.pipeline.comparing import Sweep

    return speaks_policy(verb, spec_panels(Sweep, "compare"))


@_speaks_sweep
def compare(
    source: SOURCE,
    output: Annotated[
        Path | None,
        option("-o --output", "DIR", "Folder for table, picture and page; a second call goes on."),
    ] = None,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: VerbSettings,
) -> None:
    """Sweep methods over k on one table: loss, risk, time, one row each. Nothing is published.

    mahrem compare patients.csv --qi age,zip,sex --sensitive disease --rest drop -o comparison/
    """
    from mahrem.pipeline import compare as verb
    from mahrem.report import comparison_advice

    with stages(quiet=quiet) as progress:
        comparison = verb(source, policy=policy, output=output, progress=progress, **settings)
    if json:
        print_json(comparison.as_dict())
    elif not quiet:
        _show(comparison.rows, comparison.left_out)
        typer.echo("\n" + " ".join(comparison_advice(comparison.as_dict())))
        if comparison.original is not None:
            _show_learnt(comparison)
        if output is not None:
            typer.echo(f"\npage:    {output / 'comparison.html'}\npicture: {output / 'frontier.svg'}")
    raise typer.Exit(0 if all(row["holds"] or row["note"] for row in comparison.rows) else 1)


def _show(rows: Any, left_out: Any) -> None:
    keys = {
        "method": "method",
        "strategy": "strategy",
        "k": "k",
        "seed": "seed",
        "loss (GCP)": "gcp",
        "classes": "classes",
        "top risk": "highest_risk",
        "mean risk": "average_risk",
        "guessed": "guess_gain",
        "seconds": "seconds",
    }
    lines = [(*(_figure(row[key]) for key in keys.values()), _verdict(row)) for row in rows]
    print_table((*keys, "holds"), lines)
    for name, reason in left_out.items():
        typer.echo(f"note: {name}: {reason}")


def _show_learnt(comparison: Any) -> None:
    """Print what classifiers reach on untouched rows, the original first."""
    from mahrem.report import correlation_sentences

    typer.echo(f"\ntrained on anonymised rows, tested on untouched ones; target {comparison.target}")
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
        for row in (comparison.original, *comparison.rows)
        for name in comparison.classifiers
    ]
    print_table(head, lines)
    for sentence in correlation_sentences(comparison.as_dict()):
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
