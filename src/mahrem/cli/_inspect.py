"""``mahrem inspect``."""

from __future__ import annotations

from typing import Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, speaks_policy
from mahrem.cli._print import print_json, print_table


@speaks_policy
def inspect(
    source: SOURCE,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: dict[str, Any],
) -> None:
    """Look at a table: kinds, distinct counts, and suggested roles with reasons. Only a suggestion.

    SOURCE is a CSV, TSV, Parquet, Arrow or DuckDB file, or a postgresql:// URI.

    mahrem inspect patients.csv
    """
    from mahrem.pipeline import inspect as verb

    found = verb(source, policy=policy, **settings)
    if json:
        print_json(found.as_dict())
        return
    if quiet:
        return
    typer.echo(f"{found.source}: {found.rows:,} rows, {len(found.columns):,} columns\n")
    head = ("column", "kind", "distinct", "missing", "suggested role", "because")
    rows = [
        (c.name, str(c.kind), f"{c.distinct:,}", f"{c.missing:,}", str(c.suggested_role), c.reason)
        for c in found.columns
    ]
    print_table(head, rows)
