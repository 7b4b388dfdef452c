"""Cells of quasi-identifiers are no finer and no coarser than was said, by every method that cuts."""

from __future__ import annotations

import datetime as dt
import itertools
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mahrem as mh
from cell_oracle import Column
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.partition import METHODS
from mahrem.table import Hierarchy, Prefix, Range, read_cell

pytestmark = pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")

CUTTING = [name for name, method in METHODS.items() if not (method.full_domain or method.hides)]
TREE = Hierarchy.from_rows([(f"c{place}", f"b{place // 2}", f"a{place // 4}", "*") for place in range(8)])


def people(random: Random, rows: int = 60) -> pl.DataFrame:
    def gap(value: Any) -> Any:
        return None if random.random() < 0.03 else value

    return pl.DataFrame(
        {
            "age": pl.Series([gap(random.randint(0, 99)) for _ in range(rows)], dtype=pl.Int64),
            "dose": pl.Series([gap(round(random.uniform(-2, 9), 3)) for _ in range(rows)], dtype=pl.Float64),
            "zip": pl.Series(
                [gap(random.choice(("06100", "06110", "06", "34000", "34710"))) for _ in range(rows)],
                dtype=pl.String,
            ),
            "day": [dt.date(2022, 1, 1) + dt.timedelta(days=random.randint(0, 900)) for _ in range(rows)],
            "ward": [f"c{random.randint(0, 7)}" for _ in range(rows)],
            "illness": [random.choice(("flu", "gout", "none")) for _ in range(rows)],
        }
    )


SAID: tuple[tuple[str, dict[str, Any]], ...] = (
    ("age", {"bands": 5}),
    ("age", {"bands": 10, "top": 90}),
    ("age", {"at_least": 7}),
    ("age", {"at_least": 5, "at_most": 20}),
    ("age", {"at_most": 25}),
    ("age", {"round": 10}),
    ("age", {"round": 5}),
    ("dose", {"bands": 0.5}),
    ("dose", {"at_least": 0.3, "bottom": 0.3}),
    ("dose", {"at_most": 2.5}),
    ("dose", {"round": 0.1}),
    ("zip", {"prefix": 2, "kind": "code"}),
    ("zip", {"at_least": 1, "kind": "code"}),
    ("zip", {"at_most": 3, "kind": "code"}),
    ("day", {"bands": "quarter"}),
    ("day", {"at_least": "month", "at_most": "year"}),
    ("day", {"at_most": "quarter"}),
    ("day", {"at_least": "week"}),
    ("ward", {"at_least": 1, "hierarchy": TREE}),
    ("ward", {"at_most": 1, "hierarchy": TREE}),
    ("ward", {"at_least": 1, "at_most": 2, "hierarchy": TREE}),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10**6),
    said=st.sampled_from(SAID),
    method=st.sampled_from(CUTTING),
    other=st.sampled_from(("age", "zip", "day", "illness")),
    limit=st.sampled_from((None, 0.3, 1.0)),
    form=st.sampled_from(("text", "text", "pairs")),
    sensitive=st.sampled_from(({}, {"illness": {"l": 2}})),
)
def test_every_cell_holds_its_value_and_keeps_its_bounds(
    seed: int, said: Any, method: str, other: str, limit: float | None, form: str, sensitive: dict[str, Any]
) -> None:
    name, settings_of_column = said
    table = people(Random(seed))
    quasi = list(dict.fromkeys([name, other]))
    sensitive = {} if "illness" in quasi else sensitive
    try:
        release = mh.anonymize(
            table,
            quasi=quasi,
            sensitive=sensitive,
            rest="drop",
            k=3,
            method=method,
            seed=seed,
            cells=form,
            suppression_limit=limit,
            **{key: {name: value} for key, value in settings_of_column.items()},
        )
    except Infeasible:
        return  # anything else would be a fault
    if form != "text" or "hierarchy" in settings_of_column:
        return  # the release itself was verified
    values = Column(table[name])
    for row, cell in enumerate(release.table[name]):
        assert values.inside(cell, row), (cell, table[name][row])


