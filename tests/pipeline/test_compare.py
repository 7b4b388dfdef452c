from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidParameter
from mahrem.partition import METHODS, QUADRATIC_ROWS, MethodEvidence, choose_method, suits_size
from mahrem.pipeline.comparing import _compare
from mahrem.words import Note

ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zip"], "sensitive": "diagnosis", "rest": "drop"}
LIFTING = {name for name, method in METHODS.items() if method.full_domain}
QUICK = ["mondrian"]


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return mh.demo_patients(400)


def test_a_row_says_what_anonymize_says(patients: pl.DataFrame) -> None:
    found = mh.compare(patients, methods=QUICK, ks=[5], l=2, **ROLES)
    (row,) = found.rows
    report = mh.anonymize(patients, k=5, l=2, **ROLES).report
    assert {key: row[key] for key in report["utility"]} == report["utility"]
    assert (row["highest_risk"], row["average_risk"]) == (
        report["risk"]["highest"],
        report["risk"]["average"],
    )
    assert row["holds"] is True
    assert row["seconds"] >= 0


def test_leak_stands_beside_loss(patients: pl.DataFrame) -> None:
    (row,) = mh.compare(patients, methods=QUICK, ks=[5], l=2, **ROLES).rows
    assert -0.2 < row["guess_gain"] < 1
    (bare,) = mh.compare(patients, methods=QUICK, ks=[5], quasi=["age"], rest="drop").rows
    assert bare["guess_gain"] is None


def test_risk_counts_people_where_k_does(patients: pl.DataFrame) -> None:
    (row,) = mh.compare(patients, methods=QUICK, ks=[5], subject="patient_id", **ROLES).rows
    report = mh.anonymize(patients, k=5, subject="patient_id", **ROLES).report
    assert (row["highest_risk"], row["average_risk"]) == (
        report["risk"]["highest"],
        report["risk"]["average"],
    )
    assert row["c_avg"] == report["utility"]["c_avg"]


def test_every_method_sweeps_and_holds_by_default(patients: pl.DataFrame) -> None:
    found = mh.compare(patients.head(150), ks=[3], **ROLES)
    assert {row["method"] for row in found.rows} == set(METHODS) - LIFTING
    assert all(row["holds"] and row["highest_risk"] <= 1 / 3 for row in found.rows)
    assert set(found.left_out) == LIFTING


def test_strategies_multiply_methods_that_cut(patients: pl.DataFrame) -> None:
    found = mh.compare(patients, methods=QUICK, ks=[2, 4], strategies=["strict", "relaxed"], **ROLES)
    assert [(row["strategy"], row["k"]) for row in found.rows] == [
        ("strict", 2),
        ("strict", 4),
        ("relaxed", 2),
        ("relaxed", 4),
    ]


def test_seeds_multiply_only_methods_that_draw(patients: pl.DataFrame) -> None:
    found = mh.compare(patients, methods=["mondrian", "canon"], ks=[5], seeds=3, **ROLES)
    assert [(row["method"], row["seed"]) for row in found.rows] == [
        ("mondrian", None),
        ("canon", 0),
        ("canon", 1),
        ("canon", 2),
    ]


def test_the_policys_own_k_is_among_the_customary_ones(patients: pl.DataFrame) -> None:
    found = mh.compare(patients, methods=QUICK, k=7, **ROLES)
    assert [row["k"] for row in found.rows] == [2, 3, 5, 7, 10, 20]


def test_an_infeasible_k_is_a_row_that_says_so(patients: pl.DataFrame) -> None:
    found = mh.compare(patients.head(30), methods=QUICK, ks=[2, 31], **ROLES)
    good, bad = found.rows
    assert good["holds"] is True
    assert bad["holds"] is False
    assert bad["gcp"] is None
    assert "31" in bad["note"]
    assert found.best(2) == "mondrian"
    assert found.best(31) is None


def test_the_folder_holds_table_picture_and_page(patients: pl.DataFrame, tmp_path: Path) -> None:
    found = mh.compare(patients, methods=QUICK, ks=[2, 5, 10], output=tmp_path / "out", **ROLES)
    with (tmp_path / "out" / "comparison.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["gcp"]) for line in lines] == [row["gcp"] for row in found.rows]
    kept = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))
    assert kept["best"] == {"2": "mondrian", "5": "mondrian", "10": "mondrian"}
    assert (tmp_path / "out" / "frontier.svg").read_text(encoding="utf-8").startswith("<svg")
    page = (tmp_path / "out" / "comparison.html").read_text(encoding="utf-8")
    assert "Take mondrian" in page
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert not list((tmp_path / "out").glob("*.part"))


def test_a_second_call_does_only_what_is_missing(patients: pl.DataFrame, tmp_path: Path) -> None:
    said: list[str] = []
    first = mh.compare(patients, methods=QUICK, ks=[2, 5], output=tmp_path, **ROLES)
    second = mh.compare(
        patients, methods=QUICK, ks=[2, 5, 10], output=tmp_path, progress=said.append, **ROLES
    )
    assert second.rows[:2] == first.rows
    assert said == [Note("stage.reading"), "run 3 of 3: mondrian strict k=10"]


@pytest.mark.parametrize("change", ["value", "promise", "rows"])
def test_another_table_or_policy_is_not_taken_for_the_same(
    patients: pl.DataFrame, tmp_path: Path, change: str
) -> None:
    mh.compare(patients, methods=QUICK, ks=[5], output=tmp_path, **ROLES)
    said: list[str] = []
    table, promise = patients, {}
    if change == "value":
        table = patients.with_columns(
            age=pl.when(pl.int_range(pl.len()) == 0).then(pl.col("age") + 1).otherwise("age")
        )
    elif change == "rows":
        table = patients.head(399)
    else:
        promise = {"l": 2}
    mh.compare(table, methods=QUICK, ks=[5], output=tmp_path, progress=said.append, **promise, **ROLES)
    assert len(said) == 2


