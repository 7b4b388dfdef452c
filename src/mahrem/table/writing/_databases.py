"""Tables into databases, in one transaction: all of it or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mahrem.check import extra
from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.files import StageFolder, move_new
from mahrem.table.reading import NESTED, connection_reason, is_postgresql, postgresql_driver, quoted

if TYPE_CHECKING:
    import duckdb

STAGED = "mahrem staged frame"
MISTAKES = (
    "42",
    "3F",
    "2B",
)  # PostgreSQL's classes of errors that callers can mend: names, schemas, dependants


def write_database(frame: pl.DataFrame, target: str | Path, table: str, *, replace: bool = False) -> None:
    """Write a table into a DuckDB file or a PostgreSQL database.

    Args:
        frame: What to write.
        target: The path of a DuckDB file (made if it is not there) or the URI of a PostgreSQL database.
        table: ``name`` or ``schema.name``.
        replace: Put it in the place of a table of that name; else an existing one is an error.

    Guarantees:
        - One transaction: after a failure the database is as it was, and a new file is gone.
        - No message holds a cell or a password.
    """
    names = tuple(table.split(".", 1))
    quoted(*names)
    storable = _storable(frame)
    if is_postgresql(target):
        _write_postgresql(storable, str(target), names, replace=replace)
    else:
        _write_duckdb(storable, Path(target), names, replace=replace)


def _storable(frame: pl.DataFrame) -> pl.DataFrame:
    """Give every column a type that both databases know."""
    casts: list[pl.Expr] = []
    for name, dtype in frame.schema.items():
        if isinstance(dtype, NESTED):
            raise InvalidParameter(
                f"column={name!r} holds {dtype.base_type()} values; drop it or write Parquet"
            )
        if isinstance(dtype, pl.Categorical | pl.Enum | pl.Null):
            casts.append(pl.col(name).cast(pl.String))
        elif isinstance(dtype, pl.UInt64 | pl.Int128):
            casts.append(pl.col(name).cast(pl.Decimal(38, 0)))
        elif isinstance(dtype, pl.Duration):
            casts.append(pl.col(name).cast(pl.Duration("us")))
    if not frame.width:
        raise InvalidParameter("a table without columns cannot be written")
    return frame.with_columns(casts)


def _exists(table: tuple[str, ...]) -> InvalidParameter:
    return InvalidParameter(
        f"table={'.'.join(table)!r} is already there; replace it (replace=True) or use another name"
    )


def _write_duckdb(frame: pl.DataFrame, path: Path, table: tuple[str, ...], *, replace: bool) -> None:
    try:
        import duckdb
    except ImportError:
        raise extra("sql", needed_for="DuckDB files") from None
    if len({name.lower() for name in frame.columns}) < frame.width:
        raise InvalidParameter("two columns differ only in upper and lower case, which are one to DuckDB")
    try:
        if path.exists():
            with duckdb.connect(str(path)) as connection:
                _fill_duckdb(connection, frame, table, replace=replace)
        else:
            with StageFolder(path.parent) as stage:
                fresh = stage.path / path.name
                with duckdb.connect(str(fresh)) as connection:
                    _fill_duckdb(connection, frame, table, replace=replace)
                fresh.chmod(0o600)
                move_new(fresh, path)
    except (duckdb.CatalogException, duckdb.BinderException):
        raise InvalidParameter(
            f"table={'.'.join(table)!r} cannot be made in the DuckDB file {path.name!r}; is the "
            f"schema there, and is the old one a table and no view?"
        ) from None
    except (duckdb.Error, OSError) as error:
        raise OutputFailed(
            f"DuckDB file {path.name!r} not written ({type(error).__name__}); it is as it was"
        ) from None


def _fill_duckdb(
    connection: duckdb.DuckDBPyConnection, frame: pl.DataFrame, table: tuple[str, ...], *, replace: bool
) -> None:
    connection.register(STAGED, frame.to_arrow())
    connection.begin()
    schema = table[0] if len(table) > 1 else "main"
    exists = connection.execute(
        "SELECT 1 FROM information_schema.tables "
        "WHERE lower(table_schema) = lower(?) AND lower(table_name) = lower(?) "
        "AND table_catalog = current_database()",
        [schema, table[-1]],
    ).fetchone()
    if exists and not replace:
        raise _exists(table)
    if exists:
        connection.execute(f"DROP TABLE {quoted(*table)}")
    connection.execute(f"CREATE TABLE {quoted(schema, table[-1])} AS SELECT * FROM {quoted(STAGED)}")  # noqa: S608 - quoted names
    connection.commit()


def _write_postgresql(frame: pl.DataFrame, uri: str, table: tuple[str, ...], *, replace: bool) -> None:
    driver = postgresql_driver()
    try:
        connection = driver.connect(uri)
    except driver.Error as error:
        raise OutputFailed(f"PostgreSQL: no connection; {connection_reason(error)}") from None
    with connection, connection.cursor() as cursor:
        try:
            _fill_postgresql(cursor, frame, table, replace=replace)
            connection.commit()
        except driver.Error as error:
            state = error.sqlstate or "unknown"
            if state == "42P07":
                raise _exists(table) from None
            if state.startswith(MISTAKES):
                raise InvalidParameter(
                    f"table={'.'.join(table)!r} cannot be made (SQLSTATE {state}); is the schema "
                    f"there, may you write in it, and does nothing depend on the old table?"
                ) from None
            raise OutputFailed(
                f"PostgreSQL: table={'.'.join(table)!r} not written (SQLSTATE {state}); all is as it was"
            ) from None


def _fill_postgresql(cursor: Any, frame: pl.DataFrame, table: tuple[str, ...], *, replace: bool) -> None:
    cursor.execute("SELECT to_regclass($1::text) IS NOT NULL", (quoted(*table),))
    ((exists,),) = cursor.fetchall()
    if exists and not replace:
        raise _exists(table)
    if exists:
        cursor.execute(f"DROP TABLE {quoted(*table)}")
    schema = table[0] if len(table) > 1 else None
    if schema is not None:
        cursor.execute("SELECT count(*) FROM pg_namespace WHERE nspname = $1::text", (schema,))
        if cursor.fetchall() == [(0,)]:
            raise InvalidParameter(f"schema={schema!r} is not in the database; make it first")
    cursor.adbc_ingest(table[-1], frame.to_arrow(), mode="create", db_schema_name=schema)
