"""Where a table may come from: what was sent, files below declared folders, declared databases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mahrem.web._errors import Refused
from mahrem.web._models import Project, SourceFacts
from mahrem.web._plan import needs_source
from mahrem.web._settings import ServeSettings

__all__ = ["HEAD", "database_label", "kind_of", "list_files", "located", "pick_database", "pick_file"]

HEAD = 512  # bytes that show what a file is
_ARCHIVES = {
    b"PK\x03\x04": "a ZIP archive or a spreadsheet",
    b"PK\x05\x06": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"\x04\x22\x4d\x18": "an lz4 archive",
    b"\xd0\xcf\x11\xe0": "an old office document",
}
_TABLES = {b"PAR1": "source.parquet", b"ARROW1": "source.arrow"}
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_MOST_LISTED = 500
_MOST_FOLDERS = 2000  # somebody may declare a whole home
_ENDINGS = {".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc", ".duckdb"}


def kind_of(head: bytes, name: str = "") -> str:
    """Say under which name a file with these first bytes is kept; archives and binaries are refused."""
    for mark, what in _ARCHIVES.items():
        if head.startswith(mark) and not (mark == b"BZh" and not head[3:4].isdigit()):
            raise Refused(
                415,
                "archive_refused",
                f"This file is {what}; packed files are not taken",
                "Unpack it, or save the table as CSV, and send that.",
            )
    if head[257:262] == b"ustar":
        raise Refused(
            415,
            "archive_refused",
            "This file is a tar archive; packed files are not taken",
            "Unpack it first.",
        )
    for mark, kept in _TABLES.items():
        if head.startswith(mark):
            return kept
    if head[8:12] == b"DUCK":
        raise Refused(
            415,
            "database_refused",
            "This file is a DuckDB database; it cannot be sent",
            "Put it into a folder named with --folder and open it by its path.",
        )
    if not head.strip():
        raise Refused(
            415, "empty_file", "This file is empty", "A table has at least a line with column names."
        )
    if b"\0" in head and not head.startswith(_UNICODE_MARKS):
        raise Refused(
            415,
            "not_a_table",
            "This file is not a table: it holds binary data, not text",
            "CSV, TSV, Parquet and Arrow files can be opened.",
        )
    return "source.tsv" if name.lower().endswith(".tsv") else "source.csv"


def pick_file(settings: ServeSettings, number: int, path: str) -> tuple[Path, int]:
    """Find a file below a declared folder; links that lead out of it count as not there."""
    missing = Refused(
        404, "not_found", "There is no such file in this folder", "Only files below it can be opened."
    )
    if not 0 <= number < len(settings.folders) or "\0" in path:
        raise missing
    folder = settings.folders[number].resolve()
    try:
        found = (folder / path).resolve(strict=True)
        inside = found.relative_to(folder)  # an error if it is not
        hidden = any(part.startswith(".") for part in inside.parts)
        if hidden or found.is_relative_to(settings.state.resolve()) or not found.is_file():
            raise missing
        with found.open("rb") as stream:
            head = stream.read(HEAD)
        size = found.stat().st_size
    except (OSError, ValueError, RuntimeError):
        raise missing from None
    if head[8:12] != b"DUCK":
        kind_of(head, found.name)
    return found, size


def list_files(settings: ServeSettings) -> Iterator[dict[str, Any]]:
    """List what may be opened by path, by the number of its folder."""
    for number, declared in enumerate(settings.folders):
        folder, listed = declared.resolve(), []
        for walked, (here, inner, names) in enumerate(os.walk(folder)):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in sorted(names):
                path = Path(here) / name
                if name.startswith(".") or path.suffix.lower() not in _ENDINGS:
                    continue
                if path.resolve().is_relative_to(folder):
                    listed.append(path.relative_to(folder).as_posix())
            if len(listed) > _MOST_LISTED or walked >= _MOST_FOLDERS:
                break
        yield {
            "number": number,
            "name": folder.name,
            "files": listed[:_MOST_LISTED],
            "more": len(listed) > _MOST_LISTED,
        }


def database_label(uri: str) -> str:
    """Name a database without its user and password."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "localhost", parts.port
    except ValueError:
        return "database"
    return f"{host}{'' if port is None else f':{port}'}{parts.path}"


def pick_database(settings: ServeSettings, label: str) -> str:
    """Give the declared URI of a database."""
    for uri in settings.databases:
        if database_label(uri) == label:
            return uri
    raise Refused(
        404,
        "not_found",
        "There is no such database",
        "Databases are named with --database when the server starts.",
    )


def located(project: Project, folder: Path, settings: ServeSettings) -> dict[str, Any]:
    """Say where the table of a project lies now, for a job; what was declared is checked again."""
    source = needs_source(project)
    return {
        "table": _place(source, folder, settings),
        "sql_table": source.table,
        "sql": source.query,
        "reading": {key: value for key, value in project.reading.model_dump().items() if value},
    }


def _place(source: SourceFacts, folder: Path, settings: ServeSettings) -> str:
    if source.kind == "folder":
        return str(pick_file(settings, -1 if source.folder is None else source.folder, source.path or "")[0])
    if source.kind == "database":
        return pick_database(settings, source.database or "")
    return str(folder / (source.file or ""))
