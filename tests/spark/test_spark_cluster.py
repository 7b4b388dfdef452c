"""The Spark engine on a real standalone cluster: the same classes, the same promises, whatever happens."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.errors import ColumnNotFound, Infeasible
from mahrem.metrics import discernibility
from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity, Promise
from mahrem.partition import Admission, Admits, Canon, Mondrian, Mosaic, Partition, Partitioner, UtilityAware
from mahrem.partition.judging import within_patterns
from mahrem.recode import default_recoding
from mahrem.spark._cluster import LabelledTable, Spark, Task
from mahrem.spark._encode import number_domains
from mahrem.spark._frame import CLASS, PlacedColumn
from mahrem.spark._judge import CodedColumn
from mahrem.spark._publish import class_figures
from mahrem.spark._verify import verify_on_spark
from mahrem.table import Column, Kind, Role, Values, Words
from mahrem.types import Labels, Points
from mahrem.verify import Claims, verify
from spark_cluster import Cluster

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_at_a_time")]

QUASI = ["age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"]


def same_classes(one: Labels, other: Labels) -> bool:
    return len(np.unique(np.stack([one, other]), axis=1).T) == len(np.unique(one)) == len(np.unique(other))


def on_one_machine(table: pl.DataFrame, quasi: tuple[PlacedColumn, ...]) -> Points:
    return np.column_stack([one.axis(table[one.name].cast(pl.Float64).to_numpy()).scaled() for one in quasi])


def labels_of(made: LabelledTable) -> Labels:
    found = pl.DataFrame(made.frame.select("row", CLASS).toArrow()).sort("row")
    assert found["row"].to_list() == list(range(found.height))  # no row is lost, none doubled
    return found[CLASS].to_numpy()


@pytest.fixture(scope="session")
def adult(benchmark_data: Path) -> pl.DataFrame:
    table = pl.read_csv(benchmark_data / "adult_train.csv", null_values="?").drop_nulls()
    return table.select(QUASI).with_row_index("row").cast(pl.Int64)


@pytest.fixture(scope="session")
def patients() -> pl.DataFrame:
    """Heavy ties, a dominant value, a constant column, words, missing values."""
    rng = np.random.default_rng(11)
    rows = 3_000
    return pl.DataFrame(
        {
            "row": np.arange(rows),
            "visits": np.where(rng.random(rows) < 0.7, 1.0, rng.integers(1, 9, rows)),
            "age": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(20, 60, rows)),
            "ward": rng.integers(0, 5, rows).astype(np.float64),
            "country": np.zeros(rows),
            "illness": rng.integers(0, 6, rows).astype(np.int32),
        }
    )


def placed(table: pl.DataFrame, session: Any) -> tuple[Any, tuple[PlacedColumn, ...]]:
    frame = session.createDataFrame(table.to_arrow())
    visits, age, country = number_domains(frame, ["visits", "age", "country"])
    ward = PlacedColumn("ward", "ward", Words(("east", "north", "south", "west", "wing")))
    return frame, (visits, age, ward, country)


def file_of(table: pl.DataFrame, folder: Path) -> str:
    path = folder / "table.parquet"
    table.write_parquet(path, row_group_size=5_000)
    return str(path)


@pytest.mark.data
def test_strict_mondrian_on_adult_gives_the_classes_of_one_machine(
    adult: pl.DataFrame, spark_session: Any, tmp_path: Path
) -> None:
    frame = spark_session.read.parquet(file_of(adult, tmp_path))
    quasi = number_domains(frame, QUASI)
    made = Spark(session=spark_session, part=6_000).partition(frame, Task(quasi, ((KAnonymity(5), None),)))
    local = Mondrian()(on_one_machine(adult, quasi), Admission(((KAnonymity(5), None),), rows=adult.height))
    assert made.plans[0].levels >= 3
    assert same_classes(labels_of(made), local.labels)


@pytest.mark.data
def test_ten_times_the_rows_at_ten_times_k_are_the_same_classes(
    adult: pl.DataFrame, spark_session: Any, tmp_path: Path
) -> None:
    frame = spark_session.read.parquet(*[file_of(adult, tmp_path)] * 10)
    quasi = number_domains(frame, QUASI)
    made = Spark(session=spark_session, part=80_000).partition(frame, Task(quasi, ((KAnonymity(100), None),)))
    figures = class_figures(made.frame, quasi)
    points = on_one_machine(adult, quasi)
    local = Mondrian()(points, Admission(((KAnonymity(10), None),), rows=adult.height))
    order = np.argsort(local.labels, kind="stable")
    starts = np.cumsum(local.sizes) - local.sizes
    widths = np.maximum.reduceat(points[order], starts) - np.minimum.reduceat(points[order], starts)
    assert made.plans[0].levels >= 2
    assert figures.rows == 10 * adult.height
    assert figures.classes == local.classes
    assert figures.dm == 100 * discernibility(local.sizes)
    assert figures.gcp_sum == pytest.approx(10 * local.sizes @ widths.sum(axis=1), rel=1e-9)


@pytest.mark.parametrize("model", [None, DistinctDiversity(3), EqualCloseness(0.3)])
def test_ties_missing_values_and_sensitive_values_change_nothing_about_that(
    patients: pl.DataFrame, spark_session: Any, model: Any
) -> None:
    frame, quasi = placed(patients, spark_session)
    coded, values = CodedColumn("illness", "illness", 6), Values("illness", patients["illness"].to_numpy(), 6)
    plain = (KAnonymity(4), None)
    made = Spark(session=spark_session, part=400).partition(
        frame, Task(quasi, (plain,) if model is None else (plain, (model, coded)))
    )
    points = on_one_machine(patients, quasi)
    admits = Admission((plain,) if model is None else (plain, (model, values)), rows=patients.height)
    local: Partition = within_patterns(Mondrian(), points, points < 0, admits)
    assert same_classes(labels_of(made), local.labels)


@pytest.mark.parametrize(
    "method", [Mondrian(strict=False), Canon(seed=3), Mosaic(), UtilityAware(Mondrian(), rounds=2)]
)
def test_other_methods_keep_the_promises_and_every_row(
    patients: pl.DataFrame, spark_session: Any, method: Partitioner
) -> None:
    frame, quasi = placed(patients, spark_session)
    coded, values = CodedColumn("illness", "illness", 6), Values("illness", patients["illness"].to_numpy(), 6)
    task = Task(quasi, ((KAnonymity(4), None), (DistinctDiversity(2), coded)), method)
    labels = labels_of(Spark(session=spark_session, part=1_000).partition(frame, task))
    order = np.argsort(labels, kind="stable").astype(np.int32)
    offsets = np.append(np.unique(labels[order], return_index=True)[1], len(labels))
    admits = Admission(((KAnonymity(4), None), (DistinctDiversity(2), values)), rows=patients.height)
    assert admits(order, offsets).all()
    assert len(offsets) > 50


def test_plain_rounds_make_classes_of_exactly_k_and_lose_nobody(
    patients: pl.DataFrame, spark_session: Any
) -> None:
    table = patients.with_columns(visits=pl.col("row").sqrt(), age=pl.col("row").sin())
    frame, quasi = placed(table, spark_session)
    task = Task(quasi, ((KAnonymity(7), None),), UtilityAware(Mondrian(), rounds=2))
    made = Spark(session=spark_session, part=1_000).partition(frame, task)
    sizes = np.unique(labels_of(made), return_counts=True)[1]
    assert sizes.min() == 7
    assert np.mean(sizes == 7) > 0.9


def test_what_is_published_is_verified_from_its_files_as_on_one_machine(
    patients: pl.DataFrame, spark_session: Any, tmp_path: Path
) -> None:
    frame, quasi = placed(patients, spark_session)
    coded = CodedColumn("illness", "illness", 6)
    recodings = tuple(default_recoding(one.axis(np.zeros(0))) for one in quasi)
    task = Task(quasi, ((KAnonymity(4), None), (DistinctDiversity(3), coded)), recodings=recodings)
    made = Spark(session=spark_session, part=400).partition(frame, task)
    path = tmp_path / "release"
    made.frame.drop(CLASS, "row").write.parquet(str(path))
    names = [one.name for one in quasi]
    claims = Claims(
        quasi=names,
        promises=[
            Promise(KAnonymity(4)),
            Promise(DistinctDiversity(3), "illness"),
            Promise(KAnonymity(9)),
        ],
        sensitive={"illness": Column(name="illness", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)},
    )
    there = verify_on_spark(spark_session.read.parquet(str(path)), claims)
    here = verify(pl.scan_parquet(path / "*.parquet"), claims)
    assert there.outcomes == here.outcomes
    assert there.rows == patients.height
    assert there.classes == len(here.sizes)
    assert discernibility(there.sizes) == discernibility(here.sizes)
    assert [outcome.holds for outcome in there.outcomes] == [True, True, False]
    with pytest.raises(ColumnNotFound):
        verify_on_spark(spark_session.read.parquet(str(path)), replace(claims, quasi=["nobody"]))


def test_a_table_that_cannot_keep_the_promise_is_refused(spark_session: Any) -> None:
    few = pl.DataFrame({"age": [1.0]})
    for table in (few, few.clear()):
        frame = spark_session.createDataFrame(table.to_arrow())
        task = Task(number_domains(frame, ["age"]), ((KAnonymity(2), None),))
        with pytest.raises(Infeasible, match="k-anonymity=2 cannot be reached"):
            Spark(session=spark_session).partition(frame, task)


@pytest.mark.data
def test_a_worker_that_dies_in_the_middle_does_not_change_the_result(
    adult: pl.DataFrame, spark_cluster: Cluster, spark_session: Any, tmp_path: Path
) -> None:
    frame = spark_session.read.parquet(file_of(adult, tmp_path))
    quasi = number_domains(frame, QUASI)
    timer = threading.Timer(0.5, spark_cluster.kill_worker)
    timer.start()
    made = Spark(session=spark_session, part=6_000).partition(frame, Task(quasi, ((KAnonymity(5), None),)))
    assert len(spark_cluster.workers) == 1  # it died while the table was being cut
    spark_cluster.add_worker()
    local = Mondrian()(on_one_machine(adult, quasi), Admission(((KAnonymity(5), None),), rows=adult.height))
    assert same_classes(labels_of(made), local.labels)


def slow_once(notes: Path) -> Mondrian:
    """Mondrian that notes each of its attempts; the first one stops until its part is begun once again."""

    @dataclass(frozen=True, kw_only=True)
    class SlowOnce(Mondrian):  # inside a function: workers cannot import this file
        notes: str

        def __call__(self, points: Points, admits: Admits) -> Partition:
            from pyspark import TaskContext

            task = TaskContext.get()
            assert task is not None
            part, folder = task.partitionId(), Path(self.notes)
            attempt = folder / f"{part}.{task.taskAttemptId()}"
            attempt.write_text(f"{part} {os.getsid(0)}", encoding="utf-8")
            with contextlib.suppress(FileExistsError):  # another part was the first
                os.link(attempt, folder / "stopped")
                until = time.monotonic() + 60
                while time.monotonic() < until and list(folder.glob(f"{part}.*")) == [attempt]:
                    time.sleep(0.02)
            return super().__call__(points, admits)

    notes.mkdir()
    return SlowOnce(notes=str(notes))


def stopped_at(notes: Path) -> tuple[str, int]:
    """Wait until a part stops; give its number and that of its worker."""
    until = time.monotonic() + 120
    while not (notes / "stopped").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    part, worker = (notes / "stopped").read_text(encoding="utf-8").split()
    return part, int(worker)


@pytest.mark.parametrize("dies", [False, True])
def test_parts_that_are_finished_twice_are_written_once(
    patients: pl.DataFrame, spark_cluster: Cluster, spark_session: Any, tmp_path: Path, *, dies: bool
) -> None:
    """A task that is slow, or whose worker dies while parts are finished and written."""
    notes, folder = tmp_path / "notes", tmp_path / "parts"
    frame, quasi = placed(patients, spark_session)
    task = Task(quasi, ((KAnonymity(4), None),), slow_once(notes))
    made = Spark(session=spark_session, part=400).partition(frame, task)
    assert not list(notes.iterdir())  # so far the table was only cut

    def power_cut() -> None:
        spark_cluster.kill_worker(stopped_at(notes)[1])
        spark_cluster.add_worker()

    before = spark_cluster.added
    thread = threading.Thread(target=power_cut if dies else lambda: None, daemon=True)
    thread.start()
    made.frame.write.parquet(str(folder))
    thread.join(60)
    assert spark_cluster.added == before + dies
    part, _ = stopped_at(notes)
    assert len({attempt.read_text(encoding="utf-8") for attempt in notes.glob(f"{part}.*")}) >= 2  # workers
    assert {file.name.split("-")[0].lstrip(".") for file in folder.iterdir()} == {
        "part",
        "_SUCCESS",
        "_SUCCESS.crc",
    }
    found = pl.read_parquet(folder / "*.parquet").sort("row")
    assert found["row"].to_list() == patients["row"].to_list()  # no row is lost, none doubled
    points = on_one_machine(patients, quasi)
    admits = Admission(((KAnonymity(4), None),), rows=patients.height)
    local = within_patterns(Mondrian(), points, points < 0, admits)
    assert same_classes(found[CLASS].to_numpy(), local.labels)
