"""The declared domain: cells are public, no value makes it fail, values drawn lie in their cells."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Facts, Unit
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis import SyntheticSchema, declare_domain
from mahrem.learning.synthesis._synthetic_constraints import keep_constraints, parse_constraint
from mahrem.table import ColumnDeclaration

FACTS = Facts(
    columns={
        "age": ColumnDeclaration(lower=0, upper=99),
        "cost": ColumnDeclaration(lower=-5.5, upper=1000.0),
        "points": ColumnDeclaration(lower=0, upper=5000),
        "sex": ColumnDeclaration(categories=("f", "m")),
        "code": ColumnDeclaration(categories=("1", "2", "10")),
    }
)
DATES = {"born": ("1920-01-01", "2020-12-31")}
ALL = ("age", "cost", "points", "sex", "code", "born")


def test_kinds_and_cells_follow_from_public_facts_alone() -> None:
    domain = declare_domain(FACTS, ALL, dates=DATES, missing=["sex"], cells={"cost": [0.0, 10.0]})
    kinds = {column.name: (column.kind, column.cells, column.dtype) for column in domain.columns}
    assert kinds["age"] == ("whole", 100, pl.Int64())
    assert kinds["cost"] == ("number", 5, pl.Float64())  # both ends, and three between the edges
    assert kinds["points"] == ("whole", 66, pl.Int64())
    assert kinds["sex"] == ("category", 3, pl.String())
    assert kinds["code"][2] == pl.Int64()
    assert kinds["born"][2] == pl.Date()
    (age,) = declare_domain(FACTS, ["age"], cells={"age": 10}).columns
    assert age.cells == 12  # both ends, and ten between


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 90))
def test_a_value_drawn_from_a_cell_lies_in_that_cell(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    cells = {"age": count, "cost": count, "points": count, "born": count}
    domain = declare_domain(FACTS, ALL, dates=DATES, missing=ALL, cells=cells)
    codes = np.stack([rng.integers(0, column.cells, 200) for column in domain.columns], axis=1)
    drawn = pl.DataFrame([column.draw(codes[:, place], rng) for place, column in enumerate(domain.columns)])
    assert np.array_equal(domain.codes(drawn, Unit()), codes)


def test_awkward_cells_are_missing_or_leave_their_row_out() -> None:
    table = pl.DataFrame({"age": ["5", "1e9", "x", "", "7"], "sex": ["f", "m", "f", "m", "divers"]})
    strict = declare_domain(FACTS, ["age", "sex"])
    assert strict.codes(table, Unit()).tolist() == [[5, 0], [99, 1]]
    loose = declare_domain(FACTS, ["age", "sex"], missing=["age", "sex"])
    assert loose.codes(table, Unit()).tolist() == [[5, 0], [99, 1], [100, 0], [100, 1], [7, 2]]


def test_dates_are_read_from_text_and_from_dates_and_clipped() -> None:
    domain = declare_domain(FACTS, ["born"], dates=DATES, missing=["born"])
    days = [dt.date(1920, 1, 1), dt.date(1800, 5, 5), dt.date(2030, 1, 1), None]
    typed = domain.codes(pl.DataFrame({"born": days}), Unit())
    text = domain.codes(pl.DataFrame({"born": ["1920-01-01", "1800-05-05", "2030-01-01", "soon"]}), Unit())
    assert typed.tolist() == text.tolist() == [[0], [0], [65], [66]]


def test_only_so_many_rows_of_a_person_are_used() -> None:
    table = pl.DataFrame({"age": [1, 2, 3, 4, 5], "who": ["a", "a", "a", "b", None]})
    domain = declare_domain(FACTS, ["age"])
    assert domain.codes(table, Unit(subject="who", rows=2)).tolist() == [[1], [2], [4]]


@pytest.mark.parametrize(
    ("settings_", "match"),
    [
        ({"columns": ("age", "height")}, "height"),
        ({"missing": ("height",)}, "not among"),
        ({"kinds": {"cost": "whole"}}, "whole numbers as bounds"),
        ({"dates": {"age": ("2000-01-01", "1999-01-01")}}, "before"),
        ({"dates": {"age": ("soon", "later")}}, "no day"),
        ({"cells": {"cost": [5.0, 1.0]}}, "must rise"),
        ({"constraints": ("age < cost",)}, "must read like"),
        ({"constraints": ("sex <= cost",)}, "needs numbers"),
        ({"constraints": ("age <= age",)}, "twice"),
        ({"constraints": ("age = points + cost",)}, "whole"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused(settings_: dict, match: str) -> None:  # type: ignore[type-arg]
    schema = SyntheticSchema(**settings_)
    with pytest.raises((InvalidParameter, KeyError), match=match):
        schema.domain(FACTS, ["age", "cost", "points", "sex", "code"])


@pytest.mark.parametrize(
    ("rules", "worst"),
    [
        (("a <= b", "b <= c"), {"a": 9, "b": 9, "c": 0}),
        (("b <= c", "a <= b"), {"a": 9, "b": 0, "c": 0}),
        (("x <= b",), {"x": 3.7, "b": 0}),
        (("a <= x",), {"a": 9, "x": 0.3}),
        (("t = b + a", "a <= b"), {"a": 9, "b": 0, "t": 0}),
        (("u = a + x",), {"a": 9, "x": 5.2, "u": 0.0}),
    ],
)
def test_rules_that_hang_together_are_repaired_together(rules: tuple[str, ...], worst: dict) -> None:  # type: ignore[type-arg]
    upper = {"a": 9, "b": 9, "c": 3, "t": 8, "x": 5.5, "u": 6.7}
    facts = Facts(columns={name: ColumnDeclaration(lower=0, upper=upper[name]) for name in worst})
    schema = SyntheticSchema(constraints=rules)
    domain = schema.domain(facts, list(worst))
    kinds = {column.name: column.dtype for column in domain.columns}
    found, repaired = keep_constraints(
        lambda rows: pl.DataFrame([worst] * rows, schema=kinds), 4, schema.rules, domain
    )
    assert repaired == 4
    assert found.schema == pl.Schema(kinds)
    assert all(found[name].is_between(0, upper[name]).all() for name in worst)
    for rule in rules:
        assert found.filter(pl.sql_expr(rule)).height == 4


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), gaps=st.booleans())
def test_every_row_keeps_every_rule_and_its_bounds(seed: int, *, gaps: bool) -> None:
    rng = np.random.default_rng(seed)
    facts = Facts(
        columns={
            "first": ColumnDeclaration(lower=0, upper=100),
            "last": ColumnDeclaration(lower=0, upper=60),
            "part": ColumnDeclaration(lower=0, upper=50),
            "rest": ColumnDeclaration(lower=-10, upper=50),
            "total": ColumnDeclaration(lower=0, upper=40),
        }
    )
    missing = ["last", "part", "total"] if gaps else []
    domain = declare_domain(facts, list(facts.columns), missing=missing)
    rules = [parse_constraint("first <= last"), parse_constraint("total = part + rest")]

    def draw(rows: int) -> pl.DataFrame:
        low = 97  # such rows nearly always break the first rule: repair must do it
        return pl.DataFrame(
            [
                column.draw(rng.integers(low if column.name == "first" else 0, column.cells, rows), rng)
                for column in domain.columns
            ]
        )

    found, repaired = keep_constraints(draw, 60, rules, domain)
    assert repaired > 0
    both = found.drop_nulls(["first", "last"])
    assert (both["first"] <= both["last"]).all()
    summed = found.select(pl.sum_horizontal("part", "rest", ignore_nulls=False))
    assert found["total"].equals(summed.to_series(), null_equal=True)
    assert found["total"].drop_nulls().is_between(0, 40).all()
    assert (domain.codes(found, Unit()) >= 0).all()
    assert len(domain.codes(found, Unit())) == 60
