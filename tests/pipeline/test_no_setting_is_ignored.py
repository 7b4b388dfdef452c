"""Every setting that was given of a column changes what is published, or is refused by its name."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidParameter, MahremError
from mahrem.release import Policy
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
