"""Codes of digits are numbered by counting, as sorting them as text would."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.table.columns import _encode

CODES = st.lists(
    st.none() | st.sampled_from(["00", "07", "70", "99", "10"]) | st.from_regex(r"\A[0-9]{2}\Z"),
    min_size=100,
    max_size=140,
)
ODD = st.sampled_from(["+7", " 7", "7 ", "-7", "7", "007", "\u0660\u0661", "0x", "", "1.", "é"])


def by_hand(text: list[str | None]) -> tuple[list[str], list[float]]:
    labels = sorted({value for value in text if value is not None}, key=str.encode)
    places = {value: float(number) for number, value in enumerate(labels)}
    return labels, [np.nan if value is None else places[value] for value in text]


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_encode, "_MANY", 1)


@settings(max_examples=30, deadline=None)
@given(CODES, st.lists(ODD, max_size=2))
def test_counting_gives_the_places_that_sorting_gives(codes: list[str | None], odd: list[str]) -> None:
    text = [*codes, *odd]
    labels, places = _encode.sorted_places(pl.Series("zip", text, dtype=pl.String))
    wanted, at = by_hand(text)
    assert labels.to_list() == wanted
    assert labels.name == "zip"
    np.testing.assert_array_equal(places, at)


def test_equally_long_digits_are_counted_and_others_are_not() -> None:
    digits = pl.Series([f"{number:02d}" for number in range(100)])
    assert _encode._digit_places(digits) is not None
    assert _encode._digit_places(pl.concat([digits, pl.Series(["+7"])])) is None
    assert _encode._digit_places(pl.concat([digits, pl.Series(["123"])])) is None
    assert _encode._digit_places(pl.Series(["1234567", "7654321"])) is None
