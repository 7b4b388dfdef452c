"""A tally is the same whoever adds up: a frame, a file or a database, whatever its cells hold."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mahrem.dp._sources import opened
from mahrem.dp._tally import Condition, TallyPlan, Term
from mahrem.table import Reading

DAYS = (dt.date(2023, 5, 1), dt.date(2024, 1, 2), dt.date(2024, 6, 1), dt.date(2025, 1, 1), None)
COLUMNS = {
    "day": DAYS,
    "word": ("ant", "f", "owl", "z", None),
    "mixed": ("3", "ward", "2024-01-02", "12", "True"),
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


def counted(source: object, where: Condition) -> int:
    with opened(source, Reading()) as data:
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
