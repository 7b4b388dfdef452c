from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mahrem.errors import InvalidInput
from mahrem.table import Reading, open_source

COLUMNS = {
    "age": [31, 32, None, 34],
    "sex": ["f", "", "m", None],
    "when": [dt.date(2020, 1, 1), None, dt.date(2021, 1, 1), dt.date(2022, 1, 1)],
}


@pytest.fixture(params=["pandas", "polars", "lazy", "pyarrow", "narwhals"])
def frame(request: pytest.FixtureRequest) -> Any:
    made = {
        "pandas": lambda: pd.DataFrame(COLUMNS),
        "polars": lambda: pl.DataFrame(COLUMNS),
        "lazy": lambda: pl.LazyFrame(COLUMNS),
        "pyarrow": lambda: pa.table(COLUMNS),
        "narwhals": lambda: nw.from_native(pl.DataFrame(COLUMNS)),
    }
    return made[request.param]()


def test_every_frame_is_taken_alike(frame: Any) -> None:
    source = open_source(frame, Reading(null=("m",)))
    assert source.columns == ("age", "sex", "when")
    assert source.rows == 4
    assert not source.textual
    taken = source.take(["sex", "age", "when"])
    assert taken["sex"].to_list() == ["f", None, None, None]
    assert taken["age"].to_list() == [31, 32, None, 34]
    assert taken["when"].to_list() == COLUMNS["when"]
    assert source.scan(["sex", "age", "when"]).collect().equals(taken)


def test_every_frame_comes_back_as_its_own_kind(frame: Any) -> None:
    source = open_source(frame)
    given = nw.to_native(frame, pass_through=True)
    keep = np.array([True, False, True, True])
    table = source.rebuild({"sex": [pl.Series("sex", ["*", "*", None])]}, ["when"], keep)
    assert type(table) is type(given)
    rebuilt = open_source(table)
    assert rebuilt.columns == ("age", "sex")
    assert rebuilt.take(["age", "sex"]).rows() == [(31, "*"), (None, "*"), (34, None)]


def test_an_untouched_frame_is_equal(frame: Any) -> None:
    table, given = open_source(frame).rebuild({}), nw.to_native(frame, pass_through=True)
    if isinstance(given, pl.LazyFrame):
        table, given = table.collect(), given.collect()
    if isinstance(given, pd.DataFrame):
        pd.testing.assert_frame_equal(table, given)
    else:
        assert table.equals(given)


def strange_pandas() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "category": pd.Categorical(["b", "a", None, "b"], categories=["b", "a", "never"], ordered=True),
            "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
            "small": np.array([1, 2, 3, 4], dtype="int8"),
            "text": pd.array(["x", None, "y", "z"], dtype="string"),
            "flag": pd.array([True, None, False, True], dtype="boolean"),
            "objects": [object(), {1, 2}, lambda: None, [1]],
            "zoned": pd.date_range("2020-01-01", periods=4, tz="Europe/Istanbul"),
            "period": pd.period_range("2020-01", periods=4, freq="M"),
            "decimal": [Decimal("1.10"), None, Decimal(2), Decimal(3)],
            7: [1.5, float("nan"), 2.5, 3.5],
        },
        index=pd.MultiIndex.from_tuples([("x", 1), ("x", 1), ("y", 2), ("x", 1)], names=["p", "q"]),
    )
    frame.attrs["source"] = "ward"
    frame.columns.name = "columns"
    return frame


def test_pandas_keeps_dtypes_and_objects_but_neither_index_nor_attributes() -> None:
    frame = strange_pandas()
    keep = np.array([True, True, False, True])
    table = open_source(frame).rebuild(
        {"small": [pl.Series("low", [0, 0, 0]), pl.Series("high", [9, 9, 9])]}, (), keep
    )
    expected = frame[keep].drop(columns="small")
    # A category nobody kept shows may be the value of somebody who was dropped.
    expected["category"] = expected["category"].cat.remove_unused_categories()
    expected = expected.reset_index(drop=True)
    expected.attrs = {}
    expected.columns.name = None
    assert list(table.columns)[:5] == ["category", "nullable", "low", "high", "text"]
    pd.testing.assert_frame_equal(table.drop(columns=["low", "high"]), expected)
    assert table.attrs == {}
    assert table.columns.name is None
    assert table.index.equals(pd.RangeIndex(3))
    assert table["objects"].iloc[1] is frame["objects"].iloc[1]
    assert 7 in table.columns


