from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.dp import Ledger, Unit
from mahrem.dp._sources import opened
from mahrem.dp._tally import Category, Edges, EvenGrid, TallyPlan, Term
from mahrem.dp.queries import (
    QUERIES,
    Answer,
    Bounds,
    Condition,
    Count,
    Histogram,
    Mean,
    Median,
    QuantileRange,
    Quantiles,
    Query,
    QuerySettings,
    SmoothMedian,
    Sum,
    Variance,
    answer_query,
    parse_query,
    preview_query,
)
from mahrem.dp.queries._noisy_rows import noisy_rows
from mahrem.dp.queries._planning import plan_query
from mahrem.errors import ColumnNotFound, InvalidParameter
from mahrem.table import Reading
from mahrem.words import LANGUAGES, load_catalogue

ROWS = 3000
COLUMNS: dict[str, Any] = {
    "cost": {"lower": 0, "upper": 1000},
    "age": {"lower": 0, "upper": 100, "missing": 40},
    "sex": {"categories": ["f", "m"]},
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "id": rng.integers(0, 900, ROWS),
            "cost": np.clip(rng.normal(400, 120, ROWS), 0, 1000),
            "age": rng.integers(18, 90, ROWS),
            "sex": rng.choice(["f", "m", "x"], ROWS),
        }
    )


def generous(**said: Any) -> Ledger:
    with pytest.warns(mh.PrivacyWarning, match="next to nothing"):
        return Ledger.temporary(**{"epsilon": 1e6, "columns": COLUMNS, **said})


TRUTHS: dict[str, pl.Expr] = {
    "count()": pl.len(),
    "count() where sex = 'f'": (pl.col("sex") == "f").sum(),
    "count() where age >= 50 and sex in ('f', 'm')": (
        (pl.col("age") >= 50) & pl.col("sex").is_in(["f", "m"])
    ).sum(),
    "sum(cost)": pl.col("cost").sum(),
    "mean(cost)": pl.col("cost").mean(),
    "mean(age)": pl.col("age").mean(),
    "variance(cost)": pl.col("cost").var(ddof=0),
}


@pytest.mark.parametrize("question", TRUTHS)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_answers_lie_within_their_error_bars(people: pl.DataFrame, question: str, delta: float) -> None:
    # 140 answers, each outside once in 1e9: a false alarm comes once in 7 million runs
    truth = float(people.select(TRUTHS[question]).item())
    for _ in range(10):
        ledger = generous(delta=delta)
        answer = answer_query(people, question, ledger=ledger, epsilon=0.5, delta=delta, confidence=1 - 1e-9)
        (row,) = answer.rows
        assert abs(row["value"] - truth) <= row["error"]


def test_error_bars_are_not_wider_than_needed(people: pl.DataFrame) -> None:
    # of 400 answers at 80 %, fewer than 60 % or more than 95 % inside comes less than once in 1e9 runs
    ledger = generous()
    inside = []
    for _ in range(400):
        answer = answer_query(people, "sum(cost)", ledger=ledger, epsilon=1.0, confidence=0.8)
        (row,) = answer.rows
        inside.append(abs(row["value"] - people["cost"].sum()) <= row["error"])
    assert 0.6 < np.mean(inside) < 0.95


@pytest.mark.parametrize("question", ["median(cost)", "quantile(cost, 0.1)", "quantile(cost, 0.99)"])
def test_quantiles_are_as_many_ranks_off_as_they_say(people: pl.DataFrame, question: str) -> None:
    ledger = generous()
    level = 0.5 if "median" in question else float(question.split()[1][:-1])
    for _ in range(20):
        answer = answer_query(people, question, ledger=ledger, epsilon=1.0, confidence=1 - 1e-6)
        (row,) = answer.rows
        off = abs((people["cost"] < row["value"]).sum() - level * ROWS)
        step = (people["cost"] - row["value"]).abs().le(1000 / 4096).sum()  # within one step of the grid
        assert off <= row["error_rows"] + step


def test_groups_are_the_declared_ones_whatever_the_data_holds(people: pl.DataFrame) -> None:
    ledger = generous()
    answer = answer_query(people.filter(pl.col("sex") != "m"), "count() by sex", ledger=ledger, epsilon=1.0)
    assert [row["sex"] for row in answer.rows] == ["f", "m"]
    assert abs(answer.rows[1]["value"]) < 40
    empty = answer_query(people.clear(), "mean(cost) by sex", ledger=ledger, epsilon=1.0, confidence=1 - 1e-9)
    assert all(math.isfinite(row["value"]) and row["error"] == 1000 for row in empty.rows)


