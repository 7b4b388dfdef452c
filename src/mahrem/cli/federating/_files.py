"""``mahrem federate key``, ``schema`` and ``renew``: files that a federation is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import JSON, SOURCE, VerbSettings, option, speaks_source
from mahrem.cli._print import print_json
from mahrem.cli.federating._options import DIR, MANY, take_reading
from mahrem.typed import listed, pairs


def key(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="NAME.key and NAME.pub are written.")],
    sums: Annotated[
        str | None,
        option("--sums", "KIND", "Instead: the clients' keys of homomorphic sums, of counts or weights."),
    ] = None,
    *,
    json: JSON = False,
) -> None:
    """Make a client's key, on the client's own machine. NAME.key stays there; NAME.pub goes to init.

    mahrem federate key north
    mahrem federate key sums --sums weights
    """
    from mahrem.check import one_of
    from mahrem.federated.flower import make_key_files, make_sum_key_files
    from mahrem.federated.sums import SCHEMES

    if sums is None:
        private, public = make_key_files(name)
        who, option_of = "nobody else needs it", f"--client {name.name}=..."
    else:
        private, public = make_sum_key_files(name, one_of(tuple(SCHEMES), sums=sums))
        who, option_of = "all clients need it, the server must not have it", f"--sum-public {public.name}"
    if json:
        print_json({"private": str(private), "public": str(public)})
        return
    typer.echo(f"{private}: keep it here, {who}")
    typer.echo(f"{public}: give it to the coordinator (mahrem federate init {option_of})")


@speaks_source
def schema(
    source: SOURCE,
    target: Annotated[str, option("--target", "COL", "The column to predict.")],
    output: Annotated[Path, option("-o --output", "FILE", "The schema file to write.")],
    columns: Annotated[MANY, option("--columns", "A,B", "Learn from these only.")] = None,
    hierarchy: Annotated[MANY, option("--hierarchy", "COL=FILE", "A tree to agree on; repeatable.")] = None,
    *,
    settings: VerbSettings,
) -> None:
    """Propose a schema for weights and trees from a PUBLIC table; correct it, then give it to init --schema.

    mahrem federate schema public.csv --target income -o schema.toml

    Bounds and values are those of the table: of a private one, the largest value is somebody's.
    """
    from mahrem.check import columns_exist
    from mahrem.federated import propose_schema, write_schema
    from mahrem.table import open_source, read_hierarchy

    opened = open_source(source, take_reading(settings))
    files = pairs("hierarchy", hierarchy, "COL=FILE")
    columns_exist(files, opened.columns)
    trees = {name: read_hierarchy(file) for name, file in files.items()}
    proposed = propose_schema(opened.take(opened.columns), target, listed(columns) or None, trees)
    write_schema(proposed, output)
    typer.echo(
        f"{output}: {len(proposed.columns)} columns, {len(proposed.classes)} classes; read and correct it"
    )


def renew(
    folder: DIR, days: Annotated[float, typer.Option("--days", help="How long it holds.")] = 365.0
) -> None:
    """Make a new server certificate by the same authority; clients need nothing new.

    mahrem federate renew study
    """
    from mahrem.federated import renew_certificate

    renew_certificate(folder, days)
    typer.echo(f"{folder}/server/server.crt: holds for {days:g} days; start the server again")
