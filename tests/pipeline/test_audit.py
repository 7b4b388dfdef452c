from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import ColumnNotFound, InvalidParameter, Tampered


@pytest.fixture
def release(tmp_path: Path) -> Path:
    mh.anonymize(
        mh.demo_patients(600),
        quasi=["age", "sex", "zip"],
        sensitive="diagnosis:l=2",
        rest="drop",
        k=5,
        output=tmp_path / "release",
        html=False,
    )
    return tmp_path / "release"


def test_a_release_folder_brings_its_own_policy(release: Path) -> None:
    found = mh.audit(release)
    assert found.holds
    assert [promise["model"] for promise in found.report["promises"]] == [
        "k-anonymity",
        "distinct-l-diversity",
    ]
    assert not mh.audit(release, k=100).holds, "more may be asked of it than it promises"


def test_a_changed_release_folder_is_refused(release: Path) -> None:
    (release / "data.csv").write_text("age\n1\n")
    with pytest.raises(Tampered, match=r"data\.csv"):
        mh.audit(release)


def test_little_memory_gives_the_same_verdict(release: Path) -> None:
    said = {"quasi": ["age", "sex", "zip"], "sensitive": "diagnosis", "k": 5, "l": 2, "t": 0.5}
    free = mh.audit(release / "data.csv", **said)
    tight = mh.audit(release / "data.csv", memory=20_000, **said)
    for key in ("holds", "promises", "utility", "class_sizes", "rows"):
        assert free.report[key] == tight.report[key], key


def test_an_audit_says_that_a_file_shows_rows_not_people(release: Path) -> None:
    found = mh.audit(release / "data.csv", quasi=["age"], k=2, subject="patient_id")
    assert any("rows, not people" in text for text in found.report["warnings"])


def test_raw_data_do_not_hold_and_no_value_is_shown() -> None:
    patients = mh.demo_patients(300)
    found = mh.audit(patients, quasi=["age", "zip", "admission"], sensitive="diagnosis", k=5)
    assert not found.holds
    assert found.report["promises"][0]["violating_rows"] > 0
    text = str(found.report)
    assert not any(value in text for value in patients["diagnosis"].unique())


def test_only_the_columns_named_need_a_role() -> None:
    assert mh.audit(pl.DataFrame({"a": [1, 1], "b": [1, 2]}), quasi="a", k=2).holds
    with pytest.raises(ColumnNotFound):
        mh.audit(pl.DataFrame({"a": [1, 1]}), quasi="b", k=2)
    with pytest.raises(InvalidParameter, match="quasi"):
        mh.audit(pl.DataFrame({"a": [1, 1]}), k=2)


@pytest.mark.filterwarnings("ignore:.*composition")  # the same people on purpose
def test_pairs_and_midpoints_audit_from_their_folder(tmp_path: Path) -> None:
    for cells in ("pairs", "midpoint"):
        mh.anonymize(
            mh.demo_patients(200),
            quasi=["age", "height_cm"],
            rest="drop",
            k=3,
            cells=cells,
            output=tmp_path / cells,
            html=False,
        )
        assert mh.audit(tmp_path / cells).holds


def test_what_another_tool_wrote_can_be_audited(tmp_path: Path) -> None:
    (tmp_path / "arx.csv").write_text("age;zip;disease\n[20, 40[;061**;flu\n[20, 40[;061**;gout\n*;*;*\n")
    found = mh.audit(tmp_path / "arx.csv", quasi=["age", "zip"], sensitive="disease", k=2, l=2)
    assert found.holds
    assert found.report["utility"]["suppressed"] == 1


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="not a release"):
        mh.audit(tmp_path)


def test_a_hierarchy_of_no_column_is_refused() -> None:
    tree = mh.make_hierarchy(pl.DataFrame({"age": [1, 2]}), "age")
    with pytest.raises(ColumnNotFound, match="did you mean age"):
        mh.audit(pl.DataFrame({"age": [1, 2]}), quasi=["age"], hierarchy={"agee": tree})
