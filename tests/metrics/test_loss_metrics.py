"""Metrics on published cells: facts done by hand, ranges, weights, and all of them at once."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.metrics import (
    METRICS,
    RowCounts,
    discernibility,
    distortion,
    gcp,
    gcp_sum,
    iloss,
    measure,
    published_loss,
)
from mahrem.table import Cells
from mahrem.table.cells import write_set

# ages 20..60 in two classes, [20, 30] of 3 rows and [40, 60] of 2; sex {f, m} for the first, m for the second
SIZES = np.array([3, 2])
NCP = np.array([[0.25, 1.0], [0.5, 0.0]])


def cells(*texts: str | None) -> Cells:
    text = pl.Series(texts, dtype=pl.String)
    hidden = (text == "*").fill_null(value=False).to_numpy()
    return Cells(text=text, low=None, high=None, suppressed=hidden)


def people() -> dict[str, Cells]:
    return {"age": cells("[20, 30]", "[40, 60]"), "sex": cells("{f, m}", "m")}


def test_penalties_of_two_classes_done_by_hand() -> None:
    assert gcp_sum(SIZES, NCP) == 3 * 1.25 + 2 * 0.5
    assert gcp(SIZES, NCP) == pytest.approx(4.75 / 10)


def test_a_suppressed_row_costs_a_whole_row() -> None:
    assert gcp_sum(SIZES, NCP, suppressed=1) == 6.75
    assert gcp(SIZES, NCP, suppressed=1) == pytest.approx(6.75 / 12)


def test_weights_count_columns_and_scale_out() -> None:
    weights = np.array([2.0, 0.5])
    assert gcp_sum(SIZES, NCP, weights=weights, suppressed=1) == 3 * 1.0 + 2 * 1.0 + 2.5
    assert gcp(SIZES, NCP, weights=weights, suppressed=1) == pytest.approx(7.5 / (2.5 * 6))


def test_iloss_sums_leaves_less_one() -> None:
    assert iloss(SIZES, np.array([[0.2, 0.5], [0.4, 0.0]])) == pytest.approx(3 * 0.7 + 2 * 0.4)


def test_distortion_counts_cells() -> None:
    exact = np.array([[False, False], [False, True]])
    assert distortion(SIZES, exact) == 8
    assert distortion(SIZES, exact, suppressed=2) == 12


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]])
def test_weights_that_do_not_fit_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidParameter):
        gcp_sum(SIZES, NCP, weights=np.array(weights))


def test_nothing_published_is_measured_without_a_warning() -> None:
    nobody, nowhere = np.zeros(0, dtype=np.int64), np.zeros((0, 2))
    assert gcp(nobody, nowhere) == gcp_sum(nobody, nowhere) == iloss(nobody, nowhere) == 0.0
    assert distortion(nobody, nowhere > 0) == 0
    assert gcp(nobody, nowhere, suppressed=3) == 1.0
    assert gcp(SIZES, np.zeros((2, 0))) == 0.0
    assert gcp(SIZES, NCP, weights=np.zeros(2)) == 0.0


def test_all_figures_at_once_are_those_of_the_functions() -> None:
    utility, columns = measure(SIZES, people(), RowCounts(rows=6, suppressed=1, classes=2), k=2)
    assert utility == {
        "classes": 2,
        "published_classes": 2,
        "dm": 9 + 4 + 6,
        "mean_class_size": 2.5,
        "c_avg": 1.25,
        "gcp": pytest.approx(6.75 / 12),
        "gcp_sum": 6.75,
        "iloss": pytest.approx(3.25 + 2),
        "distortion": 8 + 2,
        "suppressed": 1,
    }
    assert columns["age"] == {
        "gcp": pytest.approx((0.75 + 1 + 1) / 6),
        "iloss": pytest.approx(0.75 + 1.0 + 1),
        "generalised_cells": 5,
        "suppressed_cells": 1,
    }
    assert columns["sex"]["generalised_cells"] == 3


def test_suppressed_cells_are_told_from_generalised_ones() -> None:
    hidden = {"zip": cells("*", "06100")}
    utility, columns = measure(SIZES, hidden, RowCounts(rows=5, suppressed=0, classes=2), k=2)
    assert columns["zip"]["generalised_cells"] == 0
    assert columns["zip"]["suppressed_cells"] == 3
    assert utility["distortion"] == 3


def test_the_keys_are_those_of_the_contract() -> None:
    utility, columns = measure(SIZES, people(), RowCounts(rows=5, suppressed=0, classes=2), k=2)
    contract = {
        "classes",
        "dm",
        "mean_class_size",
        "c_avg",
        "gcp",
        "gcp_sum",
        "iloss",
        "distortion",
        "suppressed",
    }
    assert set(utility) == contract | {"published_classes"} == set(METRICS)
    json.dumps([utility, columns], allow_nan=False)


@pytest.mark.parametrize("weights", [{"zip": 1.0}, {"age": -1.0}, {"age": float("nan")}])
def test_weights_of_no_column_or_no_number_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter, match="weights"):
        measure(SIZES, people(), RowCounts(rows=5, suppressed=0, classes=2), k=2, weights=weights)


def test_columns_without_a_weight_count_once() -> None:
    utility, _ = measure(
        SIZES, people(), RowCounts(rows=5, suppressed=0, classes=2), k=2, weights={"age": 2.0}
    )
    assert utility["gcp_sum"] == 2 * (0.75 + 1.0) + 3
    assert utility["gcp"] == pytest.approx(6.5 / 15)


@pytest.mark.parametrize("columns", [{}, {"age": cells()}], ids=["no column", "one column"])
def test_no_classes_at_all_are_measured(columns: dict[str, Cells]) -> None:
    nobody = np.zeros(0, dtype=np.int64)
    utility, _ = measure(nobody, columns, RowCounts(rows=0, suppressed=0, classes=0), k=5)
    assert all(figure == 0 for figure in utility.values())


@st.composite
def losses(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    classes, columns = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 50), min_size=classes, max_size=classes))
    flat = draw(st.lists(st.floats(0, 1), min_size=classes * columns, max_size=classes * columns))
    return np.array(sizes), np.array(flat).reshape(classes, columns)


@settings(max_examples=60, deadline=None)
@given(drawn=losses(), suppressed=st.integers(0, 20), weight=st.floats(0.1, 5))
def test_gcp_is_a_share_whatever_the_weights(
    drawn: tuple[np.ndarray, np.ndarray], suppressed: int, weight: float
) -> None:
    sizes, ncp = drawn
    weights = np.linspace(weight, 1, ncp.shape[1])
    share = gcp(sizes, ncp, weights=weights, suppressed=suppressed)
    assert 0 <= share <= 1 + 1e-12
    assert gcp(sizes, ncp, weights=3 * weights, suppressed=suppressed) == pytest.approx(share)
    total = gcp_sum(sizes, ncp, weights=weights, suppressed=suppressed)
    assert total == pytest.approx(share * weights.sum() * (sizes.sum() + suppressed))


@settings(max_examples=60, deadline=None)
@given(drawn=losses())
def test_suppressing_a_class_never_lowers_its_cost(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    sizes, ncp = drawn
    rest = gcp_sum(sizes[1:], ncp[1:], suppressed=int(sizes[0]))
    assert rest >= gcp_sum(sizes, ncp) - 1e-9
    exact = ncp == 0
    assert distortion(sizes[1:], exact[1:], int(sizes[0])) >= distortion(sizes, exact)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_joining_two_classes_of_intervals_never_lowers_cost(data: st.DataObject) -> None:
    ages = data.draw(st.lists(st.lists(st.integers(0, 100), min_size=1, max_size=9), min_size=2, max_size=6))
    joined = [ages[0] + ages[1], *ages[2:]]

    def cost(classes: list[list[int]]) -> tuple[int, float, float]:
        sizes = np.array([len(members) for members in classes])
        width = np.array([[(max(members) - min(members)) / 100] for members in classes])
        return discernibility(sizes), gcp_sum(sizes, width), gcp(sizes, width)

    for after, before in zip(cost(joined), cost(ages), strict=True):
        assert after >= before - 1e-9


@st.composite
def published(draw: st.DrawFn) -> tuple[np.ndarray, dict[str, Cells]]:
    """Draw classes whose cells are of every form there is."""
    classes = draw(st.integers(1, 6))
    number = st.integers(-99, 99)
    word = st.sampled_from(["a", "b, c", "*d", "", "e"])
    forms = {
        "range": st.tuples(number, number).map(lambda pair: f"[{min(pair)}, {max(pair)}]"),
        "set": st.sets(word, min_size=2).map(lambda members: write_set(sorted(members))),
        "beginning": st.sampled_from(["06***", "061**", '"*1"**', "06100"]),
    }
    columns = {}
    for name, form in forms.items():
        texts = draw(st.lists(st.none() | st.just("*") | form, min_size=classes, max_size=classes))
        columns[name] = cells(*texts)
    sizes = draw(st.lists(st.integers(0, 50), min_size=classes, max_size=classes))
    return np.array(sizes), columns


@settings(max_examples=80, deadline=None)
@given(drawn=published(), suppressed=st.integers(0, 5))
def test_columns_add_up_to_the_whole(drawn: tuple[np.ndarray, dict[str, Cells]], suppressed: int) -> None:
    sizes, columns = drawn
    rows = int(sizes.sum()) + suppressed
    utility, per_column = measure(sizes, columns, RowCounts(rows=rows, suppressed=suppressed, classes=1), k=1)
    assert np.mean([column["gcp"] for column in per_column.values()]) == pytest.approx(utility["gcp"])
    assert sum(column["iloss"] for column in per_column.values()) == pytest.approx(utility["iloss"])
    changed = [column["generalised_cells"] + column["suppressed_cells"] for column in per_column.values()]
    assert sum(changed) == utility["distortion"]


@settings(max_examples=80, deadline=None)
@given(drawn=published(), suppressed=st.integers(0, 5), data=st.data())
def test_an_audit_finds_the_same_loss_in_the_published_rows(
    drawn: tuple[np.ndarray, dict[str, Cells]], suppressed: int, data: st.DataObject
) -> None:
    sizes, columns = drawn
    full = sizes > 0
    shown = {name: column.text.filter(pl.Series(full)) for name, column in columns.items()}
    rows = np.concatenate([np.repeat(np.arange(full.sum()), sizes[full]), np.full(suppressed, full.sum())])
    order = data.draw(st.permutations(rows.tolist()))
    stars = pl.Series(["*"], dtype=pl.String)
    table = pl.DataFrame({name: pl.concat([text, stars]).gather(order) for name, text in shown.items()})
    classes = table.head(int(sizes.sum()) + suppressed).group_by(table.columns).len()
    stars_only = pl.all_horizontal((pl.col(name) == "*").fill_null(value=False) for name in table.columns)
    told = classes.filter(~stars_only)["len"].to_numpy()
    hidden = table.height - int(told.sum())
    here = full & ~np.logical_and.reduce([column.suppressed for column in columns.values()])
    used = {name: replace_classes(column, here) for name, column in columns.items()}
    published_rows = RowCounts(rows=table.height, suppressed=hidden, classes=len(told))
    tallies = {name: table[name].value_counts(name="rows").rename({name: "cell"}) for name in table.columns}
    ours, by_column = measure(sizes[here], used, published_rows, k=2)
    theirs, audited = published_loss(tallies, sizes=told, k=2, rows=table.height, suppressed=hidden)
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert by_column == {name: pytest.approx(figures, rel=1e-12) for name, figures in audited.items()}


def replace_classes(column: Cells, kept: np.ndarray) -> Cells:
    return Cells(
        text=column.text.filter(pl.Series(kept)), low=None, high=None, suppressed=column.suppressed[kept]
    )
