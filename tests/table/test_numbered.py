"""Texts as numbers of the different ones: the same cells in little memory."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from mahrem.table.reading import NumberedTable

ROWS = st.tuples(st.none() | st.sampled_from(["", "a", "A", "ş", "*"]), st.none() | st.integers(0, 3))


@settings(deadline=None, max_examples=60)
@given(st.lists(ROWS, min_size=1, max_size=40), st.integers(1, 9))
def test_parts_give_the_cells_that_came(rows: list[tuple[str | None, int | None]], step: int) -> None:
    frame = pl.DataFrame(rows, schema={"text": pl.String, "number": pl.Int64}, orient="row")
    numbers = NumberedTable(["number", "text"])
    for part in frame.iter_slices(step):
        coded = numbers.add(part)
        assert list(coded) == ["text"]
        assert coded["text"].cast(pl.String).equals(part["text"])
    held = numbers.frame()
    assert_frame_equal(held.with_columns(pl.col("text").cast(pl.String)), frame.select("number", "text"))


@pytest.mark.parametrize("texts", [255, 256, 65_535, 65_536])
def test_a_cell_takes_as_few_bytes_as_it_needs(texts: int) -> None:
    width = 1 if texts < 256 else 2 if texts < 65_536 else 4
    numbers = NumberedTable(["text"])
    cells = pl.Series("text", range(texts)).cast(pl.String)
    for part in (cells.head(10), cells, cells):
        numbers.add(part.to_frame())
    told = numbers.size
    held = numbers.frame()["text"]
    assert held.to_physical().estimated_size() == width * (10 + 2 * texts)
    assert told >= 2 * width * texts + cells.str.len_bytes().sum()
    assert held.cast(pl.String).equals(pl.concat([cells.head(10), cells, cells]))
