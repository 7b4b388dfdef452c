"""Releases that a real cluster makes: the same classes, cells and figures as on one machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter, Tampered
from mahrem.pipeline import dry_run
from mahrem.pipeline.releasing._on_spark import explain
from mahrem.release.decisions import Policy
from mahrem.spark import _encode
from mahrem.spark._prepare import refuse_on_spark
from mahrem.table import Hierarchy

pytest.importorskip("pyspark")

POLICY: dict[str, Any] = {
    "quasi": ["age", "sex", "zip", "admission"],
    "sensitive": {"diagnosis": {"l": 2}},
    "insensitive": ["note"],
    "rest": "drop",
    "k": 5,
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Numbers, words, codes and days, some of them missing, and text that a spreadsheet would run."""
    rng = np.random.default_rng(3)
    table = mh.demo_patients(600).select("name", "age", "sex", "zip", "admission", "diagnosis")
    gone = rng.random(table.height) < 0.08
    return table.with_columns(
        age=pl.when(pl.Series(~gone)).then("age"),
        note=pl.Series(np.where(rng.random(table.height) < 0.1, "=1+1", "fine, so far")),
    )


def shown(table: pl.DataFrame) -> pl.DataFrame:
    """Rows as a set: text, in an order of their own."""
    text = table.select(pl.all().cast(pl.String))
    return text.sort(text.columns, nulls_last=True)


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_cluster_publishes_what_one_machine_publishes(
    people: pl.DataFrame, spark_session: Any, tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"people.{form}"
    people.write_csv(path) if form == "csv" else people.write_parquet(path)
    here = mh.anonymize(path, policy=POLICY, html=False)
    there = mh.anonymize(path, policy=POLICY, engine="spark", format=form, output=tmp_path / "out")
    assert spark_session is not None
    found = there.table.collect()
    if form == "csv":
        found = found.with_columns(pl.col("note").str.strip_prefix("'"))
    assert shown(found).equals(shown(here.table))
    for figure in ("gcp", "gcp_sum", "iloss", "distortion", "published_classes"):
        assert there.report["utility"][figure] == pytest.approx(here.report["utility"][figure])
    assert there.report["promises"] == here.report["promises"]
    assert there.report["risk"]["highest"] == here.report["risk"]["highest"]
    assert there.report["class_sizes"] == here.report["class_sizes"]
    assert (tmp_path / "out" / "report.html").is_file()
    kept = sorted(file.name for file in (tmp_path / "out" / f"data.{form}").iterdir())
    assert kept
    assert all(name.startswith("part-") for name in kept)
    audited = mh.audit(tmp_path / "out", engine="spark")
    assert audited.holds
    assert audited.report["utility"]["published_classes"] == here.report["utility"]["published_classes"]


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
def test_a_spark_frame_comes_back_as_one_and_suppressed_rows_show_nothing(
    people: pl.DataFrame, spark_session: Any
) -> None:
    frame = spark_session.createDataFrame(people.to_arrow()).repartition(7, "sex")  # most parts are empty
    release = mh.anonymize(frame, policy=POLICY, missing="suppress", order={"sex": "female,male"})
    here = mh.anonymize(people, policy=POLICY, missing="suppress", order={"sex": "female,male"}, html=False)
    table = pl.DataFrame(release.table.toArrow())
    assert shown(table).equals(shown(here.table))
    assert release.report["missing"] == here.report["missing"]
    assert release.report["utility"]["suppressed"] == here.report["utility"]["suppressed"] > 0
    assert release.report["rows_in"] == people.height
    found = mh.audit(release.table, quasi=POLICY["quasi"], sensitive="diagnosis", k=5, l=2)
    assert found.report["promises"][1]["reached"] == release.report["promises"][1]["reached"]


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize(
    ("k", "classes"), [(5, range(20, 200)), (400, [1])]
)  # cut by a worker; left in place
def test_the_order_of_rows_says_nothing_of_the_one_they_came_in(
    people: pl.DataFrame, spark_session: Any, k: int, classes: Sequence[int]
) -> None:
    numbers = [f"{place:03}" for place in range(people.height)]
    table = people.select("age", "sex").with_columns(pl.col("age").fill_null(50), note=pl.Series(numbers))
    frame = spark_session.createDataFrame(table.to_arrow()).repartition(1).sortWithinPartitions("note")
    assert pl.DataFrame(frame.toArrow())["note"].to_list() == numbers
    said = {"rest": "drop", "accept": {"note": "to tell rows apart"}, "k": k}
    release = mh.anonymize(frame, quasi=["age", "sex"], insensitive=["note"], **said)
    assert release.report["utility"]["published_classes"] in classes
    published = pl.DataFrame(release.table.toArrow())["note"]
    assert sorted(published) == numbers
    places = published.cast(pl.Int64).to_numpy()
    # Of 600 rows in random order: beyond 5 standard deviations, fewer than one run in a million.
    assert abs(np.corrcoef(places, np.arange(len(places)))[0, 1]) < 5 / np.sqrt(len(places) - 1)
    neighbours = int(np.sum(np.diff(places) == 1))  # about one pair of the 599
    assert neighbours < 10


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize("method", ["u-mondrian", "mosaic"])
def test_other_methods_and_hierarchies_keep_the_promise(
    people: pl.DataFrame, spark_session: Any, method: str
) -> None:
    tree = Hierarchy.from_rows([["female", "*"], ["male", "*"]])
    frame = spark_session.createDataFrame(people.to_arrow())
    release = mh.anonymize(
        frame, policy=POLICY, method=method, missing="drop", hierarchy={"sex": tree}, top={"age": 80}, seed=1
    )
    assert release.holds
    assert list(release.hierarchies) == ["sex"]
    assert release.report["dropped"] > 0
    assert release.report["rows"] + release.report["dropped"] == people.height
    ages = pl.DataFrame(release.table.select("age").toArrow())["age"].unique()
    assert ages.str.contains("inf").any()


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
def test_what_cannot_be_done_leaves_nothing_behind(
    people: pl.DataFrame, spark_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = tmp_path / "parts", tmp_path / "out"
    path.mkdir()
    people.write_parquet(path / "a.parquet")
    said: dict[str, Any] = {"policy": POLICY, "engine": "spark", "output": out}
    with pytest.raises(
        Infeasible, match="k-anonymity=5000 cannot be reached: the whole table as one class reaches"
    ):
        mh.anonymize(path, **said, k=5000)
    with pytest.raises(InvalidParameter, match="another master"):
        mh.anonymize(path, **said, master="local[1]")
    people.drop("zip").write_parquet(path / "b.parquet")
    with pytest.raises(InvalidInput, match="not all of its parts have column='zip'"):
        mh.anonymize(path, **said)
    (path / "b.parquet").unlink()
    monkeypatch.setattr(_encode, "MOST_VALUES", 3)
    with pytest.raises(InvalidInput, match="'zip' has more than 3 different values"):
        mh.anonymize(path, **said)
    broken = tmp_path / "broken.csv"
    broken.write_text("age,sex\n1,f\n2\n3,m,x\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="cannot be read"):
        mh.anonymize(broken, engine="spark", quasi=["age", "sex"], k=2, output=out)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["broken.csv", "parts"]
    assert spark_session.catalog is not None


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
def test_addresses_tables_and_queries_of_the_cluster_are_sources(
    people: pl.DataFrame, spark_session: Any, tmp_path: Path
) -> None:
    path = tmp_path / "people.parquet"
    people.select("age", "sex").drop_nulls().write_parquet(path)
    spark_session.read.parquet(str(path)).createOrReplaceTempView("people_of_a_test")
    said: dict[str, Any] = {"quasi": ["age", "sex"], "k": 5, "engine": "spark"}
    known = mh.anonymize(path, quasi=["age", "sex"], k=5, html=False).table
    found = [
        mh.anonymize(path.as_uri(), **said),
        mh.anonymize("people_of_a_test", **said),
        mh.anonymize("the catalogue", **said, table="people_of_a_test"),
        mh.anonymize("the catalogue", **said, query="SELECT sex, age FROM people_of_a_test WHERE age >= 0"),
    ]
    for release in found:
        assert shown(pl.DataFrame(release.table.toArrow()).select(known.columns)).equals(shown(known))
    with pytest.raises(InvalidInput, match="table cannot be read"):
        mh.anonymize("the catalogue", **said, table="nobody")


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
def test_the_plan_is_told_without_a_release(people: pl.DataFrame, spark_session: Any) -> None:
    frame = spark_session.createDataFrame(people.select("age", "sex").to_arrow())
    plan = explain(frame, Policy.of({"quasi": ["age", "sex"], "k": 4, "engine": "spark"}), progress=None)
    assert plan["rows"] == people.height
    assert plan["largest_part"] <= people.height
    assert plan["jobs"] > 0
    json.dumps(plan)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"method": "mdav"}, "engine='local' does it"),
        ({"subject": "name"}, "subject is not for engine='spark'"),
        ({"cells": "pairs"}, "writes text"),
        ({"format": "arrow"}, "csv, tsv, parquet"),
        ({"shuffle": False}, "no order"),
    ],
)
def test_what_only_one_machine_does_is_refused_before_spark_starts(said: dict[str, Any], word: str) -> None:
    policy = Policy.of({"quasi": ["age"], "k": 2, "engine": "spark", **said})
    with pytest.raises(InvalidParameter, match=word):
        refuse_on_spark(policy)


