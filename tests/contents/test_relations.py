"""Columns that tell what others tell, people with several rows, households."""

from __future__ import annotations

import numpy as np
import polars as pl

from labelled_columns import tckn
from mahrem.contents import look_into


def relations(frame: pl.DataFrame) -> set[tuple[str, str, str]]:
    return {(found.column, found.of, found.how) for found in look_into(frame).relations}


def test_a_year_of_birth_is_a_function_of_an_age() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 300)
    frame = pl.DataFrame({"a": age, "b": 2024 - age, "c": rng.integers(0, 50, 300)})
    assert relations(frame) == {("b", "a", "linear")}


def test_an_age_is_a_function_of_a_date_of_birth_though_it_is_rounded() -> None:
    rng = np.random.default_rng(1)
    born = np.datetime64("1935-01-01") + rng.integers(0, 25_000, 300)
    age = ((np.datetime64("2024-06-01") - born).astype(int) / 365.25).astype(int)
    frame = pl.DataFrame({"born": pl.Series(born).cast(pl.String), "age": age})
    assert relations(frame) == {("age", "born", "linear")}


def test_a_town_follows_from_a_postcode_and_not_the_other_way() -> None:
    rng = np.random.default_rng(2)
    towns = {f"{10_000 + 977 * place}": f"town {place % 7}" for place in range(30)}
    codes = [list(towns)[place] for place in rng.integers(0, 30, 500)]
    frame = pl.DataFrame({"code": codes, "town": [towns[code] for code in codes]})
    assert relations(frame) == {("town", "code", "determined")}


def test_copies_are_found_in_another_spelling_too() -> None:
    city = ["İzmir", "Ankara", "Köln", "Ulm", "Bonn", "Bursa"] * 20
    frame = pl.DataFrame({"a": city, "b": city, "c": [one.upper() for one in city]})
    assert {("b", "a", "copy"), ("c", "a", "spelling")} <= relations(frame)


def test_columns_that_have_nothing_to_do_with_each_other_have_no_relation() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({name: rng.integers(0, 30, 400) for name in "abc"} | {"d": rng.normal(size=400)})
    assert relations(frame) == set()


def test_people_with_several_rows_are_noticed() -> None:
    rng = np.random.default_rng(4)
    people = [(tckn(rng), str(rng.integers(1940, 2000)), str(rng.choice(["f", "m"]))) for _ in range(80)]
    rows = [people[place] for place in rng.integers(0, 80, 240)]
    frame = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row")
    frame = frame.with_columns(visit=pl.Series(rng.integers(0, 9, 240)))
    (best, *_) = look_into(frame).several_rows
    assert best.column == "x"
    assert best.steady >= 2


def test_people_under_one_roof_are_noticed() -> None:
    rng = np.random.default_rng(5)
    homes = [f"Hauptstraße {place}" for place in range(1, 61)]
    frame = pl.DataFrame({"x": [tckn(rng) for _ in range(120)], "y": homes * 2})
    (home,) = look_into(frame).households
    assert home.columns == ("y",)
    assert home.share == 1.0
