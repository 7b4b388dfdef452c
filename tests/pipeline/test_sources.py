"""Every verb takes what one takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import mahrem as mh
from mahrem.pipeline import attack_synthetic, check_hierarchy, dry_run

PEOPLE = mh.demo_patients(120).select("age", "sex", "diagnosis", "cost")
ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "diagnosis", "rest": "drop", "k": 4}
FACTS: dict[str, Any] = {
    "age": {"lower": 0, "upper": 110},
    "sex": {"categories": sorted(PEOPLE["sex"].unique())},
    "cost": {"lower": 0, "upper": 100_000},
}


class OneShot:
    """A stream of a library we do not know, empty once it was read."""

    def __init__(self, table: pa.Table) -> None:
        self.reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader.__arrow_c_stream__(requested_schema)


KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "reader": lambda frame: frame.to_arrow().to_reader(),
    "one-shot": lambda frame: OneShot(frame.to_arrow()),
    "batch": lambda frame: frame.rechunk().to_arrow().to_batches()[0],
    "relation": lambda frame: duckdb.connect().from_arrow(frame.to_arrow()),
}


@pytest.fixture(params=KINDS)
def given(request: pytest.FixtureRequest) -> Callable[[pl.DataFrame], Any]:
    return KINDS[request.param]


Given = Callable[[pl.DataFrame], Any]


def test_anonymize_gives_a_pyarrow_table(given: Given, tmp_path: Path) -> None:
    release = mh.anonymize(given(PEOPLE), html=False, output=tmp_path / "release", **ROLES)
    expected = mh.anonymize(PEOPLE.to_arrow(), html=False, **ROLES).table
    assert isinstance(release.table, pa.Table)
    assert release.table.to_pylist() == expected.to_pylist()
    assert release.save(tmp_path / "release", force=True, html=False).holds


def test_a_population_and_public_lessons_are_taken_too(given: Given) -> None:
    said = {**ROLES, "delta_presence": (0, 1), "bounds": "exact"}
    assert mh.anonymize(PEOPLE[:80], population=given(PEOPLE), html=False, **said).holds
    assert (
        dry_run(PEOPLE, html=False, automatic="diagnosis", learn_from=given(PEOPLE), **ROLES).report["rows"]
        == 120
    )


def test_looks_and_checks_take_it(given: Given) -> None:
    assert mh.inspect(given(PEOPLE)).rows == 120
    table = mh.anonymize(PEOPLE, html=False, **ROLES).table
    roles = {"quasi": ["age", "sex"], "sensitive": "diagnosis"}
    assert mh.audit(given(table), k=4, **roles).report["holds"]
    assert mh.audit(given(table), population=given(PEOPLE), **roles).report["rows"] == 120
    found = mh.attack(
        given(table), original=given(PEOPLE), population=given(PEOPLE), second=given(table), **roles
    )
    assert found.report["rows"] == 120
    assert dry_run(given(PEOPLE), html=False, **ROLES).report["rows"] == 120
    assert mh.compare(given(PEOPLE), methods=["mondrian"], ks=[2, 4], **{**ROLES, "k": None}).size == 120


def test_a_recipe_is_applied_to_it(given: Given, tmp_path: Path) -> None:
    mh.anonymize(PEOPLE, html=False, output=tmp_path / "release", **ROLES)
    assert isinstance(mh.apply(tmp_path / "release", given(PEOPLE), html=False).table, pa.Table)


def test_hierarchies_are_made_of_it(given: Given) -> None:
    made = mh.make_hierarchy(given(PEOPLE), "age", intervals=[10])
    assert check_hierarchy(made, given(PEOPLE), "age").unknown_values == 0
    with pytest.warns(mh.PrivacyWarning, match="learnt from the table itself"):
        mh.make_hierarchy(given(PEOPLE), "age", auto="diagnosis")


def test_a_ledger_pays_for_it(given: Given, tmp_path: Path) -> None:
    ledger = mh.Ledger.create(
        tmp_path / "ledger", given(PEOPLE), epsilon=9, delta=1e-6, rows=120, columns=FACTS
    )
    answer = mh.query(given(PEOPLE), "count() by sex", ledger=ledger, epsilon=1)
    assert len(answer.rows) == len(FACTS["sex"]["categories"])
    made = mh.synthesize(given(PEOPLE), ledger=ledger, epsilon=3, delta=1e-7, rows=10, html=False)
    assert made.table.height == 10
    trained = mh.train(given(PEOPLE), ledger=ledger, target="sex", model="logistic", how="output", epsilon=1)
    assert len(trained.predict(given(PEOPLE))) == 120


def test_synthetic_rows_are_attacked_with_it(given: Given) -> None:
    found = attack_synthetic(given(PEOPLE[:60]), members=given(PEOPLE[:60]), holdout=given(PEOPLE[60:]))
    assert found.report["rows"] == 60