def test_an_output_that_is_no_folder_of_this_machine_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match="share"):
        mh.anonymize(people, policy=POLICY, engine="spark", output="hdfs://cluster/out")


def test_an_output_that_is_taken_is_refused_before_spark_starts(people: pl.DataFrame, tmp_path: Path) -> None:
    people.write_parquet(tmp_path / "people.parquet")
    nowhere = "spark://127.0.0.1:1"
    with pytest.raises(InvalidParameter, match="exists and is not empty"):
        mh.anonymize(
            tmp_path / "people.parquet", policy=POLICY, engine="spark", master=nowhere, output=tmp_path
        )


@pytest.mark.parametrize("name", ["gone.csv", "gone/gone.parquet", "gone"])
def test_a_file_that_is_not_there_is_refused_before_spark_starts(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"file='{Path(name).name}' does not exist"):
        mh.anonymize(tmp_path / name, policy=POLICY, engine="spark", master="spark://127.0.0.1:1")


STAYING = """
from contextlib import suppress
from pyspark import SparkContext
from mahrem.spark import open_cluster
from mahrem.release.decisions import Policy
for fails in (True, False):
    with suppress(KeyError), open_cluster("people", Policy(master="local[1]"), stays=True):
        if fails:
            raise KeyError("no such thing")
    print(SparkContext._active_spark_context is not None)
"""


@pytest.mark.spark
@pytest.mark.usefixtures("one_at_a_time")
def test_a_session_stays_only_if_a_frame_of_it_is_handed_out() -> None:
    command = [sys.executable, "-c", STAYING]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split() == ["False", "True"]


def test_a_dry_run_does_not_pass_a_table_for_spark_to_one_machine(people: pl.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match="engine='local'"):
        dry_run(people, policy=POLICY, engine="spark")


def test_a_changed_part_of_a_release_is_found_out(tmp_path: Path) -> None:
    from mahrem.release.folders import check_hashes, staged_release

    with staged_release(tmp_path / "out") as folder:
        (folder / "data.parquet").mkdir()
        (folder / "data.parquet" / "part-0").write_text("1", encoding="utf-8")
        (folder / "report.json").write_text("{}", encoding="utf-8")
    check_hashes(tmp_path / "out")
    (tmp_path / "out" / "data.parquet" / "part-0").write_text("2", encoding="utf-8")
    with pytest.raises(Tampered, match="part-0"):
        check_hashes(tmp_path / "out")
