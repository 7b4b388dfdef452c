"""``mahrem anonymize`` and ``mahrem demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, speaks_policy
from mahrem.cli._print import print_json, print_report, stages

__all__ = ["anonymize", "demo"]

Output = Annotated[Path, typer.Option("-o", "--output", help="Release folder to make.", metavar="DIR")]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier release there.")]
Html = Annotated[bool, typer.Option("--html/--no-html", help="Draw report.html.")]


@speaks_policy
def anonymize(
    source: SOURCE,
    output: Output,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help="Also write the published table to a DuckDB file or PostgreSQL URI.", metavar="URI"
        ),
    ] = None,
    to_table: Annotated[
        str, typer.Option("--to-table", help="Table name for --to.", metavar="NAME")
    ] = "anonymised",
    *,
    force: Force = False,
    html: Html = True,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: dict[str, Any],
) -> None:
    """Anonymise a table: read it, sort rows into classes, publish ranges and sets, verify, report.

    SOURCE is a CSV, TSV, Parquet, Arrow or DuckDB file, or a postgresql:// URI.

    mahrem anonymize patients.csv --qi age,zip --sensitive disease --rest drop -k 5 -l 3 -o release/
    """
    from mahrem.pipeline import anonymize as verb

    with stages(quiet=quiet) as progress:
        release = verb(
            source,
            policy=policy,
            output=output,
            to=to,
            to_table=to_table,
            force=force,
            html=html,
            progress=progress,
            **settings,
        )
    if json:
        print_json(release.report)
    elif not quiet:
        print_report(release.report)
        typer.echo(f"\nrelease: {output}" + (f"\nreport:  {output / 'report.html'}" if html else ""))


def demo(
    output: Output = Path("demo-release"),
    rows: Annotated[int, typer.Option("--rows", help="How many fictional admissions.", min=50)] = 2000,
    language: Annotated[str, typer.Option("--language", help="Language of the report: en, tr or de.")] = "en",
    *,
    force: Force = False,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Anonymise fictional patients: a release folder with its report, no data needed."""
    from mahrem.datasets import PATIENT_POLICY, patients
    from mahrem.pipeline import anonymize as verb

    with stages(quiet=quiet) as progress:
        release = verb(
            patients(rows),
            policy=PATIENT_POLICY,
            output=output,
            force=force,
            progress=progress,
            language=language,
        )
    if json:
        print_json(release.report)
    elif not quiet:
        k, quasi = PATIENT_POLICY["k"], ", ".join(PATIENT_POLICY["quasi"])
        typer.echo(
            f"{rows} fictional hospital admissions, anonymised so that at least {k} people share every"
        )
        typer.echo(f"combination of {quasi}, and each such group shows at least 3 diagnoses.\n")
        print_report(release.report)
        typer.echo(f"\nThe release folder is {output}/; open {output / 'report.html'} in a browser.")
