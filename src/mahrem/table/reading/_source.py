"""The door: whatever holds a table is opened here, files by their ending or their first bytes."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table._formats import FORMATS
from mahrem.table.reading._frames import PolarsSource, open_frame
from mahrem.table.reading._reading import Reading, Source

if TYPE_CHECKING:
    from mahrem.table.reading._records import TextRecords

_TEXTS = ("csv", "tsv")
_OF_TEXT = ("delimiter", "encoding")
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_JSON_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*\"")


def is_postgresql(source: object) -> bool:
    """Say whether this is the URI of a PostgreSQL database."""
    return isinstance(source, str) and source.lower().startswith(("postgresql://", "postgres://"))


def open_source(source: object, reading: Reading | None = None) -> Source:
    """Open a table: a frame, a file or a database.

    Args:
        source: A pandas, polars (eager or lazy) or pyarrow frame; a DuckDB relation or any other object that
            hands its rows over by the Arrow protocol; the path of a CSV, TSV, Excel, Parquet, Arrow or DuckDB
            file; or the URI of a PostgreSQL database.
        reading: How to read it.

    Guarantees:
        - What is no table is refused with :class:`~mahrem.errors.InvalidInput`, before anything is done.
        - No message and no label holds a cell or a password.

    Example:
        >>> import polars as pl
        >>> source = open_source(pl.DataFrame({"age": [31, None], "sex": ["f", ""]}))
        >>> source.columns, source.rows
        (('age', 'sex'), 2)
        >>> source.take(["sex"])["sex"].to_list()
        ['f', None]
    """
    how = reading or Reading()
    if isinstance(source, str) and is_postgresql(source):
        from mahrem.table.reading._databases import open_postgresql

        return _checked(open_postgresql(source, how), how)
    if isinstance(source, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source):
        raise InvalidInput(
            "the source is a URI of an unknown kind; files, postgresql:// and frames can be read"
        )
    if isinstance(source, str | os.PathLike):
        return _open_file(Path(os.fsdecode(source)), how)
    held = open_frame(source, how)
    if held is None:
        raise InvalidInput(
            f"source of type {type(source).__module__}.{type(source).__qualname__} is no table; give a path, "
            f"a database URI, a pandas, polars or pyarrow frame, a DuckDB relation, or any object with "
            f"__arrow_c_stream__"
        )
    if how.query is not None or how.table is not None:
        raise InvalidInput(f"query and table are for databases; the source is a {held.label}")
    return _checked(held, how)


def open_records(source: object, reading: Reading) -> TextRecords | None:
    """Open a file of text without a look at its records; None where only :func:`open_source` can open it."""
    if not isinstance(source, str | os.PathLike) or reading.query is not None or reading.table is not None:
        return None
    if isinstance(source, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source):
        return None
    path = Path(os.fsdecode(source))
    if _is_folder(path) or _kind(path, _first_bytes(path)) not in _TEXTS:
        return None
    from mahrem.table.reading import _csv

    return _csv.open_records(path, reading)


def _checked(opened: Source, reading: Reading, *, kind: str = "", sheets: bool = False) -> Source:
    """Refuse what is said of the text of a file where there is none; pass over rows at its end."""
    if reading.honoured and kind not in _TEXTS:
        text_settings: dict[str, object] = {"delimiter": reading.delimiter, "encoding": reading.encoding}
        if not sheets:
            text_settings |= {"names": reading.names, "skip_rows": reading.skip_rows}
            text_settings |= {"header": None if reading.header is not False else "no"}
        for name, value in text_settings.items():
            if value:
                raise InvalidParameter(
                    f"{name} is about {'text files' if sheets or name in _OF_TEXT else 'files'}; "
                    f"the source is a {opened.label}: leave it out"
                )
    return _shorter(opened, reading, file=bool(kind))


def _shorter(opened: Source, reading: Reading, *, file: bool = False) -> Source:
    """Pass over rows at the end of a file; what is none has no end."""
    if not reading.skip_last:
        return opened
    if not file or not isinstance(opened, PolarsSource):
        raise InvalidParameter(
            f"skip_last={reading.skip_last} is about the end of a file; the source is a {opened.label}: "
            "leave such rows out before"
        )
    return opened.without_last(reading.skip_last)


def _open_file(path: Path, reading: Reading) -> Source:
    """Open a file by its first bytes, or by its ending where these say nothing."""
    if _is_folder(path) and any(path.glob("*.parquet")):
        return FORMATS["parquet"].load().open(path, reading)
    kind = _kind(path, _first_bytes(path))
    known = FORMATS.get(kind)
    holds_several = kind == "duckdb" or (known is not None and known.sheets and reading.query is None)
    if not holds_several and (reading.query is not None or reading.table is not None):
        asked = "query" if reading.query is not None else "table"
        raise InvalidInput(f"{asked} was given, but file={path.name!r} is no database")
    if known is not None:
        return _checked(known.load().open(path, reading), reading, kind=kind, sheets=known.sheets)
    if kind == "duckdb":
        from mahrem.table.reading._databases import open_duckdb

        return _checked(open_duckdb(path, reading), reading)
    if kind == "sqlite":
        raise InvalidInput(
            f"file={path.name!r} is an SQLite database; export the table to CSV or Parquet first"
        )
    if kind == "json":  # read as CSV, its values would be names of columns
        raise InvalidInput(f"file={path.name!r} is JSON; save the table as CSV or Parquet first")
    raise InvalidInput(
        f"file={path.name!r} is a ZIP archive or no .xlsx spreadsheet; unpack it, or save it as CSV"
    )


def is_duckdb(path: Path) -> bool:
    """Say whether a file is a DuckDB database, by its first bytes or else its ending."""
    return _kind(path, _first_bytes(path)) == "duckdb"


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # opening it will say why
        return False


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(16)
    except OSError as error:
        reasons = {
            errno.ENOENT: "does not exist",
            errno.EISDIR: "is a folder; name a file in it",
            errno.EACCES: "may not be read: no permission",
        }
        raise InvalidInput(
            f"file={path.name!r} {reasons.get(error.errno or 0, 'cannot be opened')}"
        ) from None
    except ValueError:
        raise InvalidInput("the path of the file holds a NUL character") from None


def _kind(path: Path, head: bytes) -> str:
    """Name the format of a file, or what else it is; what nobody knows is read as CSV."""
    ending = path.suffix.lower()
    by_ending = {
        other: name for name, known in FORMATS.items() for other in known.endings if not known.ending_decides
    }
    others = {
        "duckdb": head[8:12] == b"DUCK",
        "sqlite": head.startswith(b"SQLite format 3"),
        "json": ending not in by_ending if ending in _JSON_ENDINGS else _JSON_BEGINS.match(head) is not None,
    }
    by_bytes = [name for name, known in FORMATS.items() if known.fits(ending, head)]
    by_bytes += [name for name, fits in others.items() if fits]
    if by_bytes:
        return by_bytes[0]
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    return {**by_ending, ".duckdb": "duckdb"}.get(ending, "csv")
