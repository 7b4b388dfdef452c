"""``mahrem report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import JSON, QUIET
from mahrem.cli._print import print_json
from mahrem.words import LANGUAGES


def report(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="Release folder.")],
    language: Annotated[
        str | None,
        typer.Option(
            "--language", help=f"{', '.join(LANGUAGES)}; the release's own if not given.", metavar="NAME"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write the page there, not into the folder; FILE.pdf is a PDF, printed by Chromium.",
            metavar="FILE",
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Add this privacy ledger's data sheet to the page.", metavar="FILE"),
    ] = None,
    *,
    source: Annotated[
        bool,
        typer.Option(
            "--source",
            help="Name the table it was made from and its fingerprint, by this machine's record; "
            "for your own files, with -o.",
        ),
    ] = False,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Draw the report of a release again, in any of its languages.

    The folder is compared with its hashes first: exit code 4 if it is not what was released.

    mahrem report release/ --language tr --ledger patients.ledger

    mahrem report release/ -o release.pdf --source
    """
    from mahrem.pipeline import redraw

    page = redraw(release, language=language, output=output, ledger=ledger, source=source)
    if json:
        print_json({"release": str(release), "report": str(page)})
    elif not quiet:
        typer.echo(f"report: {page}")
