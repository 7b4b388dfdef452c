"""How results look in a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from mahrem.report import Report, ReportRisk


_VERDICTS = {"holds": "holds", "holds-but": "holds, but", "broken": "DOES NOT HOLD"}


def print_json(document: object) -> None:
    """Print one JSON document."""
    from mahrem.report import to_json

    typer.echo(
        to_json(document) if isinstance(document, Mapping) else json.dumps(document, indent=2, default=str)
    )


def _fewer_alone(report: Report) -> Iterator[str]:
    """Say how fewer rows would stand alone: what is shown as it is joins the promise, or becomes coarser."""
    from mahrem.errors import spelled

    roles: dict[str | None, list[str]] = {}
    for name, column in report.columns.items():
        roles.setdefault(column.role, []).append(name)
    if plain := roles.get("insensitive"):
        yield f"covered: {spelled('quasi', [*roles.get('quasi', ()), *plain])}"
    numbers = [name for name in roles.get("sensitive", ()) if report.columns[name].kind == "numeric"]
    for name in numbers[:1]:
        yield f"coarser: {spelled('round', {name: 'STEP'})}"


_FIRST = ("published_classes", "gcp", "suppressed")  # figures of utility that everybody reads


def print_report(content: Mapping[str, object], *, verbose: bool = False) -> None:
    """Print what a release or a file promises, five figures, and with ``verbose`` all there are."""
    from mahrem.errors import spelled
    from mahrem.metrics import METRICS
    from mahrem.report import Report
    from mahrem.words import Note

    report = Report.read(content)
    asked = any(
        (promise.model, _figure(promise.wanted)) != ("k-anonymity", "1") for promise in report.promises
    )
    verdict = report.verdict or ("holds" if report.holds else "broken")
    typer.echo(_VERDICTS[verdict] if asked else f"no promise was asked for; ask for one: {spelled('k', 5)}")
    for doubt in report.buts:
        typer.echo(f"  but: {doubt}")
        if isinstance(doubt, Note) and doubt.code == "doubt.rare":
            column = str(doubt.values["column"])
            ways = (spelled(way, {column: step}) for way, step in (("round", "STEP"), ("grid", "year")))
            typer.echo(f"       coarser: {' for numbers, '.join(ways)} for dates")
        elif isinstance(doubt, Note) and doubt.code == "doubt.singling-out":
            for way in _fewer_alone(report):
                typer.echo(f"       {way}")
    rows: list[tuple[str, ...]] = []
    for promise in report.promises:
        name = promise.model + (f" ({promise.column})" if promise.column else "")
        broken = f"no: {promise.violating_classes} classes, {promise.violating_rows} rows"
        verdict = "yes" if promise.holds else broken
        rows.append((name, _figure(promise.wanted), _figure(promise.reached), verdict))
    print_table(("promise", "wanted", "reached", "holds"), rows)
    typer.echo("")
    known = {name: metric for name, metric in METRICS.items() if name in report.utility}
    figures = [(metric.label or name, _figure(report.utility[name])) for name, metric in known.items()]
    first = [known[name].label or name for name in _FIRST if name in known]
    rows = [("rows", _figure(report.rows)), *(row for row in figures if row[0] in first)]
    rows.append(("highest risk", _figure(report.risk.highest)))
    if verbose:
        rows = [("rows", _figure(report.rows)), *figures, *_risk_rows(report.risk)]
        rows.append(("seconds", _figure(report.seconds)))
    print_table(("figure", "value"), rows)
    if not verbose:
        typer.echo("more figures: --verbose")
    for warning in report.warnings or ():
        typer.echo(f"note: {warning}")


def print_dry_run(expected: Mapping[str, Any]) -> None:
    """Print what to expect of a real run."""
    how = (
        "the whole table was tried" if expected["exact"] else f"carried on from {expected['sampled']:,} rows"
    )
    typer.echo(f"expected for {expected['rows']:,} rows ({how}); nothing was written")
    about = "" if expected["exact"] else "about "
    rows = [
        ("classes", about + _figure(expected["classes"])),
        ("mean class size", about + _figure(round(expected["mean_class_size"], 2))),
        ("loss (GCP, 0 none to 1 all)", about + _figure(expected["gcp"])),
        ("suppressed rows", about + _figure(expected["suppressed"])),
        ("seconds", f"about {_figure(expected['seconds'])} (as {expected['seconds_follow']})"),
        ("memory", f"about {_figure(expected['memory_mb'])} MB"),
    ]
    print_table(("figure", "value"), rows)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, as plain text so that it can be piped."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@contextmanager
def while_read() -> Iterator[None]:
    """Print as long as somebody reads: ``| head`` must not change how a command ends."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise  # else rich met the closed pipe first, and ended the program for it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def stages(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show on stderr which stage a long job is in, and since when; nothing when nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description} …", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        job = shown.add_task("starting")
        yield lambda stage: shown.update(job, description=stage)


def _risk_rows(risk: ReportRisk) -> list[tuple[str, ...]]:
    """Name every figure of risk that is there."""
    above = f"rows above risk {_figure(risk.threshold)}"
    rows: list[tuple[str, object]] = [
        ("highest risk", risk.highest),
        ("average risk", risk.average),
        (above, risk.share_at_risk),
        ("rows that stand alone", risk.unique_share),
        ("marketer risk", risk.marketer),
    ]
    if journalist := risk.journalist:
        rows += [
            ("journalist: highest", journalist["highest"]),
            ("journalist: average", journalist["average"]),
            (f"journalist: {above}", journalist["share_at_risk"]),
        ]
    if risk.k_map is not None:
        rows.append(("k-map", risk.k_map))
    if alone := risk.population_uniques:
        rows += [
            ("population", alone["population"]),
            (f"alone in the population ({alone['chosen']})", alone["uniques"]),
            *((f"  {name}", alone[name]) for name in ("pitman", "zayatz", "snb")),
        ]
    return [(name, _figure(value)) for name, value in rows]


def _figure(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
