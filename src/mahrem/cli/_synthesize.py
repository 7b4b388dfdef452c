"""``mahrem synthesize``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, SOURCE_ROWS, Row, option, speaks
from mahrem.cli._print import print_json, print_table, stages, while_read
from mahrem.typed import listed, pairs, value
from mahrem.errors import InvalidParameter
from mahrem.table import FORMATS
from mahrem.words import LANGUAGES

if TYPE_CHECKING:
    from mahrem.pipeline import SyntheticRelease

__all__ = ["synthesize"]

_MANY = list[str] | None
_SCHEMA: Sequence[Row] = (
    ("columns", _MANY, "--columns", "A,B,C", "Which columns; all the ledger knows."),
    ("missing", _MANY, "--may-miss", "A,B", "Columns that may be empty; else such rows are left out."),
    ("kinds", _MANY, "--kind", "COL=whole|number", "What a number is; repeatable."),
    ("dates", _MANY, "--dates", "COL=FIRST:LAST", "A column of dates; repeatable."),
    ("cells", _MANY, "--cells", "COL=N or COL=A,B,C", "Cells of a number, or the edges between them."),
    ("constraints", _MANY, "--constraint", "RULE", "'a <= b' or 'total = a + b'; repeatable."),
)
_MODEL: Sequence[Row] = (
    ("method", str | None, "--method", "NAME", "marginals (default), vae, gan, or lstm for series."),
    ("target", str | None, "--target", "COL", "Column to predict: kept best."),
    ("options", _MANY, "--option", "NAME=VALUE", "A setting of the method's own; repeatable."),
)
_DRAWN: Sequence[Row] = (
    ("rows", int | None, "--rows", "N", "Rows to make; as many as there seem to be."),
    ("given", _MANY, "--given", "COL=VALUE or COL=LOW:HIGH", "A condition every row meets; repeatable."),
)


def _speaks_synthesis(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks(verb, {"Schema": _SCHEMA, "Model": _MODEL, "Rows": _DRAWN, "Table": SOURCE_ROWS})


@_speaks_synthesis
def synthesize(
    source: SOURCE,
    ledger: Annotated[Path, option("--ledger", "FILE", "The ledger that pays and knows the schema.")],
    epsilon: Annotated[float, option("--epsilon", "X", "What it may cost.")],
    output: Annotated[Path, option("-o --output", "DIR", "Release folder to make.")],
    delta: Annotated[float, typer.Option("--delta", help="The same; far below 1/rows.")] = 1e-6,
    format: Annotated[str, typer.Option("--format", help=f"{', '.join(FORMATS)}.")] = "csv",  # noqa: A002
    language: Annotated[
        str, typer.Option("--language", help=f"Of the report: {', '.join(LANGUAGES)}.")
    ] = "en",
    quality: Annotated[
        Path | None,
        option("--quality", "DIR", "Private folder for figures against the real rows; NOT private."),
    ] = None,
    holdout: Annotated[
        Path | None, option("--holdout", "FILE", "Real rows the synthesiser does not see, for --quality.")
    ] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release there.")] = False,
    html: Annotated[bool, typer.Option("--html/--no-html", help="Draw report.html.")] = True,
    json: JSON = False,
    quiet: QUIET = False,
    settings: dict[str, Any],
) -> None:
    """Make a synthetic table with differential privacy: no row belongs to a person.

    The schema comes from the ledger (bounds, declared values); nothing is read off the data unpaid.

    mahrem synthesize adult.csv --ledger adult.ledger --epsilon 1 --target income -o release/
    """
    from mahrem.pipeline import synthesize as verb

    with stages(quiet=quiet) as progress:
        release = verb(
            source,
            ledger=ledger,
            epsilon=epsilon,
            delta=delta,
            output=output,
            format=format,  # type: ignore[arg-type]
            language=language,
            force=force,
            html=html,
            quality=False if quality is None else quality,
            holdout=holdout,
            progress=progress,
            **_read(settings),
        )
    with while_read():
        if json:
            figures = {} if release.quality is None else {"quality": release.quality.as_dict()}
            print_json({**release.report, "seconds": round(release.seconds, 3), **figures})
        elif not quiet:
            _show(release, output, quality, html=html)


def _show(release: SyntheticRelease, output: Path, quality: Path | None, *, html: bool) -> None:
    made, sheet = release.report["synthesis"], release.report["privacy_ledger"]
    typer.echo("holds")
    rows = [
        ("rows", f"{release.report['rows']:,}"),
        ("columns", str(len(release.report["columns"]))),
        ("spent", f"epsilon={made['epsilon']:g}, delta={made['delta']:g}"),
        ("left in the ledger", f"epsilon={sheet['remaining']['epsilon']:.4g}"),
        ("seconds", f"{release.seconds:.1f}"),
    ]
    if release.quality is not None:
        figures = release.quality
        if "synthetic_mean" in figures.pairs:  # one column alone makes no pair
            off = f"{figures.pairs['synthetic_mean']:.4f}"
            rows.append(("pairs of columns are off by (not private)", off))
        rows += [
            (f"{name}: accuracy, trained on synthetic / real (not private)", _both(found))
            for name, found in figures.learning.items()
        ]
    print_table(("figure", "value"), rows)
    typer.echo(f"\n{made['guarantee']}")
    if made["left_out"]:
        typer.echo(f"note: left out, for nothing public is known of them: {', '.join(made['left_out'])}")
    typer.echo(f"\nrelease: {output}" + (f"\nreport:  {output / 'report.html'}" if html else ""))
    if quality is not None:
        typer.echo(f"quality: {quality / 'quality.html'} (reads real rows: do not publish)")


def _both(found: Mapping[str, float]) -> str:
    return " / ".join(
        f"{found[key]:.4f}" if key in found else "-" for key in ("synthetic_accuracy", "real_accuracy")
    )


def _read(said: Mapping[str, Any]) -> dict[str, Any]:
    """Turn what was typed into what the verb takes."""
    return {name: _READERS[name](typed) if name in _READERS else typed for name, typed in said.items()}


def _dates(texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    found = {}
    for name, said in pairs("dates", texts, "COL=FIRST:LAST").items():
        first, mark, last = said.partition(":")
        if not mark:
            raise InvalidParameter(f"dates={name!r} must read COL=FIRST:LAST")
        found[name] = first, last
    return found


def _cells(texts: Sequence[str]) -> dict[str, int | list[float]]:
    return {name: _edges(name, said) for name, said in pairs("cells", texts).items()}


def _edges(name: str, said: str) -> int | list[float]:
    try:
        return int(said) if "," not in said else [float(part) for part in said.split(",")]
    except ValueError:
        raise InvalidParameter(f"cells={name!r} must be a whole number, or edges like 0,10,100") from None


def _condition(said: str) -> Any:
    """Read a value, a range LOW:HIGH, or values A,B."""
    low, mark, high = said.partition(":")
    if mark:
        return value(low), value(high)
    if "," in said or isinstance(value(said), bool):  # such words are values of a column
        return said.split(",")
    return value(said)


def _setting(read: Any) -> Any:
    """Read several values A,B of a setting; one is read already."""
    return [value(part) for part in read.split(",")] if isinstance(read, str) and "," in read else read


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "columns": listed,
    "missing": listed,
    "kinds": lambda texts: pairs("kind", texts),
    "dates": _dates,
    "cells": _cells,
    "given": lambda texts: {name: _condition(said) for name, said in pairs("given", texts).items()},
    "options": lambda read: {name: _setting(said) for name, said in read.items()},
}
