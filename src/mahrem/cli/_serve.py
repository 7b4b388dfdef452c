"""``mahrem serve``."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from mahrem.cli._options import JSON, QUIET, Row, VerbSettings, speaks, spec_panels
from mahrem.cli._print import print_json
from mahrem.settings import read_settings, settings_of

_SHOWING: Sequence[Row] = (
    ("no_open", bool | None, "--no-open", None, "Do not open a browser."),
    ("log", bool | None, "--log", None, "Note every request, never what was sent."),
)


def _speaks_serving(verb: Callable[..., None]) -> Callable[..., None]:
    from mahrem.web import ServeSettings

    return speaks(verb, {**spec_panels(ServeSettings, "serve"), "Showing": _SHOWING})


@_speaks_serving
def serve(*, json: JSON = False, quiet: QUIET = False, settings: VerbSettings) -> None:
    """Anonymise, compare and audit in the browser, on this machine alone. Stop with ctrl-C.

    The address it prints works once; it opens a session in the browser that opens it.

    mahrem serve --demo

    mahrem serve --folder ~/tables --keep-hours 8
    """
    from mahrem.web import ServeSettings
    from mahrem.web import serve as verb

    no_open, log = settings.pop("no_open", False), settings.pop("log", False)
    server = ServeSettings(**read_settings(settings_of(ServeSettings), settings))
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
        if not no_open and server.socket is None:  # no browser can open one by itself
            _open(server.state, address)

    verb(server, ready=ready, log=log)
    if not quiet:
        typer.echo("\nstopped", err=json)


def _open(state: Path, address: str) -> None:
    """Open a browser by a private file that leads to the address: others could see a command line."""
    from mahrem.files import write_whole

    page = state / "open.html"
    text = f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><title>mahrem</title>'
    write_whole(page, text)
    threading.Thread(target=webbrowser.open, args=[page.resolve().as_uri()], daemon=True).start()
