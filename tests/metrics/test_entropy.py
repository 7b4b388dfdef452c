from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.metrics import Cover, entropy_coefficient, entropy_loss, entropy_loss_cells, measure_entropy
from mahrem.metrics._covers import covered_values
from mahrem.table import Axis, Column, Hierarchy, Kind, Leaves, Numbers, Role, Words, encode_quasi

CASES = st.integers(2, 40).flatmap(
    lambda rows: st.tuples(
        st.lists(st.integers(0, 7), min_size=rows, max_size=rows),
        st.lists(st.integers(0, 2), min_size=rows, max_size=rows),
        st.lists(st.integers(0, 3), min_size=8, max_size=8),
    )
)


def cover_of(groups: dict[int, list[int]], values: int) -> Cover:
    runs = [(cell, value, value) for cell in sorted(groups) for value in groups[cell]]
    table = np.array(runs).reshape(-1, 3)
    return Cover(table[:, 0], table[:, 1], table[:, 2], max(groups) + 1, values)


def slow_spread(cover: Cover, counts: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    table = np.zeros((cover.values, counts.shape[1]))
    for cell in range(cover.cells):
        mine = cover.cell == cell
        values = [
            value
            for first, last in zip(cover.first[mine], cover.last[mine], strict=True)
            for value in range(first, last + 1)
        ]
        weight = frequency[values]
        share = weight / weight.sum() if weight.sum() > 0 else np.full(len(values), 1 / max(len(values), 1))
        for value, part in zip(values, share, strict=True):
            table[value] += part * counts[cell]
    return table


@settings(max_examples=50, deadline=None)
@given(CASES)
def test_a_global_coarsening_never_gains_by_our_ruler(case: tuple[list[int], list[int], list[int]]) -> None:
    values, target, coarse = (np.array(part) for part in case)
    groups: dict[int, list[int]] = {}
    for value, cell in enumerate(coarse.tolist()):
        groups.setdefault(cell, []).append(value)
    loss = entropy_loss([values], [coarse[values]], [cover_of(groups, 9)], target)
    assert -1e-9 <= loss <= 1 + 1e-9


@settings(max_examples=30, deadline=None)
@given(CASES)
def test_identity_loses_exactly_nothing_by_both_rulers(case: tuple[list[int], list[int], list[int]]) -> None:
    values, target = np.array(case[0]), np.array(case[1])
    itself = Cover(np.arange(8), np.arange(8), np.arange(8), 8, 9)
    assert entropy_loss([values], [values], [itself], target) == 0.0
    assert entropy_loss_cells([values], [values], target) == 0.0


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_cells_are_spread_as_a_slow_loop_spreads_them(data: st.DataObject) -> None:
    ends = data.draw(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted), min_size=1, max_size=6)
    )
    runs = np.array(ends)
    cover = Cover(np.arange(len(ends)), runs[:, 0], runs[:, 1], len(ends), 10)
    counts = np.array(
        data.draw(st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=len(ends), max_size=len(ends)))
    )
    frequency = np.array(data.draw(st.lists(st.integers(0, 5), min_size=10, max_size=10)), np.float64)
    found = cover.spread(counts.astype(np.float64), frequency)
    np.testing.assert_allclose(found, slow_spread(cover, counts, frequency), atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=0), counts.sum(axis=0), atol=1e-9)


def test_a_column_that_tells_all_has_one_and_one_that_tells_nothing_has_zero() -> None:
    target = np.array([0, 0, 1, 1])
    assert entropy_coefficient(target, target) == 1.0
    assert entropy_coefficient(np.array([0, 1, 0, 1]), target) == 0.0
    assert entropy_coefficient(target, np.zeros(4, np.int64)) == 0.0


def test_an_interval_covers_all_values_within_it_and_not_only_those_of_its_class() -> None:
    axis = Axis("age", np.array([20.0, 25.0, 29.0, 40.0, np.nan]), Numbers(20, 40, True))
    cells = pl.Series(["[20, 30]", "40", "*", None, "33"])
    cover, codes = covered_values(cells, axis)
    assert codes.tolist() == [0, 1, 2, 3, 4]
    assert list(zip(cover.first.tolist(), cover.last.tolist(), strict=True)) == [
        (0, 2),
        (3, 3),
        (0, 4),
        (4, 4),
        (2, 2),  # no such value: the nearest
    ]