def test_quantiles_never_cross_and_a_range_says_what_it_is(people: pl.DataFrame) -> None:
    ledger = generous()
    levels = tuple(np.linspace(0.1, 0.9, 9).round(1))
    answer = answer_query(people[:20], Quantiles("cost", levels), ledger=ledger, epsilon=0.1)
    values = [row["value"] for row in answer.rows]
    assert values == sorted(values)
    ranged = answer_query(people, "range(cost)", ledger=ledger, epsilon=5.0)
    assert ranged.rows[0]["high"] - ranged.rows[0]["low"] == ranged.value
    assert "quantile range" in ranged.notes[0]


def test_bounds_are_found_paid_for_and_used(people: pl.DataFrame) -> None:
    ledger = Ledger.temporary(epsilon=1.0)
    with pytest.raises(InvalidParameter, match="no public bounds"):
        answer_query(people, "mean(cost)", ledger=ledger, epsilon=0.1)
    found = answer_query(people, "bounds(cost)", ledger=ledger, epsilon=0.5)
    lower, upper = ledger.facts.bounds("cost")
    assert lower <= people["cost"].quantile(0.02)  # type: ignore[operator]
    assert people["cost"].quantile(0.98) <= upper <= 2048  # type: ignore[operator]
    assert ledger.spent().epsilon == pytest.approx(0.5)
    assert found.rows[0]["lower"] == lower
    answer_query(people, "mean(cost)", ledger=ledger, epsilon=0.5)
    with pytest.raises(mh.MahremError, match="does not fit"):
        answer_query(people, "count()", ledger=ledger, epsilon=0.1)


