from __future__ import annotations

import hashlib
import hmac
import stat
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed, PrivacyWarning
from mahrem.table.columns import make_key, pseudonyms, read_key

KEY = bytes(range(32))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.text(st.characters(exclude_categories=("Cs",)), max_size=4), max_size=30))
def test_pseudonyms_are_the_keyed_hash_of_each_value(values: list[str | None]) -> None:
    shown = pseudonyms(pl.Series("id", values, dtype=pl.String), KEY)
    expected = [
        None if value is None else hmac.new(KEY, value.encode(), hashlib.sha256).hexdigest()[:32]
        for value in values
    ]
    assert shown.name == "id"
    assert shown.to_list() == expected


def test_one_person_has_one_pseudonym_whatever_the_type() -> None:
    as_text = pseudonyms(pl.Series(["7", "-12", None]), KEY).to_list()
    assert pseudonyms(pl.Series([7, -12, None]), KEY).to_list() == as_text
    assert pseudonyms(pl.Series([7.0, -12.0, float("nan")]), KEY).to_list() == as_text
    assert pseudonyms(pl.Series(["7", "-12", None], dtype=pl.Categorical), KEY).to_list() == as_text


def test_another_key_gives_other_pseudonyms() -> None:
    column = pl.Series(["a", "b"])
    assert set(pseudonyms(column, KEY)).isdisjoint(pseudonyms(column, KEY[::-1]))


def test_short_keys_and_nested_values_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="at least 16"):
        pseudonyms(pl.Series(["a"]), b"short")
    with pytest.raises(InvalidInput, match="column='l'"):
        pseudonyms(pl.Series("l", [[1]]), KEY)


def test_a_key_is_made_once_and_privately(tmp_path: Path) -> None:
    path = tmp_path / "key"
    key = make_key(path)
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(path) == key
    with pytest.raises(InvalidParameter, match="already there"):
        make_key(path)
    assert read_key(path) == key
    assert make_key(tmp_path / "other") != key


def test_a_key_that_others_can_read_is_warned_about(tmp_path: Path) -> None:
    path = tmp_path / "key"
    make_key(path)
    path.chmod(0o644)
    with pytest.warns(PrivacyWarning, match="chmod 600"):
        read_key(path)


def test_keys_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read_key(tmp_path / "nothing")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read_key(tmp_path)
    short = tmp_path / "short"
    short.write_bytes(b"abc")
    with pytest.raises(InvalidParameter, match="3 bytes"):
        read_key(short)
    with pytest.raises(OutputFailed):
        make_key(tmp_path / "nowhere" / "key")
