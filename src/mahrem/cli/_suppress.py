"""``mahrem suppress``."""

from __future__ import annotations

from collections.abc import Callable

import typer

from mahrem.cli._options import (
    FORCE,
    JSON,
    QUIET,
    RELEASE_FOLDER,
    SOURCE,
    SOURCE_ROWS,
    VerbSettings,
    shared_rows,
    speaks,
    spec_panels,
)
from mahrem.cli._print import print_json, print_table

MASKING_ROWS = {
    "Roles": shared_rows("quasi", "sensitive", "identifier", "insensitive", "rest", "accept", "region"),
    "Table": SOURCE_ROWS,
    "Output": shared_rows("format"),
}


def _speaks_suppression(verb: Callable[..., None]) -> Callable[..., None]:
    from mahrem.pipeline.masking import SuppressionSettings

    weighed = (*MASKING_ROWS["Roles"], *shared_rows("weights"))
    return speaks(verb, {**spec_panels(SuppressionSettings, "suppress"), **MASKING_ROWS, "Roles": weighed})


@_speaks_suppression
def suppress(
    source: SOURCE,
    output: RELEASE_FOLDER,
    *,
    force: FORCE = False,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Hide single cells, as few as can be found, so that no combination of key columns is too rare.

    mahrem suppress survey.csv --qi age,sex,region -k 3 --set age,sex=5 --rest insensitive -o release/
    """
    from mahrem.pipeline import suppress as verb

    release = verb(source, output=output, force=force, **settings)
    if json:
        print_json(release.report)
    elif not quiet:
        typer.echo("holds")
        report = release.report
        rows = [(f"hidden in {name}", f"{count:,}") for name, count in report["hidden"].items()]
        rows += [("share of cells hidden", f"{report['hidden_share']:.4f}")]
        rows += [
            (
                f"{', '.join(each['columns'])}: k={each['k']}",
                f"exact {each['fewest']['exact']}, match {each['fewest']['match']}",
            )
            for each in report["sets"]
        ]
        print_table(("figure", "value"), rows)
