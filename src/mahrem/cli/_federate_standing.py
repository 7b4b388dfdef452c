"""``mahrem federate check`` and ``status``: a table before it takes part, and a federation as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from mahrem.cli._federate_options import (
    DIR,
    FEDERATION,
    LANGUAGE,
    rows_of_spec,
    speaks_rows,
    take_reading,
    take_settings,
)
from mahrem.cli._options import JSON, QUIET, SOURCE, Row
from mahrem.cli._print import print_json, print_table
from mahrem.federated.runs import ClientSettings
from mahrem.words import load_catalogue

_CHECK: Sequence[Row] = rows_of_spec(ClientSettings, only=("despite",))


@speaks_rows({"Check": _CHECK})
def check(
    file: FEDERATION,
    source: SOURCE,
    language: LANGUAGE = "en",
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: dict[str, Any],
) -> None:
    """Compare a table with what was agreed, before it takes part. Nothing leaves this machine.

    mahrem federate check federation.toml patients.csv

    Exit code 1 if a fault keeps the table out: other spellings, other units, classes that nobody agreed on.
    The client looks again when it starts; the server is told whether it passed, never what was found.
    """
    from mahrem.federated import check_client_table

    reading = take_reading(settings)
    own = ClientSettings(**take_settings(ClientSettings, settings, only=("despite",)))
    found = check_client_table(file, source, own, reading=reading)
    if json:
        print_json(found.as_dict())
    elif not quiet:
        catalogue = load_catalogue(language)
        rows = [
            (
                "note" if not finding.fault else "fault" if finding in found.faults else "accepted",
                finding.code,
                catalogue.tell(finding.describe()),
            )
            for finding in found.findings
        ]
        if rows:
            print_table(("what", "code", "found"), rows)
        said = "passed" if found.passed else f"{len(found.faults)} faults, it cannot take part"
        typer.echo(f"{found.rows:,} rows, {found.dropped:,} not learnt from: {said}")
    raise typer.Exit(0 if found.passed else 1)


def status(folder: DIR, *, json: JSON = False) -> None:
    """Show who is online, who is missing and since when, and how far the newest run came.

    mahrem federate status study

    Exit code 1 if somebody is missing or the server cannot be reached.
    """
    from mahrem.federated import federation_status

    found = federation_status(folder)
    if json:
        print_json(found.as_dict())
    else:
        typer.echo(f"server {found.server}: {'up' if found.reached else 'not reached'}")
        print_table(
            ("client", "state", "last seen (UTC)"),
            [(member.name, member.state, _moment(member.seen)) for member in found.members],
        )
        if found.missing and found.reached:
            typer.echo(f"missing: {', '.join(found.missing)}")
        if found.run is not None:
            typer.echo(_run_line(found.run))
    raise typer.Exit(0 if found.reached and not found.missing else 1)


def _moment(text: str | None) -> str:
    return "not since the server started" if text is None else text[:19].replace("T", " ")


def _run_line(run: Mapping[str, Any]) -> str:
    total = f" of {run['rounds']}" if run["rounds"] else ""
    reached = f"round {run['round']}{total}" if run["round"] else f"exchange {run['exchanges']}"
    last = f", last exchange: {run['last']} ({run['answered'][0]} clients)" if run["answered"] else ""
    why = f": {run['why']}" if run.get("why") else ""
    return f"run {run['folder']}: {run['state']}, {reached}{last}{why}"
