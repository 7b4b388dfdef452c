"""Databases: DuckDB files and PostgreSQL servers, read through Arrow in a read-only transaction."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mahrem.check import extra
from mahrem.errors import InvalidInput, InvalidParameter, shorten
from mahrem.files import StageFolder
from mahrem.table.reading._frames import PolarsSource
from mahrem.table.reading._reading import Reading, Source, name_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import duckdb
    import pyarrow as pa

LISTING = (
    "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
)
AS_TEXT = ("uuid", "json", "jsonb", "interval", "numeric")  # PostgreSQL's types that Arrow lacks
DUCKDB_AS_TEXT = ("INTERVAL", "BIT", "TIME WITH TIME ZONE", "UNION", "MAP", "BIGNUM", "VARIANT", "GEOMETRY")


def quoted(*names: str) -> str:
    """Write names as SQL identifiers."""
    for name in names:
        if "\0" in name or not name:
            raise InvalidParameter("a name in a database must not be empty or hold NUL")
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def open_duckdb(path: Path, reading: Reading) -> Source:
    """Open a DuckDB file read-only and take a table or the answer to a query."""
    with duckdb_reader(path) as (connection, label):
        return _held(_answer(connection, reading, label), reading, label)


def read_alone(path: Path, reading: Reading) -> pa.Table:
    """Take a table or an answer of a DuckDB file that is not trusted.

    Guarantees:
        - No view in the file and no query reads another file or the network, or writes beside the file.
    """
    with duckdb_reader(path, alone=True) as (connection, label):
        return _answer(connection, reading, label)


@contextmanager
def duckdb_reader(path: Path, *, alone: bool = False) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Give a read-only connection to a file, and what to call it; ``alone`` shuts it off from all else."""
    try:
        import duckdb
    except ImportError:
        raise extra("sql", needed_for="DuckDB files") from None
    label = f"DuckDB file {path.name!r}"
    telling = (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException)
    with ExitStack() as stack:
        scratch = stack.enter_context(StageFolder(Path(tempfile.gettempdir()), "duckdb"))
        try:
            connection = duckdb.connect(str(path), read_only=True, config=_limits(scratch.path, alone=alone))
        except duckdb.Error as error:
            why = f"({type(error).__name__}); is it broken, or open in another program?"
            raise InvalidInput(f"{label} cannot be opened {why}") from None
        stack.enter_context(connection)
        try:
            yield connection, label
        except duckdb.Error as error:
            words = str(error) if isinstance(error, telling) and not alone else ""
            limits = "; it may use tables of this file alone" if alone else ""
            raise _refused_query(label, type(error).__name__, words, limits) from None


def _limits(scratch: Path, *, alone: bool) -> dict[str, str | bool | int | float | list[str]]:
    closed = {"enable_external_access": "false", "lock_configuration": "true"} if alone else {}
    return {**closed, "temp_directory": str(scratch)}  # the last: what is locked before cannot be said


def _answer(connection: duckdb.DuckDBPyConnection, reading: Reading, label: str) -> pa.Table:
    return duckdb_relation(connection, reading, label).to_arrow_table()


def duckdb_relation(
    connection: duckdb.DuckDBPyConnection, reading: Reading, label: str
) -> duckdb.DuckDBPyRelation:
    """Give the table that was named, or the answer to a query, in types that can be read."""
    query = reading.query
    if query is None:
        listed = connection.sql(LISTING).fetchall()
        chosen = quoted(*choose_table(listed, reading.table, label))
        query = f"SELECT * FROM {chosen}"  # noqa: S608 - quoted names
    relation = connection.sql(query)
    if relation is None:
        raise InvalidInput(f"{label}: the query gives no table; use one SELECT")
    return readable(relation, label)


def readable(relation: duckdb.DuckDBPyRelation, label: str) -> duckdb.DuckDBPyRelation:
    """Write as text what others know of DuckDB's kinds as bytes alone."""
    names = name_columns(relation.columns, label)
    parts = [
        f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}"
        if str(kind).startswith(DUCKDB_AS_TEXT)
        else quoted(name)
        for name, kind in zip(names, relation.types, strict=True)
    ]
    return relation.project(", ".join(parts))


