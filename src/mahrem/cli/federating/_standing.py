"""``mahrem federate check`` and ``status``: a table before it takes part, and a federation as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, Row, VerbSettings
from mahrem.cli._print import print_json, print_table
from mahrem.cli.federating._options import (
    DIR,
    FEDERATION,
    LANGUAGE,
    rows_of_spec,
    speaks_rows,
    take_reading,
    take_settings,
)
from mahrem.federated.runs import CheckFinding, ClientSettings, TableCheck
from mahrem.words import Catalogue, Note, load_catalogue

if TYPE_CHECKING:
    from mahrem.federated.flower import FederationStatus

_CHECK: Sequence[Row] = rows_of_spec(ClientSettings, only=("despite",))


@speaks_rows({"Check": _CHECK})
def check(
    file: FEDERATION,
    source: SOURCE,
    language: LANGUAGE = "en",
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Compare a table with what was agreed, before it takes part. Nothing leaves this machine.

    mahrem federate check federation.toml patients.csv

    Exit code 1 if a fault keeps the table out: other spellings, other units, classes that nobody agreed on.
    The client looks again when it starts; the server is told whether it passed, never what was found.
    """
    from mahrem.federated import check_client_table

    reading = take_reading(settings)
    own = ClientSettings(**take_settings(ClientSettings, settings, only=("despite",)))
    checked = check_client_table(file, source, own, reading=reading)
    if json:
        print_json(checked.as_dict())
    elif not quiet:
        catalogue = load_catalogue(language)
        rows = [
            (catalogue.tell(_weight(finding, checked)), finding.code, catalogue.tell(finding.describe()))
            for finding in checked.findings
        ]
        if rows:
            head = (
                Note("federation.checked.what"),
                Note("federation.checked.code"),
                Note("federation.checked.found"),
            )
            print_table(tuple(map(catalogue.tell, head)), rows)
        many = {"rows": checked.rows, "dropped": checked.dropped}
        failed = Note("federation.checked.failed", {**many, "faults": len(checked.faults)})
        typer.echo(catalogue.tell(Note("federation.checked.passed", many) if checked.passed else failed))
    raise typer.Exit(0 if checked.passed else 1)


def _weight(finding: CheckFinding, checked: TableCheck) -> Note:
    if not finding.fault:
        return Note("federation.checked.note")
    kept_out = finding in checked.faults
    return Note("federation.checked.fault") if kept_out else Note("federation.checked.accepted")


def status(folder: DIR, language: LANGUAGE = "en", *, json: JSON = False) -> None:
    """Show who is online, who is missing and since when, and how far the newest run came.

    mahrem federate status study

    Exit code 1 if somebody is missing or the server cannot be reached.
    """
    from mahrem.federated import federation_status

    standing = federation_status(folder)
    if json:
        print_json(standing.as_dict())
    else:
        _print_status(standing, load_catalogue(language))
    raise typer.Exit(0 if standing.reached and not standing.missing else 1)


def _print_status(standing: FederationStatus, catalogue: Catalogue) -> None:
    server = {"server": standing.server}
    up, down = Note("federation.status.up", server), Note("federation.status.down", server)
    typer.echo(catalogue.tell(up if standing.reached else down))
    head = (Note("federation.status.client"), Note("federation.status.state"), Note("federation.status.seen"))
    print_table(
        tuple(map(catalogue.tell, head)),
        [
            (member.name, catalogue.tell(_STATES[member.state]), catalogue.tell(_moment(member.seen)))
            for member in standing.members
        ],
    )
    if standing.missing and standing.reached:
        typer.echo(catalogue.tell(Note("federation.status.missing", {"names": ", ".join(standing.missing)})))
    if standing.run is not None:
        typer.echo(catalogue.tell(_run_line(standing.run)))


_STATES = {
    "online": Note("federation.status.online"),
    "offline": Note("federation.status.offline"),
    "never": Note("federation.status.never"),
    "unknown": Note("federation.status.unknown"),
}


def _moment(text: str | None) -> Note | str:
    return Note("federation.status.not_since") if text is None else text[:19].replace("T", " ")


def _run_line(run: Mapping[str, Any]) -> Note:
    if not run["round"]:
        reached = Note("federation.status.exchange", {"exchanges": run["exchanges"]})
    elif run["rounds"]:
        reached = Note("federation.status.round_of", {"round": run["round"], "rounds": run["rounds"]})
    else:
        reached = Note("federation.status.round", {"round": run["round"]})
    if run["answered"]:
        last = {"reached": reached, "last": run["last"], "clients": run["answered"][0]}
        reached = Note("federation.status.last", last)
    about = {"folder": str(run["folder"]), "state": run["state"], "reached": reached}
    if run.get("why"):
        return Note("federation.status.run_why", {**about, "why": run["why"]})
    return Note("federation.status.run", about)
