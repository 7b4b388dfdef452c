"""``mahrem apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import JSON, QUIET, VerbSettings, speaks_batch
from mahrem.cli._print import print_json, print_report, stages


@speaks_batch
def apply(
    recipe: Annotated[
        Path, typer.Argument(metavar="RECIPE", help="Earlier release folder, or its release.recipe.")
    ],
    batch: Annotated[str, typer.Argument(metavar="BATCH", help="Later rows: anything anonymize reads.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Release folder to make.", metavar="DIR")],
    *,
    html: Annotated[bool, typer.Option("--html/--no-html", help="Draw report.html.")] = True,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Recode a later batch with the cells of an earlier release, and verify the same promise again.

    Rows that fit no class of the recipe, and classes that do not keep the promise in the batch, show nothing;
    --suppression-limit says how many may.

    mahrem apply release/ june.csv -o release-june/
    """
    from mahrem.pipeline import apply as verb

    with stages(quiet=quiet) as progress:
        release = verb(recipe, batch, output=output, html=html, progress=progress, **settings)
    if json:
        print_json(release.report)
    elif not quiet:
        print_report(release.report)
        typer.echo(f"\nrelease: {output}" + (f"\nreport:  {output / 'report.html'}" if html else ""))