def open_postgresql(uri: str, reading: Reading) -> Source:
    """Take a table, or the answer to a query, of a PostgreSQL database in a read-only transaction."""
    with postgresql_reader(uri, reading) as (cursor, kind):
        query, schema, label = postgresql_query(cursor, reading, kind)
        cursor.execute(query)
        table = cursor.fetch_arrow_table()
        numeric = {field.name for field in schema if postgresql_type(field) in {"numeric", "money"}}
        return _held(table, reading, label, numeric=numeric)


def postgresql_query(cursor: Any, reading: Reading, kind: str) -> tuple[str, pa.Schema, str]:
    """Say what to ask for a table in types that can be read, what its columns are, and what to call it."""
    inner, schema, label = postgresql_table(cursor, reading, kind)
    parts = [f"{_sent(field)} AS {quoted(field.name)}" for field in schema]
    return f"SELECT {', '.join(parts)} FROM {inner}", schema, label  # noqa: S608 - quoted names


def postgresql_driver() -> Any:
    """Load the driver, or say how to get it."""
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise extra("sql", needed_for="PostgreSQL") from None
    return dbapi


def connection_reason(error: Exception) -> str:
    """Say why a connection failed without repeating the driver's words: they may hold the URI."""
    text = str(error)
    reasons = {
        "refused": "no server answers at this host and port",
        "translate host": "the host is not known",
        "password": "the password is missing or wrong",
        "authentication": "the server does not let this user in",
        "role": "the user does not exist",
        "database": "the database does not exist",
        "timeout": "the server took too long to answer",
    }
    return next(
        (reason for sign, reason in reasons.items() if sign in text), "check host, port, user and database"
    )


# Whether questions reach beyond tables under any role that they can be asked under: a question may take the
# role of every group of whoever came in. Roles and functions that a server does not know are not there.
_REACHES = """
SELECT EXISTS (
    SELECT FROM pg_roles g
    WHERE (pg_has_role(session_user, g.oid, 'MEMBER') OR pg_has_role(current_user, g.oid, 'MEMBER'))
    AND (
        g.rolsuper
        OR g.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
        OR EXISTS (
            SELECT FROM pg_proc f
            WHERE f.proname IN (
                'pg_read_file', 'pg_read_binary_file', 'pg_stat_file', 'pg_ls_dir', 'lo_import', 'lo_export',
                'pg_file_read', 'pg_file_write', 'pg_file_rename', 'pg_file_unlink', 'dblink_connect_u'
            )
            AND has_function_privilege(g.oid, f.oid, 'EXECUTE')
        )
    )
)
"""


@contextmanager
def postgresql_reader(uri: str, reading: Reading) -> Iterator[tuple[Any, str]]:
    """Give a cursor in a read-only transaction, and what to call what it reads."""
    driver = postgresql_driver()
    label = "PostgreSQL query" if reading.query is not None else "PostgreSQL table"
    try:
        connection = driver.connect(uri)
    except driver.Error as error:
        raise InvalidInput(f"PostgreSQL: no connection; {connection_reason(error)}") from None
    with connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        try:
            yield cursor, label
        except driver.Error as error:
            state = error.sqlstate or ""
            words = str(error) if state.startswith("42") else ""
            raise _refused_query(label, f"SQLSTATE {state or 'unknown'}", words) from None


def refuse_wide_role(uri: str) -> None:
    """Refuse a role whose questions reach beyond tables: files and programs of the machine of the database.

    Raises:
        InvalidInput: If whoever comes in is a superuser, or may read files or run programs there, by its own
            role, by one it can take, or by a function it may call.
    """
    with postgresql_reader(uri, Reading(query="")) as (cursor, _):
        cursor.execute(_REACHES)
        (wide,) = cursor.fetchone()
    if wide:
        raise InvalidInput(
            "PostgreSQL: the role of this database may read files or run programs of that machine, so it is "
            "not asked questions here; name a role that can read the tables meant for it and nothing else"
        )


