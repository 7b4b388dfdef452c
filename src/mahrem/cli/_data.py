"""``mahrem data``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from mahrem.cli._options import JSON
from mahrem.cli._print import print_json, print_table


def data(
    name: Annotated[
        str | None, typer.Argument(help="One data set: check its file and print the path.")
    ] = None,
    *,
    json: JSON = False,
) -> None:
    """List the public benchmark data: what is there, where it comes from, under which licence."""
    from mahrem import datasets

    if name is not None:
        path = datasets.find(name)
        if json:
            print_json({"name": name, "path": str(path)})
        else:
            typer.echo(str(path))
        return
    here = {entry.name: entry for entry in datasets.available()}
    known = [
        {**asdict(entry), "path": str(here[entry.name].path) if entry.name in here else None}
        for entry in datasets.catalogue()
    ]
    if json:
        print_json(known)
        return
    rows = [
        (
            entry["name"],
            f"{entry['rows']:,}",
            "here" if entry["path"] else "-",
            entry["what"],
            entry["source_url"],
        )
        for entry in known
    ]
    print_table(("name", "rows", "file", "what it is", "where it comes from"), rows)
    if not here:
        typer.echo(
            "\nNone is here: set MAHREM_DATA to a folder that holds the files and their manifest.json."
        )
