"""``mahrem synthesize``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE
from mahrem.cli._print import print_json, print_table, stages, while_read
from mahrem.cli._query import DECIMAL, DELIMITER, ENCODING, NULL, SQL, TABLE
from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from mahrem.pipeline import SyntheticRelease

__all__ = ["synthesize"]

_MANY = list[str] | None


def _option(spelling: str, metavar: str, means: str) -> Any:
    return typer.Option(spelling, metavar=metavar, help=means, show_default=False)


def synthesize(
    source: SOURCE,
    ledger: Annotated[Path, _option("--ledger", "FILE", "The ledger that pays and knows the schema.")],
    epsilon: Annotated[float, _option("--epsilon", "X", "What it may cost.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Release folder to make.")],
    delta: Annotated[float, typer.Option("--delta", help="The same; far below 1/rows.")] = 1e-6,
    method: Annotated[str, typer.Option("--method", metavar="NAME", help="How: marginals.")] = "marginals",
    target: Annotated[str | None, _option("--target", "COL", "Column to predict: kept best.")] = None,
    rows: Annotated[int | None, _option("--rows", "N", "Rows to make; as many as there seem to be.")] = None,
    columns: Annotated[_MANY, _option("--columns", "A,B,C", "Which columns; all the ledger knows.")] = None,
    missing: Annotated[
        _MANY, _option("--may-miss", "A,B", "Columns that may be empty; else such rows are left out.")
    ] = None,
    kinds: Annotated[_MANY, _option("--kind", "COL=whole|number", "What a number is; repeatable.")] = None,
    dates: Annotated[_MANY, _option("--dates", "COL=FIRST:LAST", "A column of dates; repeatable.")] = None,
    cells: Annotated[
        _MANY, _option("--cells", "COL=N or COL=A,B,C", "Cells of a number, or the edges between them.")
    ] = None,
    constraints: Annotated[
        _MANY, _option("--constraint", "RULE", "'a <= b' or 'total = a + b'; repeatable.")
    ] = None,
    given: Annotated[
        _MANY, _option("--given", "COL=VALUE or COL=LOW:HIGH", "A condition every row meets; repeatable.")
    ] = None,
    options: Annotated[
        _MANY, _option("--option", "NAME=VALUE", "A setting of the method's own; repeatable.")
    ] = None,
    format: Annotated[str, typer.Option("--format", help="csv, tsv, parquet, arrow or xlsx.")] = "csv",  # noqa: A002
    language: Annotated[str, typer.Option("--language", help="Of the report: en, tr or de.")] = "en",
    quality: Annotated[
        Path | None,
        _option("--quality", "DIR", "Private folder for figures against the real rows; NOT private."),
    ] = None,
    holdout: Annotated[
        Path | None, _option("--holdout", "FILE", "Real rows the synthesiser does not see, for --quality.")
    ] = None,
    null: NULL = None,
    delimiter: DELIMITER = None,
    encoding: ENCODING = None,
    decimal: DECIMAL = None,
    table: TABLE = None,
    sql: SQL = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release there.")] = False,
    html: Annotated[bool, typer.Option("--html/--no-html", help="Draw report.html.")] = True,
    json: JSON = False,
    quiet: QUIET = False,
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
            method=method,
            target=target,
            rows=rows,
            output=output,
            columns=_split(columns),
            missing=_split(missing),
            kinds=_pairs("kind", kinds),
            dates={name: _range("dates", name, said) for name, said in _pairs("dates", dates).items()},
            cells={name: _cells(name, said) for name, said in _pairs("cells", cells).items()},
            constraints=constraints or (),
            given={name: _condition(said) for name, said in _pairs("given", given).items()},
            options={name: _plain(said) for name, said in _pairs("option", options).items()},
            format=format,  # type: ignore[arg-type]
            language=language,
            force=force,
            html=html,
            quality=False if quality is None else quality,
            holdout=holdout,
            progress=progress,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,  # type: ignore[arg-type]
            null=null or (),
            table=table,
            sql=sql,
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
        rows.append(("pairs of columns are off by (not private)", f"{figures.pairs['synthetic_mean']:.4f}"))
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


def _split(texts: Iterable[str] | None) -> list[str]:
    return [part.strip() for text in texts or () for part in text.split(",") if part.strip()]


def _pairs(option: str, texts: Iterable[str] | None) -> dict[str, str]:
    found = {}
    for text in texts or ():
        name, mark, value = text.partition("=")
        if not mark or not name or not value:
            raise InvalidParameter(f"{option}={text!r} must read NAME=VALUE")
        found[name] = value
    return found


def _range(option: str, name: str, said: str) -> tuple[str, str]:
    first, mark, last = said.partition(":")
    if not mark:
        raise InvalidParameter(f"{option}={name!r} must read COL=FIRST:LAST")
    return first, last


def _cells(name: str, said: str) -> int | list[float]:
    try:
        return int(said) if "," not in said else [float(part) for part in said.split(",")]
    except ValueError:
        raise InvalidParameter(f"cells={name!r} must be a whole number, or edges like 0,10,100") from None


def _condition(said: str) -> Any:
    """Read a value, a range LOW:HIGH, or values A,B."""
    low, mark, high = said.partition(":")
    if mark:
        return _plain(low), _plain(high)
    return said.split(",") if "," in said else _plain(said)


def _plain(said: str) -> Any:
    for read in (int, float):
        try:
            return read(said)
        except ValueError:
            continue
    return said
