"""Federated runs: the folders that ``mahrem federate run`` and ``simulate`` leave below the declared ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from mahrem.federated.runs import read_run
from mahrem.web._orders import Json
from mahrem.web._settings import ServeSettings

_STATE, _SUMMARY = "state.json", "summary.json"
_FIGURES = ("exact", "rules", "rows", "seconds", "exchanges")  # of a summary: figures, no names of clients
_MOST_FOLDERS = 2000


@dataclass(frozen=True, kw_only=True)
class FederatedRun:
    """A run: where it lies, how it stands, and its figures."""

    name: str
    state: str
    changed: str
    about: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class FederatedRuns:
    """Runs, the newest first."""

    installed: bool
    runs: list[FederatedRun]


def list_runs(settings: ServeSettings) -> FederatedRuns:
    """List the runs below the declared folders."""
    runs = [run for folder in settings.folders for run in _below(folder.resolve())]
    runs.sort(key=lambda run: run.changed, reverse=True)
    return FederatedRuns(installed=find_spec("flwr") is not None, runs=runs)


def read_listed(settings: ServeSettings, name: str) -> Json | None:
    """Read how a listed run stands; None if no run of that name lies below a declared folder."""
    for folder in settings.folders:
        if any(run.name == name for run in _below(folder.resolve())):
            return read_run(folder.resolve() / name)
    return None


def _below(folder: Path) -> Iterator[FederatedRun]:
    for number, (here, inner, names) in enumerate(os.walk(folder)):
        if number >= _MOST_FOLDERS:
            return
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        run = _read(Path(here) / _STATE) if _STATE in names else {}
        if {"state", "exchanges", "changed"} <= set(run):
            summary = _read(Path(here) / _SUMMARY)
            yield FederatedRun(
                name=Path(here).relative_to(folder).as_posix(),
                state=str(run["state"]),
                changed=str(run["changed"]),
                about={"exchanges": run["exchanges"], **{k: summary[k] for k in _FIGURES if k in summary}},
            )


def _read(path: Path) -> dict[str, object]:
    with suppress(OSError, ValueError):
        content = json.loads(path.read_bytes())
        return content if isinstance(content, dict) else {}
    return {}
