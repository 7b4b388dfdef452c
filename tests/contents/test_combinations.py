"""What was told wrongly is found out: by what columns tell together, by a value's crowd and its spread."""

from __future__ import annotations

import hashlib
from random import Random

import numpy as np
import polars as pl
import pytest

from mahrem.contents import look_into
from mahrem.release import find_doubts
from mahrem.release.decisions import Policy

CHANCE = Random(3)
ROWS = 600
AGE = [CHANCE.randint(18, 80) for _ in range(ROWS)]
TOWN = [CHANCE.choice(("06100", "34000", "35210", "01120", "16200", "27010")) for _ in range(ROWS)]
SEX = [CHANCE.choice("mf") for _ in range(ROWS)]
HEIGHT = [CHANCE.randint(150, 200) for _ in range(ROWS)]
ILL = [CHANCE.choice(("flu", "asthma", "gout", "cold", "cancer")) for _ in range(ROWS)]
WEIGHT = [CHANCE.randint(45, 120) for _ in range(ROWS)]
NUMBERS = CHANCE.sample(range(1000, 1000 + ROWS), ROWS)
KNOWN = {"age": AGE, "town": TOWN, "sex": SEX, "height": HEIGHT, "weight": WEIGHT}
TOLD_WRONGLY: dict[str, tuple[str, dict[str, list[object]]]] = {
    "a quasi-identifier within a sensitive column": (
        "sensitive",
        {"x": [f"{ill} ({town})" for ill, town in zip(ILL, TOWN, strict=True)]},
    ),
    "a quasi-identifier under another name": (
        "sensitive",
        {"x": [hashlib.sha256(str(age).encode()).hexdigest()[:8] for age in AGE]},
    ),
    "a person as insensitive": ("insensitive", {"x": [f"P{row // 4 * 7:04d}" for row in range(ROWS)]}),
    "the same in all rows but one": ("insensitive", {"x": ["no"] * (ROWS - 1) + ["transplanted"]}),
    "nothing in all rows but two": ("insensitive", {"x": [None] * (ROWS - 2) + ["a", "b"]}),
    "a number in two parts": (
        "insensitive",
        {"x": [number // 100 for number in NUMBERS], "y": [number % 100 for number in NUMBERS]},
    ),
    "the number of a row in two parts": (
        "insensitive",
        {"x": [f"h{row // 25}" for row in range(ROWS)], "y": [f"l{row % 25}" for row in range(ROWS)]},
    ),
    "a function of two words": (
        "insensitive",
        {"x": [f"{sex}{age // 5}" for sex, age in zip(SEX, AGE, strict=True)]},
    ),
    "a product of two": (
        "insensitive",
        {"x": [round(1e4 * kilos / (cm * cm), 1) for kilos, cm in zip(WEIGHT, HEIGHT, strict=True)]},
    ),
    "a sum of two": (
        "insensitive",
        {"x": [kilos + cm // 2 for kilos, cm in zip(WEIGHT, HEIGHT, strict=True)]},
    ),
    "the rank of one": ("insensitive", {"x": [sorted(set(AGE)).index(age) for age in AGE]}),
    "how many are younger": (
        "insensitive",
        {"x": [round(sum(other <= age for other in AGE) / ROWS, 2) for age in AGE]},
    ),
    "a hash of a number": (
        "insensitive",
        {"x": [hashlib.md5(str(number).encode()).hexdigest()[:8] for number in NUMBERS]},  # noqa: S324
    ),
    "the order of rows in threes": ("insensitive", {"x": [row // 3 for row in range(ROWS)]}),
}  # fmt: skip


@pytest.mark.parametrize("what", TOLD_WRONGLY)
def test_a_role_that_was_told_wrongly_is_found_out(what: str) -> None:
    role, columns = TOLD_WRONGLY[what]
    policy = Policy.of({"quasi": list(KNOWN), role: list(columns), "k": 5})
    frame = pl.DataFrame({**KNOWN, **columns})
    assert {doubt.column for doubt in find_doubts(frame, policy)} == {*columns}
    turned = frame.sample(fraction=1.0, shuffle=True, seed=4)
    assert {doubt.column for doubt in find_doubts(turned, policy)} == {*columns}


def test_what_has_nothing_to_do_with_each_other_is_left_alone() -> None:
    for seed in range(20):
        chance = Random(seed)
        free = {
            "x": [chance.randrange(24) for _ in range(ROWS)],
            "y": [chance.randrange(30) for _ in range(ROWS)],
            "z": [chance.choice("abcde") for _ in range(ROWS)],
            "v": [chance.gauss(0, 3) // 1 for _ in range(ROWS)],
        }
        policy = Policy.of({"quasi": list(KNOWN), "insensitive": list(free), "k": 5})
        assert not find_doubts(pl.DataFrame({**KNOWN, **free}), policy)


def test_what_stays_the_same_for_a_person_with_several_rows_is_no_function_of_what_others_know() -> None:
    chance = Random(8)
    people = [
        {
            "age": chance.randint(18, 80),
            "town": chance.choice(TOWN),
            "group": chance.choice(["A", "B", "AB", "0"]),
        }
        for _ in range(150)
    ]
    frame = pl.DataFrame([people[row % 150] for row in range(ROWS)])
    found = look_into(frame, toward=["age", "town"])
    assert not [relation for relation in found.relations if relation.how == "combined"]


@pytest.mark.parametrize("widths", [(4, 4, 3), (3, 3, 3, 2), (2, 4, 5)])
@pytest.mark.parametrize("rows", [400, 30_000])
def test_a_number_in_several_columns_is_found(widths: tuple[int, ...], rows: int) -> None:
    rng = np.random.default_rng(7)
    whole = rng.integers(10**10, 10**11, rows).astype(str)
    ends = np.cumsum(widths)
    parts = {
        f"p{end}": [text[end - wide : end] for text in whole] for end, wide in zip(ends, widths, strict=True)
    }
    for frame in (pl.DataFrame(parts), pl.DataFrame(parts).cast(pl.Int64)):
        found = {one.column for one in look_into(frame).relations if one.how == "together"}
        assert found >= {*list(parts)[1:]} or all(look_into(frame).of(name) for name in parts)


def test_measures_and_years_side_by_side_are_no_number_in_parts() -> None:
    rng = np.random.default_rng(8)
    frame = pl.DataFrame(
        {
            "pressure": rng.normal(130, 15, 3000).astype(int),
            "pulse": rng.normal(75, 12, 3000).astype(int),
            "minutes": rng.gamma(2, 40, 3000).astype(int) + 10,
            "year": rng.integers(1940, 2008, 3000),
            "weight": rng.normal(78, 14, 3000).astype(int),
        }
    )
    assert [one for one in look_into(frame).relations if one.how == "together"] == []
