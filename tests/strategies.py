"""The one home of hypothesis strategies: awkward little tables."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
from hypothesis import strategies as st

from mahrem.types import Points

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


@st.composite
def points_and_k(draw: st.DrawFn, *, least_k: int = 1, most: int = 300) -> tuple[Points, int]:
    """Points in [-1, 1] and a k they reach: all equal, full of ties, or nowhere equal."""
    k = draw(st.integers(least_k, 6))
    rows, columns = draw(st.integers(k, most)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.sampled_from([1, 2, 2**20]))  # powers of two: what is equal by hand is equal in floats
    return rng.integers(-kinds, kinds, (rows, columns)) / kinds, k
