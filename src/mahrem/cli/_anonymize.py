"""``mahrem anonymize`` and ``mahrem demo``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, VERBOSE, Row, VerbSettings, speaks_policy
from mahrem.cli._print import print_dry_run, print_json, print_report, print_table, stages
from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.release.decisions import release_settings
from mahrem.words import LANGUAGES

if TYPE_CHECKING:
    from mahrem.table import Hierarchy

Output = Annotated[Path, typer.Option("-o", "--output", help="Release folder to make.", metavar="DIR")]
Html = Annotated[bool, typer.Option("--html/--no-html", help="Draw report.html.")]
_RELEASE: Sequence[Row] = (
    ("output", Path | None, "-o --output", "DIR", "Release folder to make."),
    ("to", str | None, "--to", "URI", "Also write the published table to a DuckDB file or PostgreSQL URI."),
    ("to_table", str | None, "--to-table", "NAME", "Table name for --to; default anonymised."),
    ("hierarchies", Path | None, "--hierarchies", "DIR", "Keep the hierarchies used in this private folder."),
    ("target", str | None, "--target", "COL", "Column to predict: the report says what is left for it."),
    ("force", bool | None, "--force", None, "Replace an earlier release there."),
    ("strict", bool | None, "--strict", None, "Publish nothing that holds with doubts: exit 1."),
    ("html", bool | None, "--html/--no-html", None, "Draw report.html (default)."),
    ("dry_run", bool | None, "--dry-run", None, "Only say what to expect: classes, loss, time, memory."),
    ("explain", bool | None, "--explain", None, "With --engine spark: only cut, and print the plan."),
)


def _speaks_release(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks_policy(verb, {"Release": _RELEASE})


@_speaks_release
def anonymize(
    source: SOURCE,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    verbose: VERBOSE = False,
    policy: str | None = None,
    settings: VerbSettings,
) -> None:
    """Anonymise a table: read it, sort rows into classes, publish ranges and sets, verify, report.

    SOURCE is a CSV, TSV, Excel, Parquet, Arrow or DuckDB file, or a postgresql:// URI; with --engine spark a
    CSV or Parquet file or folder, also on the cluster's file system, or a table of its catalogue.

    mahrem anonymize patients.csv --qi age,zip --sensitive disease --rest drop -k 5 -l 3 -o release/
    """
    from mahrem.pipeline import anonymize as verb

    dry_run, explain = settings.pop("dry_run", False), settings.pop("explain", False)
    if dry_run or explain:
        show = _estimate if dry_run else _explain
        show(source, policy, settings, json=json, quiet=quiet)
        return
    output, hierarchies = settings.get("output"), settings.pop("hierarchies", None)
    if output is None:
        raise InvalidParameter("output=None: say where the release goes with -o DIR, or try --dry-run")
    if hierarchies is not None and output.resolve() in (
        hierarchies.resolve(),
        *hierarchies.resolve().parents,
    ):
        raise InvalidParameter("hierarchies must lie outside the release folder: they list real values")
    to_table = settings.pop("to_table", "anonymised")
    if "to" in settings:
        settings["to"] = settings["to"], to_table
    if policy is not None and not json and not quiet:
        _print_decisions(source, policy, settings)
    with stages(quiet=quiet) as progress:
        release = verb(source, policy=policy, progress=progress, **settings)
    if hierarchies is not None:
        _keep(release.hierarchies, hierarchies)
    if json:
        print_json(release.report)
    elif not quiet:
        print_report(release.report, verbose=verbose)
        page = f"\nreport:  {output / 'report.html'}" if settings.get("html", True) else ""
        typer.echo(f"\nrelease: {output}{page}")


def _print_decisions(source: str, policy: str, settings: Mapping[str, Any]) -> None:
    """Say what a policy that only describes columns will do with each, before it does it."""
    from mahrem.pipeline import column_decisions
    from mahrem.release.decisions import policy_from

    about = {name: value for name, value in settings.items() if name in release_settings()}
    given = policy_from(policy, about, bounded=True)
    if given.look_for and given.engine != "spark":
        decisions = column_decisions(source, policy=policy, **about)
        print_table(("column", "what becomes of it", "because"), decisions)
        typer.echo("")


def _keep(trees: Mapping[str, Hierarchy], folder: Path) -> None:
    """Write hierarchies, one file for each column."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFailed(f"hierarchies={folder.name!r} cannot be made: {error.strerror}") from error
    for number, (name, tree) in enumerate(trees.items(), start=1):
        plain = name if name.replace("-", "").replace("_", "").isalnum() else f"column-{number}"
        tree.write(folder / f"{plain}.csv")


