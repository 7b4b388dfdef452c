"""k-map by a table of the population, judged on what is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import Infeasible, InvalidParameter, MahremError
from mahrem.table import Hierarchy

TOWNS = [["ankara", "centre"], ["konya", "centre"], ["izmir", "west"], ["manisa", "west"]]
TREE = {"town": Hierarchy.from_rows(TOWNS)}
people = st.fixed_dictionaries(
    {"town": st.sampled_from([row[0] for row in TOWNS]), "age": st.integers(20, 40)}
)


def fits(town: str, age: str, person: dict[str, Any]) -> bool:
    """Whether cells could mean a person, read by hand."""
    under = next(row for row in TOWNS if row[0] == person["town"])
    ages = age.strip("[]").split(", ")
    of_age = age == "*" or int(ages[0]) <= person["age"] <= int(ages[-1])
    return of_age and (town == "*" or town in under or person["town"] in town.strip("{}").split(", "))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(people, min_size=2, max_size=12),
    st.lists(people, max_size=25),
    st.integers(1, 8),
    st.sampled_from(["mondrian", "flash", "ola", "mosaic", "mdav"]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from(["grid", "exact"]),
)
def test_every_published_row_fits_k_people_of_the_population(
    table: list[dict[str, Any]],
    others: list[dict[str, Any]],
    k: int,
    method: str,
    limit: float,
    bounds: str,
) -> None:
    everyone = [*table, *others]
    said: dict[str, Any] = {
        "quasi": ["town", "age"],
        "k_map": k,
        "population": pl.DataFrame(everyone),
        "hierarchy": TREE,
        "bounds": bounds,
        "method": method,
        "suppression_limit": limit,
        "html": False,
    }
    try:
        release = mh.anonymize(pl.DataFrame(table), **said)
    except Infeasible:
        assert len(everyone) < k
        return
    rows = pl.DataFrame(release.table).select(pl.col("town", "age").cast(pl.String)).rows()
    shown = [row for row in rows if set(row) != {"*"}]
    for town, age in shown:
        assert sum(fits(town, age, person) for person in everyone) >= k
    if len(shown) < len(rows):
        rest = [person for person in everyone if not any(fits(*row, person) for row in shown)]
        assert len(rest) >= k
    promise = release.report["promises"][-1]
    assert (promise["model"], promise["wanted"], promise["holds"]) == ("k-map-population", k, True)


def crowd() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Of ankara one of twelve is in the table, of konya one of four, of manisa two of two."""
    rows = [("ankara", number < 1) for number in range(12)]
    rows += [("konya", number < 1) for number in range(4)] + [("manisa", True)] * 2
    everyone = pl.DataFrame({"town": [town for town, _ in rows]})
    return everyone.filter(pl.Series([inside for _, inside in rows])), everyone


def test_a_lone_row_may_be_published_among_people_enough(tmp_path: Path) -> None:
    table, everyone = crowd()
    said: dict[str, Any] = {"quasi": "town", "hierarchy": TREE, "method": "flash", "html": False}
    release = mh.anonymize(table, output=tmp_path / "r", population=everyone, k_map=2, **said)
    assert release.report["columns"]["town"]["level"] == 0
    assert release.report["promises"][-1]["reached"] == 2
    coarse = mh.anonymize(table, population=everyone, k_map=3, **said)
    assert coarse.report["columns"]["town"]["level"] == 2  # two of manisa, and nobody else in the west
    hidden = mh.anonymize(table, population=everyone, k_map=5, suppression_limit=0.8, **said)
    # Hidden rows of manisa alone would fit two people: konya is hidden with them, 6 people.
    assert sorted(pl.DataFrame(hidden.table)["town"]) == ["*", "*", "*", "ankara"]
    assert mh.audit(tmp_path / "r", population=everyone).holds
    assert not mh.audit(tmp_path / "r", population=everyone, k_map=3).holds
    with pytest.raises(InvalidParameter, match="population"):
        mh.audit(tmp_path / "r")


def test_k_map_is_counted_in_tables_that_others_made() -> None:
    _, everyone = crowd()
    found = mh.audit(pl.DataFrame({"town": ["konya"]}), quasi="town", k_map=5, population=everyone)
    (promise,) = found.report["promises"]
    assert (promise["reached"], promise["violating_classes"], promise["violating_rows"]) == (4, 1, 1)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"population": None}, "fraction"),
        ({"fraction": 0.5}, "one of the two"),
        ({"missing": "suppress"}, "missing"),
        ({"cells": "pairs"}, "cells"),
        ({"subject": "person"}, "subject"),
        ({"k_map": 0}, "k_map"),
        ({"k_map": 99}, "99"),
        ({"population": pl.DataFrame({"town": ["ankara"]})}, "population lacks"),
        ({"population": pl.DataFrame({"city": ["ankara"]})}, "town"),
    ],
)
def test_what_cannot_be_counted_is_refused(wrong: dict[str, Any], match: str) -> None:
    table, everyone = crowd()
    table = table.with_columns(person=pl.Series([1, 2, 3, 3]))
    said = {"quasi": "town", "rest": "drop", "k_map": 2, "population": everyone, "html": False, **wrong}
    with pytest.raises(MahremError, match=match):
        mh.anonymize(table, **said)
