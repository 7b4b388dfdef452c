"""The door: whatever holds a table is opened here, files by their ending or their first bytes."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl

from mahrem.errors import InvalidInput
from mahrem.table.reading._csv import open_csv
from mahrem.table.reading._frames import PolarsSource, open_frame
from mahrem.table.reading._reading import Reading, Source

__all__ = ["is_duckdb", "is_postgresql", "open_source"]


def is_postgresql(source: object) -> bool:
    """Say whether this is the URI of a PostgreSQL database."""
    return isinstance(source, str) and source.lower().startswith(("postgresql://", "postgres://"))


def open_source(source: object, reading: Reading | None = None) -> Source:
    """Open a table: a frame, a file or a database.

    Args:
        source: A pandas, polars (eager or lazy) or pyarrow frame; a DuckDB relation or any other object that
            hands its rows over by the Arrow protocol; the path of a CSV, TSV, Parquet, Arrow or DuckDB file;
            or the URI of a PostgreSQL database.
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

        return open_postgresql(source, how)
    if isinstance(source, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source):
        raise InvalidInput(
            "the source is a URI of an unknown kind; files, postgresql:// and frames can be read"
        )
    if isinstance(source, str | os.PathLike):
        return _open_file(Path(os.fsdecode(source)), how)
    opened = open_frame(source, how)
    if opened is None:
        raise InvalidInput(
            f"source of type {type(source).__module__}.{type(source).__qualname__} is no table; give a path, "
            f"a database URI, a pandas, polars or pyarrow frame, a DuckDB relation, or any object with "
            f"__arrow_c_stream__"
        )
    if how.query is not None or how.table is not None:
        raise InvalidInput(f"query and table are for databases; the source is a {opened.label}")
    return opened


def _open_file(path: Path, reading: Reading) -> Source:
    """Open a file by its ending, or by its first bytes where the ending says nothing."""
    if _is_folder(path) and any(path.glob("*.parquet")):
        return _open_polars(path, reading, "Parquet folder", _scan_parts)
    head = _first_bytes(path)
    kind = _kind(path, head)
    databases = {"duckdb"} if reading.query is not None else {"duckdb", "xlsx"}  # a sheet is a table
    if kind not in databases and (reading.query is not None or reading.table is not None):
        asked = "query" if reading.query is not None else "table"
        raise InvalidInput(f"{asked} was given, but file={path.name!r} is no database")
    match kind:
        case "parquet":
            return _open_polars(path, reading, "Parquet file", pl.scan_parquet)
        case "arrow":
            return _open_polars(path, reading, "Arrow file", pl.scan_ipc)
        case "duckdb":
            from mahrem.table.reading._databases import open_duckdb

            return open_duckdb(path, reading)
        case "xlsx":
            from mahrem.table.reading._excel import open_excel

            return open_excel(path, reading)
        case "sqlite":
            raise InvalidInput(
                f"file={path.name!r} is an SQLite database; export the table to CSV or Parquet first"
            )
        case "zip":
            raise InvalidInput(
                f"file={path.name!r} is a ZIP archive or no .xlsx spreadsheet; unpack it, or save it as CSV"
            )
        case _:
            return open_csv(path, reading)


def is_duckdb(path: Path) -> bool:
    """Say whether a file is a DuckDB database, by its first bytes or else its ending."""
    return _kind(path, _first_bytes(path)) == "duckdb"


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # opening it will say why
        return False


def _scan_parts(folder: Path, *, glob: bool) -> pl.LazyFrame:
    """Read the parts that a cluster wrote as one table."""
    return pl.scan_parquet(_files(folder), glob=glob)


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


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
    by_content = [
        ("parquet", head.startswith(b"PAR1")),
        ("arrow", head.startswith(b"ARROW1")),
        ("duckdb", head[8:12] == b"DUCK"),
        ("sqlite", head.startswith(b"SQLite format 3")),
        ("xlsx", head.startswith(b"PK\x03\x04") and path.suffix.lower() in {".xlsx", ".xlsm"}),
        ("zip", head.startswith(b"PK\x03\x04")),
    ]
    by_bytes = next((kind for kind, fits in by_content if fits), None)
    if by_bytes is not None:
        return by_bytes
    by_ending = {
        ".parquet": "parquet",
        ".arrow": "arrow",
        ".feather": "arrow",
        ".ipc": "arrow",
        ".duckdb": "duckdb",
    }
    return by_ending.get(path.suffix.lower(), "csv")


def _open_polars(path: Path, reading: Reading, kind: str, scan: Callable[..., pl.LazyFrame]) -> Source:
    label = f"{kind} {path.name!r}"
    try:
        lazy = scan(path, glob=False)
        names = lazy.collect_schema().names()
        rows = int(lazy.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InvalidInput(
            f"{label} is broken or of another kind ({type(error).__name__}); is its ending right?"
        ) from None
    slices = None if scan is pl.scan_ipc else _files(path)
    return PolarsSource(lazy, label=label, reading=reading, columns=names, rows=rows, slices=slices)