def _estimate(source: str, policy: str | None, settings: VerbSettings, *, json: bool, quiet: bool) -> None:
    """Print what a real run would give."""
    from mahrem.pipeline import dry_run

    about = {name: value for name, value in settings.items() if name in {"html", *release_settings()}}
    with stages(quiet=quiet) as progress:
        estimate = dry_run(source, policy=policy, progress=progress, **about).report
    if json:
        print_json(estimate)
    elif not quiet:
        print_dry_run(estimate)


def _explain(source: str, policy: str | None, settings: VerbSettings, *, json: bool, quiet: bool) -> None:
    """Print how a cluster would go about it."""
    from mahrem.pipeline import explain
    from mahrem.release.decisions import policy_from

    settled = policy_from(policy, settings)
    if settled.engine != "spark":
        raise InvalidParameter("explain: only a cluster makes a plan; add --engine spark")
    with stages(quiet=quiet) as progress:
        plan = explain(source, settled, progress=progress)
    if json:
        print_json(plan)
    elif not quiet:
        print_table(("plan", "value"), [(name.replace("_", " "), f"{value}") for name, value in plan.items()])


def demo(
    output: Output = Path("demo-release"),
    rows: Annotated[int, typer.Option("--rows", help="How many fictional admissions.", min=50)] = 2000,
    language: Annotated[
        str, typer.Option("--language", help=f"Language of the report: {', '.join(LANGUAGES)}.")
    ] = "en",
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            help="Also write the admissions themselves, as CSV, to try commands on.",
            metavar="FILE",
        ),
    ] = None,
    *,
    html: Html = True,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier release, and the file of --table.")
    ] = False,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Anonymise fictional patients: a release folder with its report, no data needed.

    mahrem demo --table patients.csv
    """
    from mahrem.datasets import PATIENT_POLICY, patients
    from mahrem.pipeline import anonymize as verb
    from mahrem.table.writing import write_table

    if table is not None:
        _refuse_table(table, output, force=force)
    admissions = patients(rows)
    with stages(quiet=quiet) as progress:
        release = verb(
            admissions,
            policy={**PATIENT_POLICY, "language": language},
            output=output,
            html=html,
            force=force,
            progress=progress,
        )
    if table is not None:
        write_table(admissions, table, "csv")
    if json:
        print_json(release.report)
    elif not quiet:
        k, quasi = PATIENT_POLICY["k"], ", ".join(PATIENT_POLICY["quasi"])
        typer.echo(
            f"{rows} fictional hospital admissions, anonymised so that at least {k} people share every"
        )
        typer.echo(f"combination of {quasi}, and each such group shows at least 3 diagnoses.\n")
        print_report(release.report)
        where = f"; open {output / 'report.html'} in a browser" if html else ""
        typer.echo(f"\nThe release folder is {output}/{where}.")
        if table is not None:
            typer.echo(f"The admissions themselves are in {table}.")


def _refuse_table(table: Path, output: Path, *, force: bool) -> None:
    """Refuse a file that is there, and one that would lie among what is published."""
    if output.resolve() in (table.resolve(), *table.resolve().parents):
        raise InvalidParameter("table must lie outside the release folder: it lists names")
    if table.is_dir() or not table.resolve().parent.is_dir():
        raise InvalidParameter(f"table={str(table)!r} must be a file in a folder that is there")
    if table.exists() and not force:
        raise InvalidParameter(f"table={table.name!r} exists; choose another or pass --force")
