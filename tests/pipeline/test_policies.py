from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.release.decisions import READY_POLICIES, about_policy, policy_text
from releases import crowd


@pytest.mark.parametrize("name", READY_POLICIES)
def test_every_ready_policy_is_one_and_names_its_reference(name: str) -> None:
    text = policy_text(name)
    assert "Reference:" in text
    assert mh.Policy.of({key: value for key, value in tomllib.loads(text).items() if key != "l"}).k
    assert about_policy(name).endswith(".")


@pytest.mark.parametrize(("name", "k"), [("minimum-cell-11", 11), ("ema-0.09", 12)])
def test_a_ready_policy_is_taken_by_its_name(name: str, k: int) -> None:
    release = mh.anonymize(crowd(400), policy=name, quasi=["age", "zip"], rest="drop", html=False)
    assert release.report["promises"][0]["wanted"] == k
    assert release.report["risk"]["highest"] <= 1 / k


def test_ema_keeps_its_threshold() -> None:
    release = mh.anonymize(crowd(400), policy="ema-0.09", quasi=["age"], rest="drop", html=False)
    assert release.report["risk"]["highest"] <= 0.09


def test_a_file_of_the_same_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("minimum-cell-11").write_text("k = 3\n")
    release = mh.anonymize(crowd(100), policy="minimum-cell-11", quasi=["age"], rest="drop", html=False)
    assert release.report["promises"][0]["wanted"] == 3


def test_an_unknown_name_lists_the_ready_ones() -> None:
    with pytest.raises(InvalidInput, match="minimum-cell-11, hipaa"):
        mh.anonymize(crowd(10), policy="minimum-cell-12", quasi=["age"])


def test_safe_harbor_drops_names_keeps_years_and_codes_the_very_old() -> None:
    people = crowd(400).with_columns(
        pl.lit("A").alias("Patient Name"),
        pl.lit("x@y").alias("e-mail"),
        pl.date_range(date(2020, 1, 1), date(2023, 12, 31), "1d", eager=True)
        .sample(400, seed=1)
        .alias("visit"),
        pl.date_range(date(1930, 1, 1), date(2010, 12, 31), "1d", eager=True)
        .sample(400, seed=1)
        .alias("seen"),
    )
    people = people.with_columns(age=pl.when(pl.col("age") > 85).then(101).otherwise("age"))
    release = mh.anonymize(people, policy="hipaa-safe-harbor", sensitive="illness", html=False)
    assert set(release.table.columns) == {"age", "zip", "illness", "visit"}
    dates = release.table["visit"]
    assert dates.str.contains(r"^\[20\d\d-01-01, 20\d\d-12-31\]$").all()
    assert release.table["zip"].str.contains(r"^(\d{0,3}\*+|\*)$").all()
    old = release.table.filter(pl.Series(people["age"] == 101))["age"]
    assert old.str.ends_with("inf]").all()


def test_what_is_said_by_name_wins_over_what_is_looked_for() -> None:
    release = mh.anonymize(crowd(400), policy="hipaa-safe-harbor", quasi=["zip", "age"], html=False)
    assert "zip" in release.table.columns


def test_kvkk_drops_turkish_identifiers_and_asks_for_a_sensitive_column() -> None:
    people = crowd(300).with_columns(pl.lit("1").alias("TC Kimlik No"), pl.lit("a").alias("Soyad"))
    release = mh.anonymize(
        people,
        policy="kvkk",
        quasi="age",
        sensitive="illness",
        rest="drop",
        html=False,
    )
    assert set(release.table.columns) == {"age", "illness", "zip"}
    with pytest.raises(InvalidParameter, match="sensitive"):
        mh.anonymize(people, policy="kvkk", quasi="age", rest="drop")


@pytest.mark.parametrize(
    "wrong", [{"names": ["a"]}, {"role": "quasi"}, {"names": ["a"], "role": "quasi", "colour": 1}, "age"]
)
def test_what_is_looked_for_must_be_well_said(wrong: object) -> None:
    with pytest.raises(InvalidParameter, match="look_for"):
        mh.Policy.of({"look_for": [wrong]})
