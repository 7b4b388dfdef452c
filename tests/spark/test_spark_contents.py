"""On a cluster every row passes the gate, and what is found is what one machine finds."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.contents import look_into, sketch_table
from mahrem.errors import GivesAway
from mahrem.release import find_doubts
from mahrem.release.decisions import Policy
from mahrem.spark._contents import sketch_on_spark
from misleading import misleading_table

ROWS = 30_000
LATE = {
    "email": ["write to ada@example.org"],
    "id": ["10000000146", "19191919190", "12345678950", "98765432150"],
    "text": [
        f"{who} {did} because of {what}"
        for who in ("the mother", "his old neighbour", "she")
        for did in ("came again", "called", "was seen late at night")
        for what in ("a swollen knee since Monday", "pain in the left shoulder")
    ],
}


def late_table() -> pl.DataFrame:
    """Make a table whose last rows alone hold what gives people away."""
    columns: dict[str, list[Any]] = {"age": [20 + n % 40 for n in range(ROWS)]}
    for name, values in LATE.items():
        usual = [f"W{n % 700:03d}" for n in range(ROWS - len(values))]
        columns[name] = [*usual, *values]
    return pl.DataFrame(columns)


def test_a_cluster_finds_what_one_machine_finds(spark_session: Any) -> None:
    policy = Policy.of({"quasi": ["age"], "k": 5})
    born = pl.Series("born", [2024 - (20 + n % 40) for n in range(ROWS)])
    codes = pl.Series("code", [f"P{n // 3 * 7919 % 100_003:06d}" for n in range(ROWS)])
    for frame in (misleading_table(), late_table().with_columns(born, codes)):
        rows = spark_session.createDataFrame(frame.to_pandas()).repartition(7)
        there = sketch_on_spark(rows, frame.columns, policy)
        assert find_doubts(there, policy) == find_doubts(frame, policy) != ()
        here = sketch_table(frame)
        assert look_into(there).as_dict() == look_into(here).as_dict()


@pytest.mark.parametrize("column", LATE)
def test_what_only_the_last_rows_hold_stops_a_release_on_a_cluster(spark_session: Any, column: str) -> None:
    rows = spark_session.createDataFrame(late_table().select("age", column).to_pandas()).coalesce(3)
    with pytest.raises(GivesAway) as refused:
        mh.anonymize(rows, quasi="age", insensitive=column, k=5, html=False)
    assert [*refused.value.columns] == [column]
