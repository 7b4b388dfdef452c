"""``mahrem serve``."""

from __future__ import annotations

import os
import threading
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._audit import read_size
from mahrem.cli._options import JSON, QUIET
from mahrem.cli._print import print_json

__all__ = ["serve"]

_MANY = list[str] | None


def _option(spelling: str, metavar: str | None, means: str) -> Any:
    return typer.Option(*spelling.split(), metavar=metavar, help=means)


def serve(
    folder: Annotated[_MANY, _option("--folder", "DIR", "Files below it may be opened; repeatable.")] = None,
    database: Annotated[
        _MANY, _option("--database", "URI", "A PostgreSQL database that may be read; repeatable.")
    ] = None,
    port: Annotated[int, _option("--port", "N", "Port; 0 takes a free one.")] = 8321,
    host: Annotated[str, _option("--host", "ADDRESS", "Address to listen on.")] = "127.0.0.1",
    name: Annotated[_MANY, _option("--name", "HOST", "Further name of this server; repeatable.")] = None,
    certificate: Annotated[
        Path | None, _option("--certificate", "FILE", "TLS certificate, for other machines.")
    ] = None,
    key: Annotated[Path | None, _option("--key", "FILE", "Its key.")] = None,
    password_file: Annotated[
        Path | None, _option("--password-file", "FILE", "Holds the password, for other machines.")
    ] = None,
    state: Annotated[Path | None, _option("--state", "DIR", "Private folder for projects.")] = None,
    max_upload: Annotated[str, _option("--max-upload", "SIZE", "Largest file: 500MB, 2GB.")] = "2GB",
    max_rows: Annotated[int, _option("--max-rows", "N", "Longest table.")] = 20_000_000,
    max_columns: Annotated[int, _option("--max-columns", "N", "Widest table.")] = 1000,
    keep_hours: Annotated[
        float, _option("--keep-hours", "H", "Remove raw data that nobody used for so long.")
    ] = 24.0,
    job_memory: Annotated[
        str | None, _option("--job-memory", "SIZE", "Memory of a job; default: what the machine has.")
    ] = None,
    job_minutes: Annotated[float, _option("--job-minutes", "M", "A job is stopped after so long.")] = 60.0,
    workers: Annotated[int, _option("--workers", "N", "Jobs at the same time.")] = 2,
    *,
    demo: Annotated[bool, _option("--demo", None, "Have fictional patients ready.")] = False,
    no_open: Annotated[bool, _option("--no-open", None, "Do not open a browser.")] = False,
    log: Annotated[bool, _option("--log", None, "Note every request, never what was sent.")] = False,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Anonymise, compare and audit in the browser, on this machine alone. Stop with ctrl-C.

    The address it prints works once; it opens a session in the browser that opens it.

    mahrem serve --demo

    mahrem serve --folder ~/tables --keep-hours 8
    """
    from mahrem.release import state_folder
    from mahrem.web import ServeSettings
    from mahrem.web import serve as verb

    settings = ServeSettings(
        host=host,
        port=port,
        names=tuple(name or ()),
        folders=tuple(Path(one).expanduser() for one in folder or ()),
        databases=tuple(database or ()),
        state=state if state is not None else state_folder() / "web",
        max_upload=read_size("max_upload", max_upload),
        max_rows=max_rows,
        max_columns=max_columns,
        keep_hours=keep_hours,
        job_memory=None if job_memory is None else read_size("job_memory", job_memory),
        job_seconds=60 * job_minutes,
        workers=workers,
        certificate=certificate,
        key=key,
        password_file=password_file,
        demo=demo,
    )
    opened = threading.Event()

    def ready(address: str) -> None:
        if opened.is_set():
            typer.echo(f"for another browser:\n  {address}", err=json)
            return
        opened.set()
        if json:
            print_json({"address": address})
        else:
            words = "" if quiet else "mahrem is ready. Open this address; it works once:\n"
            typer.echo(f"{words}  {address}")
        if not no_open:
            _open(settings.state, address)

    verb(settings, ready=ready, log=log)
    if not quiet:
        typer.echo("\nstopped", err=json)


def _open(state: Path, address: str) -> None:
    """Open a browser by a private file that leads to the address: others could see a command line."""
    page = state / "open.html"
    text = f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><title>mahrem</title>'
    page.unlink(missing_ok=True)
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    threading.Thread(target=webbrowser.open, args=[page.resolve().as_uri()], daemon=True).start()