def test_bounds_are_never_made_of_noise_alone() -> None:
    plan = plan_query(parse_query("bounds(cost)"), Ledger.temporary(epsilon=1.0), QuerySettings(epsilon=0.5))
    (key,) = plan.tally.keys
    totals = np.zeros((key.size, 1), np.int64)
    totals[key.size // 2] = 1000
    widths = [row["value"] for _ in range(600) for row in noisy_rows(plan, totals)]
    # Once in 25 questions a cell was all noise. Now two in 600 are so once in 1e7 runs.
    assert sum(width > min(widths) for width in widths) < 2


def test_bounds_nobody_can_see_are_not_declared(people: pl.DataFrame) -> None:
    ledger = Ledger.temporary(epsilon=1.0)
    answer = answer_query(people[:2], "bounds(cost)", ledger=ledger, epsilon=0.1)
    assert answer.rows[0]["lower"] is None
    assert "cost" not in ledger.facts.columns
    assert ledger.spent().epsilon == pytest.approx(0.1)


def test_a_public_number_of_rows_makes_means_cheaper(people: pl.DataFrame) -> None:
    private, public = generous(), generous(rows=ROWS)
    errors = [
        answer_query(people, "mean(age)", ledger=ledger, epsilon=0.5).rows[0]["error"]
        for ledger in (private, public)
    ]
    assert errors[1] < errors[0]
    skipped = answer_query(people, "mean(cost)", ledger=public, epsilon=0.5)
    assert not skipped.notes  # a missing cost is left out, so the number of rows would be the wrong divisor


def test_rows_of_one_person_beyond_the_cap_are_left_out() -> None:
    table = pl.DataFrame({"who": [1] * 1000 + [2, 3, None, None], "x": [1.0] * 1004})
    with pytest.warns(mh.PrivacyWarning):
        ledger = Ledger.temporary(epsilon=1e6, subject="who", rows_per_person=2)
    answer = answer_query(table, "count()", ledger=ledger, epsilon=200.0)
    assert answer.value == 4
    assert "at most 2 rows" in answer.notes[0]


def test_the_plan_foretells_the_error_without_spending(people: pl.DataFrame) -> None:
    ledger = Ledger.temporary(epsilon=1.0, columns=COLUMNS, rows=ROWS)
    for question in ("count()", "sum(cost)", "count() by sex", "median(cost)", "mean(age)"):
        plan = preview_query(question, ledger=ledger, epsilon=0.1)
        assert not plan.spent
        assert plan.fits
        answer = answer_query(people, question, ledger=ledger, epsilon=0.1)
        key = "error_rows" if question == "median(cost)" else "error"
        assert plan.rows[0][key] == answer.rows[0][key]
    assert not preview_query("count()", ledger=ledger, epsilon=0.9).fits


@pytest.mark.parametrize("question", ["mean(cost)", "variance(cost)", "mean(cost) by sex"])
def test_where_the_size_is_private_the_plan_foretells_errors_for_several(
    people: pl.DataFrame, question: str
) -> None:
    plan = preview_query(question, ledger=generous(), epsilon=0.5)
    sizes, errors = zip(*((row["if rows"], row["error"]) for row in plan.rows), strict=True)
    assert list(errors) == sorted(errors, reverse=True)
    # for 30 of 30 answers the noisy count lies within its error: fails less than once in 1e7 runs
    plan = preview_query(question, ledger=generous(), epsilon=0.5, confidence=1 - 1e-9)
    foretold = {row["if rows"]: row["error"] for row in plan.rows}[1000]
    thousand = pl.concat([people.filter(pl.col("sex") == sex)[:1000] for sex in ("f", "m")])
    if "by" not in question:
        thousand = thousand[:1000]
    for _ in range(10):
        answer = answer_query(thousand, question, ledger=generous(), epsilon=0.5, confidence=1 - 1e-9)
        assert all(row["error"] <= foretold for row in answer.rows)
    assert sizes == (100, 1_000, 10_000, 100_000)


@pytest.mark.parametrize(
    ("question", "said", "reason"),
    [
        ("count()", {"epsilon": 0}, "epsilon"),
        ("count()", {"epsilon": -1}, "epsilon"),
        ("count()", {"delta": 1.0}, "delta"),
        ("count()", {"delta": -0.1}, "delta"),
        ("count()", {"mechanism": "gaussian"}, "delta"),
        ("count()", {"mechanism": "laplace", "delta": 1e-6}, "laplace"),
        ("count()", {"mechanism": "uniform"}, "mechanism"),
        ("count()", {"confidence": 1.0}, "confidence"),
        ("median(cost)", {"delta": 1e-6}, "pure"),
        ("smooth_median(age)", {}, "delta"),
        ("smooth_median(age)", {"delta": 1e-6}, "replace"),
        ("mean(id)", {}, "no public bounds"),
        ("count() by id", {}, "no declared values"),
        ("count() where sex = 'z'", {}, "declared"),
        ("histogram(sex, 3)", {}, "no public bounds"),
        ("mean(costs)", {}, "did you mean 'cost'"),
        ("count() by sx", {}, "did you mean 'sex'"),
        ("count()", {"delta": 1e-300}, "as good as 0"),
    ],
)
def test_bad_questions_are_refused_and_cost_nothing(
    people: pl.DataFrame, question: str, said: dict[str, Any], reason: str
) -> None:
    ledger = Ledger.temporary(epsilon=10.0, delta=1e-5, columns=COLUMNS)
    with pytest.raises(InvalidParameter, match=reason):
        answer_query(people, question, ledger=ledger, **{"epsilon": 0.5, **said})
    assert ledger.spent().epsilon == 0


def test_columns_that_are_not_there_cost_nothing(people: pl.DataFrame) -> None:
    ledger = Ledger.temporary(epsilon=1.0, columns={"gone": {"lower": 0, "upper": 1}})
    with pytest.raises(ColumnNotFound):
        answer_query(people, "sum(gone)", ledger=ledger, epsilon=0.5)
    assert ledger.spent().epsilon == 0


def test_a_column_of_days_is_asked_as_one_of_text_is_and_has_no_numbers(people: pl.DataFrame) -> None:
    """Whether a frame has days or texts may hang on one record, so neither is refused."""
    dated = people.with_columns(day=pl.date(2020, 1, 1))
    told = people.with_columns(day=pl.lit("2020-01-01"))
    for text, rows in (("count() where day > 3", 0), ("count() where day = '2020-01-01'", people.height)):
        for table in (dated, told):
            ledger = Ledger.temporary(epsilon=9.0)
            # Noise of that size is beyond 4 less than once in 1e15 answers.
            assert answer_query(table, text, ledger=ledger, epsilon=9).value == pytest.approx(rows, abs=4)


@pytest.mark.parametrize("value", [(), (1.0, math.inf), math.nan, "a\0"])
def test_conditions_no_database_could_take_are_refused_before_anything_is_paid(value: Any) -> None:
    with pytest.raises(InvalidParameter):
        Condition("age", "in" if isinstance(value, tuple) else "=", value)


def test_a_list_of_a_database_is_no_number(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "l.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT [1, 2] AS l")
    ledger = Ledger.temporary(epsilon=1.0, columns={"l": {"lower": 0, "upper": 1}})
    with pytest.raises(InvalidParameter, match="no numbers"):
        answer_query(tmp_path / "l.duckdb", "sum(l)", ledger=ledger, epsilon=0.5)
    assert ledger.spent().epsilon == 0


def test_a_table_made_later_in_the_same_database_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "grows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x")
    ledger = generous(columns={})
    assert answer_query(path, "count()", ledger=ledger, epsilon=50).value == 1
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE b AS SELECT 2 AS x")
    with pytest.raises(mh.MahremError, match="table"):
        answer_query(path, "count()", ledger=ledger, epsilon=50)


