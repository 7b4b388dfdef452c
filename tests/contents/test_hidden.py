"""What gives people away does so as a plain number or a short code too."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest

from hidden_columns import GIVE_AWAY, GIVE_NOTHING, OWN_AMOUNTS
from mahrem.contents import CONTENTS, look_into
from mahrem.release import find_doubts
from mahrem.release.decisions import Policy

PEOPLE, ROWS_EACH = 60, 8  # so that no value is somebody's own, and content alone must tell


def table(made: list[object]) -> pl.DataFrame:
    random = Random(5)
    return pl.DataFrame({"age": [random.randint(20, 60) for _ in made], "x": made})


@pytest.mark.parametrize("what", GIVE_AWAY)
def test_plain_numbers_and_codes_that_give_people_away_are_recognised_and_stopped(what: str) -> None:
    kind, make = GIVE_AWAY[what]
    random = Random(what)
    frame = table([make(random) for _ in range(PEOPLE)] * ROWS_EACH)
    assert kind in {finding.kind for finding in look_into(frame).of("x")}
    assert [doubt.column for doubt in find_doubts(frame, Policy.of({"quasi": ["age"]}))] == ["x"]


@pytest.mark.parametrize("what", OWN_AMOUNTS)
def test_numbers_so_fine_that_rows_with_one_belong_together_are_stopped_unless_sensitive(what: str) -> None:
    random = Random(what)
    for people, rows in ((60, 8), (120, 4), (200, 30)):
        frame = table([OWN_AMOUNTS[what](random) for _ in range(people)] * rows)
        assert [doubt.column for doubt in find_doubts(frame, Policy.of({"quasi": ["age"]}))] == ["x"]


@pytest.mark.parametrize("what", GIVE_NOTHING)
def test_what_gives_nothing_away_is_left_alone(what: str) -> None:
    random = Random(what)
    found = look_into(table([GIVE_NOTHING[what](random) for _ in range(480)])).of("x")
    assert all(CONTENTS[finding.kind].publishable for finding in found)


def test_metres_on_a_map_are_places_where_they_stand_side_by_side() -> None:
    random = Random(3)
    east = [random.randrange(200_000, 800_000) for _ in range(60)] * 8
    north = [random.randrange(4_100_000, 4_600_000) for _ in range(60)] * 8
    found = look_into(pl.DataFrame({"a": east, "b": north}))
    assert {found.of(name)[0].kind for name in ("a", "b")} == {"coordinates"}
    priced = [1000 * (number // 1000) for number in north]
    found = look_into(pl.DataFrame({"a": east, "b": priced}))
    assert "coordinates" not in {finding.kind for name in ("a", "b") for finding in found.of(name)}
