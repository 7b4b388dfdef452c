"""A short run of the campaign of random tables; the long one is ``scripts/campaign.py``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import published_oracle as oracle
from checked_cases import _faults
from mahrem.partition import METHODS
from random_cases import Case, random_case

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
    assert len({case.model for case in cases}) == 21
    assert {case.source for case in cases} >= {
        "polars",
        "pandas",
        "arrow",
        "categories",
        "csv",
        "parquet",
        "duckdb",
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
