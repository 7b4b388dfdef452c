"""``mahrem releases``: what was released on this machine, and what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import JSON, QUIET
from mahrem.cli._print import print_json, print_table
from mahrem.words import LANGUAGES

releases = typer.Typer(
    name="releases",
    help="List earlier releases, say how two differ, mark them as draft or published, withdraw them.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)

FOLDER = Annotated[Path, typer.Argument(metavar="FOLDER", help="A release folder.")]


@releases.callback()
def listed(context: typer.Context, *, json: JSON = False) -> None:
    """List the releases that were made on this machine, the newest first.

    mahrem releases
    """
    if context.invoked_subcommand is not None:
        return
    from mahrem.release.folders import remembered_releases

    remembered = remembered_releases()
    if json:
        print_json({"releases": [release.as_dict() for release in remembered]})
        return
    head = ("made", "state", "k", "method", "rows", "classes", "folder")
    rows = [
        (
            release.finished[:16].replace("T", " "),
            release.state,
            *(_shown(value) for value in (release.k, release.method, release.rows, release.classes)),
            release.folder + ("" if release.there else " (gone)"),
        )
        for release in remembered
    ]
    print_table(head, rows) if rows else typer.echo("no release is remembered")


@releases.command("diff")
def diff(
    first: FOLDER,
    second: FOLDER,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Draw a page there too; FILE.pdf is a PDF.", metavar="FILE"),
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help=f"Of the page: {', '.join(LANGUAGES)}.", metavar="NAME")
    ] = "en",
    *,
    json: JSON = False,
) -> None:
    """Say in which settings, promises, figures and columns two releases differ.

    mahrem releases diff monday/ tuesday/ -o difference.html
    """
    from mahrem.release.folders import difference

    if output is None:
        differences = difference(first, second)
    else:
        from mahrem.pipeline import redraw_two

        differences = redraw_two(first, second, output=output, language=language)
    if json:
        print_json(differences)
        return
    rows = [
        (about, name, _shown(before), _shown(after))
        for about, changed in differences.items()
        for name, (before, after) in changed.items()
    ]
    print_table(("about", "what", first.name, second.name), rows) if rows else typer.echo("no difference")


@releases.command("mark")
def mark(
    folder: FOLDER,
    state: Annotated[str, typer.Argument(metavar="draft|published", help="What it is.")],
    *,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Say that a release is a draft, which nobody outside has seen, or that it is published.

    mahrem releases mark trial/ draft
    """
    from mahrem import check

    _mark(folder, check.one_of(("draft", "published"), state=state), json=json, quiet=quiet)


@releases.command("withdraw")
def withdraw(folder: FOLDER, *, json: JSON = False, quiet: QUIET = False) -> None:
    """Say that a release was withdrawn: it no longer counts when people are released again.

    It cannot be undone for those who have a copy. The folder itself stays.

    mahrem releases withdraw release/
    """
    _mark(folder, "withdrawn", json=json, quiet=quiet)


def _mark(folder: Path, state: str, *, json: bool, quiet: bool) -> None:
    from mahrem.release.folders import mark_release

    mark_release(folder, state)
    if json:
        print_json({"folder": str(folder.absolute()), "state": state})
    elif not quiet:
        typer.echo(f"{folder}: {state}")


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(inner)}" for name, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
