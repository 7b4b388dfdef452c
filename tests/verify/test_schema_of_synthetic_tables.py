"""The verifier of synthetic tables sees every kind of fault, in frames and in text."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

from mahrem.errors import InvalidParameter
from mahrem.verify import verify_schema

DECLARED: dict[str, dict[str, Any]] = {
    "age": {"kind": "whole", "missing": False, "bounds": ["0", "99"]},
    "cost": {"kind": "number", "missing": True, "bounds": ["-1.5", "10.0"]},
    "sex": {"kind": "category", "missing": False, "categories": ["f", "m"]},
    "born": {"kind": "date", "missing": True, "bounds": ["1920-01-01", "2020-12-31"]},
}
GOOD = pl.DataFrame(
    {
        "age": [0, 99],
        "cost": [-1.5, None],
        "sex": ["f", "m"],
        "born": [dt.date(1920, 1, 1), None],
    }
)


def text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().cast(pl.String).fill_null(""))


@pytest.mark.parametrize("form", [lambda frame: frame, text])
def test_a_table_within_its_schema_passes_as_frame_and_as_text(form: Any) -> None:
    assert verify_schema(form(GOOD).lazy(), DECLARED, rows=2, rules=["cost <= age"]).holds


@pytest.mark.parametrize("form", [lambda frame: frame, text])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("age", 100),
        ("age", None),
        ("cost", 10.5),
        ("cost", float("nan")),
        ("cost", float("inf")),
        ("sex", "x"),
        ("sex", None),
        ("born", dt.date(2021, 1, 1)),
    ],
)
def test_a_cell_outside_is_counted(form: Any, column: str, value: Any) -> None:
    broken = GOOD.with_columns(
        pl.Series(column, [value, GOOD[column].to_list()[1]], dtype=GOOD.schema[column], strict=False)
    )
    verdict = verify_schema(form(broken).lazy(), DECLARED, rows=2)
    assert verdict.outside[column] == 1
    assert not verdict.holds


def test_text_that_is_no_number_and_fractions_of_whole_numbers_are_counted() -> None:
    words = text(GOOD).with_columns(age=pl.Series(["1.5", "old"]))
    assert verify_schema(words.lazy(), DECLARED, rows=2).outside["age"] == 2


def test_rows_columns_and_rules_are_checked() -> None:
    assert not verify_schema(GOOD.lazy(), DECLARED, rows=3).holds
    assert not verify_schema(GOOD.select("cost", "age", "sex", "born").lazy(), DECLARED, rows=2).holds
    assert verify_schema(GOOD.lazy(), DECLARED, rows=2, rules=["age <= cost"]).broken == {"age <= cost": 1}
    parts = {name: {"kind": "number", "missing": True, "bounds": [0, 9]} for name in "abc"}
    table = pl.LazyFrame({"a": [3.0, 3.0, None, 3.0], "b": [1.0, 1.0, 1.0, None], "c": [2.0, 1.0, 1.0, 1.0]})
    assert verify_schema(table, parts, rows=4, rules=["a = b + c"]).broken == {"a = b + c": 3}
    with pytest.raises(InvalidParameter, match="declared columns"):
        verify_schema(GOOD.lazy(), DECLARED, rows=2, rules=["age <= height"])


def test_order_values_that_never_go_together_and_keys_are_looked_at() -> None:
    declared = {
        "id": {"kind": "whole", "missing": False, "bounds": [0, 9]},
        "sex": {"kind": "category", "missing": False, "categories": ["f", "m"]},
        "age": {"kind": "whole", "missing": True, "bounds": [0, 99]},
    }
    table = pl.DataFrame({"id": [1, 2, 2, 3], "sex": ["f", "m", "m", "m"], "age": [5, 5, 11, None]})
    rules = {"never sex=m and age=0:9": 1, "never sex=f,m and age=5": 2, "unique id": 2, "unique id, age": 0}
    rules |= {"age >= id": 0, "id >= age": 3, "unique sex": 3}
    for cells in (table, table.with_columns(pl.all().cast(pl.String))):
        assert verify_schema(cells.lazy(), declared, rows=4, rules=list(rules)).broken == rules
    with pytest.raises(InvalidParameter, match="does not speak"):
        verify_schema(table.lazy(), declared, rows=4, rules=["never sex=m and height=3"])