def test_an_interrupted_sweep_keeps_what_is_done(
    patients: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = _compare.draft

    def stops(prepared: Any, policy: Any) -> Any:
        if policy.k == 5:
            raise KeyboardInterrupt
        return real(prepared, policy)

    monkeypatch.setattr(_compare, "draft", stops)
    with pytest.raises(KeyboardInterrupt):
        mh.compare(patients, methods=QUICK, ks=[2, 5], output=tmp_path, **ROLES)
    monkeypatch.undo()
    assert len(json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))["results"]) == 1
    with (tmp_path / "comparison.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key": "half a li')
    said: list[str] = []
    found = mh.compare(patients, methods=QUICK, ks=[2, 5], output=tmp_path, progress=said.append, **ROLES)
    assert len(found.rows) == 2
    assert len(said) == 2


def test_a_budget_of_zero_begins_nothing_and_says_so(patients: pl.DataFrame) -> None:
    found = mh.compare(patients, methods=QUICK, ks=[2, 5], budget=0, **ROLES)
    assert found.rows == ()
    assert list(found.left_out) == ["mondrian strict k=2", "mondrian strict k=5"]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"methods": ["mondrain"]}, "mondrain"),
        ({"methods": []}, "methods"),
        ({"ks": []}, "ks"),
        ({"ks": [0]}, "k=0"),
        ({"seeds": 0}, "seeds"),
        ({"strategies": ["stict"]}, "stict"),
        ({"options": {"tiles": 3}}, "tiles"),
        ({"budget": -1.0}, "budget"),
    ],
)
def test_a_wrong_setting_is_refused(patients: pl.DataFrame, wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParameter, match=named):
        mh.compare(patients, **{"methods": QUICK, **wrong}, **ROLES)


def test_a_release_folder_is_not_written_into(patients: pl.DataFrame, tmp_path: Path) -> None:
    mh.anonymize(patients, k=5, output=tmp_path / "release", html=False, **ROLES)
    with pytest.raises(InvalidParameter, match="release"):
        mh.compare(patients, methods=QUICK, output=tmp_path / "release", **ROLES)


def test_the_result_files_hold_no_value_of_the_data(patients: pl.DataFrame, tmp_path: Path) -> None:
    table = patients.with_columns(sex=pl.col("sex").fill_null("x").replace({"f": "marker-of-a-person"}))
    mh.compare(table, methods=QUICK, ks=[2, 401], output=tmp_path, **ROLES)
    for path in tmp_path.iterdir():
        assert "marker-of-a-person" not in path.read_text(encoding="utf-8")


def test_quadratic_methods_are_left_out_of_large_tables_and_it_is_said() -> None:
    quadratic = {name for name, method in METHODS.items() if method.growth == "n²"}
    for name in quadratic:
        assert "20,000" in str(suits_size(name, QUADRATIC_ROWS + 1))
    rng = np.random.default_rng(1)
    large = pl.DataFrame({"age": rng.integers(0, 90, QUADRATIC_ROWS + 1)})
    found = mh.compare(large, ks=[50], budget=0, quasi=["age"])
    assert set(found.left_out) >= quadratic


def test_auto_says_what_it_chose_and_why(patients: pl.DataFrame) -> None:
    report = mh.anonymize(patients, method="auto", k=5, **ROLES).report
    assert report["method"] in METHODS
    assert "400 rows" in report["method_reason"]
    assert "method_reason" not in mh.anonymize(patients, k=5, **ROLES).report


def test_auto_obeys_the_time_allowed(patients: pl.DataFrame) -> None:
    report = mh.anonymize(patients, method="auto", options={"seconds": 0}, k=5, **ROLES).report
    assert report["method"] == "mondrian"
    assert "0 s are allowed" in report["method_reason"]


@pytest.mark.parametrize(
    ("promise", "chosen"),
    [
        ({}, "mosaic"),
        ({"l": 3}, "mosaic"),
        ({"l": 6}, "mosaic"),
        ({"t": 0.4}, "mosaic"),
        ({"subject": "patient_id"}, "mosaic"),
    ],
)
def test_auto_repairs_under_every_promise(
    patients: pl.DataFrame, promise: dict[str, Any], chosen: str
) -> None:
    report = mh.anonymize(patients, method="auto", k=5, html=False, **promise, **ROLES).report
    assert report["method"] == chosen


def test_a_method_that_takes_minutes_is_left_out_and_it_is_said() -> None:
    assert suits_size("kanonymeans*", 2000) is None
    assert "s a run" in str(suits_size("kanonymeans*", 15_000))


@pytest.mark.parametrize("rows", [1, 9, 10, 20_000, 20_001, 10_000_000])
@pytest.mark.parametrize("unordered", [0, 2, 5])
@pytest.mark.parametrize("apart", [False, True])
def test_auto_always_chooses_a_method_that_suits(rows: int, unordered: int, *, apart: bool) -> None:
    evidence = MethodEvidence(rows=rows, columns=5, unordered=unordered, k=5, apart=apart)
    name, reason = choose_method(evidence)
    assert name in METHODS
    assert suits_size(name, rows) is None
    assert reason
    assert not apart or name == "mondrian"