def test_bands_are_equal_or_disjoint_and_say_so_where_they_hide() -> None:
    table = people(Random(3), 400)
    shown = mh.anonymize(table, quasi=["age", "zip"], rest="drop", k=4, bands={"age": 5}).table["age"]
    ranges = [read_cell(cell) for cell in shown.unique() if cell not in (None, "*")]
    assert len(ranges) > 10
    for first, second in itertools.combinations(ranges, 2):
        assert isinstance(first, Range)
        assert isinstance(second, Range)
        assert int(first.high) < int(second.low) or int(second.high) < int(first.low)
    assert all(int(cell.high) - int(cell.low) == 4 and int(cell.low) % 5 == 0 for cell in ranges)  # type: ignore[union-attr]


def test_rows_that_need_coarser_cells_are_suppressed_within_the_limit_or_refused() -> None:
    table = people(Random(5), 80).drop_nulls()
    said = {"quasi": ["age", "zip"], "rest": "drop", "k": 4, "at_most": {"age": 5}}
    with pytest.raises(Infeasible, match="at_most of age"):
        mh.anonymize(table, **said)
    release = mh.anonymize(table, suppression_limit=0.9, **said)
    assert 0 < release.report["utility"]["suppressed"] <= 0.9 * table.height


def test_codes_hide_at_least_and_at_most_so_many_characters() -> None:
    table = people(Random(7), 300).drop_nulls()
    said = {"quasi": ["zip", "age"], "kind": {"zip": "code"}, "rest": "drop", "k": 3}
    shown = mh.anonymize(table, at_least={"zip": 3}, **said).table["zip"].unique()
    assert all(len(cell.rstrip("*")) <= 2 for cell in shown)
    kept = mh.anonymize(table, at_most={"zip": 3}, suppression_limit=0.5, **said).table["zip"].unique()
    cells = [read_cell(cell) for cell in kept if cell != "*"]
    assert all(len(cell.beginning) >= 2 for cell in cells if isinstance(cell, Prefix))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"bands": {"age": 5}, "at_most": {"age": 10}}, "one of them"),
        ({"bands": {"age": 5}, "at_least": {"age": 10}}, "one of them"),
        ({"at_least": {"age": 4}, "at_most": {"age": 10}}, "multiple"),
        ({"bands": {"age": 20}, "top": {"age": 90}}, "multiple"),
        ({"round": {"age": 5}, "top": {"age": 90}}, "one of them"),
        ({"at_least": {"day": "week"}, "at_most": {"day": "month"}}, "within"),
        ({"at_least": {"day": 5}}, "month"),
        ({"at_least": {"age": "month"}}, "width"),
        ({"bands": {"ward": 2}}, "words"),
        ({"at_least": {"zip": 9}, "kind": {"zip": "code"}}, "characters"),
        ({"bands": {"zip": 2}, "kind": {"zip": "code"}}, "characters"),
        ({"at_least": {"ward": 9}, "hierarchy": {"ward": TREE}}, "levels"),
        ({"grid": {"age": 5}, "bounds": "exact"}, "bounds"),
        ({"grid": {"age": 5}, "method": "flash"}, "levels"),
        ({"bands": {"age": 5}, "method": "ola"}, "levels"),
        ({"bands": {"age": 5}, "cells": "centroid", "method": "mdav"}, "centroid"),
        ({"bands": {"age": -5}}, "above 0"),
    ],
)
def test_what_cannot_be_kept_is_refused(said: dict[str, Any], why: str) -> None:
    table = people(Random(1)).drop_nulls()
    with pytest.raises(InvalidParameter, match=why):
        mh.anonymize(table, quasi=["age", "zip", "day", "ward"], rest="drop", k=3, **said)
