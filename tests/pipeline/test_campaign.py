"""A short run of the campaign of random tables; the long one is ``scripts/campaign.py``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
import population_oracle as population
import published_oracle as oracle
from case_forms import at_hand
from checked_cases import _faults
from mahrem.estimates import expected_risks, k_map_rows, population_uniques
from mahrem.partition import METHODS
from mahrem.table import Hierarchy
from random_cases import FORMATS, SOURCES, Case, random_case

ROOT = Path(__file__).parents[2]


def campaign() -> Any:
    spec = importlib.util.spec_from_file_location("campaign", ROOT / "scripts" / "campaign.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["campaign"] = module
    spec.loader.exec_module(module)
    return module.Campaign()


@pytest.mark.filterwarnings("ignore")
def test_no_release_of_150_random_tables_breaks_anything(tmp_path: Path) -> None:
    run = campaign()
    run.run(range(20_000_000, 20_000_150), seconds=600, folder=tmp_path, loud=False)
    assert run.tables == 150
    assert run.wrong == []
    assert run.totals()["released"] > 50


def test_random_tables_reach_every_method_and_model() -> None:
    cases = [random_case(seed) for seed in range(2000)]
    assert {case.settings["method"] for case in cases} == {*METHODS, "auto"}
    assert len({case.model for case in cases}) == 23
    assert {case.source for case in cases} == {*SOURCES}
    assert {case.format for case in cases} == {None, *FORMATS}
    assert {case.database for case in cases} == {None, "duckdb", "postgres"}
    assert {(c.settings.get("subject"), "pseudonym" in c.settings) for c in cases} == {
        ("person", False),
        ("person", True),
        (None, False),
        (None, True),
    }
    assert any(case.settings.get("suppressed") == "keep-sensitive" for case in cases)
    assert any(case.trees for case in cases)


CASE = Case(
    0,
    [{"q0": 1, "s0": "flu", "note": "x", "person": "P", "tag": number} for number in range(4)],
    {},
    {"quasi": ["q0"], "sensitive": ["s0"], "insensitive": ["note", "tag"], "missing": "category", "k": 2},
)
PUBLISHED = [{"q0": "[0, 5]", "s0": "flu", "note": "x", "tag": str(number)} for number in range(4)]


@pytest.mark.parametrize(
    ("settings", "changed", "said"),
    [
        ({}, {}, None),
        ({}, {"q0": "[2, 5]"}, "does not hold"),
        ({}, {"q0": "1"}, "a class of 1"),
        ({}, {"s0": "gout"}, "was"),
        ({}, {"note": "y"}, "was"),
        ({}, {"tag": "1"}, "doubled"),
        ({}, {"tag": None, "s0": None, "note": None, "q0": "*"}, "limit"),
        ({"suppression_limit": 0.3}, {"tag": None, "s0": "flu", "note": None, "q0": "*"}, "shows something"),
        ({"l": 2}, {}, "l-distinct"),
        ({"average_risk": 0.2}, {}, "average_risk"),
        ({"journalist_risk": 0.2}, {}, "journalist_risk"),
        ({"journalist_risk": 0.2, "fraction": 0.4}, {}, None),
        ({"marketer_risk": 0.2, "fraction": 0.9}, {}, "marketer_risk"),
        ({"k_map": 9, "fraction": 0.7}, {}, "k_map"),
        ({"no_attack": [9.0, 2.0]}, {}, "costs"),
        ({"population_uniqueness": 0.05, "fraction": 0.3, "k": 1}, {"q0": "[1, 1]"}, "population_uniqueness"),
        ({"subject": "person"}, {}, "a class of 1, k=2"),
    ],
)
def test_the_oracle_sees_what_is_wrong(
    settings: dict[str, Any], changed: dict[str, Any], said: str | None
) -> None:
    case = Case(0, CASE.rows, dict.fromkeys(["q0", "s0", "note", "tag"], str), {**CASE.settings, **settings})
    published = [{**PUBLISHED[0], **changed}, *PUBLISHED[1:]]
    found = list(_faults(case, published))
    assert (not found) if said is None else any(said in fault for fault in found), found


@pytest.mark.parametrize(
    ("cell", "value", "holds"),
    [
        ("[1, 3]", 2, True),
        ("[1, 3]", 4, False),
        ("[-inf, 3]", -9.5, True),
        ('{flu, "a, b", }', "a, b", True),
        ('{flu, "a, b", }', None, True),
        ("{flu, gout}", None, False),
        ("{flu, gout}", "hiv", False),
        ("061**", "06100", True),
        ("061**", "06200", False),
        ('"*"', "*", True),
        ('"*"', "x", False),
        ("*", "x", True),
        ("", None, True),
        (None, 3, False),
        ("lung", "flu", False),
    ],
)
def test_the_oracle_reads_cells(cell: str | None, value: object, *, holds: bool) -> None:
    assert oracle.holds_value(cell, value) is holds
    assert oracle.holds_value("lung", "flu", ["flu", "lung"])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["flu", "gout", "hiv", "flu"], None),
        (["flu", "Flu ", "FLU", "f\u200blu"], "l-distinct"),
        (["flu", "n/a", None, "?"], "l-distinct"),
        ([None, None, None, None], "l-distinct"),
    ],
)
def test_the_oracle_takes_spellings_and_words_for_nothing_as_a_reader_does(
    values: list[str | None], said: str | None
) -> None:
    rows = [{**row, "s0": value} for row, value in zip(CASE.rows, values, strict=True)]
    types = dict.fromkeys(["q0", "s0", "note", "tag"], str)
    found = list(_faults(Case(0, rows, types, {**CASE.settings, "l": 2}), _as_published(rows)))
    assert (not found) if said is None else any(said in fault for fault in found), found


def _as_published(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**shown, "s0": row["s0"]} for shown, row in zip(PUBLISHED, rows, strict=True)]


@pytest.mark.parametrize(
    ("cells", "pseudonyms", "said"),
    [
        (["a", "a", "a", "a"], ["x", "x", "y", "y"], None),
        (["a", "b", "a", "b"], ["x", "x", "y", "y"], None),
        (["a", "a", "a", "b"], ["x", "x", "y", "y"], "a trajectory of 1"),
        (["a", "a", "a", "a"], ["x", "z", "y", "y"], "a person has two"),
        (["a", "a", "a", "a"], ["x", "x", "x", "x"], "two people"),
        (["a", "a", "a", "a"], ["P", "P", "Q", "Q"], "the name itself"),
    ],
)
def test_the_oracle_follows_people_through_their_rows(
    cells: list[str], pseudonyms: list[str], said: str | None
) -> None:
    people = "PPQQ"
    rows = [
        {"q0": "a", "s0": "flu", "note": "x", "person": people[place], "tag": place} for place in range(4)
    ]
    settings = {**CASE.settings, "k": 1, "pseudonym": {"person": b""}, "trajectory_k": 2, "cells": "pairs"}
    shown = [
        {"q0": cell, "s0": "flu", "note": "x", "person": pseudonym, "tag": str(place)}
        for place, (cell, pseudonym) in enumerate(zip(cells, pseudonyms, strict=True))
    ]
    types = dict.fromkeys(["q0", "s0", "note", "person", "tag"], str)
    found = list(_faults(Case(0, rows, types, settings), shown))
    assert (not found) if said is None else any(said in fault for fault in found), found


def test_the_oracle_of_populations_is_of_one_mind_with_the_estimators() -> None:
    """Two who never met: series and grids here, closed forms there."""
    for fraction in (0.05, 0.3, 0.7, 1.0):
        for k in range(1, 12):
            assert population.k_map_rows(k, fraction) == k_map_rows(k, fraction)
        expected = expected_risks(np.arange(1, 9), fraction)
        assert [population.journalist(size, fraction) for size in range(1, 9)] == pytest.approx(expected)
    for sizes, fraction in (
        ([1, 1, 2, 3], 0.5),
        ([1, 2, 2, 5], 0.05),
        ([1, 1, 1, 2, 4], 0.05),
        ([1, 1, 2, 1], 0.3),
        ([2, 3], 0.3),
    ):
        people = round(sum(sizes) / fraction)
        found = population_uniques(np.array(sizes), people).share
        assert 0.8 * found - 1e-9 <= population.uniqueness(sizes, fraction) <= 1.001 * found + 1e-9


def test_what_a_machine_lacks_is_passed_over_and_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MAHREM_CAMPAIGN_POSTGRES", raising=False)
    monkeypatch.setattr("case_forms._told", set())
    assert not any(at_hand("postgres") for _ in range(3))
    assert at_hand("csv")
    assert capsys.readouterr().err.count("postgres") == 1


@pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")
@pytest.mark.parametrize(("rows", "s"), [(2, ["flu", "gout"]), (6, [None] * 6)])
def test_a_tree_of_which_nobody_may_be_told_does_not_stop_a_release(
    tmp_path: Path, rows: int, s: list[str | None]
) -> None:
    """A recipe names values that enough people share; where there are none it names none."""
    table = pl.DataFrame({"q": ["flu", "gout"] * (rows // 2), "s": pl.Series(s, dtype=pl.String)})
    tree = Hierarchy.from_rows([["flu", "lung"], ["gout", "joint"]])
    said: dict[str, Any] = {"quasi": "q", "sensitive": "s", "hierarchy": {"q": tree, "s": tree}, "k": 2}
    release = mh.anonymize(table, **said, html=False, output=tmp_path / "r")
    assert release.holds
    assert mh.audit(tmp_path / "r", hierarchy={"q": tree, "s": tree}).holds
