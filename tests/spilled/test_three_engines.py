"""In memory, from disk and on a cluster the same classes are made, and the same cells published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_out_of_core import SAID, table, written

import mahrem as mh
from from_disk import from_disk
from mahrem.errors import InvalidParameter

pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("one_at_a_time"),
    pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning"),
]


def rows_of(table: Any) -> pl.DataFrame:
    frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table.toArrow())
    return frame.select(pl.all().cast(pl.String)).sort(frame.columns, nulls_last=True)


def test_three_engines_publish_the_same_rows(tmp_path: Path, spark_session: Any) -> None:
    frame = table(900, 7).drop("name")
    source = written(frame, tmp_path / "t.parquet")
    said = {**SAID, "k": 3, "l": 2, "t": 0.4, "identifier": (), "format": "parquet"}
    shown = rows_of(mh.anonymize(frame, html=False, **said).table)
    from_disk(source, tmp_path / "parts", 120, **said)
    assert rows_of(pl.read_parquet(tmp_path / "parts/data.parquet")).equals(shown)
    del said["minimality_safe"]  # a cluster tries nothing else
    there = mh.anonymize(spark_session.createDataFrame(frame.to_arrow()), **said, method="mondrian")
    assert rows_of(there.table).equals(shown)


def test_people_are_counted_alike_in_memory_and_from_disk_and_refused_on_a_cluster(
    tmp_path: Path, spark_session: Any
) -> None:
    frame = table(600, 8).with_columns(
        name=pl.Series([f"Person Nr. {row % 250} Smith" for row in range(600)])
    )
    source = written(frame, tmp_path / "t.parquet")
    people = {**SAID, "format": "parquet", "k": 4, "identifier": (), "subject": "name"}
    whole = mh.anonymize(frame, html=False, **people)
    from_disk(source, tmp_path / "people", 120, **people)
    assert rows_of(pl.read_parquet(tmp_path / "people/data.parquet")).equals(rows_of(whole.table))
    there = spark_session.createDataFrame(frame.to_arrow())
    del people["minimality_safe"]
    with pytest.raises(InvalidParameter, match="subject"):
        mh.anonymize(there, **people)
