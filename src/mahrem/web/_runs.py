"""Federated runs: the folders that ``mahrem federate run`` and ``simulate`` leave below the declared ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mahrem.web._settings import ServeSettings

__all__ = ["federated_runs"]

_STATE, _SUMMARY = "state.json", "summary.json"
_TOLD = ("exact", "rules", "rows", "seconds", "exchanges")  # of a summary: figures, no names of clients
_MOST_FOLDERS = 2000


def federated_runs(settings: ServeSettings) -> dict[str, Any]:
    """List runs, the newest first: where each lies, how it stands, and its figures."""
    found = [run for folder in settings.folders for run in _below(folder.resolve())]
    found.sort(key=lambda run: run["changed"], reverse=True)
    return {"installed": find_spec("flwr") is not None, "runs": found}


def _below(folder: Path) -> Iterator[dict[str, Any]]:
    for number, (here, inner, names) in enumerate(os.walk(folder)):
        if number >= _MOST_FOLDERS:
            return
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        if _STATE in names:
            run = _read(Path(here) / _STATE)
            if {"state", "exchanges", "changed"} <= set(run):
                summary = _read(Path(here) / _SUMMARY)
                yield {
                    "name": Path(here).relative_to(folder).as_posix(),
                    "state": str(run["state"]),
                    "changed": str(run["changed"]),
                    "about": {
                        "exchanges": run["exchanges"],
                        **{k: summary[k] for k in _TOLD if k in summary},
                    },
                }


def _read(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        said = json.loads(path.read_bytes())
        return said if isinstance(said, dict) else {}
    return {}
