"""A cell says the same whatever type its column has: as a Python object, in a typed column, and as text."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.table.cells.alone import (
    day_alone,
    number_alone,
    place_alone,
    text_alone,
    texts_of_objects,
    value_alone,
)

cells = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False),
    st.booleans(),
    st.dates(dt.date(1000, 1, 1)),
    st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1)),  # noqa: DTZ001 - clocks of no place
    st.times(),
    st.timedeltas(dt.timedelta(-(10**6)), dt.timedelta(10**6)),
    st.decimals(-1000, 1000, places=3).filter(lambda one: one != 0),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
)
DECLARED = ("1", "2.5", "08:00:00", "2024-01-02", "x", "007")


def said(series: pl.Series) -> tuple[Any, ...]:
    """Everything a column of one cell says."""
    frame, dtype = series.alias("cell").to_frame(), series.dtype
    return tuple(
        frame.select(one).item()
        for one in (
            text_alone("cell", dtype),
            number_alone("cell", dtype),
            day_alone("cell", dtype),
            place_alone("cell", dtype, DECLARED),
        )
    )


@settings(max_examples=40)
@given(cells)
def test_a_cell_says_the_same_in_a_column_of_its_own_kind_and_among_others(cell: Any) -> None:
    typed, written = pl.Series([cell]), texts_of_objects([cell])
    assert said(typed) == said(written)


@pytest.mark.parametrize(
    ("cell", "text", "number", "place"),
    [
        (3, "3", 3.0, None),
        (3.0, "3", 3.0, None),
        ("3.0", "3.0", 3.0, None),
        (1.0, "1", 1.0, 0),
        (" 1 ", "1", 1.0, 0),
        ("2.50", "2.50", 2.5, 1),
        (Decimal("2.50"), "2.5", 2.5, 1),
        (True, "true", 1.0, 0),
        ("TRUE", "TRUE", 1.0, 0),
        (7, "7", 7.0, 5),
        (float("nan"), None, None, None),
        ("", None, None, None),
        (None, None, None, None),
        (dt.datetime(2024, 1, 2, 3, 4, 5, 1000), "2024-01-02T03:04:05.001", None, None),  # noqa: DTZ001
        (dt.datetime(2024, 1, 2), "2024-01-02", None, 3),  # noqa: DTZ001 - as spreadsheets have them
        (dt.datetime(2024, 1, 2, tzinfo=dt.UTC), "2024-01-02", None, 3),
        ("y", "y", None, None),
    ],
)
def test_what_a_cell_says(cell: Any, text: str | None, number: float | None, place: int | None) -> None:
    for series in (pl.Series([cell]), texts_of_objects([cell])):
        heard = said(series)
        assert (heard[0], heard[1], heard[3]) == (text, number, place)


def test_days_of_no_calendar_have_texts_of_their_own_and_end_nothing() -> None:
    far = {
        "day": pl.Series([2**31 - 2, -(2**31), 3789392, 0], dtype=pl.Int32).cast(pl.Date),
        "moment": pl.Series([2**63 - 2, -(2**63) + 2, 327403468800_000_000, 0]).cast(pl.Datetime("us")),
        "instant": pl.Series([2**63 - 2, -(2**63) + 2, 327403468800_000, 0]).cast(pl.Datetime("ms", "UTC")),
    }
    frame = pl.DataFrame(far)
    for written in (text_alone, value_alone):
        read = frame.select(written(name, kind) for name, kind in frame.schema.items())
        assert read.rows()[2:] == [("12345-01-02",) * 3, ("1970-01-01",) * 3]
        assert read.null_count().row(0) == (0, 0, 0)
        assert read["day"].n_unique() == read["moment"].n_unique() == 4


def test_the_last_day_of_duckdb_is_the_infinity_it_was_made_from() -> None:
    relation = duckdb.sql("SELECT 'infinity'::DATE AS day, '-infinity'::TIMESTAMP AS moment")
    assert relation is not None
    frame = pl.DataFrame(relation.to_arrow_table())
    assert frame.select(number_alone(name, kind) for name, kind in frame.schema.items()).row(0) == (
        math.inf,
        -math.inf,
    )


def test_no_object_ends_the_reading_of_the_others() -> None:
    class Angry(int):
        def __int__(self) -> int:
            raise RuntimeError("not a number")

    odd = [Decimal("sNaN"), Decimal("1e999999999"), Fraction(10**400), 10**5000, Angry(3), object(), 1 + 2j]
    assert texts_of_objects([3, *odd, "3"]).to_list() == ["3", *[None] * len(odd), "3"]
    assert texts_of_objects([3 + 0j, 2.5 + 0j]).to_list() == ["3", "2.5"]
    assert texts_of_objects(["a", "\ud800"]).to_list()[0] == "a"
