"""``mahrem key``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import JSON, QUIET
from mahrem.cli._print import print_json


def key(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file of the key.")],
    *,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Make a random key for pseudonyms, in a new file that only its owner can read.

    mahrem key hospital.key

    Name it with --pseudonym COL=hospital.key. Keep it apart from the release, and safe: whoever has it can
    tell who is behind a pseudonym, and a lost key cannot be made again.
    """
    from mahrem.files import make_key

    length = len(make_key(file))
    if json:
        print_json({"key": str(file), "bytes": length})
    elif not quiet:
        typer.echo(f"{file}: a new key of {length} bytes; keep it apart from the release")
