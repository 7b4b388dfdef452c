from __future__ import annotations

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.metrics import cell_losses
from mahrem.recode import Intervals, _intervals
from mahrem.recode._moment_grid import moment_step
from mahrem.recode._number_grid import NumberGrid, number_grid
from mahrem.table import Axis, Cells, Column, Kind, Moments, Numbers, Role, Words, encode_quasi, read_ranges
from mahrem.table.cells import write_ranges


def shown(values: list[object], labels: list[int], recoding: Intervals, kind: Kind = Kind.NUMERIC) -> Cells:
    axis = encode_quasi(pl.Series("x", values), Column(name="x", role=Role.QUASI, kind=kind))
    return recoding(axis, np.array(labels), max(labels) + 1)


def test_exact_bounds_are_the_extremes_of_the_class() -> None:
    cells = shown([18, 23, 64, 64, None], [0, 0, 1, 1, 2], Intervals(bounds="exact"))
    assert cells.text.to_list() == ["[18, 23]", "64", None]
    assert cell_losses(cells).ncp.tolist() == [5 / 46, 0, 0]
    assert cell_losses(cells).exact.tolist() == [False, True, True]
    assert cells.low is not None
    assert cells.low.dtype == pl.Int64
    assert cells.low.to_list() == [18, 64, None]


def test_floats_keep_their_shortest_form() -> None:
    cells = shown([0.1, 0.30000000000000004, -2.5, 7.0], [0, 0, 1, 1], Intervals(bounds="exact"))
    assert cells.text.to_list() == ["[0.1, 0.30000000000000004]", "[-2.5, 7.0]"]


def test_grid_bounds_are_snapped_outward() -> None:
    cells = shown([17, 38, 38, 90], [0, 0, 1, 1], Intervals())
    assert cells.text.to_list() == ["[15, 40]", "[35, 90]"]
    assert cell_losses(cells).ncp.tolist() == pytest.approx([25 / 75, 55 / 75])


def test_grid_lines_are_plain_decimals() -> None:
    values = [i / 10 for i in range(11)]
    cells = shown(values, list(range(11)), Intervals(step=0.1))
    assert cells.text.to_list() == [str(value) for value in values]


def test_a_single_value_off_the_grid_shows_the_range_around_it() -> None:
    assert shown([37, 90, 17], [0, 1, 2], Intervals(step=5)).text[0] == "[35, 40]"


def test_dates_are_snapped_to_whole_periods() -> None:
    days = [date(2024, 2, 10), date(2024, 4, 1), date(1969, 12, 30)]
    for step, expected in {
        "day": "[2024-02-10, 2024-04-01]",
        "week": "[2024-02-05, 2024-04-07]",
        "month": "[2024-02-01, 2024-04-30]",
        "quarter": "[2024-01-01, 2024-06-30]",
        "year": "[2024-01-01, 2024-12-31]",
    }.items():
        cells = shown(days, [0, 0, 1], Intervals(step=step), Kind.DATE)
        assert cells.text[0] == expected
    assert cells.text[1] == "[1969-01-01, 1969-12-31]"


def test_moments_end_with_the_last_second_or_microsecond_of_a_period() -> None:
    moments = [datetime(2024, 2, 10, 8, 30), datetime(2024, 2, 10, 23, 59, 59, 500_000)]  # noqa: DTZ001
    cells = shown(moments, [0, 1], Intervals(step="hour"), Kind.DATE)
    assert cells.text.to_list() == [
        "[2024-02-10T08:00:00, 2024-02-10T08:59:59]",
        "[2024-02-10T23:00:00, 2024-02-10T23:59:59.999999]",
    ]
    assert cells.high is not None
    assert cells.high.dtype == pl.Datetime("us")


@pytest.mark.parametrize(
    ("domain", "step"),
    [
        (Numbers(17, 90, whole=True), 5.0),
        (Numbers(0, 32, whole=True), 1.0),
        (Numbers(0, 33, whole=True), 2.0),
        (Numbers(0, 3, whole=True), 1.0),
        (Numbers(7, 7, whole=True), 1.0),
        (Numbers(0, 0, whole=True), 1.0),
        (Numbers(0, 1, whole=False), 0.05),
        (Numbers(7.3, 7.3, whole=False), 0.5),
        (Numbers(-1.7e308, 1.7e308, whole=False), 2e307),
        (Numbers(0, 5e-324, whole=False), 1e-300),
    ],
)
def test_the_default_step_is_round_and_a_thirty_second_of_the_domain(domain: Numbers, step: float) -> None:
    assert number_grid(domain).step == step


