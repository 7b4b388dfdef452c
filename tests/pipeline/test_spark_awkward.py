"""Tables, names and sessions that a cluster could stumble over."""

from __future__ import annotations

import datetime as dt
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed
from mahrem.spark._errors import translate_errors

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_at_a_time")]

ASKED: dict[str, Any] = {
    "quasi": ["age"],
    "k": 4,
    "rest": "insensitive",
    "accept": {"*": "rows are told apart"},
}


@pytest.fixture(scope="module")
def few() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"age": rng.integers(20, 60, 40), "ill": rng.choice(["a", "b", "c"], 40)})


def shown(table: pl.DataFrame) -> pl.DataFrame:
    text = table.select(pl.all().cast(pl.String))
    return text.sort(text.columns, nulls_last=True)


def published(release: Any) -> pl.DataFrame:
    return pl.DataFrame(release.table.toArrow())


@pytest.mark.parametrize("k", [4, 25])  # at 25 the table is one class, which no worker takes
def test_columns_may_be_named_as_the_engine_names_its_own(
    few: pl.DataFrame, spark_session: Any, k: int
) -> None:
    table = few.rename({"age": "class"}).with_columns(
        leaf=pl.lit(1), p0=pl.lit("x"), c0=pl.int_range(40) % 3, blob=pl.lit(2)
    )
    said: dict[str, Any] = {
        "quasi": ["class"],
        "sensitive": {"ill": {"l": 2}},
        "rest": "insensitive",
        "accept": {"*": "rows are told apart"},
        "k": k,
    }
    release = mh.anonymize(spark_session.createDataFrame(table.to_arrow()), **said)
    assert shown(published(release)).equals(shown(mh.anonymize(table, html=False, **said).table))


def test_rounds_leave_a_column_called_class_alone(few: pl.DataFrame, spark_session: Any) -> None:
    table = few.with_columns(pl.Series("class", [f"name {row}" for row in range(40)]))
    frame = spark_session.createDataFrame(table.to_arrow())
    release = mh.anonymize(frame, **ASKED, method="u-mondrian", options={"rounds": 1})
    assert sorted(published(release)["class"]) == sorted(table["class"])


def test_a_broken_record_is_found_though_its_column_is_not_asked_for(
    spark_session: Any, tmp_path: Path
) -> None:
    path = tmp_path / "notes.csv"
    rows = "".join(f'{20 + row % 9},"first\nsecond"\n' for row in range(30))
    path.write_text(f"age,note\n{rows}", encoding="utf-8")
    assert spark_session is not None
    with pytest.raises(InvalidInput, match="line break"):
        mh.anonymize(path, engine="spark", quasi=["age"], k=2, rest="drop")


def test_line_breaks_in_published_cells_are_read_back_by_an_audit(
    few: pl.DataFrame, spark_session: Any, tmp_path: Path
) -> None:
    table = few.with_columns(note=pl.lit('first\n"second", third'))
    out = tmp_path / "release [1]"  # Spark would look for a folder named "release 1"
    mh.anonymize(spark_session.createDataFrame(table.to_arrow()), **ASKED, output=out)
    found = mh.audit(out, engine="spark")
    assert found.holds
    assert found.report["rows"] == 40


def test_a_source_is_the_file_of_just_that_name(
    few: pl.DataFrame, spark_session: Any, tmp_path: Path
) -> None:
    few.head(8).write_parquet(tmp_path / "ölçüm1.parquet")
    few.write_parquet(tmp_path / "ölçüm[1].parquet")
    few.write_parquet(tmp_path / "_ölçüm.parquet")
    assert spark_session is not None
    release = mh.anonymize(tmp_path / "ölçüm[1].parquet", **ASKED, engine="spark")
    assert release.report["rows"] == 40
    with pytest.raises(InvalidInput, match="rename it"):
        mh.anonymize(tmp_path / "_ölçüm.parquet", **ASKED, engine="spark")


def test_a_time_without_a_zone_is_published_as_it_stands(spark_session: Any) -> None:
    zone = spark_session.conf.get("spark.sql.session.timeZone")
    spark_session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")  # 02:30 did not exist on that day
    try:
        hour = "timestamp_ntz'2020-03-29 00:30:00.000001' + make_interval(0, 0, 0, 0, id) AS at"
        frame = spark_session.range(8).selectExpr(hour)
        table = frame.withColumn("again", frame["at"])
        said: dict[str, Any] = {"quasi": ["at"], "sensitive": {"again": {"l": 4}}, "k": 4, "bounds": "exact"}
        release = mh.anonymize(table, **said, accept={"*": "a copy on purpose"})
        cells = set(published(release)["at"])
        words = set(published(mh.anonymize(frame, quasi=["at"], k=8, kind={"at": "categorical"}))["at"])
    finally:
        spark_session.conf.set("spark.sql.session.timeZone", zone)
    assert cells == {
        "[2020-03-29T00:30:00.000001, 2020-03-29T03:30:00.000001]",
        "[2020-03-29T04:30:00.000001, 2020-03-29T07:30:00.000001]",
    }
    assert words == {"*"}  # all of them were found
    assert release.report["promises"][1]["reached"] == 4


