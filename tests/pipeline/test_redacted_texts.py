"""Free text is published redacted or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import GivesAway, InvalidParameter

pytestmark = pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")

NOTES = [
    "Emine Demir called at 0532 123 45 {n} and wants another appointment next week",
    "pain in the left knee, write to knee{n}@example.org before the fifth visit",
    "blood pressure raised again, lives at {n} Maple Street with her mother",
    "no change since the last visit, number 123456789{n} was on the old card",
]
TABLE = pl.DataFrame(
    {
        "age": [20 + place for place in range(40)],
        "ill": ["flu", "gout"] * 20,
        "note": [None, *(NOTES[place % 4].format(n=10 + place) for place in range(1, 40))],
    }
)
SAID: dict[str, Any] = {
    "quasi": ["age"],
    "sensitive": ["ill"],
    "insensitive": ["note"],
    "k": 4,
    "shuffle": False,
}


def test_texts_are_refused_raw_and_published_redacted(tmp_path: Path) -> None:
    with pytest.raises(GivesAway, match="note"):
        mh.anonymize(TABLE, **SAID)
    release = mh.anonymize(TABLE, redact=["note"], output=tmp_path / "out", **SAID)
    shown = release.table["note"]
    assert shown[0] is None
    assert shown[1] == "pain in the left knee, write to [email] before the fifth visit"
    assert not shown.str.contains(r"Emine|Demir|Maple|@|[0-9]{4}").any()
    assert any(note["code"] == "warning.redacted" for note in release.report["notes"])
    again = mh.apply(tmp_path / "out", TABLE)
    assert again.table["note"].to_list()[1] == shown[1]


@pytest.mark.parametrize("said", [{"redact": ["age"]}, {"redact": ["note"], "prefix": {"note": 3}}])
def test_what_is_no_text_is_not_redacted(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match="redact"):
        mh.anonymize(TABLE, **SAID, **said)


def test_numbers_cannot_be_redacted() -> None:
    with pytest.raises(InvalidParameter, match="text"):
        mh.anonymize(TABLE.drop("note"), quasi=["ill"], insensitive=["age"], redact=["age"], k=4)
