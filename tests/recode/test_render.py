from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

from mahrem.errors import InvalidParameter
from mahrem.recode import Intervals, Sets, render
from mahrem.table import Column, Kind, Role, encode_quasi

LABELS = np.array([0, 0, 1, -1])


def cells_of(values: list[object], kind: Kind, recoding: Intervals | Sets) -> list[list[pl.Series]]:
    axis = encode_quasi(pl.Series("x", values), Column(name="x", role=Role.QUASI, kind=kind))
    cells = recoding(axis, LABELS, 2)
    return [render(cells, LABELS, how, "x") for how in ("text", "pairs", "midpoint")]


def test_numbers_as_text_pairs_and_midpoints() -> None:
    text, pairs, middle = cells_of([1, 4, 7, 9], Kind.NUMERIC, Intervals(bounds="exact"))
    assert [series.name for series in (*text, *pairs, *middle)] == ["x", "x_min", "x_max", "x"]
    assert text[0].to_list() == ["[1, 4]", "[1, 4]", "7", "*"]
    assert [series.to_list() for series in pairs] == [[1, 1, 7, None], [4, 4, 7, None]]
    assert middle[0].to_list() == [2.5, 2.5, 7.0, None]


def test_days_have_a_day_in_the_middle() -> None:
    days = [date(1969, 12, 1), date(1969, 12, 4), date(2024, 1, 1), date(2024, 1, 1)]
    _, pairs, middle = cells_of(list(days), Kind.DATE, Intervals(bounds="exact"))
    assert pairs[0].dtype == pl.Date
    assert middle[0].to_list() == [date(1969, 12, 2), date(1969, 12, 2), date(2024, 1, 1), None]


def test_the_middle_of_huge_ends_does_not_overflow() -> None:
    middle = cells_of([1e308, 1.5e308, 1.0, 1.0], Kind.NUMERIC, Intervals(bounds="exact"))[2]
    assert middle[0].to_list() == [1.25e308, 1.25e308, 1.0, None]


def test_words_are_written_as_text_in_every_form() -> None:
    for forms in cells_of(["a", "b", "c", "c"], Kind.CATEGORICAL, Sets()):
        assert [series.name for series in forms] == ["x"]
        assert forms[0].to_list() == ["{a, b}", "{a, b}", "c", "*"]


def test_an_unknown_form_is_refused() -> None:
    axis = encode_quasi(pl.Series("x", [1]), Column(name="x", role=Role.QUASI, kind=Kind.NUMERIC))
    with pytest.raises(InvalidParameter, match="how="):
        render(Intervals()(axis, np.zeros(1, np.int64), 1), np.zeros(1, np.int64), "mean", "x")  # type: ignore[arg-type]


def test_no_rows_give_no_rows() -> None:
    axis = encode_quasi(pl.Series("x", [1]), Column(name="x", role=Role.QUASI, kind=Kind.NUMERIC))
    cells = Intervals()(axis, np.zeros(1, np.int64), 1)
    assert render(cells, np.empty(0, np.int64), "text", "x")[0].to_list() == []
