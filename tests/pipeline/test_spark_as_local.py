"""What a cluster publishes and finds is what one machine publishes and finds, in the corners too."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidInput
from mahrem.table import Hierarchy

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_at_a_time")]

ROWS = 60


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"age": rng.integers(20, 60, ROWS), "ill": rng.choice(["a", "b", "c"], ROWS)})


def shown(table: Any) -> pl.DataFrame:
    frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table.toArrow())
    text = frame.select(pl.all().cast(pl.String))
    return text.sort(text.columns, nulls_last=True)


def on_both(session: Any, table: pl.DataFrame, **said: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    there = mh.anonymize(session.createDataFrame(table.to_arrow()), **said)
    return shown(there.table), shown(mh.anonymize(table, html=False, **said).table)


@pytest.mark.parametrize("method", ["mondrian", "u-mondrian"])
def test_names_may_hold_dots(spark_session: Any, people: pl.DataFrame, method: str) -> None:
    table = people.rename({"ill": "ill.now"}).with_columns(
        pl.Series("n.m", range(ROWS)), pl.Series("full.name", [f"name {row}" for row in range(ROWS)])
    )
    said: dict[str, Any] = {"sensitive": {"ill.now": {"l": 2}}, "insensitive": ["n.m"], "k": 4}
    said["accept"] = {"n.m": "made up, to follow rows"}
    frame = spark_session.createDataFrame(table.to_arrow())
    options = {"rounds": 1} if method == "u-mondrian" else {}
    made = mh.anonymize(
        frame, quasi=["age"], identifier=["full.name"], method=method, options=options, **said
    )
    found = shown(made.table)
    assert found.columns == ["age", "ill.now", "n.m"]
    assert sorted(map(int, found["n.m"])) == list(range(ROWS))
    together = dict(zip(found["n.m"], found["ill.now"], strict=True))
    assert together == {str(row): ill for row, ill in enumerate(table["ill.now"])}


def test_tokens_for_missing_values_count_among_numbers(spark_session: Any, people: pl.DataFrame) -> None:
    table = people.with_columns(age=pl.when(pl.int_range(pl.len()) % 6 == 0).then(999).otherwise("age"))
    there, here = on_both(
        spark_session,
        table,
        quasi=["age"],
        rest="insensitive",
        accept={"*": "rows are told apart"},
        k=4,
        null=["999"],
    )
    assert there.equals(here)
    assert there["age"].null_count() == ROWS // 6


def test_any_missing_value_drops_its_row(spark_session: Any, people: pl.DataFrame) -> None:
    notes = ["?"] * 5 + [""] * 5 + ["fine"] * (ROWS - 10)
    table = people.with_columns(pl.Series("note", notes))
    said: dict[str, Any] = {
        "quasi": ["age"],
        "rest": "insensitive",
        "accept": {"*": "rows are told apart"},
        "k": 4,
        "null": ["?"],
    }
    there, here = on_both(spark_session, table, missing="drop-any", **said)
    assert there.height == ROWS - 10
    assert there.equals(here)


def test_sensitive_values_are_published_as_they_came(spark_session: Any, people: pl.DataFrame) -> None:
    """Some may be one value or none: promises hold in every reading, here as there."""
    odd = pl.Series("ill", ["?", "", "a", "b", "\u00e1", "unknown"] * (ROWS // 6))
    ill = {"l": 2, "t": 0.6}
    said: dict[str, Any] = {"quasi": ["age"], "sensitive": {"ill": ill}, "k": 4, "null": ["?"]}
    there, here = on_both(spark_session, people.with_columns(odd), **said)
    assert there.equals(here)
    assert {"?", "", "\u00e1", "unknown"} <= set(there["ill"])
    for _, rows in there.group_by("age"):
        assert {"a" if value == "\u00e1" else value for value in rows["ill"]} >= {"a", "b"}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_suppressed_rows_show_nothing_in_columns_of_numbers(
    spark_session: Any, people: pl.DataFrame, tmp_path: Path, form: Any
) -> None:
    gone = pl.when(pl.int_range(pl.len()) >= 3).then("age").alias("age")
    table = people.with_columns(gone, cost=pl.int_range(ROWS))
    frame = spark_session.createDataFrame(table.to_arrow())
    said: dict[str, Any] = {
        "quasi": ["age"],
        "rest": "insensitive",
        "accept": {"*": "rows are told apart"},
        "k": 4,
        "missing": "suppress",
    }
    mh.anonymize(frame, output=tmp_path / "there", format=form, **said)
    mh.anonymize(table, output=tmp_path / "here", format=form, html=False, **said)
    read = pl.read_parquet if form == "parquet" else pl.read_csv
    there, here = (
        shown(
            read(
                tmp_path / name / f"data.{form}" / "part-*"
                if name == "there"
                else tmp_path / name / f"data.{form}"
            )
        )
        for name in ("there", "here")
    )
    assert there.equals(here)
    assert (there["age"] == "*").sum() == 3
    for engine in ("local", "spark") if form == "parquet" else ("spark",):
        assert mh.audit(tmp_path / "there", engine=engine).holds


@pytest.mark.parametrize("meant", [False, True])
def test_a_missing_number_hides_a_row_only_where_it_was_meant_to(
    spark_session: Any,
    tmp_path: Path,
    meant: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert spark_session is not None
    if meant:
        table = pl.DataFrame({"age": [None, *range(30, 42)], "cost": [5, *[7, 8] * 6]})
        said: dict[str, Any] = {"quasi": ["age"], "sensitive": {"cost": {"l": 2}}, "k": 4}
        source: Path = tmp_path / "pairs"
        mh.anonymize(
            table, output=source, format="parquet", cells="pairs", missing="suppress", html=False, **said
        )
        found = [mh.audit(source, engine=engine) for engine in ("local", "spark")]
    else:
        source = tmp_path / "t.parquet"
        pl.DataFrame({"age": [None, 30, 30, 30, 30], "ill": ["*", "a", "b", "a", "b"]}).write_parquet(source)
        said = {"quasi": ["age"], "sensitive": {"ill": {"l": 1}}, "k": 4}
        found = [mh.audit(source, engine=engine, **said) for engine in ("local", "spark")]
    assert [one.holds for one in found] == [meant, meant]
    assert found[0].report["rows"] == found[1].report["rows"]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Istanbul"])
def test_moments_in_text_keep_their_microseconds_in_any_zone(
    spark_session: Any, people: pl.DataFrame, tmp_path: Path, zone: str
) -> None:
    start = dt.datetime(2020, 3, 29, 0, 30, 0, 123456, dt.UTC)
    moments = pl.Series("at", [start + dt.timedelta(microseconds=row % 4) for row in range(ROWS)])
    kept = spark_session.conf.get("spark.sql.session.timeZone")
    spark_session.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = spark_session.createDataFrame(people.with_columns(moments, seen=moments).to_arrow())
        frame = frame.selectExpr("age", "at", "seen", "cast(seen as timestamp_ntz) wall")
        said: dict[str, Any] = {
            "quasi": ["age"],
            "sensitive": {"at": {"l": 4}},
            "insensitive": ["seen", "wall"],
            "accept": {"*": "rows are told apart"},
        }
        made = mh.anonymize(frame, output=tmp_path / "out", k=20, **said)
    finally:
        spark_session.conf.set("spark.sql.session.timeZone", kept)
    found = made.table.collect()
    assert set(found["at"]) == {f"2020-03-29T00:30:00.12345{last}Z" for last in (6, 7, 8, 9)}
    assert found["seen"].equals(found["at"], check_names=False)
    wall = "00:30" if zone == "UTC" else "03:30"
    assert set(found["wall"]) == {f"2020-03-29T{wall}:00.12345{last}" for last in (6, 7, 8, 9)}


def test_moments_too_far_to_be_kept_apart_are_refused(spark_session: Any, people: pl.DataFrame) -> None:
    far = dt.datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 - a clock on a wall
    table = people.with_columns(at=pl.lit(far))
    for cast in ("timestamp_ntz", "timestamp"):
        frame = spark_session.createDataFrame(table.to_arrow()).selectExpr(f"cast(at as {cast}) at")
        with pytest.raises(InvalidInput, match="too far from 1970"):
            mh.anonymize(frame, quasi=["at"], k=4)


def test_text_under_a_collation_is_disarmed(spark_session: Any, people: pl.DataFrame, tmp_path: Path) -> None:
    frame = spark_session.createDataFrame(people.to_arrow())
    frame = frame.selectExpr("age", "'=cmd()' COLLATE UTF8_LCASE AS note")
    made = mh.anonymize(
        frame,
        quasi=["age"],
        rest="insensitive",
        accept={"*": "rows are told apart"},
        k=4,
        output=tmp_path / "out",
    )
    assert set(made.table.collect()["note"]) == {"'=cmd()"}


def test_a_hierarchy_of_one_column_is_no_hindrance_to_long_numbers_in_another(
    spark_session: Any, people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mahrem.spark._encode.MOST_VALUES", 10)
    table = people.with_columns(number=pl.int_range(ROWS).cast(pl.String))
    tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]])
    said: dict[str, Any] = {
        "quasi": ["number", "ill"],
        "hierarchy": {"ill": tree},
        "rest": "drop",
        "k": 4,
    }
    there, here = on_both(spark_session, table, **said)
    assert there.equals(here)


def test_there_is_one_zero(spark_session: Any) -> None:
    table = pl.DataFrame({"x": [-0.0] * 6 + [1.5] * 6})
    there, here = on_both(spark_session, table, quasi=["x"], k=4, bounds="exact")
    assert there.equals(here)


@pytest.mark.parametrize("method", ["u-canon", "u-mondrian", "canon"])
def test_work_that_is_done_again_comes_out_the_same(spark_session: Any, method: str) -> None:
    from contextlib import ExitStack

    from mahrem.release.decisions import Policy
    from mahrem.spark import Spark
    from mahrem.spark._prepare import prepare_on_spark

    rng = np.random.default_rng(3)
    table = pl.DataFrame({"a": rng.normal(size=900), "b": rng.normal(size=900), "who": range(900)})
    frame = spark_session.createDataFrame(table.to_arrow()).repartition(3)
    options = {"rounds": 2} if method.startswith("u-") else {}
    policy = Policy(
        quasi=("a", "b"),
        insensitive=("who",),
        accept={"*": "rows are told apart"},
        k=5,
        method=method,
        options=options,
    )
    with ExitStack() as cleanup:
        engine = Spark(session=spark_session, part=300)
        work = prepare_on_spark(engine, frame, policy, cleanup)
        made = engine.partition(work.encoded.frame, work.task)
        before = shown(made.frame.select("__class", "who"))
        made.let_go()  # as if the executors that held it were lost
        assert shown(made.frame.select("__class", "who")).equals(before)
    assert before["who"].n_unique() == 900


def test_identifiers_do_not_travel(spark_session: Any, people: pl.DataFrame) -> None:
    from contextlib import ExitStack

    from mahrem.release.decisions import Policy
    from mahrem.spark import Spark
    from mahrem.spark._prepare import prepare_on_spark

    table = people.with_columns(ssn=pl.int_range(ROWS).cast(pl.String))
    frame = spark_session.createDataFrame(table.to_arrow())
    policy = Policy(quasi=("age",), insensitive=("ill",), identifier=("ssn",), k=4, method="u-mondrian")
    with ExitStack() as cleanup:
        work = prepare_on_spark(Spark(session=spark_session), frame, policy, cleanup)
        assert sorted(work.encoded.frame.columns) == ["age", "ill"]


def test_files_do_not_tell_what_stars_hide(spark_session: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    zips = rng.integers(10_000, 99_999, 1200)
    table = pl.DataFrame({"zip": zips, "sex": rng.choice(["f", "m"], 1200), "was": zips})
    frame = spark_session.createDataFrame(table.to_arrow())
    from mahrem.spark import Spark

    smaller = Spark.target
    try:
        Spark.target = lambda *_: 300  # type: ignore[method-assign]
        mh.anonymize(
            frame,
            quasi=["zip", "sex"],
            insensitive=["was"],
            accept={"*": "rows are told apart"},
            suppress=["zip"],
            k=10,
            format="parquet",
            output=tmp_path / "out",
        )
    finally:
        Spark.target = smaller  # type: ignore[method-assign]
    parts = sorted((tmp_path / "out" / "data.parquet").glob("part-*"))
    was = pl.concat([pl.read_parquet(one) for one in parts])["was"].to_numpy()
    # Rows in the order of the tree's parts correlate with their places by 0.9; four deviations are 0.12.
    assert abs(np.corrcoef(np.arange(1200), was)[0, 1]) < 0.12


@pytest.mark.parametrize("told", [{}, {"order": {"city": ["c3", "c1", "c0", "c2"]}}], ids=["sets", "runs"])
def test_loss_is_the_same_where_values_are_missing(spark_session: Any, told: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    missing = rng.random((4, ROWS)) < 0.3
    values = {
        "age": rng.integers(20, 60, ROWS).tolist(),
        "weight": rng.normal(70, 9, ROWS).round(1).tolist(),
        "city": [f"c{one}" for one in rng.integers(0, 4, ROWS)],
        "zip": [f"{one:04d}" for one in rng.integers(0, 30, ROWS) * 7],
    }
    table = pl.DataFrame(
        {
            name: pl.Series([None if hole else one for one, hole in zip(column, holes, strict=True)])
            for (name, column), holes in zip(values.items(), missing.tolist(), strict=True)
        }
    )
    said: dict[str, Any] = {
        "quasi": list(values),
        "k": 3,
        "missing": "category",
        "kind": {"zip": "code"},
        **told,
    }
    there = mh.anonymize(spark_session.createDataFrame(table.to_arrow()), **said).report
    here = mh.anonymize(table, html=False, **said).report
    for figure in ("gcp", "gcp_sum", "iloss", "distortion"):
        assert there["utility"][figure] == pytest.approx(here["utility"][figure])
    for name in values:
        for figure in ("gcp", "iloss", "generalised_cells", "suppressed_cells"):
            assert there["columns"][name][figure] == pytest.approx(here["columns"][name][figure])
