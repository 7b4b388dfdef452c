"""The private run record: what is needed to explain a release later and must never lie beside it."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mahrem.entries import own_version
from mahrem.files import private_key, state_folder, write_whole
from mahrem.words import Note, warn_of

_CHUNK = 1 << 22
_RUNS = 50  # the last ones that are looked at
_ENOUGH = 10_000  # rows from which on a run says something about another


def record_run(output: Path, source: object, about: Mapping[str, Any]) -> Path | None:
    """Keep what explains a release later, readable by this user alone; warn if there is no place for it.

    Args:
        output: The release folder.
        source: What it was made of; of a file, a keyed fingerprint is kept.
        about: What else to keep; the fingerprint, where somebody has taken it already.
    """
    record = {
        "mahrem": own_version(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "release": str(output.absolute()),
        "input_fingerprint": None if "input_fingerprint" in about else input_fingerprint(source),
        **about,
    }
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(4)}.json"
    try:
        folder = state_folder() / "runs"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return write_whole(folder / name, json.dumps(record, indent=2, default=str), new=True)
    except OSError as error:
        warn_of(Note("warning.record_not_kept", {"reason": error.strerror}))
        return None


def input_fingerprint(source: object) -> str | None:
    """Hash an input file under this user's own key: a plain hash of a small table can be guessed back."""
    path = Path(source) if isinstance(source, str | Path) else None
    try:
        if path is None or not path.is_file():
            return None
        digest = hmac.new(private_key(), digestmod=hashlib.sha256)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def earlier_seconds(method: str, rows: int, columns: int) -> float | None:
    """Say how long a run like this should take, as the last of the same method did; None if none is known.

    Args:
        method: As the policy names it.
        rows: Of the table.
        columns: Quasi-identifiers.
    """
    found: list[float] = []
    with suppress(OSError):
        for path in sorted((state_folder() / "runs").glob("*.json"))[-_RUNS:]:
            with suppress(OSError, ValueError, KeyError, TypeError):
                run = json.loads(path.read_bytes())
                if run["policy"]["method"] == method and run["rows"] >= _ENOUGH:
                    work = run["rows"] * math.log2(run["rows"]) * len(run["policy"]["quasi"])
                    found.append(float(run["seconds"]) / work)
    if not found or rows < _ENOUGH:
        return None
    return sorted(found)[len(found) // 2] * rows * math.log2(rows) * columns


def release_mark(folder: Path) -> str:
    """Give a keyed hash of where a release lies: what is kept about it names no folder."""
    return hmac.new(private_key(), str(folder.absolute()).encode(), hashlib.sha256).hexdigest()[:16]
