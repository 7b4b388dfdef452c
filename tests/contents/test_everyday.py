"""The gate stops what tells of somebody, and lets through what people really have beside it."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest

from everyday_columns import HARMLESS, TELLING, Maker
from mahrem.contents import look_into
from mahrem.release import find_doubts
from mahrem.release.decisions import Policy

POLICY = Policy.of({"quasi": ["age"], "k": 5})
# Codes that come equally often, and five digits spread as postcodes are, could be those of people; a
# thousand rows do not share the minutes of a day.
CANNOT_BE_TOLD = {"articles, evenly", "procedures", "clock, every minute"}


def is_stopped(make: Maker, chance: Random, rows: int, each: int = 1) -> bool:
    """Tell whether the gate stops a column, of people who have several rows each."""
    values = [make(chance) for _ in range(rows // each)] * each
    ages = [chance.randint(20, 60) for _ in values]
    frame = pl.DataFrame({"age": ages, "x": pl.Series(values, strict=False)})
    return any(doubt.column == "x" for doubt in find_doubts(frame, POLICY))


def test_hardly_a_column_that_tells_of_nobody_is_stopped() -> None:
    stopped = {what for what, make in HARMLESS.items() if is_stopped(make, Random(what), 1000)}
    assert stopped <= CANNOT_BE_TOLD
    assert len(CANNOT_BE_TOLD) <= 0.05 * len(HARMLESS)


@pytest.mark.parametrize(("rows", "each"), [(300, 1), (480, 8)])
def test_no_column_that_tells_of_somebody_passes(rows: int, each: int) -> None:
    passed = {what for what, make in TELLING.items() if not is_stopped(make, Random(what), rows, each)}
    assert not passed


def test_a_measure_singles_out_where_its_scale_is_finer_than_the_table_is_long() -> None:
    def weigh(places: int) -> Maker:
        return lambda chance: round(chance.gauss(75, 15), places)

    assert not is_stopped(weigh(1), Random(1), 1000)
    assert is_stopped(weigh(1), Random(1), 200)
    assert is_stopped(weigh(3), Random(1), 1000)
    assert not is_stopped(weigh(0), Random(1), 200)


def test_numbers_of_pairs_are_no_measures() -> None:
    frame = pl.DataFrame(
        {"age": [20 + n * 7 % 40 for n in range(600)], "x": [n // 2 * 7 % 300 for n in range(600)]}
    )
    assert [doubt.column for doubt in find_doubts(frame, POLICY)] == ["x"]


def test_codes_of_drugs_and_tests_are_known_and_others_of_their_shape_are_none() -> None:
    for what, kind in (("drugs, ATC, evenly", "atc"), ("tests, LOINC", "loinc")):
        chance = Random(what)
        made = [str(HARMLESS[what](chance)) for _ in range(600)]
        assert [found.kind for found in look_into(pl.DataFrame({"x": made})).of("x")] == [kind]
        turned = [value.translate(str.maketrans("0123456789", "5678901234")) for value in made]
        assert kind not in {found.kind for found in look_into(pl.DataFrame({"x": turned})).of("x")}