def postgresql_table(cursor: Any, reading: Reading, label: str) -> tuple[str, pa.Schema, str]:
    """Say what stands behind FROM, what its columns are, and what to call it."""
    if reading.query is None:
        cursor.execute(LISTING)
        chosen = choose_table(cursor.fetchall(), reading.table, label)
        label = f"{label} {'.'.join(chosen)!r}"
        query = f"SELECT * FROM {quoted(*chosen)}"  # noqa: S608 - quoted names
    else:
        query = reading.query.strip().rstrip(";")
    inner = f"(\n{query}\n) AS asked"
    schema = cursor.adbc_execute_schema(f"SELECT * FROM {inner}")  # noqa: S608 - what the caller asked
    name_columns(schema.names, label)
    return inner, schema, label


def postgresql_type(field: pa.Field) -> str:
    """Give PostgreSQL's own name for the type of a column, where Arrow has none."""
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b"").decode())


def _sent(field: pa.Field) -> str:
    """Send what Arrow has no type for as text, and no endless days, which Arrow takes for others."""
    cell, kind = quoted(field.name), postgresql_type(field)
    if str(field.type).startswith(("date", "timestamp")):
        return f"CASE WHEN isfinite({cell}) THEN {cell} END"
    if kind == "money":
        return f"{cell}::numeric::text"
    as_text = kind in AS_TEXT or str(field.type).startswith("extension<arrow.opaque")
    return f"{cell}::text" if as_text else cell


def choose_table(listed: Sequence[tuple[str, str]], table: str | None, label: str) -> tuple[str, str]:
    """Find the table that was named, or the only one there is."""
    names = [f"{schema}.{name}" for schema, name in listed]
    if table is None:
        if len(listed) == 1:
            return listed[0]
        hint = f"say which: {shorten(names)}" if names else "there is none that may be read"
        raise InvalidInput(f"{label}: the database holds {len(names)} tables; {hint}")
    fits = [pair for pair in listed if table in {pair[1], f"{pair[0]}.{pair[1]}"}]
    if not fits:
        raise InvalidInput(f"table={table!r} is not in the database; there are {shorten(names) or 'none'}")
    main = [pair for pair in fits if pair[0] in {"public", "main"}]
    if len(fits) > 1 and len(main) != 1:
        raise InvalidInput(f"table={table!r} is in several schemas; say schema.name: {shorten(names)}")
    return (main or fits)[0]


def _held(table: pa.Table, reading: Reading, label: str, *, numeric: Collection[str] = ()) -> Source:
    """Hold the answer of a database in memory; read by cell, decimal numbers stay the texts they came as."""
    numeric = () if reading.by_cell else numeric
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            series = pl.Series(name, pl.from_arrow(column))
        except (pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError):
            raise InvalidInput(
                f"column={name!r} of {label} (type {column.type}) cannot be read; cast it to text in a query"
            ) from None
        columns.append(_exact(series) if name in numeric else series)
    return PolarsSource.held(pl.DataFrame(columns), label, reading)


def _exact(text: pl.Series) -> pl.Series:
    """Read decimal numbers of any length exactly where 38 digits suffice, else as floats."""
    places = text.str.extract(r"\.([0-9]+)$").str.len_bytes().max()
    exact = text.str.to_decimal(scale=int(places) if isinstance(places, int) else 0)
    return exact if exact.null_count() == text.null_count() else text.cast(pl.Float64, strict=False)


def _refused_query(label: str, kind: str, words: str, limits: str = "") -> InvalidInput:
    """Make the error for a failed query; complaints about the SQL are repeated, about data never."""
    first = next((line.strip() for line in words.splitlines() if line.strip()), "")
    complaint = first.rsplit("ERROR:", maxsplit=1)[-1].strip()
    reason = f"{kind}: {complaint}" if complaint else kind
    return InvalidInput(f"{label}: the database refused the query ({reason}){limits}")
