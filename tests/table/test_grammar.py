from __future__ import annotations

import math
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mahrem.table import Exact, Members, MissingCell, Prefix, Range, Suppressed, read_cell, read_ranges
from mahrem.table.cells import write_labels, write_prefixes, write_ranges, write_set


def write_range(low: float | date, high: float | date) -> str:
    kind: pl.DataType | None = pl.Datetime("us") if isinstance(low, datetime) else None
    if isinstance(low, float) or isinstance(high, float):
        kind = pl.Float64()
    text: str = write_ranges(pl.Series([low], dtype=kind), pl.Series([high], dtype=kind)).item()
    return text


TRICKY = [
    "",
    "*",
    "**",
    "a*",
    "[1, 2]",
    "[",
    "{a, b}",
    "}",
    '"',
    '""',
    '"a"',
    "a,b",
    " a",
    "a ",
    "\n",
    "a\nb",
    ",",
]
words = st.text(max_size=6) | st.sampled_from(TRICKY) | st.text(alphabet='*[]{}", a\n', max_size=5)


@settings(max_examples=200, deadline=None)
@given(words)
def test_a_lone_value_is_read_back(word: str) -> None:
    assert read_cell(write_set([word])) == Exact(word)
    assert write_set([word]) == write_labels(pl.Series([word])).item()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.none() | words, min_size=2, max_size=5))
@example(["a", None])
@example([None, None])
@example(["", None])
def test_a_set_is_read_back(members: list[str | None]) -> None:
    assert read_cell(write_set(members)) == Members(tuple(members))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=5) | st.text(alphabet='*[{"0', min_size=1, max_size=4), st.integers(1, 4))
def test_a_prefix_is_read_back(beginning: str, more: int) -> None:
    length = len(beginning) + more
    cell = read_cell(write_prefixes(pl.Series([beginning], dtype=pl.String), length).item())
    assert cell == (Prefix(beginning, length) if beginning else Suppressed())


@settings(max_examples=200, deadline=None)
@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_ranges_of_floats_are_read_back(one: float, two: float) -> None:
    low, high = sorted([one, two])
    text = write_range(low, high)
    cell = read_cell(text)
    match cell:
        case Range(first, last):
            assert (float(first), float(last)) == (low, high)
        case Exact(only):
            assert float(only) == low == high
        case _:
            pytest.fail(text)
    first, last = read_ranges(pl.Series([text]))
    assert (first[0], last[0]) == (low, high)


@settings(max_examples=100, deadline=None)
@given(st.integers(-(2**53), 2**53), st.integers(0, 2**53))
def test_ranges_of_whole_numbers_have_no_point(low: int, width: int) -> None:
    text = write_range(low, low + width)
    assert "." not in text
    assert text == (f"[{low}, {low + width}]" if width else str(low))
    assert [end[0] for end in read_ranges(pl.Series([text]))] == [low, low + width]


@settings(max_examples=100, deadline=None)
@given(st.dates(), st.dates())
def test_ranges_of_days_are_read_back(one: date, two: date) -> None:
    low, high = sorted([one, two])
    text = write_range(low, high)
    if low < high:
        assert read_cell(text) == Range(low.isoformat(), high.isoformat())
    epoch = date(1970, 1, 1)
    assert [end[0] for end in read_ranges(pl.Series([text]))] == [(low - epoch).days, (high - epoch).days]


@settings(max_examples=100, deadline=None)
@given(st.datetimes(), st.datetimes())
def test_ranges_of_moments_are_read_back(one: datetime, two: datetime) -> None:
    low, high = sorted([one, two])
    text = write_range(low, high)
    cell = read_cell(text)
    ends = (cell.low, cell.high) if isinstance(cell, Range) else (text, text)
    assert tuple(map(datetime.fromisoformat, ends)) == (low, high)
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001 - a clock on the wall
    ticks = [(end - epoch) / timedelta(microseconds=1) for end in (low, high)]
    assert [end[0] for end in read_ranges(pl.Series([text]))] == ticks


def test_cells_of_each_form() -> None:
    assert read_cell(None) == read_cell("") == MissingCell()
    assert read_cell("*") == Suppressed()
    assert read_cell("[-5, -2.5]") == Range("-5", "-2.5")
    assert read_cell("[-inf, 1e+300]") == Range("-inf", "1e+300")
    assert read_cell("{a, b}") == Members(("a", "b"))
    assert read_cell("{a, }") == Members(("a", None))
    assert read_cell('{"", a}') == Members(("", "a"))
    assert read_cell("061**") == Prefix("061", 5)
    assert read_cell("Berlin") == Exact("Berlin")


@pytest.mark.parametrize("text", ["[red, blue]", "{a", '"a', "{a}b", '{"a"b}', "[1, 2)"])
def test_foreign_text_of_no_form_is_a_value(text: str) -> None:
    assert read_cell(text) == Exact(text)


def test_writing_by_column_keeps_missing_ends_missing() -> None:
    cells = write_ranges(pl.Series([1, None, 3]), pl.Series([2, None, 3]))
    assert cells.to_list() == ["[1, 2]", None, "3"]


def test_reading_ranges_leaves_out_what_is_no_range() -> None:
    low, high = read_ranges(pl.Series(["[1, 2]", "3", "*", None, "{a, b}", "x", "061**", '"5"']))
    assert low[:2].tolist() == [1, 3]
    assert high[:2].tolist() == [2, 3]
    assert np.isnan(low[2:]).all()
    assert np.isnan(high[2:]).all()


def test_days_beside_moments_are_read_in_microseconds() -> None:
    low, high = read_ranges(pl.Series(["1970-01-02", "[1970-01-02T00:00:00, 1970-01-02T00:00:01]", "*"]))
    assert low[:2].tolist() == [86_400e6, 86_400e6]
    assert high[:2].tolist() == [86_400e6, 86_401e6]
    assert math.isnan(low[2])


def test_typed_columns_are_read_as_points() -> None:
    low, high = read_ranges(pl.Series([1, None, 3]))
    assert low.tolist()[::2] == high.tolist()[::2] == [1, 3]
    assert read_ranges(pl.Series([date(1970, 1, 3)]))[0].tolist() == [2]
