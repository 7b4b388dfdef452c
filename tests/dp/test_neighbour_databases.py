"""Every public query over a database: neighbours are told apart by noise only, whatever their cells hold."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mahrem.dp import Ledger, assert_dp
from mahrem.dp._relation import Unit
from mahrem.dp._sources import opened
from mahrem.dp._tally import TallyPlan, Term
from mahrem.dp.queries import answer_query
from mahrem.table import Reading

COLUMNS: dict[str, Any] = {
    "x": {"lower": -50, "upper": 100},
    "t": {"lower": 0, "upper": 10, "missing": 3},
    "d": {"lower": 0, "upper": 1e6},
    "g": {"categories": ["a", "it's", 'say "b"', "back\\slash"]},
}
QUESTIONS = [
    "count()",
    "count() by g",
    "count() where x >= 10 and g != 'it''s'",
    "sum(x)",
    "sum(d) by g",
    "mean(x)",
    "mean(t) by g where x < 50",
    "variance(x)",
    "variance(t) by g",
    "median(x)",
    "median(t) by g",
    "quantile(d, 0.1, 0.9)",
    "range(x)",
    "histogram(g)",
    "histogram(t, 4) by g",
    "bounds(d)",
]
numbers = st.sampled_from([None, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 99.5, -3.0, 0.0])
texts = st.sampled_from([None, "", "4.5", "no number", "nan", "inf", "1e400", "-7", " 8 "])
exact = st.sampled_from([None, "0.01", "999999999999.99", "-5.00", "12.34"])
groups = st.sampled_from([None, "", "a", "it's", 'say "b"', "back\\slash", "other"])
rows = st.tuples(numbers, texts, exact, groups, st.sampled_from([None, 0, 1, 2]))
tables = st.lists(rows, min_size=1, max_size=8)
UNITS: list[dict[str, Any]] = [
    {},
    {"relation": "replace"},
    {"subject": "who", "rows_per_person": 2},
    {"subject": "who", "rows_per_person": 1, "relation": "replace"},
]


def neighbours(table: list[Any], place: int, said: dict[str, Any]) -> list[Any]:
    """Take one unit out, or exchange it: a row, or all rows of a person."""
    if "subject" in said:
        who = table[place % len(table)][4]
        rest = [row for row in table if row[4] is None or row[4] != who]
        new = [(7.0, "1", "1.00", "a", who if who is not None else 9)] * 3
        return rest + (new if said.get("relation") == "replace" else [])
    rest = [row for number, row in enumerate(table) if number != place % len(table)]
    return rest + ([(100.0, "10", "12.34", "it's", 0)] if said.get("relation") == "replace" else [])


def pipeline(question: str, said: dict[str, Any], reading: Reading | None = None) -> Any:
    def asked(source: Any) -> Any:
        ledger = Ledger.temporary(epsilon=3, columns=COLUMNS, **said)
        return answer_query(source, question, ledger=ledger, epsilon=1.0, reading=reading).rows

    return asked


def frame(listed: list[Any]) -> pl.DataFrame:
    schema = {"x": pl.Float64, "t": pl.String, "d": pl.String, "g": pl.String, "who": pl.Int64}
    return pl.DataFrame(listed, schema=schema, orient="row")


def stored(listed: list[Any], path: Path) -> Path:
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("given", frame(listed).to_arrow())
        connection.execute("CREATE TABLE p AS SELECT * REPLACE (CAST(d AS DECIMAL(18, 2)) AS d) FROM given")
    return path


@given(
    table=tables,
    question=st.sampled_from(QUESTIONS),
    place=st.integers(0, 7),
    said=st.sampled_from(UNITS),
)
@settings(max_examples=18, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_duckdb_tells_neighbours_apart_by_noise_only(
    table: list[Any], question: str, place: int, said: dict[str, Any], tmp_path: Path
) -> None:
    one = stored(table, tmp_path / "one.duckdb")
    two = stored(neighbours(table, place, said), tmp_path / "two.duckdb")
    assert_dp(pipeline(question, said), one, two)


AWKWARD = [
    (math.nan, "4.5", "0.01", "a", 0),
    (math.inf, None, None, "back\\slash", 0),
    (-1e308, "", "999999999999.99", "it's", 1),
    (5e-324, "nan", "-5.00", 'say "b"', 1),
    (99.5, "1e400", "12.34", None, 2),
    (None, "no number", "12.34", "other", None),
]


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("said", "questions"),
    [(UNITS[1], QUESTIONS), (UNITS[2], ["count() by g", "sum(d) by g", "median(x)", "bounds(d)"])],
    ids=["row exchanged", "person left out"],
)
def test_postgresql_tells_neighbours_apart_by_noise_only(
    postgres: str, said: dict[str, Any], questions: list[str]
) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        for name, listed in (("one", AWKWARD), ("two", neighbours(AWKWARD, 0, said))):
            cursor.adbc_ingest(name, frame(listed).to_arrow(), mode="replace")
            cursor.execute(f'ALTER TABLE "{name}" ALTER COLUMN d TYPE numeric USING d::numeric')
        connection.commit()
    for question in questions:

        def asked(table: str, question: str = question) -> Any:
            return pipeline(question, said, Reading(table=table))(postgres)

        assert_dp(asked, "one", "two")


ODD_IN_POSTGRESQL = {
    "numeric": ("NaN", "1e1000", "1e-1000"),
    "double precision": ("Infinity",),
    "text": ("1e400", "unknown"),
    "date": ("infinity", "0044-03-15 BC"),
    "timestamp": ("infinity",),
    "timestamptz": ("-infinity",),
    "boolean": ("true",),
}


@pytest.mark.postgres
def test_no_cell_of_postgresql_decides_whether_it_answers(postgres: str) -> None:
    from adbc_driver_postgresql import dbapi

    facts = {"w": {"categories": ["1", "2"]}, "c": {"lower": 0, "upper": 9}}
    for kind, odd in ODD_IN_POSTGRESQL.items():
        usual = ["1", "2"] if kind in {"numeric", "double precision", "text"} else []
        with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
            for name in ("usual", *(f"odd{place}" for place in range(len(odd)))):
                cells = [*usual, *([] if name == "usual" else [odd[int(name[3:])]])]
                cursor.execute(f"DROP TABLE IF EXISTS {name}")
                cursor.execute(f"CREATE TABLE {name} (w {kind}, c {kind})")
                for cell in cells:
                    cursor.execute(f"INSERT INTO {name} VALUES ('{cell}', '{cell}')")  # noqa: S608 - our own
            connection.commit()
        numbers = ["sum(c)"] if kind in {"numeric", "double precision", "text"} else []
        for question in ["count() by w", "count() where w = '2'", *numbers]:

            def asked(table: str, question: str = question) -> Any:
                ledger = Ledger.temporary(epsilon=3, columns=facts)
                reading = Reading(table=table)
                return answer_query(postgres, question, ledger=ledger, epsilon=1.0, reading=reading).rows

            for place in range(len(odd)):
                assert_dp(asked, "usual", f"odd{place}")


@pytest.mark.postgres
def test_a_text_with_backslashes_is_one_text_however_the_server_reads_literals(postgres: str) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("slashed", frame([(1.0, "1", "1", "a\\", 0)] * 40).to_arrow(), mode="replace")
        connection.commit()
    odd = postgres + ("&" if "?" in postgres else "?") + "options=-c%20standard_conforming_strings%3Doff"
    with pytest.warns(UserWarning, match="next to nothing"):
        ledger = Ledger.temporary(epsilon=1000)
    for uri in (postgres, odd):
        answer = answer_query(
            uri, "count() where g = 'a\\'", ledger=ledger, epsilon=50, reading=Reading(table="slashed")
        )
        assert answer.value == 40
        tricky = "count() where g = '\\'' or 1=1 --'"  # to our grammar one text, which nobody has
        none = answer_query(uri, tricky, ledger=ledger, epsilon=50, reading=Reading(table="slashed"))
        assert none.value == 0


@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["numeric", "bigint", "double precision", "text"])
def test_long_numbers_of_people_are_the_same_in_every_type(kind: str, postgres: str) -> None:
    from adbc_driver_postgresql import dbapi

    long = "0." + "1" * 31 if kind == "numeric" else "7"
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        for name, odd in (("few", ""), ("more", f" UNION ALL SELECT {long}")):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            people = f"SELECT 100000000000000000 + i FROM generate_series(1, 30) i{odd}"  # noqa: S608
            cursor.execute(f"CREATE TABLE {name} AS SELECT who::{kind} FROM ({people}) AS people(who)")  # noqa: S608
        connection.commit()

    def asked(table: str) -> Any:
        ledger = Ledger.temporary(epsilon=3, subject="who", rows_per_person=1)
        reading = Reading(table=table)
        return answer_query(postgres, "count()", ledger=ledger, epsilon=1.0, reading=reading).rows

    assert_dp(asked, "few", "more")
    tally = TallyPlan(terms=(Term("rows"),), unit=Unit(subject="who", rows=1))
    with opened(postgres, Reading(table="few")) as data:
        assert data.tally(tally).tolist() == [3]