def test_a_plan_looks_at_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahrem.dp.queries._answer.opened", lambda *_: pytest.fail("the data was looked at"))
    ledger = Ledger.temporary(epsilon=1.0, columns=COLUMNS)
    assert mh.query("nowhere.parquet", "mean(cost) by sex", ledger=ledger, epsilon=0.1, plan=True).fits


def test_found_bounds_keep_what_else_is_known(people: pl.DataFrame) -> None:
    ledger = Ledger.temporary(epsilon=9.0, columns={"age": {"lower": 0, "upper": 9, "missing": 8}})
    answer_query(people, "bounds(age)", ledger=ledger, epsilon=5.0)
    known = ledger.facts.columns["age"]
    assert (known.origin, known.upper) == ("found", 128)
    assert known.missing is None or known.lower <= known.missing  # type: ignore[operator]


def test_an_answer_is_plain_data(people: pl.DataFrame) -> None:
    import json

    answer = answer_query(people, "mean(cost) by sex", ledger=generous(), epsilon=0.5)
    assert isinstance(answer, Answer)
    said = json.loads(json.dumps(answer.as_dict()))
    assert said["rows"][0]["sex"] == "f"
    assert said["unit"] == {"kind": "row", "subject": None, "rows_per_person": 1}


# ---- the same sums from every engine ----

cost = {"column": "cost", "lower": -10.0, "upper": 55.5}
TALLIES = [
    TallyPlan(terms=(Term("rows"),)),
    TallyPlan(terms=(Term("rows"), Term("present", **cost), Term("value", **cost), Term("centred", **cost))),
    TallyPlan(terms=(Term("square", **cost), Term("value", missing=3.25, **cost))),
    TallyPlan(terms=(Term("rows"), Term("value", **cost)), keys=(Category("sex", ("f", "m", "never")),)),
    TallyPlan(
        terms=(Term("rows"),),
        keys=(Category("sex", ("m", "f")), EvenGrid("cost", -10.0, 55.5, 64, None, nearest=True)),
    ),
    TallyPlan(terms=(Term("rows"),), keys=(EvenGrid("cost", 0.0, 50.0, 10, 25.0, nearest=False),)),
    TallyPlan(terms=(Term("rows"),), keys=(Edges("cost", (-4.0, 0.0, 4.0, 50.0)),)),
    TallyPlan(
        terms=(Term("rows"),), where=(Condition("age", ">=", 40.0), Condition("sex", "in", ("f", "x")))
    ),
    TallyPlan(
        terms=(Term("rows"),), where=(Condition("sex", "!=", "f"), Condition("age", "in", (20.0, 30.0)))
    ),
    TallyPlan(
        terms=(Term("rows"),), where=(Condition("sex", "<", "m"),), keys=(Category("age", ("20", "30")),)
    ),  # the order of words is that of their one spelling, which databases do not know
    TallyPlan(terms=(Term("rows"),), unit=Unit(subject="id", rows=1)),
]


def orders_words(tally: TallyPlan) -> bool:
    return any(condition.operator == "<" and not condition.numeric for condition in tally.where)


def awkward() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    values = rng.normal(20, 30, 400).round(3)
    values[:6] = [math.inf, -math.inf, math.nan, 1e308, 5e-324, -0.0]
    costs = pl.Series("cost", values).set(pl.Series([i in {7, 9} for i in range(400)]), None)
    return pl.DataFrame(
        [
            costs,
            pl.Series("sex", rng.choice(["f", "m", "x'y", ""], 400)),
            pl.Series("age", rng.integers(18, 40, 400)),
            pl.Series("id", rng.integers(0, 60, 400)),
        ]
    )


