"""``mahrem attack``."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, speaks_published
from mahrem.cli._print import print_json, stages, while_read
from mahrem.errors import InvalidParameter

__all__ = ["attack"]

Table = str | None
_WIDTH = 100


def _table(flag: str, means: str, metavar: str = "FILE") -> Any:
    return typer.Option(flag, help=means, metavar=metavar)


@speaks_published
def attack(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="Release folder, any published table (then name --qi), or a model folder."
        ),
    ],
    original: Annotated[Table, _table("--original", "The table the release was made of.")] = None,
    second: Annotated[
        Table, _table("--second", "Another release of the same people, for composition.", "RELEASE")
    ] = None,
    holdout: Annotated[
        Table, _table("--holdout", "For a model or made-up rows: real rows they never saw.")
    ] = None,
    shadows: Annotated[
        int,
        typer.Option("--shadows", help="For a model: train so many of its kind and attack with them.", min=0),
    ] = 0,
    trials: Annotated[
        int, typer.Option("--trials", help="How many people, rows or claims an attack tries.", min=1)
    ] = 1000,
    fail_above: Annotated[
        float | None,
        typer.Option(
            "--fail-above",
            help="Exit with 1 if an attack beats its baseline by more than this share of its trials.",
            metavar="0..1",
            min=0,
            max=1,
        ),
    ] = None,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: dict[str, Any],
) -> None:
    """Attack a release before somebody else does: what would they find out, and how sure is that?

    Nothing about a person is printed. A release folder knows its columns; any other file needs --qi.

    mahrem attack release/ --original patients.csv

    mahrem attack other-tool.csv --qi age,zip --sensitive disease --original patients.csv

    mahrem attack made-up/ --original real.csv --holdout other-people.csv

    mahrem attack model/ --original trained-on.csv --holdout never-seen.csv --shadows 4
    """
    from mahrem.cli._attack_model import attack_folder, print_model
    from mahrem.pipeline import attack as verb
    from mahrem.pipeline import is_model

    population = settings.pop("population", None)
    model = is_model(release)
    if not model and shadows:
        raise InvalidParameter("shadows: this belongs to a model folder (mahrem train -o DIR)")
    with stages(quiet=quiet) as progress:
        if model or holdout is not None:
            found = attack_folder(
                release,
                original=original,
                holdout=holdout,
                shadows=shadows,
                settings=settings,
                progress=progress,
            )
        else:
            found = verb(
                release,
                original=original,
                population=population,
                second=second,
                policy=policy,
                trials=trials,
                progress=progress,
                **settings,
            )
    with while_read():
        if json:
            print_json(found.report)
        elif not quiet:
            (print_model if model or holdout is not None else _print)(found.report)
    raise typer.Exit(1 if fail_above is not None and found.worst() > fail_above else 0)


def _print(report: Mapping[str, Any]) -> None:
    done = [finding for finding in report["findings"] if finding["skipped"] is None]
    typer.echo(
        f"{report['source']}: {report['shown']:,} rows in {report['classes']:,} classes, "
        f"the smallest of {report['smallest_class']}\n"
    )
    for finding in done:
        low, high = finding["interval"]
        name = _name(finding)
        mark = "!" if finding["alarming"] else " "
        typer.echo(
            f"{mark} {name}: {_share(finding['rate'])} of {finding['trials']:,}, "
            f"between {_share(low)} and {_share(high)}; baseline {_share(finding['baseline'])}"
        )
        typer.echo(fill(finding["meaning"], _WIDTH, initial_indent="    ", subsequent_indent="    "))
    skipped = [finding for finding in report["findings"] if finding["skipped"] is not None]
    if skipped:
        typer.echo("\nnot tried:")
        for finding in skipped:
            typer.echo(f"  {finding['attack']}: {finding['skipped']}")
    for warning in report["warnings"]:
        typer.echo(fill(f"note: {warning}", _WIDTH))
    typer.echo("\n! better than the baseline beyond doubt. What each attack measures: docs/theory/attacks.md")


def _name(finding: Mapping[str, Any]) -> str:
    """Name an attack and what tells it from others of its kind."""
    details = finding["details"]
    about = [str(details["column"])] if "column" in details else []
    if "known" in details:
        about.append(f"knowing {details['known']}")
    if details.get("noise"):
        about.append(f"{details['noise']:.0%} of it wrong")
    return str(finding["attack"]) + (f" ({', '.join(about)})" if about else "")


def _share(value: float) -> str:
    return f"{value:.2%}" if 0 < value < 0.1 else f"{value:.1%}"
