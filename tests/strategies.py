"""The one home of hypothesis strategies: awkward little tables."""

from __future__ import annotations

from datetime import date

import polars as pl
from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        "flu",
        "gout",
        "a, b",
        "{x}",
        '"quoted"',
        "*",
        "[1, 2]",
        "",
        " blank ",
        "ünal",
        "line\nbreak",
        "=1+1",
        "-x",
    ]
)
NUMBERS = st.integers(-5, 40) | st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: round(x, 2))
DAYS = st.dates(date(1890, 1, 1), date(2030, 12, 31))
ZIPS = st.sampled_from(["06100", "06101", "06200", "34000", "34710", "0", "99999"])
ILLNESSES = st.sampled_from(["flu", "gout", "none", "cancer"])


@st.composite
def tables(draw: st.DrawFn, *, least: int = 6, most: int = 40, missing: bool = True) -> pl.DataFrame:
    """A small table with one quasi-identifier of every kind, a sensitive and an insensitive column."""
    rows = draw(st.integers(least, most))

    def column(values: st.SearchStrategy[object]) -> list[object]:
        with_gaps = st.none() | values if missing else values
        return draw(st.lists(with_gaps, min_size=rows, max_size=rows))

    return pl.DataFrame(
        {
            "age": pl.Series(column(NUMBERS.map(float)), dtype=pl.Float64),
            "born": pl.Series(column(DAYS), dtype=pl.Date),
            "town": pl.Series(column(WORDS), dtype=pl.String),
            "zip": pl.Series(column(ZIPS), dtype=pl.String),
            "illness": pl.Series(column(ILLNESSES), dtype=pl.String),
            "note": pl.Series(column(WORDS), dtype=pl.String),
        }
    )