def totals(source: object, tally: TallyPlan) -> Any:
    with opened(source, Reading()) as data:
        data.refuse(tally)
        return data.tally(tally), data.pushes(tally)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder, table = tmp_path_factory.mktemp("stored"), awkward()
    table.write_parquet(folder / "t.parquet")
    table.write_csv(folder / "t.csv")
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("given", table.to_arrow())
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return {
        "pandas": table.to_pandas(),
        "arrow": table.to_arrow(),
        "lazy": table.lazy(),
        "parquet": folder / "t.parquet",
        "csv": folder / "t.csv",
        "duckdb": folder / "t.duckdb",
    }


@pytest.mark.parametrize("tally", TALLIES, ids=range(len(TALLIES)))
@pytest.mark.parametrize("kind", ["pandas", "arrow", "lazy", "parquet", "csv", "duckdb"])
def test_every_engine_adds_up_the_same(stored: dict[str, object], tally: TallyPlan, kind: str) -> None:
    wanted, _ = totals(awkward(), tally)
    found, pushed = totals(stored[kind], tally)
    assert np.abs(found - wanted).max() <= 1  # a half may be rounded either way
    assert pushed == (kind == "duckdb" and not orders_words(tally))


@pytest.mark.postgres
def test_postgresql_adds_up_the_same_by_itself(postgres: str) -> None:
    from adbc_driver_postgresql import dbapi

    table = awkward()
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("tallied", table.to_arrow(), mode="replace")
        cursor.execute("ALTER TABLE tallied ADD COLUMN exact numeric, ADD COLUMN words text")
        cursor.execute("UPDATE tallied SET exact = 'NaN', words = 'no number'")
        connection.commit()
    how = Reading(table="tallied")
    for tally in TALLIES:
        with opened(postgres, how) as data:
            assert data.pushes(tally) != orders_words(tally)
            found = data.tally(tally)
        wanted, _ = totals(table, tally)
        assert np.abs(found - wanted).max() <= 1
    for column, pushed in (("exact", True), ("words", False)):
        tally = TallyPlan(terms=(Term("present", column, 0.0, 1.0),))
        with opened(postgres, how) as data:
            assert data.pushes(tally) == pushed
            assert data.tally(tally).tolist() == [0]  # never fails on a cell


def test_the_database_caps_the_rows_of_a_person_as_well(stored: dict[str, object]) -> None:
    tally = TallyPlan(
        terms=(Term("rows"),), keys=(Category("sex", ("f", "m")),), unit=Unit(subject="id", rows=2)
    )
    found, pushed = totals(stored["duckdb"], tally)
    assert pushed
    counts = awkward().filter(pl.col("sex") != "").group_by("id").len()["len"].clip(0, 2)
    assert 0 < found.sum() <= int(counts.sum())


@pytest.mark.parametrize("kind", ["frame", "duckdb", "postgres"])
def test_people_with_the_same_rows_do_not_all_give_the_same_one(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # Each of 2,000 people was in both wards, and one row of each counts: about half of them in either.
    people = np.arange(2000)
    table = pl.DataFrame({"who": np.tile(people, 2), "ward": np.repeat(["a", "b"], len(people))})
    source, reading = given_as(kind, table, tmp_path, request)
    tally = TallyPlan(
        terms=(Term("rows"),), keys=(Category("ward", ("a", "b")),), unit=Unit(subject="who", rows=1)
    )
    with opened(source, reading) as data:
        counts = data.tally(tally).ravel()
    assert counts.sum() == len(people)
    assert counts.min() > 0.42 * len(people)  # fixed hashes: no chance is involved


def given_as(
    kind: str, table: pl.DataFrame, folder: Path, request: pytest.FixtureRequest
) -> tuple[object, Reading]:
    if kind == "frame":
        return table, Reading()
    if kind == "duckdb":
        with duckdb.connect(str(folder / "people.duckdb")) as connection:
            connection.register("given", table.to_arrow())
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
        return folder / "people.duckdb", Reading()
    from adbc_driver_postgresql import dbapi

    server: str = request.getfixturevalue("postgres")
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("lopsided", table.to_arrow(), mode="replace")
        connection.commit()
    return server, Reading(table="lopsided")


def test_a_duckdb_file_is_asked_end_to_end(stored: dict[str, Any], tmp_path: Path) -> None:
    facts = {"cost": {"lower": 0, "upper": 50}, "sex": {"categories": ["f", "m"]}}
    ledger = Ledger.create(tmp_path / "L", stored["duckdb"], epsilon=20, columns=facts)
    answer = mh.query(stored["duckdb"], "count() by sex", ledger=tmp_path / "L", epsilon=10.0)
    truth = awkward()["sex"].value_counts()
    for row in answer.rows:
        assert abs(row["value"] - truth.filter(pl.col("sex") == row["sex"])["count"].item()) < 10
    assert ledger.spent().epsilon == 10


# ---- the grammar ----

names = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
figures = st.floats(allow_nan=False, allow_infinity=False, width=32)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]))
conditions = st.one_of(
    st.builds(Condition, names, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), figures | texts),
    st.builds(Condition, names, st.just("in"), st.lists(figures, min_size=1, max_size=3).map(tuple)),
    st.builds(Condition, names, st.just("in"), st.lists(texts, min_size=1, max_size=3).map(tuple)),
)
rest = {
    "by": st.lists(names, max_size=2, unique=True).map(tuple),
    "where": st.lists(conditions, max_size=2).map(tuple),
}
levels = st.lists(st.floats(0, 1), min_size=1, max_size=3, unique=True).map(
    lambda found: tuple(sorted(found))
)
queries = st.one_of(
    st.builds(Count, **rest),
    *(st.builds(kind, names, **rest) for kind in (Sum, Mean, Variance, Median)),
    st.builds(Quantiles, names, levels, **rest),
    st.builds(QuantileRange, names, st.floats(0, 0.4), st.floats(0.5, 1), **rest),
    st.builds(Histogram, names, st.none() | st.integers(1, 99), **rest),
    st.builds(Bounds, names),
    st.builds(SmoothMedian, names),
)


