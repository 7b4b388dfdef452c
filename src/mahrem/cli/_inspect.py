"""``mahrem inspect``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, VerbSettings, option, speaks_policy
from mahrem.cli._print import print_json, print_table
from mahrem.errors import InvalidParameter
from mahrem.files import write_whole


@speaks_policy
def inspect(
    source: SOURCE,
    policy_out: Annotated[
        Path | None, option("--policy-out", "FILE", "Write a policy with the suggested roles, commented.")
    ] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --policy-out.")] = False,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: VerbSettings,
) -> None:
    """Look at a table: what columns really hold, and suggested roles with reasons. Only a suggestion.

    SOURCE is a CSV, TSV, Excel, Parquet, Arrow or DuckDB file, or a postgresql:// URI.

    mahrem inspect patients.csv --policy-out policy.toml

    mahrem anonymize patients.csv --policy policy.toml -o release/
    """
    from mahrem.pipeline import inspect as verb

    if policy_out is not None and policy_out.exists() and not force:
        raise InvalidParameter(f"policy_out={policy_out.name!r} exists; choose another or pass --force")
    inspection = verb(source, policy=policy, **settings)
    if policy_out is not None:
        write_whole(policy_out, inspection.policy(), private=False)
    if json:
        print_json(inspection.as_dict())
        return
    if quiet:
        return
    typer.echo(f"{inspection.source}: {inspection.rows:,} rows, {len(inspection.columns):,} columns\n")
    head = ("column", "kind", "distinct", "missing", "suggested role", "because")
    rows = [
        (
            c.name,
            str(c.kind),
            f"{'~' if c.estimated else ''}{c.distinct:,}",
            f"{c.missing:,}",
            str(c.suggested_role),
            c.reason,
        )
        for c in inspection.columns
    ]
    print_table(head, rows)
    if any(c.estimated for c in inspection.columns):
        typer.echo("\n~ is estimated. Every row was looked at; what it holds is told by some values of every")
        typer.echo("way of writing there is in a column.")
    if inspection.hints:
        typer.echo("")
    for hint in inspection.hints:
        typer.echo(f"note: {hint}")
    if policy_out is not None:
        typer.echo(f"\npolicy: {policy_out}; look at every line, then:")
        typer.echo(f"mahrem anonymize {quote(source)} --policy {quote(str(policy_out))} -o release/")
