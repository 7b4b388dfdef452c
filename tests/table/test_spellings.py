"""One value, one reading: whatever a program makes of a whole column, each cell of it says the same."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.table import Reading, open_source
from mahrem.table.cells.alone import day_alone, number_alone, place_alone, value_alone
from mahrem.table.cells.spellings import are_words, numbers_of, one_spelling

DECLARED = ("3", "2.5", "2024-01-02", "x", "08:00:00", "yes", "f", "2024-01-02T13:05:00", "97200000000")
# Spellings of one value in each line: what libraries write for it, depending on the rows beside it.
SPELLINGS: tuple[tuple[str, ...], ...] = (
    ("3", "3.0", "3e0", "+3", "3.", "03", "3.00", " 3 ", "0x3", "30e-1"),
    ("100000000000000001", "100000000000000000", "1e17", "100000000000000001.0", "+1.0e+17"),
    ("9007199254740993", "9007199254740992", "9007199254740993.00", "09007199254740993"),
    ("99999999912e5", "9999999991200000", "9999999991200000.0"),
    ("-12345678901234567890123", "-12345678901234567890123.5", "-1.2345678901234568e22"),
    ("0.5", ".5", "0.50", "5e-1"),
    ("-0", "0", "0.0", "-0.0"),
    ("inf", "Infinity", "infinity", "+inf", "1e999"),
    ("-inf", "-Infinity", "-1e999"),
    ("true", "True", "TRUE", "t", "T", "yes"),
    ("false", "False", "FALSE", "f", "F", "no"),
    ("", " ", "nan", "NaN", "-nan", "NA", "N/A", "#N/A", "NULL", "null"),
    (
        "08:00:00",
        "8:00:00",
        "08:00",
        "8:00",
        "08:00:00.000000",
        "0 days 08:00:00",
        "0 days 08:00:00.000000",
        "PT8H",
        "P0DT8H0M0S",
        "PT8H0M0S",
        "T08:00:00",
        "8:0",
        "8:0:0",
        "07:59:60",
        "08:00:00+00:00",
        "28800000000",
    ),
    ("1 days 03:00:00", "1 day, 3:00:00", "1 day 03:00:00", "P1DT3H", "P1DT3H0M0S", "27:00:00", "27 hours"),
    ("-1 days +21:00:00", "-1 day, 21:00:00", "-03:00:00", "-PT3H", "P-1DT21H0M0S"),
    ("33 days", "1 month 3 days", "33 days 00:00:00", "1 mon 3 days", "P33D"),
    ("200000 days", "P200000D", "17280000000000000", "4800000 hours"),
    ("3 days", "3 days 00:00:00", "3 days, 0:00:00", "P3D", "P3DT0H0M0S"),
    (
        "2024-01-02",
        "2024-01-02 00:00:00",
        "2024-01-02T00:00:00",
        "2024-01-02T00:00",
        "2024-1-2",
        "2024/01/02",
        "02.01.2024",
        "2024-01-02 00:00:00+00:00",
        "2024-01-02T00:00:00.000000000",
        "2024-01-02T00:00:00Z",
        "2024-01-02 00:00:00+00",
        "2024-01-02 05:45:00+05:45",
    ),
    (
        "2024-01-02 13:05:00",
        "2024-01-02T13:05:00",
        "2024-01-02T13:05",
        "2024-01-02 13:05:00.000000",
        "2024-01-02T13:05:00.000",
        "2024-01-02 13:05:00+00:00",
        "2024-01-02 18:50:00+0545",
        "2024-1-2 13:5",
        "2024-1-2 13:5:0",
        "2024-01-02 13:05:00 UTC",
        "2024-01-02 13:05:00.0000009",
        "2024-01-02 14:05:00 Europe/Berlin",
        "2024-01-02 13:04:60",
    ),
    ("2024-01-02 13:05:00.1234567", "2024-01-02 13:05:00.123456", "2024-01-02T13:05:00.123456999"),
    ("2024-01-03", "2024-01-02 24:00:00", "2024-01-02 23:59:60"),
    ("2024-10-27T01:30:00", "2024-10-27 02:30:00 Europe/Berlin"),  # an hour that comes twice
    ("2024-03-31T01:30:00", "2024-03-31 02:30:00 Europe/Berlin"),  # and one that is left out
    ("12345-01-02", "012345-01-02", "12345-01-02 00:00:00", "+12345-01-02"),
    ("12345-01-02 13:05:00", "12345-01-02T13:05"),
    ("0044-03-15 (BC)", "-0043-03-15", "0044-03-15 (BC) 00:00:00"),
    ("0001-01-01 (BC)", "0000-01-01"),
    ("1", "0b1", "0x1", "1.0", "0B1"),
    ("1970-01-01", "epoch"),
)
WORDS = ("x", "y", "ward 3", "P", "PT", "T", "days", "1_000", "2024-02-30", "8 am", "1,5", "None", "08:61")
WORDS += (
    "12345-67-89",
    "2 b (BC)",
    "(BC)",
    "0044-03-15 BC",
    "2024-01-02 13:05:00 Europe/Nowhere",
    "030-12345-67",
)
READERS: Mapping[str, Callable[[Path], object]] = {
    "ours": lambda path: path,
    "pandas": pd.read_csv,
    "pandas, Arrow types": lambda path: pd.read_csv(path, dtype_backend="pyarrow"),
    "pandas by pyarrow": lambda path: pd.read_csv(path, engine="pyarrow"),
    "polars": pl.read_csv,
    "polars, days": lambda path: pl.read_csv(path, try_parse_dates=True),
    "pyarrow": pyarrow.csv.read_csv,
    "DuckDB": lambda path: duckdb.read_csv(str(path)).to_arrow_table(),
}
# One more record with one of these is enough for most readers to take the column for something else.
BESIDE = ("words", "2.5", "2024-01-05", "2024-01-05 13:05:00.5", "09:30:00.25", "true", "f", "", "inf", "0x1")


def said(table: object) -> list[tuple[Any, ...]]:
    """What the cells of the first row say: their value and their number, from which all else is read."""
    source = open_source(table, Reading(by_cell=True))
    row = source.take(list(source.columns))[:1]
    heard: dict[str, tuple[Any, ...]] = {}
    kinds = dict(row.schema)
    for kind in set(kinds.values()):  # columns of one type at once, which is quicker
        names = [name for name, known in kinds.items() if known == kind]
        cells = pl.concat([row[name].alias("cell") for name in names], rechunk=True).to_frame()
        read = cells.select(value_alone("cell", kind), number_alone("cell", kind).alias("number"))
        heard |= dict(zip(names, read.rows(), strict=True))
    return [heard[name] for name in kinds]


def texts_said(texts: Sequence[str]) -> list[tuple[Any, ...]]:
    return said(pl.DataFrame({f"c{place}": [text] for place, text in enumerate(texts)}))


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda line: line[0] or "missing")
def test_every_spelling_of_a_value_says_the_same(spellings: tuple[str, ...]) -> None:
    heard = texts_said(spellings)
    assert len(set(heard)) == 1, dict(zip(spellings, heard, strict=True))
    frame = pl.DataFrame({"cell": spellings})
    days, places = (
        frame.select(day_alone("cell", pl.String())).to_series(),
        frame.select(place_alone("cell", pl.String(), DECLARED)).to_series(),
    )
    assert days.n_unique() == places.n_unique() == 1
    once = one_spelling(pl.Series(spellings))
    assert one_spelling(once).to_list() == once.to_list()


@given(st.from_regex(r"\A[+-]?[0-9]{1,25}([.][0-9]{0,9})?(e[+-]?[0-9]{1,3})?\Z"))
def test_what_was_spelled_once_is_spelled_no_other_way_again(text: str) -> None:
    once = one_spelling(pl.Series([text]))
    assert one_spelling(once).to_list() == once.to_list()
    assert numbers_of(once).to_list() == numbers_of(pl.Series([text])).to_list()


def test_a_word_stays_as_it_is() -> None:
    assert one_spelling(pl.Series(WORDS)).to_list() == [word if word != "T" else "1" for word in WORDS]
    assert numbers_of(pl.Series([word for word in WORDS if word != "T"])).null_count() == len(WORDS) - 1
    assert are_words(["ward 3"])
    assert not any(are_words([text]) for line in SPELLINGS for text in line if text != "1970-01-01")


@pytest.mark.parametrize("reader", READERS)
def test_what_a_program_takes_a_whole_column_for_changes_no_cell(reader: str, tmp_path: Path) -> None:
    spellings = [text for line in SPELLINGS for text in line if text.strip()]
    spellings += [word for word in WORDS if word != "None"]  # which pandas never reads
    wanted = texts_said(spellings)
    path, tried = tmp_path / "cells.csv", 0
    for beside in (None, *BESIDE):
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, quoting=csv.QUOTE_MINIMAL)
            writer.writerow(f"c{place}" for place in range(len(spellings)))
            writer.writerow(spellings)
            for _ in range(2):
                writer.writerow(spellings if beside is None else [beside] * len(spellings))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table = READERS[reader](path)
        except Exception:  # noqa: BLE001, S112 - nobody has a table that its reader refuses
            continue
        tried += 1
        for text, one, other in zip(spellings, said(table), wanted, strict=True):
            assert one == other, (text, beside)
    assert tried > len(BESIDE) / 2


def _written(columns: Mapping[str, list[Any]], folder: Path) -> Iterator[object]:
    """Give columns in the forms that people pass on, as far as their libraries can write them."""
    frame = pd.DataFrame({name: pd.Series(cells) for name, cells in columns.items()})
    yield frame
    yield frame.convert_dtypes()
    frame.to_csv(folder / "cells.csv", index=False)
    yield folder / "cells.csv"
    arrays = {name: _arrow(frame[name]) for name in frame}
    yield pa.table({name: array for name, array in arrays.items() if array is not None})
    stored = {name: _duckdb(frame[[name]]) for name in frame}
    yield pa.table({name: array for name, array in stored.items() if array is not None})


def _duckdb(frame: pd.DataFrame) -> pa.ChunkedArray | None:
    with contextlib.suppress(duckdb.Error):
        return duckdb.from_df(frame).to_arrow_table().column(0)
    return None


def _arrow(column: pd.Series[Any]) -> pa.Array | None:
    with contextlib.suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array(column, from_pandas=True)
    return None


numbers = st.one_of(
    st.integers(-(10**6), 10**6),
    st.integers(2**53, 10**25),
    st.decimals(-1000, 1000, places=2).map(float),
)
KINDS: Mapping[str, tuple[st.SearchStrategy[Any], tuple[Callable[[Any], Any], ...]]] = {
    "number": (numbers, (float, str, lambda one: Decimal(str(one)), lambda one: f"{one:.2f}", np.float64)),
    "truth": (st.booleans(), (bool, str, lambda one: str(one).lower(), int, float)),
    "day": (
        st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1)),
        (
            str,
            pd.Timestamp,
            np.datetime64,
            lambda day: f"{day} 00:00:00",
            lambda day: pd.Timestamp(day, tz="UTC"),
        ),
    ),
    "time": (
        st.times(),
        (
            str,
            lambda one: one,
            lambda one: dt.datetime.combine(dt.date(2000, 1, 1), one) - dt.datetime(2000, 1, 1),  # noqa: DTZ001
            lambda one: pd.Timedelta(str(one)),
        ),
    ),
    "span": (
        st.timedeltas(dt.timedelta(-(10**5)), dt.timedelta(10**5)),
        (
            str,
            lambda one: one,
            pd.Timedelta,
            np.timedelta64,
            lambda one: str(pd.Timedelta(one)),
            lambda one: pd.Timedelta(one).isoformat(),
        ),
    ),
    "moment": (
        st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1)),  # noqa: DTZ001 - clocks of no place
        (
            str,
            pd.Timestamp,
            lambda one: one,
            lambda one: one.isoformat(),
            lambda one: pd.Timestamp(one, tz="UTC"),
        ),
    ),
}
ODD = (
    None,
    float("nan"),
    "word",
    2.5,
    dt.date(2024, 1, 5),
    pd.Timestamp("2024-01-05 13:05"),
    dt.time(9, 30),
    True,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_read_alike_in_every_form_beside_every_record(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    values, forms = KINDS[kind]
    folder = tmp_path_factory.mktemp("forms")

    @settings(max_examples=4)
    @given(values)
    def read_alike(value: object) -> None:
        cells = [form(value) for form in forms]
        columns = {
            f"{form} {place}": [cell, odd]
            for form, cell in enumerate(cells)
            for place, odd in enumerate((cell, *ODD))
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            heard = [set(said(table)) for table in _written(columns, folder)]
        assert len(set.union(*heard)) == 1, heard

    read_alike()
