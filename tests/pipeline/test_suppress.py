"""Hidden cells as a release: verified from the file, under both readings."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidParameter, PrivacyWarning
from mahrem.table import open_source
from mahrem.verify import matching_rows, published_classes

ROLES = {"quasi": ["age", "sex", "zip"], "sensitive": ["diagnosis"], "rest": "drop"}


def test_a_release_with_hidden_cells_holds_for_all_its_sets_and_can_be_audited(tmp_path: Path) -> None:
    people = pl.DataFrame(mh.demo_patients(300))
    folder = tmp_path / "out"
    mh.suppress(people, k=3, sets={"age,sex": 5, "zip": 10}, output=folder, **ROLES)
    opened = open_source(folder / "data.csv")
    shown = opened.take(opened.columns)
    for columns, k in ((["age", "sex", "zip"], 3), (["age", "sex"], 5), (["zip"], 10)):
        assert published_classes(shown, columns)[1].min() >= k
        assert matching_rows(shown, columns).min() >= k
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["hidden"] == {
        name: int((shown[name].cast(pl.String) == "*").sum()) for name in ROLES["quasi"]
    }
    assert mh.audit(folder).holds


def test_the_weaker_reading_hides_less_warns_and_promises_no_k(tmp_path: Path) -> None:
    people = pl.DataFrame(mh.demo_patients(300))
    with pytest.warns(PrivacyWarning, match="that reading alone"):
        loose = mh.suppress(people, k=3, reading="match", output=tmp_path / "out", **ROLES)
    strict = mh.suppress(people, k=3, **ROLES)
    assert 0 < sum(loose.report["hidden"].values()) < sum(strict.report["hidden"].values())
    assert matching_rows(loose.table, ROLES["quasi"]).min() >= 3
    assert loose.report["promises_k"] is False
    assert strict.report["promises_k"] is True
    assert not (tmp_path / "out" / "policy.toml").exists()


def test_what_is_shown_stood_there_and_rows_keep_their_other_columns() -> None:
    people = pl.DataFrame(mh.demo_patients(200))
    made = mh.suppress(people, k=4, **ROLES).table
    assert made["diagnosis"].equals(people["diagnosis"])
    for name in ROLES["quasi"]:
        same = (made[name] == people[name].cast(pl.String)) | (made[name] == "*")
        assert same.all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"k": None},
        {"sets": {"": 3}},
        {"sets": {"age,name": 3}},
        {"sets": ["age"]},
        {"sets": {"age": 0}},
        {"reading": "loose"},
        {"quasi": []},
        {"strategy": "strict"},
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((InvalidParameter, KeyError)):
        mh.suppress(mh.demo_patients(50), **{**ROLES, "k": 2, **wrong})
