from __future__ import annotations

from datetime import date, datetime, time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.table import Kind
from mahrem.table.columns import infer_kind


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        (pl.Series([1, 2], dtype=pl.UInt8), Kind.NUMERIC),
        (pl.Series([1.5, None]), Kind.NUMERIC),
        (pl.Series(["1.10"]).cast(pl.Decimal(10, 2)), Kind.NUMERIC),
        (pl.Series([date(2024, 1, 1)]), Kind.DATE),
        (pl.Series([datetime(2024, 1, 1, 12)]), Kind.DATE),  # noqa: DTZ001 - a clock on the wall
        (pl.Series([True, False]), Kind.CATEGORICAL),
        (pl.Series(["a"], dtype=pl.Categorical), Kind.CATEGORICAL),
        (pl.Series(["1"], dtype=pl.Enum(["1"])), Kind.CATEGORICAL),
        (pl.Series([time(12)]), Kind.CATEGORICAL),
        (pl.Series([None, None]), Kind.CATEGORICAL),
        (pl.Series([None], dtype=pl.String), Kind.CATEGORICAL),
        (pl.Series([], dtype=pl.String), Kind.CATEGORICAL),
        (pl.Series(["1", " 2.5 ", None, "-3e4"]), Kind.NUMERIC),
        (pl.Series(["1", "x"]), Kind.CATEGORICAL),
        (pl.Series(["x", "1"]), Kind.CATEGORICAL),
        (pl.Series(["06100", "34000"]), Kind.CODE),
        (pl.Series(["34000", "06100"]), Kind.CODE),
        (pl.Series(["0", "0.5"]), Kind.NUMERIC),
        (pl.Series(["00"]), Kind.CODE),
        (pl.Series(["nan", "NaN"]), Kind.CATEGORICAL),
        (pl.Series(["1", "inf"]), Kind.NUMERIC),
        (pl.Series(["2024-12-31", None]), Kind.DATE),
        (pl.Series(["2024-12-31T10:00:00", "2024-12-31 10:00", "2024-12-31"]), Kind.DATE),
        (pl.Series(["2024-12-31T10:00:00.123Z"]), Kind.DATE),
        (pl.Series(["31.12.2024", "1.2.2024"]), Kind.DATE),
        (pl.Series(["12.31.2024"]), Kind.CATEGORICAL),
        (pl.Series(["2024-02-30"]), Kind.CATEGORICAL),
        (pl.Series(["2024-12-31", "soon"]), Kind.CATEGORICAL),
        (pl.Series(["1_000", "0x1"]), Kind.CATEGORICAL),
    ],
)
def test_kinds_are_seen_in_types_and_in_text(series: pl.Series, kind: Kind) -> None:
    assert infer_kind(series) is kind


def test_a_decimal_comma_counts_only_where_it_is_said() -> None:
    assert infer_kind(pl.Series(["1,5", "2"])) is Kind.CATEGORICAL
    assert infer_kind(pl.Series(["1,5", "2"]), decimal=",") is Kind.NUMERIC
    assert infer_kind(pl.Series(["1.5", "2"]), decimal=",") is Kind.CATEGORICAL
    assert infer_kind(pl.Series(["31.12.2024"]), decimal=",") is Kind.DATE


def test_the_last_of_many_values_is_looked_at() -> None:
    assert infer_kind(pl.Series([*["1"] * 100_000, "x"])) is Kind.CATEGORICAL
    assert infer_kind(pl.Series([*["1"] * 100_000, "01"])) is Kind.CODE


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**12), 10**12), min_size=1)
)
def test_numbers_written_as_text_are_numbers(values: list[float]) -> None:
    assert infer_kind(pl.Series([str(value) for value in values])) is Kind.NUMERIC


@pytest.mark.parametrize("text", ["06100", "0999999", " 07", "00"])
def test_one_leading_zero_anywhere_makes_a_code(text: str) -> None:
    assert infer_kind(pl.Series(["5", "12", text, "0", "0.5"][:3])) is Kind.CODE
    assert infer_kind(pl.Series(["5", "12", "0", "0.5", "-0.5"])) is Kind.NUMERIC
