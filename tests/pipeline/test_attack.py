from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.attacks import Finding
from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter, Tampered
from releases import crowd, halved, ranged

ROLES = {"quasi": ["age", "pay", "zip"], "sensitive": "illness"}
ADULT = ["age", "sex", "race", "marital-status", "hours-per-week"]


def by_name(found: mh.pipeline.RedTeam, name: str) -> list[Finding]:
    return [finding for finding in found.findings if finding.attack == name and finding.done]


@pytest.fixture
def people() -> pl.DataFrame:
    return crowd(600)


@pytest.fixture
def folder(people: pl.DataFrame, tmp_path: Path) -> Path:
    mh.anonymize(people, **ROLES, k=5, html=False, output=tmp_path / "release")
    return tmp_path / "release"


def test_a_release_folder_brings_its_own_roles(folder: Path, people: pl.DataFrame) -> None:
    found = mh.attack(folder, original=people)
    assert found.report["quasi"] == ROLES["quasi"]
    assert found.report["k"] == 5
    assert len(by_name(found, "linkage")) == 4


def test_nobody_is_linked_with_a_chance_above_one_over_k(folder: Path, people: pl.DataFrame) -> None:
    for finding in by_name(mh.attack(folder, original=people), "linkage"):
        if not finding.details["noise"]:
            assert finding.details["highest"] <= 1 / 5


def test_without_an_original_only_the_release_is_attacked_and_the_rest_says_why(folder: Path) -> None:
    found = mh.attack(folder)
    skipped = {finding.attack: finding.skipped for finding in found.findings if not finding.done}
    assert skipped["linkage"] == "no original was given"
    assert by_name(found, "homogeneity")


def test_the_same_seed_gives_the_same_findings(folder: Path, people: pl.DataFrame) -> None:
    first, again = (mh.attack(folder, original=people, seed=4).findings for _ in range(2))
    assert first == again


def test_no_value_and_no_person_is_in_the_report(folder: Path, people: pl.DataFrame) -> None:
    said = json.dumps(mh.attack(folder, original=people).report)
    assert not any(word in said for word in ("gout", "06100", "34710"))


def test_a_table_of_another_tool_can_be_attacked(people: pl.DataFrame, tmp_path: Path) -> None:
    columns = ["age", "pay"]
    ranged(people, columns, halved(people, columns, 4)).drop("zip").write_csv(tmp_path / "other.csv")
    people.write_csv(tmp_path / "original.csv")
    found = mh.attack(
        tmp_path / "other.csv", original=tmp_path / "original.csv", quasi=columns, sensitive="illness"
    )
    assert all(finding.unread == 0 for finding in found.findings)
    assert max(one.details["highest"] for one in by_name(found, "linkage")) <= 1 / 4


def test_a_raw_table_is_found_out(people: pl.DataFrame) -> None:
    (full,) = (
        one
        for one in by_name(mh.attack(people, original=people, **ROLES), "linkage")
        if one.details["known"] == 3 and not one.details["noise"]
    )
    assert full.alarming
    assert full.details["highest"] == 1.0


def test_changed_data_and_missing_hashes_are_said(folder: Path) -> None:
    data = folder / "data.csv"
    data.write_text(data.read_text() + "x\n")
    with pytest.raises(Tampered, match=r"data\.csv"):
        mh.attack(folder)
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(Tampered, match="SHA256SUMS"):
        mh.attack(folder)


def test_an_original_that_is_another_table_is_refused(folder: Path, people: pl.DataFrame) -> None:
    with pytest.raises(InvalidInput, match="has no column='pay'"):
        mh.attack(folder, original=people.drop("pay"))
    with pytest.raises(InvalidInput, match="original=10 rows does not match"):
        mh.attack(folder, original=people.head(10))
    with pytest.raises(InvalidInput, match="does not match the release: 0 of"):
        mh.attack(folder, original=people.with_columns(pl.col("age") + 200))


def test_labels_nobody_explained_are_said(people: pl.DataFrame) -> None:
    strange = people.with_columns(pl.lit("young").alias("age"), pl.lit("some").alias("pay"))
    with pytest.raises(InvalidInput, match="hierarchy="):
        mh.attack(strange, original=people, quasi=["age", "pay"])


def test_a_population_must_hold_everybody(folder: Path, people: pl.DataFrame) -> None:
    with pytest.raises(InvalidInput, match="population=10 rows"):
        mh.attack(folder, original=people, population=people.head(10))
    with pytest.raises(InvalidInput, match="population lacks"):
        mh.attack(folder, original=people, population=crowd(900, seed=8))


