from __future__ import annotations

from pathlib import Path

import pytest

import mahrem as mh
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.pipeline import dry_run
from mahrem.pipeline.releasing._dry_run import fitted
from mahrem.words import Note
from releases import crowd

ROLES = {"quasi": ["age", "pay"], "rest": "drop", "k": 5, "html": False}


def test_a_small_table_is_run_as_a_whole_and_said_exactly() -> None:
    people = crowd(500)
    found = dry_run(people, **ROLES).report
    real = mh.anonymize(people, **ROLES).report["utility"]
    assert found["exact"]
    assert found["classes"] == real["classes"]
    assert found["gcp"] == pytest.approx(real["gcp"])


def test_a_large_table_is_foretold_from_samples() -> None:
    people = crowd(6000)
    roles = {**ROLES, "minimality_safe": False, "bounds": "exact"}  # few samples show classes alike
    found = dry_run(people, sample=1500, **roles).report
    real = mh.anonymize(people, **roles).report["utility"]
    assert not found["exact"]
    assert [one["rows"] for one in found["samples"]] == [375, 750, 1500]
    assert found["classes"] == pytest.approx(real["classes"], rel=0.35)
    assert found["gcp"] == pytest.approx(real["gcp"], rel=0.35)
    assert found["memory_mb"] > 0


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    dry_run(crowd(300), **ROLES)
    assert list(tmp_path.iterdir()) == []


def test_what_no_sample_can_keep_is_infeasible() -> None:
    with pytest.raises(Infeasible):
        dry_run(crowd(200), **{**ROLES, "k": 500})
    with pytest.raises(InvalidParameter, match="say at least k"):
        dry_run(crowd(200), quasi=["age"], rest="drop")


def test_stages_are_told() -> None:
    stages: list[Note] = []
    dry_run(crowd(400), sample=200, progress=stages.append, **ROLES)
    assert [stage.code for stage in stages] == ["stage.reading", *["stage.trying"] * 3]
    assert [dict(stage.values) for stage in stages[1:]] == [{"size": n, "rows": 400} for n in (50, 100, 200)]
    assert str(stages[1]) == "trying 50 of 400 rows"


def test_times_are_carried_on_along_the_form_that_fits() -> None:
    sizes = [1000, 2000, 4000]
    assert fitted(sizes, [0.1, 0.4, 1.6], 8000) == (pytest.approx(6.4), "n²")
    seconds, form = fitted(sizes, [1.0, 2.2, 4.8], 8000)
    assert form == "n log n"
    assert seconds == pytest.approx(10.4, rel=0.05)
    assert fitted([100], [0.5], 100)[0] == 0.5


def test_more_rows_never_take_less_time() -> None:
    assert fitted([1000, 2000, 4000], [0.5, 0.4, 0.3], 8000)[0] >= 0.3