def test_a_class_that_shows_nothing_is_not_taken_for_suppressed_rows(spark_session: Any) -> None:
    table = pl.DataFrame({"sex": ["f", "m"] * 10 + [None] * 3})
    said: dict[str, Any] = {"quasi": ["sex"], "k": 15, "missing": "suppress"}
    there = mh.anonymize(spark_session.createDataFrame(table.to_arrow()), **said)
    here = mh.anonymize(table, html=False, **said)
    assert shown(published(there)).equals(shown(here.table))
    assert there.report["utility"]["suppressed"] == 3
    assert there.report["promises"] == here.report["promises"]


def test_a_session_that_another_thread_started_is_used_and_left_running(
    few: pl.DataFrame, spark_session: Any, tmp_path: Path
) -> None:
    few.write_parquet(tmp_path / "few.parquet")
    done: list[int] = []

    def work() -> None:
        release = mh.anonymize(
            tmp_path / "few.parquet", **ASKED, engine="spark", output=tmp_path / "out", html=False
        )
        done.append(release.report["rows"])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(300)
    assert done == [40]
    assert spark_session.range(3).count() == 3


def test_what_is_noted_beside_a_column_is_not_published(
    few: pl.DataFrame, spark_session: Any, tmp_path: Path
) -> None:
    from pyspark.sql import functions

    frame = spark_session.createDataFrame(few.to_arrow())
    noted = frame.select("age", functions.col("ill").alias("ill", metadata={"comment": "of Jane Roe"}))
    mh.anonymize(noted, **ASKED, format="parquet", output=tmp_path / "out", html=False)
    files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert len(files) > 3
    assert not any(b"Jane Roe" in file.read_bytes() for file in files)


def test_tables_that_cannot_be_read_rightly_are_refused(few: pl.DataFrame, spark_session: Any) -> None:
    from pyspark.sql import functions

    frame = spark_session.createDataFrame(few.to_arrow())
    ill = functions.col("ill")
    nested = frame.withColumn("ill", functions.array(ill))
    folded = frame.withColumn("ill", functions.expr("ill COLLATE UTF8_LCASE"))
    for odd in (nested, folded):
        with pytest.raises(InvalidInput, match="column='ill' holds"):
            mh.anonymize(odd, **ASKED, sensitive={"ill": {"l": 2}})
    with pytest.raises(InvalidInput, match="column='AGE' occurs twice"):
        mh.anonymize(frame.select("age", ill.alias("AGE")), **ASKED)
    with pytest.raises(InvalidInput, match="rename the column"):
        mh.anonymize(frame.withColumn("__v0", ill), **ASKED)
    with pytest.raises(InvalidInput, match="no rows to publish"):
        mh.anonymize(frame.limit(0), **ASKED)
    days = spark_session.createDataFrame([(dt.date(2020, 1, day),) for day in range(1, 9)], "age date")
    with pytest.raises(InvalidParameter, match=r"top\.age is for columns of numbers"):
        mh.anonymize(days, **ASKED, top={"age": 80})


def test_a_value_in_an_error_of_spark_reaches_neither_the_message_nor_the_terminal(
    spark_session: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = spark_session.sql("SELECT 'Jane Roe' AS name")
    with pytest.raises(InvalidInput) as caught, translate_errors():
        frame.select(frame["name"].cast("int")).collect()
    assert "Jane" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert "Jane" not in "".join(capfd.readouterr())


def test_a_job_that_fails_while_it_writes_leaves_nothing_behind(spark_session: Any, tmp_path: Path) -> None:
    """The note is not looked at before rows are written, and then it cannot be computed."""
    note = "IF(id = 77, raise_error('Jane Roe'), 'fine') AS note"
    spark_session.range(100).selectExpr("id AS age", note).createOrReplaceTempView("failing_people")
    with pytest.raises(OutputFailed, match="nothing was left behind") as caught:
        mh.anonymize("", **ASKED, engine="spark", table="failing_people", output=tmp_path / "out")
    assert "Jane" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("spark_session")
def test_a_file_without_a_header_and_dates_that_nobody_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    rows = [f"{20 + row % 30},{1 + row % 12}/{13 + row % 9}/2001" for row in range(40)]
    path.write_text("\n".join(rows) + "\n")
    with pytest.raises(InvalidInput, match="looks like data") as caught:
        mh.anonymize(path, engine="spark", **ASKED)
    assert "2001" not in str(caught.value)
    path.write_text("\n".join(["age,born", *rows]) + "\n")
    with pytest.raises(InvalidInput, match="look like dates"):
        mh.anonymize(path, engine="spark", quasi=["age", "born"], k=4)
    with pytest.raises(InvalidParameter, match="date_format is not for engine='spark'"):
        mh.anonymize(path, engine="spark", quasi=["age", "born"], k=4, date_format="%m/%d/%Y")
