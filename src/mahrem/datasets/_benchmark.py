"""Public benchmark files: what exists, what lies in ``MAHREM_DATA``, and whether it is the real thing."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

from mahrem.errors import InvalidInput, InvalidParameter, shorten

VARIABLE = "MAHREM_DATA"
MANIFEST = "manifest.json"


@dataclass(frozen=True, kw_only=True)
class DatasetSource:
    """A benchmark set that exists somewhere: what it is, how large, where from, under which licence."""

    name: str
    what: str
    file: str
    rows: int
    columns: int
    source_url: str
    licence: str


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A benchmark file of the folder, as its manifest describes it."""

    name: str
    path: Path
    format: str
    bytes: int
    sha256: str
    rows: int
    columns: int
    target: str | None
    missing_token: str | None
    description: str
    source_url: str
    licence: str


@cache
def catalogue() -> tuple[DatasetSource, ...]:
    """List every benchmark set the house knows of, whether it is there or not.

    Example:
        >>> [source.rows for source in catalogue() if source.name == "adult_train"]
        [32561]
    """
    text = files("mahrem.datasets").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return tuple(DatasetSource(**entry) for entry in tomllib.loads(text)["dataset"])


def benchmark_folder() -> Path | None:
    """Give the folder named by the environment variable ``MAHREM_DATA``, or None when it is not set."""
    named = os.environ.get(VARIABLE, "")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise InvalidInput(f"{VARIABLE}={named!r} must be a folder that holds {MANIFEST}")
    return folder


def available() -> list[Dataset]:
    """List the benchmark files that lie in the folder; their hashes are compared by :func:`find`."""
    folder = benchmark_folder()
    return [] if folder is None else [entry for entry in _manifest(folder) if entry.path.is_file()]


def find(name: str) -> Path:
    """Give the path of a benchmark file that is what the manifest says it is.

    Args:
        name: Name of the set, as ``mahrem data`` lists it.

    Guarantees:
        - The file's SHA-256 equals the manifest's; else :class:`~mahrem.errors.InvalidInput`.
    """
    folder = benchmark_folder()
    here = {} if folder is None else {entry.name: entry for entry in _manifest(folder)}
    known = {source.name: source for source in catalogue()}
    if name not in here and name not in known:
        raise InvalidParameter(f"name={name!r} is not a benchmark set; {_nearest(name, {**known, **here})}")
    if name not in here or not here[name].path.is_file():
        origin = known[name].source_url if name in known else here[name].source_url
        raise InvalidInput(
            f"name={name!r} must lie in the folder named by the environment variable {VARIABLE}; "
            f"the set comes from {origin}"
        )
    entry = here[name]
    state = entry.path.stat()
    if state.st_size != entry.bytes or _digest(entry.path, state.st_mtime_ns, state.st_size) != entry.sha256:
        raise InvalidInput(
            f"file={entry.path.name!r} must have the SHA-256 that {MANIFEST} states; "
            f"get it again from {entry.source_url}"
        )
    return entry.path


def _nearest(name: str, known: dict[str, object]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"the sets are {shorten(sorted(known), 40)}"


def _manifest(folder: Path) -> tuple[Dataset, ...]:
    path = folder / MANIFEST
    if not path.is_file():
        raise InvalidInput(f"{VARIABLE}={str(folder)!r} must hold {MANIFEST}")
    return _read_manifest(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read_manifest(path: Path, changed: int) -> tuple[Dataset, ...]:  # noqa: ARG001 - part of the cache's key
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["datasets"]
        return tuple(_dataset(path.parent, entry) for entry in entries)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"file={path.name!r} must be a manifest: a list 'datasets' of name, file, sha256 …"
        ) from error


def _dataset(folder: Path, entry: dict[str, Any]) -> Dataset:
    relative = PurePosixPath(entry["file"])
    if relative.is_absolute() or ".." in relative.parts:
        raise InvalidInput(f"file={str(relative)!r} in {MANIFEST} must lie inside the folder")
    return Dataset(
        name=entry["name"],
        path=folder / relative,
        format=entry["format"],
        bytes=entry["bytes"],
        sha256=entry["sha256"].lower(),
        rows=entry["rows"],
        columns=entry["columns"],
        target=entry.get("target"),
        missing_token=entry.get("missing_token"),
        description=entry.get("description", ""),
        source_url=entry.get("source_url", ""),
        licence=entry.get("licence", ""),
    )


@lru_cache(maxsize=64)
def _digest(path: Path, changed: int, size: int) -> str:  # noqa: ARG001 - when either moves, hash again
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
