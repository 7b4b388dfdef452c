"""``mahrem audit``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, VERBOSE, Row, VerbSettings, speaks_policy
from mahrem.cli._print import print_json, print_report, stages, while_read

_AUDIT: Sequence[Row] = (
    ("threshold", float | None, "--threshold", "0..1", "A row is at risk above this risk; default 0.2."),
    ("public_key", Path | None, "--public-key", "FILE", "A release folder must be signed with this key."),
)


def _speaks_audit(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks_policy(verb, {"Audit": _AUDIT})


@_speaks_audit
def audit(
    source: SOURCE,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 also where it holds with doubts.")] = False,
    json: JSON = False,
    quiet: QUIET = False,
    verbose: VERBOSE = False,
    policy: str | None = None,
    settings: VerbSettings,
) -> None:
    """Say what a file already promises; exit code 1 if a demanded promise does not hold.

    SOURCE is a release folder, a CSV, TSV, Excel, Parquet, Arrow or DuckDB file, or a postgresql:// URI.

    Works on any table, a release folder, or the output of another tool. Only the columns named need a role.

    With --fraction or --population also the risk from people who do not know who is in the table.

    mahrem audit release/data.csv --qi age,zip,sex --sensitive disease -k 5 -l 3
    """
    from mahrem.pipeline import audit as verb

    with stages(quiet=quiet) as progress:
        result = verb(source, policy=policy, progress=progress, **settings)
    with while_read():
        if json:
            print_json(result.report)
        elif not quiet:
            print_report(result.report, verbose=verbose)
            _print_signature(result.report.get("signature"))
    raise typer.Exit(0 if result.holds and not (strict and result.report["doubts"]) else 1)


def _print_signature(signature: Mapping[str, object] | None) -> None:
    """Say whether a release folder is signed, and by whom as far as somebody said who that is."""
    if signature is None:
        return
    if not signature["signed"]:
        typer.echo("signature: none")
        return
    known = "the key given" if signature["trusted"] else "whose key that is only --public-key can tell"
    typer.echo(f"signature: {signature['fingerprint']} ({known})")
