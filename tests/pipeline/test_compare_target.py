from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.errors import ColumnNotFound, InvalidParameter
from mahrem.table import Hierarchy
from mahrem.words import Note

ROLES: dict[str, Any] = {"quasi": ["age", "zip"], "insensitive": ["sex"], "rest": "drop"}
QUICK: dict[str, Any] = {"methods": ["mondrian"], "classifiers": ["gaussian_nb"], "splits": 2}


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    table = mh.demo_patients(200)
    return table.with_columns(old=pl.when(pl.col("age") > 50).then(pl.lit("yes")).otherwise(pl.lit("no")))


def test_every_run_says_what_is_left_for_learning(patients: pl.DataFrame) -> None:
    found = mh.compare(patients, target="old", ks=[2, 5, 60], **QUICK, **ROLES)
    assert found.original is not None
    assert found.original["entropy_loss"] == 0.0
    assert found.original["accuracy_gaussian_nb"] > 0.8
    for row in found.rows:
        assert 0 <= row["accuracy_gaussian_nb"] <= 1
        assert row["auc_std_gaussian_nb"] >= 0
        assert row["entropy_loss"] <= 1
    losses = [row["entropy_loss"] for row in found.rows]
    assert losses[0] < losses[-1]
    both = found.correlations()["gaussian_nb"]["entropy_loss"]
    assert both["points"] == 3
    assert both["spearman"] is None or -1 <= both["spearman"] <= 1


def test_files_hold_the_original_the_picture_and_no_value(patients: pl.DataFrame, tmp_path: Path) -> None:
    table = patients.with_columns(old=pl.col("old").replace({"yes": "marker-of-a-person"}))
    found = mh.compare(table, target="old", ks=[2, 5, 20], output=tmp_path, **QUICK, **ROLES)
    with (tmp_path / "comparison.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["method"] for line in lines] == ["original", "mondrian", "mondrian", "mondrian"]
    assert float(lines[1]["accuracy_gaussian_nb"]) == found.rows[0]["accuracy_gaussian_nb"]
    kept = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert kept["target"] == "old"
    assert set(kept["correlations"]["gaussian_nb"]) == {"entropy_loss", "entropy_loss_cells", "gcp"}
    assert "untouched table" in (tmp_path / "accuracy.svg").read_text(encoding="utf-8")
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert "What is left for learning old" in page
    assert "Spearman" in page
    for path in tmp_path.iterdir():
        assert "marker-of-a-person" not in path.read_text(encoding="utf-8")


def test_a_second_call_learns_only_what_is_missing(patients: pl.DataFrame, tmp_path: Path) -> None:
    said: list[str] = []
    first = mh.compare(patients, target="old", ks=[2], output=tmp_path, **QUICK, **ROLES)
    again = mh.compare(
        patients, target="old", ks=[2, 5], output=tmp_path, progress=said.append, **QUICK, **ROLES
    )
    assert again.rows[0] == first.rows[0]
    assert again.original == first.original
    assert said == [Note("stage.reading"), "run 2 of 2: mondrian strict k=5"]


def test_another_target_is_not_taken_for_the_same(patients: pl.DataFrame, tmp_path: Path) -> None:
    mh.compare(patients, target="old", ks=[2], output=tmp_path, **QUICK, **ROLES)
    said: list[str] = []
    mh.compare(patients, target="sex", ks=[2], output=tmp_path, progress=said.append, **QUICK, **ROLES)
    assert said == [Note("stage.reading"), Note("stage.original"), "run 1 of 1: mondrian strict k=2"]


def test_a_k_that_training_rows_cannot_reach_is_a_row_that_says_so(patients: pl.DataFrame) -> None:
    (row,) = mh.compare(patients, target="old", ks=[190], **QUICK, **ROLES).rows
    assert row["holds"] is True
    assert row["accuracy_gaussian_nb"] is None
    assert "nothing was learnt" in row["note"]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"target": "age"}, "quasi-identifier"),
        ({"target": "one"}, "1 value"),
        ({"target": "old", "classifiers": ["oracle"]}, "oracle"),
        ({"target": "old", "classifiers": []}, "classifiers"),
        ({"target": "old", "splits": 0}, "splits"),
        ({"classifiers": ["knn"]}, "target"),
    ],
)
def test_a_wrong_target_or_classifier_is_refused(
    patients: pl.DataFrame, wrong: dict[str, Any], named: str
) -> None:
    table = patients.with_columns(one=pl.lit("x"))
    with pytest.raises(InvalidParameter, match=named):
        mh.compare(table, ks=[2], methods=["mondrian"], **wrong, **ROLES)


def test_a_target_that_is_not_there_is_refused(patients: pl.DataFrame) -> None:
    with pytest.raises(ColumnNotFound, match="odl"):
        mh.compare(patients, ks=[2], target="odl", **QUICK, **ROLES)


def test_nodes_of_hierarchies_are_learnt_from(patients: pl.DataFrame) -> None:
    tree = Hierarchy.from_rows([[str(age), "young" if age < 50 else "old"] for age in range(120)])
    roles = {**ROLES, "quasi": ["age"]}
    (row,) = mh.compare(patients, target="old", ks=[5], hierarchy={"age": tree}, **QUICK, **roles).rows
    assert row["gcp"] > 0.2
    assert row["accuracy_gaussian_nb"] > 0.85


def test_the_command_prints_original_and_runs(
    patients: pl.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patients.write_csv(tmp_path / "patients.csv")
    words = ["compare", str(tmp_path / "patients.csv"), "--qi", "age,zip", "--rest", "insensitive"]
    words += ["--methods", "mondrian", "--ks", "2,5,9", "--target", "old", "--classifiers", "gaussian_nb"]
    with pytest.raises(SystemExit) as ended:
        sys.exit(_run([*words, "--splits", "2"]))
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "original" in out
    assert "entropy loss" in out
    assert "Spearman" in out
