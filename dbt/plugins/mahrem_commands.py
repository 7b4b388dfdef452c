"""Functions of DuckDB that run commands of mahrem and look at nothing but their exit codes."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_STANDARD_ERROR = 2
_PLACES: set[Path] = set()  # folders that were made and not yet removed


def place() -> str:
    """Give a path for a copy of some rows, in a new folder that only this user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="mahrem-dbt-"))
    _PLACES.add(folder)
    return str(folder / "rows.parquet")


def forget(path: str) -> bool:
    """Remove a copy; only what :func:`place` gave is ever removed."""
    folder = Path(path).parent
    known = folder in _PLACES
    if known:
        shutil.rmtree(folder, ignore_errors=True)
        _PLACES.discard(folder)
    return known


def _forget_all() -> None:
    for folder in list(_PLACES):
        forget(str(folder / "rows.parquet"))


atexit.register(_forget_all)


def register(connection: Any, command: Sequence[str] | None = None) -> None:
    """Teach a connection ``mahrem(words)``, ``mahrem_place()`` and ``mahrem_forget(path)``.

    Args:
        connection: Of DuckDB.
        command: How mahrem is called; by default with this Python.
    """
    called = list(command or (sys.executable, "-m", "mahrem"))

    def run(words: list[str]) -> int:
        # What it says goes to the standard error of the process, for dbt may have changed sys.stderr; no
        # shell sees the words.
        return subprocess.run([*called, *words], check=False, stdout=_STANDARD_ERROR).returncode  # noqa: S603

    for name, function, takes, gives in (
        ("mahrem", run, ["VARCHAR[]"], "INTEGER"),
        ("mahrem_place", place, [], "VARCHAR"),
        ("mahrem_forget", forget, ["VARCHAR"], "BOOLEAN"),
    ):
        connection.create_function(name, function, takes, gives, side_effects=True)
