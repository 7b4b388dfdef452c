"""Every setting that was given of a column changes what is published, or is refused by its name."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidParameter, MahremError
from mahrem.release.decisions import Policy
from mahrem.settings import settings_of
from mahrem.table import Hierarchy

pytestmark = pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")

ROWS = 40
TABLE = pl.DataFrame(
    {
        "group": [f"g{place % 2}" for place in range(ROWS)],
        "number": [0.5 + 7 * (place % 11) for place in range(ROWS)],
        "day": [dt.date(2023, 1, 1) + dt.timedelta(days=67 * (place % 9)) for place in range(ROWS)],
        "code": [f"0{61000 + 137 * (place % 8)}" for place in range(ROWS)],
        "word": ["red", "green", "blue", "grey"] * (ROWS // 4),
    }
)
COLUMNS = ("number", "day", "code", "word")
ROLES = ("quasi", "sensitive", "insensitive", "identifier", "rest", "dropped")
TREE = Hierarchy.from_rows(
    [(word, "light" if word == "grey" else "bright", "*") for word in ("red", "green", "blue", "grey")]
)

# A value of each setting by column that means something for some column; roles and files of keys say a role.
VALUES: dict[str, tuple[Any, ...]] = {
    "accept": ("it is public", "it is old"),
    "kind": ("categorical", "code", "numeric", "date"),
    "order": ("red,green,blue,grey",),
    "hierarchy": (TREE,),
    "grid": (10, "year"),
    "round": (10,),
    "prefix": (2,),
    "bands": (20, "quarter"),
    "at_least": (20, 2, "month"),
    "at_most": (1, 10, "month"),
    "top": (20,),
    "bottom": (30,),
    "weights": (3.0,),
    "suppress": (None,),
    "redact": (None,),
    "sparse": (("061",),),
    "date_format": ("%Y-%m-%d",),
}
SAY_ROLES = {"quasi", "sensitive", "identifier", "insensitive", "subject", "pseudonym", "automatic"}


def by_column() -> list[str]:
    """Give the settings that speak of columns."""
    return [
        name
        for name, known in settings_of(Policy).items()
        if known.reader.of_columns and name not in SAY_ROLES
    ]


def test_every_setting_by_column_is_tried() -> None:
    assert set(by_column()) <= set(VALUES)


def publish(role: str, column: str, **said: Any) -> tuple[Any, Any]:
    """Give the published table and what the report says of loss."""
    roles: dict[str, Any] = {"quasi": ["group"], "rest": "drop"}
    if role == "quasi":
        roles["quasi"] = ["group", column]
    elif role == "sensitive":
        roles["sensitive"] = {column: {"t": 0.5, "t_kind": "ordered"}}
    elif role == "rest":
        roles["rest"] = "insensitive"
    elif role != "dropped":
        roles[role] = [column]
    if role in {"insensitive", "rest", "sensitive"}:
        said = {"accept": {column: "it is invented"}, **said}
    release = mh.anonymize(TABLE.select("group", column), k=4, **{**roles, **said})
    return release.table, (
        release.report["utility"],
        release.report["promises"],
        release.report["columns"],
        release.report["doubts"],
        release.report["notes"],
    )


def same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return one[0].equals(other[0]) and one[1] == other[1]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("setting", sorted(VALUES))
def test_a_setting_changes_something_or_is_refused(setting: str, role: str) -> None:
    heard, wordless = 0, []
    for column in COLUMNS:
        plain = publish(role, column)
        for value in VALUES[setting]:
            said: dict[str, Any] = {setting: [column] if value is None else {column: value}}
            try:
                changed = publish(role, column, **said)
            except InvalidParameter as refusal:
                wordless += [(column, value)] if column not in str(refusal) else []
                continue
            except MahremError:
                heard += 1  # it was heard, but there is nothing to publish with it
                continue
            assert not same(plain, changed) or is_said_already(setting, column, value, role), (column, value)
            heard += 1
    if role in {"identifier", "dropped"}:
        assert not heard
    assert not wordless


def is_said_already(setting: str, column: str, value: Any, role: str) -> bool:
    """Say whether a setting says what is found out without it, or what decides only between equals."""
    kinds = {"number": "numeric", "day": "date", "code": "code", "word": "categorical"}
    if setting == "kind":
        return kinds[column] == value or (role == "sensitive" and value == "code")
    if setting in {"order", "hierarchy"}:
        return role == "sensitive"  # of ordered t the order of words is that of their text
    return setting in {"weights", "at_least", "at_most"}  # cells may keep to a bound without being told


# A value of each setting about the whole release, for a table in memory; what says roles is tried elsewhere.
OF_ALL: dict[str, Any] = {
    "rho": (0.1,),
    "smoothing": 1.0,
    "minimum_count": 5,
    "learn_from": TABLE,
    "shift_days": 30,
    "shift_dates": "group",
    "null": ("red",),
    "missing": "suppress",
    "delta_presence": (0, 0.5),
    "trajectory_k": 2,
    "k_map": 5,
    "journalist_risk": 0.2,
    "marketer_risk": 0.2,
    "average_risk": 0.2,
    "population_uniqueness": 0.01,
    "population_uniqueness_kind": "dankar",
    "no_attack": (300.0, 30.0),
    "profitability": (100.0, 300.0, 300.0, 4.0),
    "sample_uniqueness": 0.1,
    "local": True,
    "population": TABLE,
    "known_absence": True,
    "fraction": 0.5,
    "method": "mdav",
    "options": {"rounds": 3},
    "strategy": "relaxed",
    "bounds": "exact",
    "cells": "pairs",
    "jitter": 0.3,
    "repair": True,
    "suppressed": "keep-sensitive",
    "master": "local[2]",
    "memory": "100MB",
    "delimiter": ";",
    "encoding": "cp1254",
    "header": False,
    "names": ("a", "b"),
    "skip_rows": 1,
    "skip_last": 1,
    "query": "SELECT 1",
    "table": "x",
    "format": "parquet",
    "shuffle": False,
    "language": "de",
    "recipient": "the wards",
    "purpose": "beds",
    "rationale": "the board asks for it",
    "reviewer": "the officer",
    "k": 3,
}
# They decide where something is left to decide: between equals, for content that may be there, up to a limit.
LEFT_OPEN = {
    "seed",
    "region",
    "decimal",
    "thousands",
    "rest",
    "suppression_limit",
    "minimality_safe",
    "engine",
    "look_for",
    "seconds",
}


def test_every_setting_of_a_release_is_tried() -> None:
    assert set(settings_of(Policy)) == {*by_column(), *OF_ALL, *LEFT_OPEN, *SAY_ROLES}


@pytest.mark.parametrize("setting", sorted(OF_ALL))
def test_a_setting_of_the_whole_changes_something_or_is_refused_by_name(setting: str, tmp_path: Path) -> None:
    table = TABLE.with_columns(number=pl.Series([5.5 + 7 * (row * row % 31) for row in range(ROWS)]))
    said = {"quasi": ["number", "word"], "sensitive": ["group"], "rest": "drop", "k": 4}

    def told(name: str, **more: Any) -> list[Any]:
        mh.anonymize(table, output=tmp_path / name, **{**said, **more})
        report = json.loads((tmp_path / name / "report.json").read_text(encoding="utf-8"))
        report = {
            key: value for key, value in report.items() if key not in {"settings", "seconds", "created"}
        }
        files = sorted(file.name for file in (tmp_path / name).iterdir())
        drawn = (tmp_path / name / "report.html").read_text(encoding="utf-8")
        page = drawn[:200] + drawn[drawn.index('class="sides"') : drawn.index('class="colophon"')]
        return [report, files, page, next((tmp_path / name).glob("data.*")).read_bytes()]

    refused = None
    try:
        changed = told("changed", **{setting: OF_ALL[setting]})
    except MahremError as error:
        refused = str(error)
    if refused is None:
        plain = told("plain")
        draws = range(40 if setting == "jitter" else 0)  # which may leave every cut where it was, by chance
        again = (told(f"again{draw}", **{setting: OF_ALL[setting]}) != plain for draw in draws)
        assert changed != plain or any(again)
    else:
        assert setting in refused or setting == "options"  # which names the option itself


SAID_OF_TEXT = {
    "delimiter": ";",
    "encoding": "cp1254",
    "header": False,
    "names": ("a", "b"),
    "skip_rows": 2,
}


@pytest.mark.parametrize("form", ["parquet", "arrow", "duckdb", "xlsx"])
def test_what_is_said_of_text_is_refused_where_there_is_none(form: str, tmp_path: Path) -> None:
    rows = TABLE.select("group", "word")
    path = tmp_path / f"table.{form}"
    if form == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.sql("CREATE TABLE people AS SELECT * FROM rows")
    else:
        {"parquet": rows.write_parquet, "arrow": rows.write_ipc, "xlsx": rows.write_excel}[form](path)
    asked = ("delimiter", "encoding") if form == "xlsx" else SAID_OF_TEXT
    for setting in asked:
        with pytest.raises(InvalidParameter, match=setting):
            mh.anonymize(path, quasi=["group"], rest="drop", k=4, **{setting: SAID_OF_TEXT[setting]})
