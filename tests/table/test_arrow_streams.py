from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mahrem.errors import InvalidInput
from mahrem.table import as_polars, hold, open_source

COLUMNS = {"age": [31, 32, None, 34], "sex": ["f", "", "m", None], "cost": [1.5, 2.5, None, 4.0]}


class OnlyStream:
    """Knows nothing but the protocol."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyArray:
    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.batch.__arrow_c_array__(requested_schema)


def relation() -> Any:
    table = pa.table(COLUMNS)
    return duckdb.connect().from_arrow(table).order("age nulls last")


STREAMS: dict[str, Callable[[], Any]] = {
    "reader": lambda: pa.table(COLUMNS).to_reader(2),
    "batch": lambda: pa.record_batch(COLUMNS),
    "stream": lambda: OnlyStream(pa.table(COLUMNS)),
    "views": lambda: OnlyStream(pl.DataFrame(COLUMNS)),
    "one-shot": lambda: OnlyStream(pa.table(COLUMNS).to_reader()),
    "array": lambda: OnlyArray(pa.record_batch(COLUMNS)),
    "struct": lambda: pa.array(
        [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    ),
    "relation": relation,
    "narwhals": lambda: nw.from_native(relation()),
    "pandas": lambda: OnlyStream(pd.DataFrame(COLUMNS)),
}


@pytest.fixture(params=STREAMS)
def stream(request: pytest.FixtureRequest) -> Any:
    return STREAMS[request.param]()


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    return sorted(as_polars(table).fill_nan(None).rows(), key=str)


def test_whatever_speaks_arrow_is_a_table(stream: Any) -> None:
    source = open_source(stream)
    assert source.columns == ("age", "sex", "cost")
    assert source.rows == 4
    taken = source.take(["sex", "age"])
    assert sorted(taken.rows(), key=str) == sorted([("f", 31), (None, 32), ("m", None), (None, 34)], key=str)
    assert source.take(["age"]).height == 4  # also after it was read once


def test_it_comes_back_as_a_pyarrow_table(stream: Any) -> None:
    source = open_source(stream)
    whole = source.rebuild({})
    assert isinstance(whole, pa.Table)
    assert rows_of(whole) == rows_of(pa.table(COLUMNS))
    keep = np.array([True, False, True, True])
    part = source.rebuild({"age": [pl.Series("age", ["*"] * 3)]}, ["cost"], keep)
    assert part.column_names == ["age", "sex"]
    assert part.num_rows == 3


def test_what_is_held_can_be_opened_again(stream: Any) -> None:
    held = hold(stream)
    first, second = (open_source(held).take(["age", "sex", "cost"]) for _ in range(2))
    assert first.equals(second)
    assert first.height == 4


def test_frames_and_paths_are_held_as_they_are() -> None:
    for given in (pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS), "file.csv", None):
        assert hold(given) is given


def test_a_lazy_query_is_asked_once() -> None:
    drawn = hold(pl.LazyFrame({"a": range(1000)}).select(pl.col("a").shuffle()))
    assert open_source(drawn).take(["a"]).equals(open_source(drawn).take(["a"]))


def test_a_reader_that_is_at_its_end_is_no_empty_table() -> None:
    reader = pa.table(COLUMNS).to_reader()
    open_source(reader)
    with pytest.raises(InvalidInput, match=r"read before.*reader\.read_all\(\)"):
        open_source(reader)
    del reader
    gc.collect()
    assert open_source(pa.table(COLUMNS).to_reader()).rows == 4


@pytest.mark.parametrize("given", [pl.Series("a", [1]), pa.array([1]), pa.chunked_array([[1]])])
def test_a_column_alone_is_no_table(given: Any) -> None:
    with pytest.raises(InvalidInput, match="gives no table"):
        open_source(given)


def test_a_closed_connection_is_said_without_its_words() -> None:
    connection = duckdb.connect()
    asked = connection.sql("select 'SECRET' as a")
    connection.close()
    with pytest.raises(InvalidInput, match="gives no table") as caught:
        open_source(asked)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("given", [{"a": [1]}, [1], object(), 7, pl.DataFrame, np.zeros((2, 2))])
def test_what_is_refused_is_told_what_there_is(given: Any) -> None:
    with pytest.raises(InvalidInput, match=r"pandas, polars or pyarrow frame, a DuckDB relation, or any"):
        open_source(given)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["f", "m", "GHOST"])])
def test_values_of_dropped_rows_do_not_stay_in_dictionaries_or_notes(kind: Any) -> None:
    frame = pl.DataFrame({"a": pl.Series(["f", "m", "GHOST"], dtype=kind), "b": [1, 2, 3]})
    for given in (OnlyStream(frame), frame.to_arrow()):
        table = open_source(given).rebuild({}, (), np.array([True, True, False]))
        assert table.column("a").to_pylist() == ["f", "m"]
        assert "GHOST" not in str(table.schema)
        assert "GHOST" not in table.column("a").chunk(0).dictionary.to_pylist()
