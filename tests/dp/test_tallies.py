"""A tally is the same whoever adds up: a frame, a file or a database, whatever its cells hold."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mahrem.dp._sources import opened
from mahrem.dp._tally import Condition, TallyPlan, Term
from mahrem.table import Reading, open_source

DAYS = (dt.date(2023, 5, 1), dt.date(2024, 1, 2), dt.date(2024, 6, 1), dt.date(2025, 1, 1), None)
COLUMNS = {
    "day": DAYS,
    "word": ("ant", "f", "owl", "z", None),
    "mixed": ("3", "ward", "2024-01-02", "12", "True"),
    "truth": ("f", "0x1", "00:00:00.000001", "PT0S", "24:00:00"),
    "more": ("1e0", ".0", "0b0", "2024-01-02", " no "),
    "number": (1, 2, 3, 4, None),
    "part": (0.5, 1.0, float("inf"), float("nan"), None),
}
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
VALUES = (
    "2024",
    "2024-01-02",
    "2024-06",
    "f",
    "no",
    "yes",
    "m",
    "3",
    "3.0",
    "x",
    "inf",
    "NA",
    "1e70",
    " ant ",
)


def counted(source: object, where: Condition, reading: Reading | None = None) -> int:
    with opened(source, reading or Reading()) as data:
        return int(data.tally(TallyPlan(terms=(Term("rows"),), where=(where,)))[0])


def stored(columns: dict[str, Sequence[object]], path: Path) -> Path:
    frame = pl.DataFrame(columns, strict=False)
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("given", frame.to_arrow())
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return path


@given(
    name=st.sampled_from(list(COLUMNS)),
    rows=st.lists(st.integers(0, 4), min_size=1, max_size=8),
    operator=st.sampled_from(OPERATORS),
    value=st.sampled_from(VALUES),
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_frames_and_databases_count_the_same(
    name: str, rows: list[int], operator: str, value: str, tmp_path: Path
) -> None:
    cells = pl.Series(name, COLUMNS[name], strict=False)[rows]
    where = Condition(name, operator, value)
    told = [cells.to_frame(), cells.cast(pl.String).to_frame(), stored({name: cells}, tmp_path / "t.duckdb")]
    assert len({counted(source, where) for source in told}) == 1, where


@pytest.mark.parametrize(
    ("name", "operator", "value", "many"),
    [
        ("day", ">=", "2024", 3),  # a text that is a number as well
        ("day", "<", "2024-06", 2),
        ("word", "<", "f", 1),  # a text that is a truth as well
        ("word", "<=", "f", 2),
        ("word", ">", "no", 2),
        ("mixed", ">", "2", 4),  # by number where both are one, else as texts
        ("mixed", "<", "x", 5),
        ("number", "<", "3", 2),
        ("part", ">=", "1", 2),
    ],
)
def test_an_order_is_that_of_numbers_where_both_are_one_and_else_of_texts(
    name: str, operator: str, value: str, many: int, tmp_path: Path
) -> None:
    cells = pl.Series(name, COLUMNS[name], strict=False)
    for source in (cells.to_frame(), stored({name: cells}, tmp_path / "t.duckdb")):
        assert counted(source, Condition(name, operator, value)) == many


FAR = ("2024-06-01", "0044-03-15 (BC)", "12345-01-02", "infinity", "-infinity", "0001-01-01")


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("value", ["2024-01-02", "0001-01-01", "2024-06-01"])
def test_days_of_no_calendar_are_counted_alike(operator: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (day DATE)")
        connection.executemany("INSERT INTO t VALUES (?)", [[day] for day in FAR])
        frame = pl.DataFrame(connection.table("t").to_arrow_table())
    where = Condition("day", operator, value)
    assert counted(path, where) == counted(frame, where)


@pytest.mark.postgres
def test_odd_cells_of_postgresql_are_counted_as_in_a_frame(postgres: str) -> None:
    from adbc_driver_postgresql import dbapi

    days = [day.replace("(BC)", "BC") for day in FAR]
    texts = [str(cell) for name in ("word", "mixed", "truth", "more") for cell in COLUMNS[name] if cell]
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        for name, kind, cells in (("day", "date", days), ("word", "text", texts)):
            cursor.execute(f"DROP TABLE IF EXISTS odd_{name}")
            cursor.execute(f"CREATE TABLE odd_{name} ({name} {kind})")
            for cell in cells:
                cursor.execute(f"INSERT INTO odd_{name} VALUES ('{cell}')")  # noqa: S608 - our own
        connection.commit()
    for name, values in (("day", ("2024-01-02", "0001-01-01")), ("word", ("f", "yes", "owl"))):
        reading = Reading(table=f"odd_{name}")
        frame = open_source(postgres, replace(reading, by_cell=True)).take([name])
        for value in values:
            for operator in OPERATORS:
                where = Condition(name, operator, value)
                assert counted(postgres, where, reading) == counted(frame, where), where
