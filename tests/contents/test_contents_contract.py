"""What holds for every table: no cell is shown, order and doubling of rows do not matter, nothing breaks."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelled_columns import labelled_columns
from mahrem.contents import CONTENTS, Contents, count_distinct, look_into, look_into_column

COLUMNS = list(labelled_columns(9, sizes=(30,)))
texts = st.lists(st.one_of(st.none(), st.text(max_size=40)), min_size=1, max_size=30)
settled = settings(max_examples=25, deadline=None)


def said(contents: Contents) -> str:
    return json.dumps(contents.as_dict(), ensure_ascii=False) + repr(contents)


def test_no_finding_shows_a_cell() -> None:
    for column in COLUMNS:
        told = said(look_into(pl.DataFrame({"x": column.cells})))
        long = {
            cell for cell in column.cells.drop_nulls().cast(pl.String).str.strip_chars() if len(cell) >= 6
        }
        assert not any(cell in told for cell in long), column.kind
        assert not any(cell in repr(count_distinct(column.cells)) for cell in long)


@given(st.sampled_from(COLUMNS), st.randoms(use_true_random=False))
@settled
def test_order_and_doubling_of_rows_change_no_share(column, random) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    order = list(range(len(column.cells)))
    random.shuffle(order)
    once = look_into_column(count_distinct(column.cells))
    moved = look_into_column(count_distinct(column.cells[order]))
    assert moved == once
    doubled = look_into_column(count_distinct(pl.concat([column.cells, column.cells])))
    shares = {finding.kind: finding.share for finding in once if finding.kind != "record"}
    again = {finding.kind: finding.share for finding in doubled}
    # Near uniqueness is what a record number is: doubled rows have none.
    for kind in shares.keys() & again.keys():
        assert again[kind] == pytest.approx(shares[kind])
    if column.kind in {"email", "tckn", "iban", "name", "address", "birth-date", "phone"}:
        assert shares.keys() == again.keys()


@given(texts)
@settled
def test_any_text_is_looked_at_without_a_stumble(cells: list[str | None]) -> None:
    told = look_into(pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)}))
    assert all(0 < finding.share <= 1 and 0 <= finding.confidence <= 1 for finding in told.of("x"))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([None] * 5),
        pl.Series([], dtype=pl.String),
        pl.Series([True, False, None]),
        pl.Series([1.5, float("nan"), float("inf")]),
        pl.Series([2**63 - 1, -(2**63)], dtype=pl.Int64),
        pl.Series([2**64 - 1], dtype=pl.UInt64),
        pl.Series([1e300, -1e300]),
        pl.Series([[1], [2]]),
        pl.Series([{"a": 1}]),
        pl.Series([b"abc", b"\xff"]),
        pl.Series([dt.date(2020, 1, 1), None]),
        pl.Series([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)]),
        pl.Series([dt.time(3, 4)]),
        pl.Series([dt.timedelta(days=3)]),
        pl.Series(["a", "b"], dtype=pl.Categorical),
        pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
        pl.Series(["1.10"]).cast(pl.Decimal(10, 2)),
        pl.Series([object()], dtype=pl.Object),
        pl.Series(["x" * 1_000_000, "\x00", "\U0001f600"]),
    ],
    ids=lambda column: str(column.dtype) if isinstance(column, pl.Series) else None,
)
def test_every_type_of_column_is_looked_at(column: pl.Series) -> None:
    frame = pl.DataFrame({"x": column, "y": column})
    assert set(look_into(frame).columns) == {"x", "y"}


def test_a_finding_of_a_checked_kind_is_confirmed_by_stdnum() -> None:
    from importlib import import_module

    from mahrem.contents._numbers import CheckedNumber

    for column in COLUMNS:
        cells = count_distinct(column.cells)
        for finding in look_into_column(cells):
            detector = CONTENTS[finding.kind].load()
            if isinstance(detector, CheckedNumber) and detector.module and not detector.width:
                accepts = import_module(f"stdnum.{detector.module}").is_valid
                share = cells.counts[[bool(accepts(text)) for text in cells.compact]].sum() / cells.present
                assert share >= finding.share - 1e-9


def test_a_table_without_columns_holds_nothing() -> None:
    assert look_into(pl.DataFrame()).columns == {}