@given(query=queries)
@settings(max_examples=150, deadline=None)
def test_a_question_written_down_is_read_back(query: Query) -> None:
    assert parse_query(str(query)) == query


@pytest.mark.parametrize(
    ("text", "marked", "reason"),
    [
        ("meen(cost) by sex", "meen", "did you mean mean"),
        ("mean cost", "cost", r"'\(' is expected"),
        ("mean(cost", "", r"'\)' is expected"),
        ("mean(cost) by", "", "a column is expected"),
        ("mean(cost) by sex by sex", "by", "by cannot stand here"),
        ("mean(cost) sex", "sex", "nothing may follow"),
        ("mean()", ")", "a column is expected"),
        ("count(x)", "x", r"'\)' is expected"),
        ("count() where sex = f", "f", "single quotes"),
        ("count() where sex like 'f'", "like", "a comparison is expected"),
        ("count() where age in (1, 'a')", ")", "not both"),
        ("quantile(cost)", ")", "takes 1 to 100 numbers"),
        ("quantile(cost, 2)", "quantile", "between 0 and 1"),
        ("histogram(x, 2.5)", "histogram", "whole number"),
        ("bounds(x) by sex", "by", "cannot stand here"),
        ("mean(cost) ; drop", ";", "cannot be read"),
        ("count() where age > 1e999", "1e999", "finite"),
        ("count() where sex = 'a\0b'", "'a\0b'", "NUL"),
        ("count() where age in (1, 1e999)", ")", "finite"),
        ("", "", "a function"),
    ],
)
def test_errors_point_at_the_place(text: str, marked: str, reason: str) -> None:
    with pytest.raises(InvalidParameter, match=reason) as caught:
        parse_query(text)
    _, line, marks = str(caught.value).split("\n")
    start = marks.index("^")
    assert line[start : marks.rindex("^") + 1] == marked


def test_both_orders_of_by_and_where_mean_the_same() -> None:
    one, two = parse_query("mean(x) by g where y > 1"), parse_query("MEAN(x) WHERE y > 1 BY g")
    assert one == two
    assert list(itertools.chain(one.by, two.by)) == ["g", "g"]


@pytest.mark.parametrize("name", QUERIES)
def test_every_question_is_read_planned_and_explained_from_its_entry(name: str) -> None:
    entry = QUERIES[name]
    asked = parse_query(entry.form.replace("x", "age"))
    assert type(asked) is entry.load()
    assert asked.name == name
    assert parse_query(str(asked)) == asked
    ledger = Ledger.temporary(epsilon=1, delta=1e-6, relation="replace", columns=COLUMNS)
    delta = 1e-7 if asked.noise == "smooth" else 0.0
    assert plan_query(asked, ledger, QuerySettings(epsilon=0.5, delta=delta)).query == asked
    for other in entry.other_names:
        assert parse_query(f"{other}({entry.example})") == parse_query(entry.form)
    explained = {bool(load_catalogue(language)["query"].get(name)) for language in LANGUAGES}
    assert len(explained) == 1  # in all languages, or shown by its name in all
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "queries.md").read_text(encoding="utf-8")
    assert f"`{name}(" in guide
