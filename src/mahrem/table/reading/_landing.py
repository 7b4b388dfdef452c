"""Tables of databases as files, batch by batch: what does not fit into memory is then read in parts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mahrem.table.reading._databases import (
    duckdb_reader,
    duckdb_relation,
    postgresql_query,
    postgresql_reader,
)
from mahrem.table.reading._reading import Reading
from mahrem.table.reading._source import is_duckdb, is_postgresql

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 50_000  # that are read at a time


def land_database(source: object, reading: Reading, folder: Path) -> Path | None:
    """Write the table of a database, or the answer to a query, as Parquet; None where it is no database.

    Args:
        source: As for :func:`mahrem.table.open_source`.
        reading: Which table, or what to ask.
        folder: Where the file is made; nobody else should be able to enter it.

    Guarantees:
        - Some rows at a time are held; the transaction reads, and writes nothing.
    """
    path = folder / "table.parquet"
    if isinstance(source, str) and is_postgresql(source):
        with postgresql_reader(source, reading) as (cursor, kind):
            query, _, _ = postgresql_query(cursor, reading, kind)
            cursor.execute(query)
            batches = cursor.fetch_record_batch()
            _write(batches, batches.schema, path)
        return path
    if not isinstance(source, str | os.PathLike):
        return None
    given = Path(os.fsdecode(source))
    if not given.is_file() or not is_duckdb(given):
        return None
    with duckdb_reader(given) as (connection, label):
        batches = duckdb_relation(connection, reading, label).to_arrow_reader(_ROWS)
        _write(batches, batches.schema, path)
    return path


def _write(batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path) -> None:
    """Write batches; words that are numbered are written as words."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    ]
    plain = pa.schema([pa.field(field.name, field.type, field.nullable) for field in fields])
    with pq.ParquetWriter(path, plain) as writer:
        for batch in batches:
            writer.write_table(pa.Table.from_batches([batch]).cast(plain))
