"""``mahrem federate predict`` and ``report``: what a finished run is good for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, Row, VerbSettings, option, speaks_source
from mahrem.cli._print import print_json, print_table
from mahrem.cli.federating._options import speaks_rows, take_reading
from mahrem.words import LANGUAGES

_ASKED: Sequence[Row] = (
    ("target", str | None, "--target", "COL", "The true class, to be compared with."),
    ("network", Path | None, "--network", "FILE", "What makes a network of your own."),
    ("proba", bool | None, "--proba", None, "Say how likely each class is, in a column each."),
)


@speaks_rows({"Answer": _ASKED})
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A run folder, model.json or model.npz.")],
    source: SOURCE,
    output: Annotated[Path, option("-o --output", "FILE", "The table to write: one row for each, in order.")],
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Ask the model of a run about new rows: rules, weights or trees.

    mahrem federate predict study/runs/20261115-170750-7851 new.csv -o predicted.csv
    mahrem federate predict model.npz new.csv --proba -o predicted.csv
    """
    from mahrem.federated import predict_rows
    from mahrem.table import FORMATS
    from mahrem.table.writing import write_table

    reading = take_reading(settings)
    predictions = predict_rows(model, source, reading=reading, **settings)
    ending = output.suffix.removeprefix(".")
    write_table(predictions.table, output, ending if ending in FORMATS else "csv")
    summary = {
        "rows": predictions.table.height,
        "counts": dict(predictions.counts),
        "accuracy": predictions.accuracy,
    }
    for finding in predictions.findings:
        typer.echo(f"mahrem: warning: {finding.describe()}", err=True)
    if json:
        print_json(
            {**summary, "output": str(output), "findings": [each.code for each in predictions.findings]}
        )
    elif not quiet:
        print_table(("class", "rows"), [(name, f"{many:,}") for name, many in predictions.counts.items()])
        if predictions.accuracy is not None:
            typer.echo(f"right about {predictions.accuracy:.4f} of the rows whose class is known")
        typer.echo(f"written: {output}")


@speaks_source
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    output: Annotated[
        Path | None, option("-o --output", "FILE", "The page; report.html in the folder by default.")
    ] = None,
    language: Annotated[str, option("--language", "NAME", f"{', '.join(LANGUAGES)}.")] = "en",
    original: Annotated[
        str | None, option("--original", "SOURCE", "Rows of the clients: the model is attacked with them.")
    ] = None,
    holdout: Annotated[
        str | None, option("--holdout", "SOURCE", "Rows that nobody trained on, beside --original.")
    ] = None,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Write the report of a run, as a page and as JSON: members, rounds, accuracy, protections, attacks.

    mahrem federate report study/runs/20261115-170750-7851 --language tr
    mahrem federate report run --original adult.csv
    """
    from mahrem.federated import report_run

    result = report_run(
        run,
        output=output,
        language=language,
        members=original,
        holdout=holdout,
        reading=take_reading(settings),
    )
    if json:
        print_json(result.content)
    elif not quiet:
        typer.echo(f"report: {result.page}\nas JSON: {result.plain}")