def test_pandas_missing_values_of_all_sorts_are_null() -> None:
    frame = pd.DataFrame(
        {
            "float": [1.0, np.nan],
            "object": ["x", np.nan],
            "none": ["x", None],
            "na": pd.array(["x", pd.NA], dtype="string"),
            "nat": [pd.Timestamp("2020-01-01"), pd.NaT],
            "integer": pd.array([1, pd.NA], dtype="Int32"),
            "category": pd.Categorical(["x", None]),
            "numbers": pd.Categorical([3, None]),
            "zoned": pd.to_datetime(["2020-01-01", None], utc=True),
            "arrow": pd.array([1.0, None], dtype="double[pyarrow]"),
            "all": [None, None],
        }
    )
    taken = open_source(frame).take([str(name) for name in frame.columns])
    assert taken.null_count().row(0) == (1,) * 10 + (2,)
    assert taken["float"].dtype == pl.Float64


def test_strange_objects_matter_only_when_asked_for() -> None:
    source = open_source(strange_pandas())
    assert source.take(["category", "7"]).shape == (4, 2)
    assert source.take(["decimal"])["decimal"].null_count() == 1
    for name in ("objects", "period"):
        with pytest.raises(InvalidInput, match=f"column='{name}'"):
            source.take([name])


def test_mixed_pandas_columns_are_refused_without_their_content() -> None:
    with pytest.raises(InvalidInput, match="mixes kinds") as caught:
        open_source(pd.DataFrame({"a": [1, "SECRET"]})).take(["a"])
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["1", 1]),
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
        pd.DataFrame(),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pl.DataFrame(),
    ],
)
def test_frames_without_clear_names_are_refused(frame: Any) -> None:
    with pytest.raises(InvalidInput):
        open_source(frame)


@pytest.mark.parametrize("thing", [None, 5, [1, 2], {"a": [1]}, np.zeros((2, 2)), pd.Series([1])])
def test_other_objects_are_refused_with_a_hint(thing: Any) -> None:
    with pytest.raises(InvalidInput, match="is no table; give a path"):
        open_source(thing)


def test_nan_of_polars_and_pyarrow_stays_nan() -> None:
    for frame in (pl.DataFrame({"a": [float("nan"), None]}), pa.table({"a": [float("nan"), None]})):
        taken = open_source(frame).take(["a"])["a"]
        assert taken.is_nan()[0]
        assert taken.null_count() == 1


def test_pyarrow_keeps_fields_but_nothing_that_was_noted_beside_them() -> None:
    field = pa.field("a", pa.dictionary(pa.int8(), pa.string()), nullable=True, metadata={"unit": "x"})
    table = pa.table(
        [pa.array(["x", "y"]).dictionary_encode().cast(field.type), pa.array([1, 2], pa.int16())],
        schema=pa.schema([field, pa.field("b", pa.int16())], metadata={"owner": "ward", "pandas": "{}"}),
    )
    rebuilt = open_source(table).rebuild({"b": [pl.Series("b", ["*", "*"])]})
    assert rebuilt.schema.field("a").equals(field.remove_metadata(), check_metadata=True)
    assert rebuilt.schema.metadata is None
    assert rebuilt.column("a").equals(table.column("a"))


def test_categories_that_no_row_shows_stay_behind() -> None:
    words = ["flu", "RARE", "gout"]
    frame = pl.DataFrame({"a": ["flu", "gout"], "b": [1, 2]}, schema_overrides={"a": pl.Enum(words)})
    kinds = [frame, frame.to_arrow(), frame.to_pandas()]
    for kind in kinds:
        rebuilt = open_source(kind).rebuild({"b": [pl.Series("b", ["*", "*"])]})
        assert "RARE" not in str(rebuilt["a"].dtype if hasattr(rebuilt, "dtypes") else rebuilt.to_pydict())
        if isinstance(rebuilt, pa.Table):
            assert "RARE" not in str(rebuilt.column("a").chunk(0).dictionary)
            assert "RARE" not in str(rebuilt.schema)


def test_a_lazy_query_that_fails_is_refused_without_its_words() -> None:
    lazy = pl.LazyFrame({"a": ["SECRET"]}).with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(InvalidInput, match="cannot be read") as caught:
        open_source(lazy).take(["a"])
    assert "SECRET" not in str(caught.value)
    with pytest.raises(InvalidInput, match="cannot be planned"):
        open_source(pl.LazyFrame({"a": [1]}).select("nothing"))


def test_empty_frames_are_opened() -> None:
    for frame in (
        pd.DataFrame({"a": []}),
        pl.DataFrame({"a": []}),
        pa.table({"a": pa.array([], pa.int64())}),
    ):
        source = open_source(frame)
        assert source.rows == 0
        assert source.take(["a"]).height == 0
        assert len(source.rebuild({"a": [pl.Series("a", [], dtype=pl.String)]})) == 0


def test_a_source_says_nothing_of_its_data_when_printed() -> None:
    for frame in (
        pd.DataFrame({"a": ["SECRET"]}),
        pl.DataFrame({"a": ["SECRET"]}),
        pa.table({"a": ["SECRET"]}),
    ):
        assert "SECRET" not in repr(open_source(frame))