@pytest.mark.parametrize(
    ("days", "unit", "step"),
    [
        (0, "D", "day"),
        (32, "D", "day"),
        (33, "D", "week"),
        (225, "D", "month"),
        (1000, "D", "quarter"),
        (100_000, "D", "year"),
        (0.01, "us", "minute"),
        (1, "us", "hour"),
        (20, "us", "day"),
    ],
)
def test_the_default_step_of_dates_follows_their_range(days: float, unit: str, step: str) -> None:
    assert moment_step(Moments(0, days * (86_400e6 if unit == "us" else 1), unit)) == step


@pytest.mark.parametrize("step", ["wide", 0, -1, float("inf"), float("nan"), "1e-400", 1e-9])
def test_a_step_that_is_no_grid_is_refused(step: float | str) -> None:
    with pytest.raises(InvalidParameter, match="step="):
        shown([1e15, 0.5], [0, 1], Intervals(step=step))


@pytest.mark.parametrize("step", ["hour", 5, "fortnight"])
def test_days_know_their_own_steps_only(step: float | str) -> None:
    with pytest.raises(InvalidParameter, match="day, week, month, quarter, year"):
        shown([date(2024, 1, 1)], [0], Intervals(step=step), Kind.DATE)


def test_words_have_no_intervals() -> None:
    with pytest.raises(InvalidParameter, match="needs numbers or dates"):
        Intervals()(Axis("x", np.zeros(1), Words(("a",))), np.zeros(1, np.int64), 1)
    with pytest.raises(InvalidParameter, match="bounds="):
        shown([1], [0], Intervals(bounds="round"))  # type: ignore[arg-type]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.floats(-1e300, 1e300) | st.floats(-1000, 1000) | st.floats(-1e-290, 1e-290),
        min_size=2,
        max_size=20,
    )
)
def test_bounds_on_the_grid_say_nothing_about_real_extremes(values: list[float]) -> None:
    axis = encode_quasi(pl.Series("x", values), Column(name="x", role=Role.QUASI, kind=Kind.NUMERIC))
    assert isinstance(axis.domain, Numbers)
    grid = number_grid(axis.domain)
    text = Intervals()(axis, np.arange(len(values)), len(values)).text
    for value, low, high in zip(values, *read_ranges(text), strict=True):
        assert low <= value <= high
        for end in (low, high):
            assert np.isinf(end) or end == grid.line(np.array([np.round(end / grid.step)]))[0]
        # ends are neighbours on the grid: nothing finer than the grid is told
        assert np.isinf(high) or high / grid.step - low / grid.step <= 1 + 1e-6 * abs(low / grid.step)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([1, 2, 5, 25]), st.integers(-300, 280), st.integers(-(2**50), 2**50))
def test_a_line_of_the_grid_is_the_float_nearest_to_its_decimal(
    mantissa: int, exponent: int, count: int
) -> None:
    grid = NumberGrid(mantissa, exponent)
    assert grid.line(np.array([float(count)]))[0] == float(f"{count * mantissa}e{exponent}")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([-0.0, 0.0, 1.5, -2.0]), min_size=8, max_size=8),
    st.lists(st.sampled_from([0.0, -0.0, 2.0]), min_size=8, max_size=8),
    st.sampled_from([pl.Float64, pl.Int64, pl.Date]),
)
def test_ranges_that_classes_share_are_written_as_each_by_itself(
    first: list[float], last: list[float], kind: type[pl.DataType]
) -> None:
    low, high = (pl.Series(side).cast(pl.Int64 if kind != pl.Float64 else kind) for side in (first, last))
    low, high = low.cast(kind).alias("low"), high.cast(kind).alias("high")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_intervals, "_SHARED", 1)
        assert _intervals._texts(low, high).to_list() == write_ranges(low, high).to_list()
