"""Ask a database itself: aggregates over a table, without reading the table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mahrem.table.reading._databases import (
    LISTING,
    choose_table,
    duckdb_reader,
    postgresql_reader,
    postgresql_table,
    postgresql_type,
    quoted,
)
from mahrem.table.reading._reading import Reading, name_columns
from mahrem.table.reading._source import is_duckdb, is_postgresql


@dataclass(frozen=True, kw_only=True)
class Database:
    """A table in a database that answers SQL about itself.

    Attributes:
        dialect: Whose SQL it speaks.
        label: Kind and name for messages.
        types: The database's own name for the type of each column.
        table: What stands behind FROM.
        ask: Run a SELECT and give its rows.
        odd_truths: For columns of text the cells that are 1 or 0 in a spelling it does not know.
    """

    dialect: Literal["duckdb", "postgresql"]
    label: str
    types: Mapping[str, str]
    table: str
    ask: Callable[[str], Sequence[tuple[Any, ...]]]
    odd_truths: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@contextmanager
def asking(source: object, reading: Reading) -> Iterator[Database | None]:
    """Open a database read-only; None if the source is no database.

    Guarantees:
        - Nothing is written, and no row is read before it is asked for.
    """
    if isinstance(source, str) and is_postgresql(source):
        with _asking_postgresql(source, reading) as database:
            yield database
    elif isinstance(source, str | os.PathLike) and is_duckdb(Path(os.fsdecode(source))):
        with _asking_duckdb(Path(os.fsdecode(source)), reading) as database:
            yield database
    else:
        yield None


@contextmanager
def _asking_duckdb(path: Path, reading: Reading) -> Iterator[Database]:
    with duckdb_reader(path) as (connection, label):
        if reading.query is None:
            table = _chosen(connection, path, reading, label)
        else:
            table = f"(\n{reading.query.strip().rstrip(';')}\n) AS asked"
        described = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()  # noqa: S608
        name_columns([row[0] for row in described], label)
        yield Database(
            dialect="duckdb",
            label=label,
            types={row[0]: str(row[1]).upper() for row in described},
            table=table,
            ask=lambda sql: connection.execute(sql).fetchall(),
        )


_CHOSEN: dict[tuple[object, ...], str] = {}
_KEPT = 64


def _chosen(connection: Any, path: Path, reading: Reading, label: str) -> str:
    """Find the table that is meant, once per state of the file: a listing takes longer than a count."""
    files = [file.stat() for file in (path, path.with_name(path.name + ".wal")) if file.exists()]
    states = [(state.st_ino, state.st_size, state.st_mtime_ns) for state in files]
    place = (path.resolve(), reading.table, *states)
    if place not in _CHOSEN:
        listed = connection.execute(LISTING).fetchall()
        _CHOSEN[place] = quoted(*choose_table(listed, reading.table, label))
        while len(_CHOSEN) > _KEPT:
            _CHOSEN.pop(next(iter(_CHOSEN)), None)
    return _CHOSEN[place]


@contextmanager
def _asking_postgresql(uri: str, reading: Reading) -> Iterator[Database]:
    with postgresql_reader(uri, reading) as (cursor, kind):

        def ask(sql: str) -> Sequence[tuple[Any, ...]]:
            cursor.execute(sql)
            rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
            return rows

        table, schema, label = postgresql_table(cursor, reading, kind)
        types = {field.name: (postgresql_type(field) or str(field.type)).upper() for field in schema}
        yield Database(dialect="postgresql", label=label, types=types, table=table, ask=ask)
