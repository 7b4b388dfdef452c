from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import adbc_driver_postgresql.dbapi
import duckdb
import polars as pl
import pytest

from mahrem.errors import InvalidInput, InvalidParameter, MissingExtra, OutputFailed
from mahrem.table import Reading, open_source
from mahrem.table.writing import write_database

FRAME = pl.DataFrame(
    {
        "age": [31, None, -5],
        "name": ["Ayşe", 'quote " and \n line', None],
        "weight": [1.5, None, 2.0],
        "day": [date(2020, 1, 2), None, date(1960, 1, 1)],
        "moment": [
            datetime.fromisoformat("2020-01-02T03:04:05.000006"),
            None,
            datetime.fromisoformat("1960-01-01"),
        ],
        "flag": [True, None, False],
        "Strange Name; --": ["a", "b", "c"],
    }
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "ward.duckdb"


@pytest.fixture
def server(postgres: str) -> Iterator[str]:
    """A server whose public schema is empty."""
    execute(
        postgres, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", "DROP SCHEMA IF EXISTS other CASCADE"
    )
    yield postgres
    execute(postgres, "DROP SCHEMA IF EXISTS other CASCADE")


def execute(uri: str, *statements: str) -> None:
    with (
        adbc_driver_postgresql.dbapi.connect(uri, autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where tables can be written: both kinds of databases pass the same tests."""
    if request.param == "postgres":
        return str(request.getfixturevalue("server"))
    return str(tmp_path / "ward.duckdb")


def test_a_table_comes_back_as_it_was(target: str) -> None:
    write_database(FRAME, target, "patients")
    source = open_source(target)
    assert source.columns == tuple(FRAME.columns)
    assert source.rows == 3
    assert not source.textual
    assert source.take(FRAME.columns).equals(FRAME)
    assert source.scan(["age"]).collect().equals(FRAME.select("age"))
    assert source.rebuild({}, ["age"]).equals(FRAME.drop("age"))


def test_types_a_database_lacks_are_stored_as_near_ones(target: str) -> None:
    frame = pl.DataFrame(
        {
            "category": pl.Series(["a", "b"], dtype=pl.Categorical),
            "nothing": [None, None],
            "large": pl.Series([2**64 - 1, 0], dtype=pl.UInt64),
            "small": pl.Series([1, 2], dtype=pl.UInt8),
            "single": pl.Series([1.5, 2.5], dtype=pl.Float32),
            "exact": pl.Series([Decimal("1.10"), None], dtype=pl.Decimal(10, 2)),
        }
    )
    write_database(frame, target, "t")
    back = open_source(target).take(frame.columns)
    assert back["category"].to_list() == ["a", "b"]
    assert back["nothing"].null_count() == 2
    assert [int(cell) for cell in back["large"]] == [2**64 - 1, 0]
    assert back["exact"].to_list() == [Decimal("1.10"), None]


def test_an_existing_table_is_replaced_only_when_told(target: str) -> None:
    write_database(FRAME, target, "patients")
    other = pl.DataFrame({"a": ["new"]})
    with pytest.raises(InvalidParameter, match="already there"):
        write_database(other, target, "patients")
    assert open_source(target).take(FRAME.columns).equals(FRAME)
    write_database(other, target, "patients", replace=True)
    assert open_source(target).take(["a"]).equals(other)


def test_names_are_quoted_not_pasted(target: str) -> None:
    name = 'p"; DROP TABLE x; --'
    write_database(pl.DataFrame({'c"; --': [1]}), target, name)
    source = open_source(target, Reading(table=name))
    assert source.take(['c"; --']).rows() == [(1,)]


def test_several_tables_are_listed_and_one_is_chosen(target: str) -> None:
    write_database(pl.DataFrame({"a": [1]}), target, "one")
    write_database(pl.DataFrame({"b": [2]}), target, "two")
    with pytest.raises(InvalidInput, match=r"2 tables; say which: .*one, .*two"):
        open_source(target)
    assert open_source(target, Reading(table="two")).columns == ("b",)
    with pytest.raises(InvalidInput, match="table='three' is not in the database"):
        open_source(target, Reading(table="three"))


def test_a_query_is_answered(target: str) -> None:
    write_database(FRAME, target, "patients")
    query = "SELECT age + 1 AS older, name FROM patients WHERE age > 0 -- only some\n;"
    source = open_source(target, Reading(query=query))
    assert source.take(["older", "name"]).rows() == [(32, "Ayşe")]


@pytest.mark.parametrize(
    "query",
    ["SELECT nothing FROM patients", "SELEC", "SELECT * FROM nowhere", "SELECT 1 AS a, 2 AS a", ""],
)
def test_a_query_that_fails_is_refused(target: str, query: str) -> None:
    write_database(FRAME, target, "patients")
    with pytest.raises(InvalidInput):
        open_source(target, Reading(query=query))


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE patients",
        "DELETE FROM patients",
        "SELECT 1; DROP TABLE patients",
        "SELECT 1) AS q; DROP TABLE patients; --",
    ],
)
def test_a_query_cannot_change_anything(target: str, query: str) -> None:
    write_database(FRAME, target, "patients")
    with pytest.raises(InvalidInput):
        open_source(target, Reading(query=query))
    assert open_source(target).rows == 3


def test_a_cell_is_not_in_the_message_of_a_failed_query(target: str) -> None:
    write_database(pl.DataFrame({"name": ["SECRET"]}), target, "t")
    with pytest.raises(InvalidInput, match="refused the query") as caught:
        open_source(target, Reading(query="SELECT CAST(name AS INTEGER) AS n FROM t"))
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_schema_that_is_not_there_is_refused(target: str) -> None:
    with pytest.raises(InvalidParameter, match="schema"):
        write_database(FRAME, target, "nowhere.t")
    with pytest.raises(InvalidParameter, match="empty"):
        write_database(FRAME, target, "")
    with pytest.raises(InvalidParameter, match="List"):
        write_database(pl.DataFrame({"l": [[1]]}), target, "t")


def test_a_new_duckdb_file_is_private_and_gone_after_a_failure(database: Path) -> None:
    with pytest.raises(InvalidParameter):
        write_database(FRAME, database, "nowhere.t")
    assert list(database.parent.iterdir()) == []
    write_database(FRAME, database, "t")
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert [path.name for path in database.parent.iterdir()] == ["ward.duckdb"]


def test_a_failed_replacement_leaves_the_old_duckdb_table(database: Path) -> None:
    write_database(FRAME, database, "t")
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(InvalidParameter, match="upper and lower case"):
        write_database(pl.DataFrame({"a": [1], "A": [2]}), database, "t", replace=True)
    with pytest.raises(InvalidParameter, match="no view"):
        write_database(FRAME, database, "v", replace=True)
    for name in ("t", "v"):
        assert open_source(database, Reading(table=name)).take(FRAME.columns).equals(FRAME)


def test_a_duckdb_file_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "t.duckdb"
    broken.write_bytes(b"\0" * 8 + b"DUCK" + b"\1" * 5000)
    with pytest.raises(InvalidInput, match="cannot be opened"):
        open_source(broken)
    with pytest.raises(OutputFailed):
        write_database(FRAME, broken, "t")
    with pytest.raises(OutputFailed):
        write_database(FRAME, tmp_path / "nowhere" / "t.duckdb", "t")


def test_a_duckdb_file_is_known_by_its_bytes_and_strange_types_become_text(tmp_path: Path) -> None:
    path = tmp_path / "hospital.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA s; CREATE TYPE mood AS ENUM ('ok', 'sad')")
        connection.execute(
            "CREATE TABLE s.t AS SELECT uuid() AS u, 'ok'::mood AS m, INTERVAL 1 DAY AS i, [1] AS l, "
            "1::HUGEINT AS h, "
            "map {'a': 1} AS p, '101'::BIT AS b, 1.5::DECIMAL(9, 2) AS d, time '10:00' AS t, 'x'::BLOB AS x"
        )
    source = open_source(path, Reading(table="s.t"))
    taken = source.take(["u", "m", "i", "h", "p", "b", "d", "t"])
    assert taken["m"].to_list() == ["ok"]
    assert taken["i"].dtype == pl.String
    assert taken["d"].to_list() == [Decimal("1.50")]
    for name in ("l", "x"):
        with pytest.raises(InvalidInput, match=f"column='{name}'"):
            source.take([name])


@pytest.mark.postgres
def test_postgresql_types_that_arrow_lacks_are_read(server: str) -> None:
    execute(
        server,
        "CREATE TYPE mood AS ENUM ('ok', 'sad')",
        "CREATE TABLE t (n numeric(10, 2), any_n numeric, huge numeric, u uuid, j jsonb, m mood, i interval, "
        "a inet, c money, z timestamptz, l int[], ch char(3), x bytea)",
        "INSERT INTO t VALUES (3.5, 1.123, 'NaN', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{}', 'ok', "
        "'1 day', '10.0.0.1', 3.5, '2020-01-01 10:00+02', '{1}', 'a', 'x'), "
        "(null, 2, 1e30, null, null, null, null, null, null, null, null, null, null)",
    )
    source = open_source(server)
    taken = source.take(["n", "any_n", "huge", "u", "j", "m", "i", "a", "c", "z", "ch"])
    assert taken["n"].to_list() == [Decimal("3.50"), None]
    assert taken["any_n"].to_list() == [Decimal("1.123"), Decimal("2.000")]
    assert taken["huge"].dtype == pl.Float64
    assert taken["m"].to_list() == ["ok", None]
    assert taken["i"].to_list() == ["1 day", None]
    assert taken["c"].to_list() == [Decimal("3.50"), None]
    assert taken.null_count().select("u", "j", "a", "z").row(0) == (1, 1, 1, 1)


@pytest.mark.postgres
def test_schemas_of_postgresql_are_told_apart(server: str) -> None:
    execute(server, "CREATE SCHEMA other", "CREATE SCHEMA third")
    try:
        write_database(pl.DataFrame({"a": [1]}), server, "other.t")
        write_database(pl.DataFrame({"b": [1]}), server, "third.t")
        with pytest.raises(InvalidInput, match="several schemas"):
            open_source(server, Reading(table="t"))
        assert open_source(server, Reading(table="other.t")).columns == ("a",)
        write_database(pl.DataFrame({"c": [1]}), server, "t")
        assert open_source(server, Reading(table="t")).columns == ("c",)
    finally:
        execute(server, "DROP SCHEMA third CASCADE")


@pytest.mark.postgres
def test_a_write_that_fails_half_way_leaves_the_old_table(server: str) -> None:
    write_database(FRAME, server, "t")
    with pytest.raises(OutputFailed, match="as it was"):
        write_database(pl.DataFrame({"a": ["fine"] * 9 + ["NUL \0"]}), server, "t", replace=True)
    assert open_source(server).take(FRAME.columns).equals(FRAME)
    execute(server, "CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(InvalidParameter, match="depend"):
        write_database(FRAME, server, "t", replace=True)


@pytest.mark.postgres
def test_no_password_is_ever_shown(server: str) -> None:
    write_database(FRAME, server, "t")
    password = server.split(":")[2].split("@", maxsplit=1)[0]
    source = open_source(server)
    assert password not in source.label + repr(source)
    wrong = [
        server.replace(password, "geheim"),
        server.replace("/postgres", "/nowhere"),
        server.replace("127.0.0.1", "nowhere.invalid"),
        server.rsplit(":", 1)[0] + ":1/postgres",
        "postgresql://user:geheim@[::bad/postgres",
    ]
    for uri in wrong:
        for act, kind in (
            (open_source, InvalidInput),
            (lambda one: write_database(FRAME, one, "t"), OutputFailed),
        ):
            with pytest.raises(kind, match="no connection") as caught:
                act(uri)
            assert password not in str(caught.value)
            assert "geheim" not in str(caught.value)
            assert caught.value.__suppress_context__


@pytest.mark.postgres
def test_an_empty_database_is_refused(server: str) -> None:
    with pytest.raises(InvalidInput, match="0 tables"):
        open_source(server)


def test_a_missing_extra_says_how_to_get_it(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_database(FRAME, database, "t")
    for name in ("duckdb", "adbc_driver_postgresql"):
        monkeypatch.setitem(sys.modules, name, None)  # what Python does for a module that is not there
    for act in (
        lambda: open_source(database),
        lambda: open_source("postgresql://127.0.0.1/x"),
        lambda: write_database(FRAME, database, "u"),
        lambda: write_database(FRAME, "postgresql://127.0.0.1/x", "u"),
    ):
        with pytest.raises(MissingExtra, match=r"pip install 'mahrem\[sql\]'"):
            act()
