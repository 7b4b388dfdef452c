from __future__ import annotations

import datetime as dt
import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.report._scales import Bands, Scale, as_moment, decimals, moment_ticks, nice, ratio_ticks, ticks

WRONG = [math.nan, math.inf, -math.inf]


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.integers(2, 10), st.booleans())
def test_ticks_rise_lie_inside_and_are_few(one: float, two: float, about: int, whole: bool) -> None:  # noqa: FBT001
    low, high = sorted((one, two))
    found = ticks(low, high, about, whole=whole)
    room = 1e-6 * max(abs(low), abs(high), 1.0)
    assert all(a < b for a, b in pairwise(found))
    assert all(low - room <= value <= high + room for value in found)
    assert len(found) <= 3 * about + 1


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_nice_ticks_enclose(one: float, two: float) -> None:
    low, high = sorted((one, two))
    found = nice(low, high)
    room = max(1e-6 * max(abs(low), abs(high)), 1e-300)  # below it floats have too few digits
    assert len(found) >= 2
    assert found[0] <= low + room
    assert found[-1] >= high - room
    assert found[0] < found[-1]


def test_ticks_are_round() -> None:
    assert ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert ticks(-0.3, 0.3) == [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]
    assert ticks(18, 93) == [20, 40, 60, 80]
    assert ticks(0, 3, whole=True) == [0, 1, 2, 3]
    assert nice(0, 0) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert nice(0, 0, whole=True) == [0, 1]
    assert nice(0, 1010, 4)[-1] == 1200
    assert nice(1e300, math.nextafter(1e300, math.inf)) == [1e300, math.nextafter(1e300, math.inf)]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_figure_has_no_tick_and_no_place(wrong: float) -> None:
    assert ticks(0, wrong) == ticks(wrong, 0) == ratio_ticks(1, wrong) == ratio_ticks(wrong, 1) == []
    assert math.isnan(Scale(0, 1, 0, 100)(wrong))
    assert math.isnan(Scale(0, wrong, 0, 100)(0.5))


def test_a_scale_keeps_to_its_ends() -> None:
    scale = Scale(0, 10, 100, 0)
    assert [scale(value) for value in (-5, 0, 5, 10, 50)] == [100, 100, 50, 0, 0]
    assert Scale(3, 3, 0, 100)(3) == 50, "one figure alone stands in the middle"
    assert Scale(-1.7e308, 1.7e308, 0, 100)(0) == 50


@pytest.mark.parametrize("value", [0, -1])
def test_a_scale_of_ratios_has_no_place_for_nothing(value: float) -> None:
    assert math.isnan(Scale(1, 10, 0, 100, ratios=True)(value))
    assert ratio_ticks(value, 10) == []


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-12, 1e12), st.floats(1, 1e9))
def test_ticks_of_ratios_rise_lie_inside_and_are_few(low: float, times: float) -> None:
    found = ratio_ticks(low, low * times)
    assert found
    assert len(found) <= 12
    assert all(a < b for a, b in pairwise(found))
    assert all(low * 0.999 <= value <= low * times * 1.001 for value in found)


def test_as_many_places_are_written_as_tell_ticks_apart() -> None:
    assert decimals([0.98, 0.985, 0.99]) == 3
    assert decimals([1.0, 2.0]) == decimals([]) == decimals([5.0]) == 0
    assert decimals([1.0, math.pi]) == 6


def test_bands_share_the_room() -> None:
    bands = Bands(3, 20, inner=0.5, outer=0.25)
    assert (bands.width, bands.length) == (10, 60)
    assert [bands.begin(place) for place in range(3)] == [5, 25, 45]
    assert bands.middle(0) == 10


@settings(max_examples=200, deadline=None)
@given(st.datetimes())
def test_moments_are_counted_as_the_calendar_does(moment: dt.datetime) -> None:
    found = as_moment(moment.strftime("%Y-%m-%dT%H:%M").rjust(16, "0"))
    assert found is not None
    since = moment.replace(second=0, microsecond=0) - dt.datetime(1970, 1, 1)  # noqa: DTZ001
    assert found.days == pytest.approx(since.total_seconds() / 86400)


@pytest.mark.parametrize("wrong", ["", "soon", "2024", "2024-13-01", "2024-01-00", "nan"])
def test_what_is_no_moment_is_none(wrong: str) -> None:
    assert as_moment(wrong) is None


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([f"{year}-01-01" for year in range(1950, 1970)], ["1950", "1955", "1960", "1965"]),
        (["2024-01-01", "2024-02-01"], ["2024-01", "2024-02"]),
        ([f"2024-{month:02d}-01" for month in range(1, 12)], ["2024-01", "2024-04", "2024-07", "2024-10"]),
        (["2024-03-05", "2024-03-06"], ["2024-03-05", "2024-03-06"]),
        (["2024-03-05T06:00", "2024-03-05T12:00"], ["03-05 06:00", "03-05 12:00"]),
        (["0000-01-01", "5000-01-01", "10000-01-01"], ["0000", "5000", "10000"]),
        ([], []),
    ],
)
def test_moments_are_written_no_finer_than_needed(edges: list[str], words: list[str]) -> None:
    moments = [moment for edge in edges if (moment := as_moment(edge))]
    assert [text for _, text in moment_ticks(moments)] == words