def test_a_population_tells_who_is_in(folder: Path, people: pl.DataFrame) -> None:
    everyone = pl.concat([people, crowd(1200, seed=8)])
    found = mh.attack(folder, original=people, population=everyone)
    (membership,) = by_name(found, "membership")
    assert membership.baseline == 0.67
    assert by_name(found, "population-priors")


def test_a_table_without_named_columns_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match="quasi="):
        mh.attack(people)


def test_a_release_that_shows_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="nothing to attack"):
        mh.attack(pl.DataFrame({"age": ["*", "*"]}), quasi="age")


@pytest.mark.filterwarnings("ignore:.*composition")  # the same people on purpose
def test_two_releases_of_the_same_people_drop_below_k(
    folder: Path, people: pl.DataFrame, tmp_path: Path
) -> None:
    mh.anonymize(people, **ROLES, k=5, method="mosaic", html=False, output=tmp_path / "second")
    (together,) = by_name(mh.attack(folder, original=people, second=tmp_path / "second"), "composition")
    assert together.baseline == 0.0
    assert together.alarming
    assert together.rate > 0.1


def test_labels_of_a_hierarchy_are_read_with_the_recipe_beside_them(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    tree = mh.make_hierarchy(people, "zip")
    mh.anonymize(people, **ROLES, k=5, hierarchy={"zip": tree}, html=False, output=tmp_path / "r")
    found = mh.attack(tmp_path / "r", original=people)
    assert max(finding.unread for finding in found.findings) == 0


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:.*composition")  # the same people on purpose
def test_the_red_team_on_three_releases_of_adult(benchmark_data: Path, tmp_path: Path) -> None:
    raw = pl.read_csv(benchmark_data / "adult_train.csv", infer_schema=False).head(8000)
    roles = {"quasi": ADULT, "sensitive": "relationship", "rest": "drop", "k": 5, "html": False}
    mh.anonymize(raw, **roles, output=tmp_path / "plain")
    mh.anonymize(raw, **roles, l=2, t=0.4, output=tmp_path / "klt")
    mh.anonymize(raw, **roles, method="mosaic", output=tmp_path / "mosaic")
    found = {name: mh.attack(tmp_path / name, original=raw) for name in ("plain", "klt", "mosaic")}
    for red_team in found.values():
        for finding in by_name(red_team, "linkage"):
            assert finding.interval is not None
            assert finding.interval[0] <= 1 / 5
            assert finding.details["noise"] or finding.details["highest"] <= 1 / 5 + 1e-12
    (homogeneous,), (skewed,) = by_name(found["plain"], "homogeneity"), by_name(found["plain"], "skewness")
    assert homogeneous.alarming
    assert skewed.alarming
    (gone,), (smaller,) = by_name(found["klt"], "homogeneity"), by_name(found["klt"], "skewness")
    assert gone.successes == 0
    assert smaller.rate is not None
    assert skewed.rate is not None
    assert smaller.rate < skewed.rate / 2
    both = mh.attack(tmp_path / "plain", original=raw, second=tmp_path / "mosaic")
    (together,) = by_name(both, "composition")
    assert together.alarming
    assert together.baseline == 0.0


def test_a_column_with_a_value_of_its_own_for_every_row_is_not_predicted(people: pl.DataFrame) -> None:
    priced = people.with_columns(cost=pl.int_range(pl.len()) * 1.25)
    found = mh.attack(priced, original=priced, quasi=["age"], sensitive="cost")
    (inference,) = (one for one in found.findings if one.attack == "inference")
    assert inference.skipped is not None
    assert "of its own" in inference.skipped


@pytest.mark.parametrize("role", ["quasi", "sensitive", "suppress"])
@pytest.mark.parametrize("name", ["nope", "diagnosis", "age"])
@pytest.mark.parametrize("known", [True, False])
def test_columns_are_refused_by_name_where_they_are_not_there_or_have_another_role(
    role: str,
    name: str,
    known: bool,  # noqa: FBT001 - drawn
) -> None:
    patients = mh.demo_patients(60).select("age", "zip", "diagnosis")
    said: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": ["diagnosis"], "k": 3}
    release = mh.anonymize(patients, **said, html=False)
    said[role] = [name]
    original = patients if known else None
    if (role, name) in {("quasi", "age"), ("sensitive", "diagnosis"), ("suppress", "age")}:
        assert mh.attack(release.table, original=original, trials=5, **said).findings
        return
    with pytest.raises((InvalidParameter, ColumnNotFound), match=name):
        mh.attack(release.table, original=original, trials=5, **said)
