from __future__ import annotations

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.metrics import cell_losses
from mahrem.recode import Centroids, Intervals, Nodes, Sets
from mahrem.table import Axis, Cells, Column, Hierarchy, Kind, Leaves, Numbers, Role, Words, encode_quasi
from mahrem.types import Labels

TREE = Hierarchy.from_rows([(f"{i}", f"tens {i // 3}", "*") for i in range(6)])
NUMBERS = (
    st.integers(-40, 40)
    | st.floats(-1e300, 1e300)
    | st.sampled_from([1e300, -1e300, 1e-300, 5e-324, 0.1, 0.3])
)


def numbers(*values: float) -> Axis:
    return encode_quasi(
        pl.Series("x", values, strict=False), Column(name="x", role=Role.QUASI, kind=Kind.NUMERIC)
    )


def moments(*values: object) -> Axis:
    return encode_quasi(pl.Series("x", values), Column(name="x", role=Role.QUASI, kind=Kind.DATE))


def words(*codes: float, ordered: bool = False) -> Axis:
    return Axis("x", np.array(codes, np.float64), Words(tuple("abcd"), ordered=ordered))


def check_shape(cells: Cells, classes: int) -> None:
    losses = cell_losses(cells)
    assert len(cells.text) == len(losses.ncp) == len(losses.iloss) == len(losses.exact) == classes
    assert cells.text.dtype == pl.String
    assert ((losses.ncp >= 0) & (losses.ncp <= 1)).all()
    assert ((cells.text == "*").fill_null(value=False).to_numpy() == cells.suppressed).all()
    assert not (losses.exact & cells.suppressed).any()


def test_numbers_show_their_mean_and_whole_ones_keep_a_decimal() -> None:
    cells = Centroids()(numbers(1, 2, 2, 9), np.array([0, 0, 0, 1]), 2)
    assert cells.text.to_list() == ["1.7", "9.0"]
    assert cell_losses(cells).exact.tolist() == [False, True]
    assert cells.low is not None
    assert cells.high is not None
    assert cells.low.to_list() == cells.high.to_list() == [1.7, 9.0]
    assert cell_losses(cells).ncp.tolist() == [1 / 8, 0]


def test_fractions_are_rounded_to_a_ten_thousandth_of_the_width() -> None:
    cells = Centroids()(numbers(0.0, 1 / 3, 1.0, 0.123456), np.array([0, 0, 0, 1]), 2)
    assert cells.text.to_list() == ["0.4444", "0.123456"]


def test_a_rounded_mean_stays_within_its_class() -> None:
    cells = Centroids()(numbers(0.00001, 0.00002, 1.0), np.array([0, 0, 1]), 2)
    assert cells.low is not None
    assert 0.00001 <= cells.low[0] <= 0.00002


def test_moments_show_their_mean_moment() -> None:
    days = moments(date(2020, 1, 1), date(2020, 1, 4))
    assert Centroids()(days, np.zeros(2, np.int64), 1).text.to_list() == ["2020-01-02"]
    times = moments(datetime(2020, 1, 1, 8), datetime(2020, 1, 1, 10))  # noqa: DTZ001 - clocks on the wall
    assert "2020-01-01" in Centroids()(times, np.zeros(2, np.int64), 1).text[0]
    assert "09:00" in Centroids()(times, np.zeros(2, np.int64), 1).text[0]


def test_words_show_the_most_frequent_and_of_equals_the_first() -> None:
    cells = Centroids()(words(0, 1, 1, 3, 2), np.array([0, 0, 0, 1, 1]), 2)
    assert cells.text.to_list() == ["b", "c"]
    assert cell_losses(cells).ncp.tolist() == [0.5, 0.5]
    assert cell_losses(Centroids()(words(0, 3, ordered=True), np.zeros(2, np.int64), 1)).ncp.tolist() == [1.0]


def test_leaves_show_their_lowest_node() -> None:
    axis = Axis("x", np.array([0.0, 1.0, 4.0]), Leaves(TREE))
    labels = np.array([0, 0, 1])
    assert Centroids()(axis, labels, 2).text.to_list() == Nodes()(axis, labels, 2).text.to_list()


@pytest.mark.parametrize("axis", [numbers(1, None, 3), words(1, np.nan, 3)], ids=["numbers", "words"])  # type: ignore[arg-type]
def test_missing_values_are_never_hidden_among_present_ones(axis: Axis) -> None:
    cells = Centroids()(axis, np.array([0, 0, 0]), 1)
    assert cells.text.to_list() == ["*"]
    cells = Centroids()(axis, np.array([0, 1, 0]), 2)
    assert cells.text[1] is None
    assert cell_losses(cells).exact[1]
    assert not cells.suppressed.any()


@pytest.mark.parametrize(
    "axis", [Axis("x", np.empty(0), Numbers(0, 0, True)), Axis("x", np.empty(0), Words(()))]
)
def test_nothing_at_all_simply_works(axis: Axis) -> None:
    check_shape(Centroids()(axis, np.empty(0, np.int64), 0), 0)
    check_shape(Centroids()(axis, np.empty(0, np.int64), 2), 2)


def drawn(data: st.DataObject, values: st.SearchStrategy[object]) -> tuple[list[object], Labels, int]:
    rows = data.draw(st.lists(values, min_size=1, max_size=24))
    classes = data.draw(st.integers(1, 4))
    labels = data.draw(st.lists(st.integers(-1, classes - 1), min_size=len(rows), max_size=len(rows)))
    return rows, np.array(labels), classes


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_means_lie_within_their_class_and_lose_what_the_interval_loses(data: st.DataObject) -> None:
    rows, labels, classes = drawn(data, st.none() | NUMBERS)
    axis = numbers(*rows)  # type: ignore[arg-type]
    cells = Centroids()(axis, labels, classes)
    check_shape(cells, classes)
    interval = Intervals()(axis, labels, classes)
    assert (cell_losses(cells).ncp == cell_losses(interval).ncp).all()
    assert cells.low is not None
    for label in range(classes):
        mine = axis.positions[labels == label]
        if len(mine) and not np.isnan(mine).any():
            assert mine.min() <= cells.low[label] <= mine.max()
            if mine.min() < mine.max():
                assert cells.low[label] == pytest.approx(
                    (mine / len(mine)).sum(), abs=1e-4 * np.ptp(axis.span) + 0.06
                )
            else:
                assert float(cells.text[label]) == mine[0]


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_modes_are_values_of_the_class(data: st.DataObject) -> None:
    rows, labels, classes = drawn(data, st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan]))
    axis = words(*rows)  # type: ignore[arg-type]
    cells = Centroids()(axis, labels, classes)
    check_shape(cells, classes)
    for label in range(classes):
        mine = [code for code, where in zip(rows, labels.tolist(), strict=True) if where == label]
        present = [int(code) for code in mine if code == code]  # type: ignore[call-overload]  # noqa: PLR0124 - NaN
        if present and len(present) == len(mine):
            most = max(present.count(code) for code in present)
            assert cells.text[label] == "abcd"[min(c for c in present if present.count(c) == most)]
    assert (cell_losses(cells).ncp == cell_losses(Sets()(axis, labels, classes)).ncp).all()
