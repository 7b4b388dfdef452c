"""``mahrem reproduce``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mahrem.cli._options import JSON, QUIET, Option, VerbSettings, speaks
from mahrem.cli._print import print_json, print_table, stages

if TYPE_CHECKING:
    from mahrem.experiments import Row


_RUN = (
    Option("tables", list[str] | None, "--table", "T", "One table; repeatable. Default: all."),
    Option(
        "only",
        list[str] | None,
        "--only",
        "NAME",
        "One method of a long experiment; repeatable. Default all.",
    ),
    Option("seconds", float | None, "--seconds", "N", "One run there at most; default 3600."),
    Option("folder", Path | None, "--resume", "DIR", "Folder of finished runs; they are not run again."),
)


def _speaks_runs(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks(verb, {"Run": _RUN})


@_speaks_runs
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help=(
                "buyuktanir2022, canbay2019, dp-adult, dp-audit, dp-load, dp-mnist, dp-pairs, dp-pate, "
                "dp-series, dp-synthesis, dp-synthetic-images, dp-tables, federated-attacks, "
                "federated-shapes, saleh or stoldt2019."
            ),
        ),
    ],
    csv: Annotated[Path | None, typer.Option("--csv", help="Write the rows as CSV.", metavar="FILE")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for CSV, JSON and pictures.", metavar="DIR")
    ] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Small budgets: to see that it runs.")] = False,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Run a paper's experiments again: published figure, ours, difference.

    mahrem reproduce canbay2019 --table 4.7
    """
    from mahrem.experiments import reproduce as verb
    from mahrem.experiments import write_csv, write_rows

    with stages(quiet=quiet) as progress:
        rows = verb(paper, quick=quick, progress=progress, **settings)
    if csv is not None:
        write_csv(rows, csv)
    written = [] if output is None else write_rows(rows, output)
    if json:
        print_json([row.as_dict() for row in rows])
    elif not quiet:
        _show(rows)
        for path in written:
            typer.echo(f"written: {path}")


def _show(rows: Sequence[Row]) -> None:
    head = ("table", "dataset", "setting", "method", "metric", "published", "ours", "difference", "note")
    lines = [
        (
            row.table,
            row.dataset,
            " ".join(f"{key}={value}" for key, value in row.setting.items()),
            row.method,
            row.metric,
            _figure(row.published),
            _figure(row.ours),
            _figure(row.difference),
            row.note,
        )
        for row in rows
    ]
    print_table(head, lines)
    both = [row for row in rows if row.difference is not None]
    exact = sum(row.exact for row in both)
    typer.echo(f"\n{len(rows):,} rows; {len(both):,} have a published figure, {exact:,} of them equal ours.")


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4f}".rstrip("0").rstrip(".")
