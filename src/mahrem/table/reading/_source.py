"""The door: whatever holds a table is opened here."""

from __future__ import annotations

import os
import re
from pathlib import Path

from mahrem.errors import InvalidInput
from mahrem.table.reading._files import open_file
from mahrem.table.reading._frames import open_frame
from mahrem.table.reading._reading import Reading, Source

__all__ = ["is_postgresql", "open_source"]


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
        return open_file(Path(os.fsdecode(source)), how)
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
