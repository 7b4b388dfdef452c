"""A cell says the same whatever others are there: however many rows, and of whatever kind a column became."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Facts, Ledger, assert_dp, public_cells
from mahrem.dp.queries import answer_query
from mahrem.table import ColumnDeclaration, read_declarations

numbers = st.one_of(st.integers(0, 49).map(float), st.floats(0, 49))
QUESTIONS = (
    "histogram(x, 7)",
    "sum(x)",
    "mean(x)",
    "variance(x)",
    "quantile(x, 0.5)",
    "count() where x < 35",
)


def asked(question: str) -> Any:
    def pipeline(rows: list[float]) -> Any:
        ledger = Ledger.temporary(epsilon=1, columns={"x": {"lower": 0, "upper": 49}})
        return answer_query(pl.DataFrame({"x": rows}), question, ledger=ledger, epsilon=1).rows

    return pipeline


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_second_row_does_not_move_the_first_over_the_edge_of_a_bin(question: str) -> None:
    # 35 of 49 is the fifth of seven edges: by the inverse of 49 it lies below, divided it lies on it.
    assert_dp(asked(question), [35.0], [35.0, 49.0])


@given(rows=st.lists(numbers, min_size=1, max_size=4), more=numbers, question=st.sampled_from(QUESTIONS))
@settings(max_examples=40, deadline=None)
def test_few_rows_are_told_apart_by_noise_only(rows: list[float], more: float, question: str) -> None:
    assert_dp(asked(question), rows, [*rows, more])


@pytest.mark.parametrize("odd", [b"a", b"3", b"\xff\xfe"])
def test_one_cell_of_bytes_takes_no_word_from_the_others(odd: bytes) -> None:
    words = ["a", "b", "3", "a"]
    facts = Facts(columns=read_declarations({"g": {"categories": ["a", "b"]}, "n": {"lower": 0, "upper": 6}}))
    plain = public_cells(pa.table({"g": words, "n": words}), facts, ["g", "n"])
    coded = pa.array([word.encode() for word in words] + [odd])
    for table in (pa.table({"g": coded, "n": coded}), pl.DataFrame({"g": coded, "n": coded})):
        found = public_cells(table, facts, ["g", "n"])
        for name in ("g", "n"):
            assert np.array_equal(found[name][:4], plain[name], equal_nan=True)


@given(rows=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), width=st.floats(1e-3, 1e6))
@settings(max_examples=60, deadline=None)
def test_a_share_is_what_python_divides(rows: list[float], width: float) -> None:
    facts = Facts(columns={"x": ColumnDeclaration(lower=-5, upper=-5 + width)})
    span = (-5 + width) - (-5)
    shares = public_cells(pl.DataFrame({"x": rows}), facts, ["x"])["x"]
    expected = [min(max((min(max(row, -5), -5 + width) + 5) / span, 0.0), 1.0) for row in rows]
    assert np.array_equal(shares, expected)
    assert all(
        public_cells(pl.DataFrame({"x": [row]}), facts, ["x"])["x"][0] == share
        for row, share in zip(rows, shares, strict=True)
        if not math.isnan(share)
    )