def test_a_day_over_moments_of_a_zone_is_a_day_of_that_zone() -> None:
    instants = pl.Series(
        [
            dt.datetime(2022, 10, 1, 20, 59, tzinfo=dt.UTC),  # 23:59 in Istanbul
            dt.datetime(2022, 10, 1, 21, 0, tzinfo=dt.UTC),  # midnight there
            dt.datetime(2022, 10, 2, 20, 59, 59, tzinfo=dt.UTC),
            dt.datetime(2022, 10, 2, 21, 0, tzinfo=dt.UTC),
        ]
    )
    cells = pl.Series(["2022-10-02", "[2022-10-01, 2022-10-01]"])
    for zone, covered in (("Europe/Istanbul", [(1, 2), (0, 0)]), ("UTC", [(2, 3), (0, 1)])):
        moments = instants.cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone).alias("at")
        axis = encode_quasi(moments, Column(name="at", role=Role.QUASI, kind=Kind.DATE))
        cover, _ = covered_values(cells, axis)
        assert list(zip(cover.first.tolist(), cover.last.tolist(), strict=True)) == covered


def test_sets_beginnings_and_nodes_cover_their_values() -> None:
    words = Axis("job", np.array([0.0, 1.0, 2.0]), Words(("clerk", "nurse", "smith")))
    cover, _ = covered_values(pl.Series(["{clerk, smith, }", "nurse", "{clerk, nurse}"]), words)
    assert cover.cell.tolist() == [0, 0, 1, 2]
    assert cover.first.tolist() == [0, 2, 1, 0]
    assert cover.last.tolist() == [0, 3, 1, 1]
    codes = Axis("zip", np.array([0.0, 1.0, 2.0]), Words(("06100", "06130", "34000"), prefixes=True))
    cover, _ = covered_values(pl.Series(["061**", "34000"]), codes)
    assert (cover.first.tolist(), cover.last.tolist()) == ([0, 2], [1, 2])
    tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
    leaves = Axis("disease", np.array([0.0, 1.0, 2.0]), Leaves(tree))
    cover, _ = covered_values(pl.Series(["lung", "gout", "*"]), leaves)
    assert (cover.first.tolist(), cover.last.tolist()) == ([0, 2, 0], [1, 2, 3])


def test_suppressed_rows_lose_what_they_said() -> None:
    axis = Axis("age", np.array([1.0, 1.0, 2.0, 2.0]), Numbers(1, 2, True))
    target = np.array([0, 0, 1, 1])
    shown = {"age": pl.Series(["1", "2"])}
    assert measure_entropy([axis], shown, np.array([0, 0, 1, 1]), target).entropy_loss == 0.0
    assert measure_entropy([axis], shown, np.array([-1, -1, -1, -1]), target).entropy_loss == 1.0
    half = measure_entropy([axis], shown, np.array([0, 0, -1, -1]), target)
    assert 0 < half.entropy_loss < 1


def test_a_target_with_one_value_is_refused() -> None:
    axis = Axis("age", np.array([1.0, 2.0]), Numbers(1, 2, True))
    with pytest.raises(InvalidParameter, match="two values"):
        measure_entropy([axis], {"age": pl.Series(["1", "2"])}, np.array([0, 1]), np.array([0, 0]))


@pytest.mark.data
def test_the_published_originals_of_mammographic_come_out(benchmark_data: Path) -> None:
    frame = pl.read_csv(benchmark_data / "mammographic_masses.csv", null_values="?").drop_nulls()
    assert frame.height == 830
    target = frame["Severity"].to_numpy()
    axes = [
        encode_quasi(frame[name], Column(name=name, role=Role.QUASI, kind=Kind.NUMERIC))
        for name in frame.columns[:-1]
    ]
    shown = {axis.name: frame[axis.name].cast(pl.String) for axis in axes}
    found = measure_entropy(axes, shown, np.arange(830), target)
    assert [round(value, 5) for value in found.original.values()] == [
        0.36172,
        0.22162,
        0.26680,
        0.27997,
        0.00584,
    ]
    assert found.entropy_loss == 0.0
    assert found.entropy_loss_cells == 0.0
