"""Where a table may come from: what was sent, files below declared folders, declared databases."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from mahrem.table import FORMATS
from mahrem.web._errors import Refused
from mahrem.web._orders import JobRequest, TablePlace
from mahrem.web._settings import ServeSettings
from mahrem.web.bodies import FolderFiles, Project, SourceFacts
from mahrem.web.projects._needs import needs_source

HEAD = 512  # bytes that show what a file is
_ARCHIVES = {
    b"PK\x03\x04": "a ZIP archive or a spreadsheet",
    b"PK\x05\x06": "a ZIP archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"\x04\x22\x4d\x18": "an lz4 archive",
    b"\xd0\xcf\x11\xe0": "an old office document",
}
_GZIP = b"\x1f\x8b"
_PLAIN = ("source.csv", "source.tsv")
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_LOCKED = 10  # seconds a question waits for a lock of the database
_MOST_LISTED = 500
_MOST_FOLDERS = 2000  # somebody may declare a whole home
_ENDINGS = {".duckdb"} | {ending for known in FORMATS.values() for ending in known.endings}
_WORKBOOK = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/")  # what the first file in one is called
_NAME_AT = 30  # bytes before that name


def kind_of(head: bytes, name: str = "") -> str:
    """Say under which name a file with these first bytes is kept; archives and binaries are refused."""
    if head.startswith(_GZIP):
        return _unpacked_kind(head, name.lower().removesuffix(".gz"))
    if workbook := _workbook_kind(head, name):
        return workbook
    _refuse_archive(head)
    for format_name, known in FORMATS.items():
        if known.fits("", head):
            return f"source.{format_name}"
    if head[8:12] == b"DUCK":
        raise Refused(415, "database_refused")
    if not head.strip():
        raise Refused(415, "empty_file")
    if b"\0" in head and not head.startswith(_UNICODE_MARKS):
        raise Refused(415, "not_a_table")
    return "source.tsv" if name.lower().endswith(".tsv") else "source.csv"


def _refuse_archive(head: bytes) -> None:
    for mark, what in _ARCHIVES.items():
        if head.startswith(mark) and not (mark == b"BZh" and not head[3:4].isdigit()):
            raise Refused(415, "archive_refused", what=what)
    if head[257:262] == b"ustar":
        raise Refused(415, "archive_refused", what="a tar archive")


def _workbook_kind(head: bytes, name: str) -> str:
    """Say the same of a spreadsheet; it is unpacked in the process of a job, within that job's memory."""
    ending = Path(name.lower()).suffix
    fitting = (kind for kind, known in FORMATS.items() if known.spreadsheets and known.fits(ending, head))
    return next((f"source.{kind}" for kind in fitting if head[_NAME_AT:].startswith(_WORKBOOK)), "")


def _unpacked_kind(head: bytes, name: str) -> str:
    """Say the same of a packed file; only text is read packed."""
    try:
        inner = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, HEAD)
    except zlib.error:
        inner = b""
    if not inner or inner.startswith(_GZIP) or (kept := kind_of(inner, name)) not in _PLAIN:
        raise Refused(415, "archive_refused", what="a gzip archive")
    return kept


def pick_file(settings: ServeSettings, number: int, path: str) -> tuple[Path, int]:
    """Find a file below a declared folder; links that lead out of it count as not there."""
    missing = Refused(
        404, "not_found", "There is no such file in this folder", "Only files below it can be opened."
    )
    if not 0 <= number < len(settings.folders) or "\0" in path:
        raise missing
    folder = settings.folders[number].resolve()
    try:
        file = (folder / path).resolve(strict=True)
        inside = file.relative_to(folder)  # an error if it is not
        hidden = any(part.startswith(".") for part in inside.parts)
        if hidden or file.is_relative_to(settings.state.resolve()) or not file.is_file():
            raise missing
        with file.open("rb") as stream:
            head = stream.read(HEAD)
        size = file.stat().st_size
    except (OSError, ValueError, RuntimeError):
        raise missing from None
    if head[8:12] != b"DUCK":
        kind_of(head, file.name)
    return file, size


def file_facts(
    settings: ServeSettings, folder: int, path: str, *, table: str | None, query: str | None
) -> SourceFacts:
    """Describe a file below a declared folder as the source of a project."""
    file, size = pick_file(settings, folder, path)
    return SourceFacts(
        kind="folder", label=file.name, size=size, folder=folder, path=path, table=table, query=query
    )


def mark_of(source: SourceFacts, settings: ServeSettings) -> str:
    """Give what tells the table of a source from every other that may come to lie in its place."""
    asked = f"{source.table or ''}\n{source.query or ''}"
    if source.kind == "database":
        return f"{source.database}\n{asked}"
    if source.kind != "folder":
        return source.file or ""  # every file that is sent has a name of its own
    facts = pick_file(settings, -1 if source.folder is None else source.folder, source.path or "")[0].stat()
    return f"{facts.st_dev} {facts.st_ino} {facts.st_size} {facts.st_mtime_ns}\n{asked}"


def refuse_another_table(project: Project, request: JobRequest, settings: ServeSettings) -> None:
    """Refuse a job if the table is not the one that it was asked for."""
    if request.source and request.source != mark_of(needs_source(project), settings):
        raise Refused(409, "another_table")


def list_files(settings: ServeSettings) -> Iterator[FolderFiles]:
    """List what may be opened by path, by the number of its folder."""
    for number, declared in enumerate(settings.folders):
        folder, listed = declared.resolve(), []
        for walked, (here, inner, names) in enumerate(os.walk(folder)):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in sorted(names):
                path = Path(here) / name
                if name.startswith(".") or Path(name.lower().removesuffix(".gz")).suffix not in _ENDINGS:
                    continue
                if path.resolve().is_relative_to(folder):
                    listed.append(path.relative_to(folder).as_posix())
            if len(listed) > _MOST_LISTED or walked >= _MOST_FOLDERS:
                break
        more = len(listed) > _MOST_LISTED
        yield FolderFiles(number=number, name=folder.name, files=listed[:_MOST_LISTED], more=more)


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


def locate(project: Project, folder: Path, settings: ServeSettings) -> TablePlace:
    """Say where the table of a project lies now, for a job; what was declared is checked again."""
    source = needs_source(project)
    return TablePlace(
        table=_place(source, folder, settings),
        label=source.label if source.kind == "upload" else "",
        sql_table=source.table,
        sql=source.query,
        reading={
            key: value for key, value in project.reading.model_dump().items() if value not in (None, [], "")
        },
    )


def _place(source: SourceFacts, folder: Path, settings: ServeSettings) -> str:
    if source.kind == "folder":
        return str(pick_file(settings, -1 if source.folder is None else source.folder, source.path or "")[0])
    if source.kind == "database":
        return _bounded(pick_database(settings, source.database or ""), settings)
    return str(folder / (source.file or ""))


def _bounded(uri: str, settings: ServeSettings) -> str:
    """Have a database change nothing, and give up what takes too long; a URI's own options win."""
    _, asked, query = uri.partition("?")
    if any(name == "options" for name, _ in parse_qsl(query, keep_blank_values=True)):
        return uri
    limits = {
        "default_transaction_read_only": "on",
        "statement_timeout": f"{settings.job_minutes * 60_000:.0f}",
        "lock_timeout": f"{_LOCKED * 1000:.0f}",
    }
    options = " ".join(f"-c {name}={value}" for name, value in limits.items())
    return f"{uri}{'&' if asked else '?'}options={quote(options)}"  # all else stays as it was said
