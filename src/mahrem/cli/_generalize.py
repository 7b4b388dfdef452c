"""``mahrem generalize``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import (
    DELTA,
    EPSILON,
    FORCE,
    JSON,
    QUIET,
    RELEASE_FOLDER,
    SOURCE,
    SOURCE_ROWS,
    VerbSettings,
    option,
    shared_rows,
    speaks,
    spec_panels,
)
from mahrem.cli._print import print_json, print_table


def _speaks_generalisation(verb: Callable[..., None]) -> Callable[..., None]:
    from mahrem.pipeline.masking import GeneralisationSettings

    columns = {"Columns": shared_rows("hierarchy", "weights"), "Table": SOURCE_ROWS}
    own = spec_panels(GeneralisationSettings, "generalize")
    return speaks(verb, {**columns, **own, "Output": shared_rows("format")})


@_speaks_generalisation
def generalize(
    source: SOURCE,
    ledger: Annotated[Path, option("--ledger", "FILE", "The ledger that pays.")],
    epsilon: EPSILON,
    output: RELEASE_FOLDER,
    delta: DELTA = 1e-6,
    *,
    force: FORCE = False,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Publish real rows with differential privacy: a sample, lifted to levels that were chosen privately.

    Only columns with a public hierarchy are published.

    mahrem generalize patients.csv --ledger patients.ledger --epsilon 2 --hierarchy age=ages.csv
    --hierarchy zip=zips.csv -o release/
    """
    from mahrem.pipeline import generalize as verb

    release = verb(
        source, ledger=ledger, epsilon=epsilon, delta=delta, output=output, force=force, **settings
    )
    report = release.report
    if json:
        print_json(report)
    elif not quiet:
        typer.echo("holds")
        rows = [
            *((f"level of {name}", f"{level}") for name, level in report["levels"].items()),
            ("rows", f"{report['rows']:,}"),
            ("rows that look alike, at least", f"{report['k']:,}"),
            ("chance of a row to be sampled", f"{report['beta']:.4f}"),
            ("spent", f"epsilon={report['epsilon']:g}, delta={report['delta']:g}"),
            ("left in the ledger", f"epsilon={report['privacy_ledger']['remaining']['epsilon']:.4g}"),
        ]
        print_table(("figure", "value"), rows)
        typer.echo(f"\n{report['guarantee']}")
