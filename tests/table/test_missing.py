from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.table import Missing
from mahrem.table.columns import apply_missing

FRAME = pl.DataFrame({"age": [34, None, 7, 8], "zip": ["06100", "06100", None, "34000"]})
OTHER = pl.DataFrame({"note": ["a", "b", "c", None]})


def test_category_keeps_every_row() -> None:
    outcome = apply_missing(FRAME, Missing.CATEGORY)
    assert outcome.keep.all()
    assert not outcome.suppress.any()
    assert (outcome.dropped, outcome.suppressed) == (0, 0)


def test_suppress_keeps_rows_that_show_nothing() -> None:
    outcome = apply_missing(FRAME, Missing.SUPPRESS)
    assert outcome.keep.all()
    assert outcome.suppress.tolist() == [False, True, True, False]
    assert (outcome.dropped, outcome.suppressed) == (0, 2)


def test_drop_leaves_rows_out_and_counts_them() -> None:
    outcome = apply_missing(FRAME, Missing.DROP, other=OTHER)
    assert outcome.keep.tolist() == [True, False, False, True]
    assert (outcome.dropped, outcome.suppressed) == (2, 0)


@pytest.mark.parametrize("other", [OTHER, OTHER.lazy()])
def test_drop_any_looks_at_every_column(other: pl.DataFrame | pl.LazyFrame) -> None:
    assert apply_missing(FRAME, Missing.DROP_ANY, other=other).keep.tolist() == [True, False, False, False]


def test_refuse_says_how_many_rows_and_which_columns_but_no_value() -> None:
    with pytest.raises(InvalidInput, match="2 of 4 rows lack a value in age, zip") as caught:
        apply_missing(FRAME, Missing.REFUSE)
    assert "06100" not in str(caught.value)


def test_refuse_lets_a_complete_table_pass() -> None:
    assert apply_missing(FRAME.drop_nulls(), Missing.REFUSE).keep.all()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.text(max_size=1)), max_size=20),
    st.sampled_from([Missing.CATEGORY, Missing.SUPPRESS, Missing.DROP, Missing.DROP_ANY]),
)
def test_no_row_is_lost_without_being_counted(
    rows: list[tuple[int | None, str | None]], policy: Missing
) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String}, orient="row")
    outcome = apply_missing(frame, policy)
    assert len(outcome.keep) == len(outcome.suppress) == len(rows)
    assert outcome.keep.sum() + outcome.dropped == len(rows)
    assert outcome.suppress.sum() == outcome.suppressed
    assert not (outcome.suppress & ~outcome.keep).any()
