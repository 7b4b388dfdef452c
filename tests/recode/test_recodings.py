"""What every recoding promises, on columns of every kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.metrics import cell_losses
from mahrem.metrics._cell_losses import text_losses
from mahrem.recode import Intervals, Nodes, Prefixes, Recoding, Sets, Whole, default_recoding
from mahrem.table import (
    Axis,
    Cells,
    Column,
    Exact,
    Hierarchy,
    Kind,
    Members,
    MissingCell,
    Prefix,
    Range,
    Role,
    Suppressed,
    encode_quasi,
    read_cell,
)
from mahrem.types import Labels

TREE = Hierarchy.from_rows([(f"{i}", f"tens {i // 3}", f"half {i // 6}", "*") for i in range(12)])
UNDER = {name: {row[0] for row in TREE.rows() if name in row} for row in TREE.rows() for name in row}
ORDER = tuple("fedcba")

tricky = st.sampled_from(["", "*", "a*", "[1, 2]", "{a, b}", '"', "a,b", " a", "a\nb", "ä"]) | st.text(
    max_size=3
)
floats = (
    st.floats(-1e300, 1e300) | st.floats(-1, 1) | st.sampled_from([1e300, -1e300, 1e-300, 5e-324, 0.1, 0.3])
)


@dataclass(frozen=True)
class Case:
    """A kind of column, values for it, the recodings that fit, and what it means to lie in a cell."""

    kind: Kind
    values: st.SearchStrategy[object]
    recodings: tuple[Recoding, ...]
    inside: Callable[[object, str, str], bool]
    hierarchy: Hierarchy | None = None
    order: tuple[str, ...] | None = None

    def column(self) -> Column:
        return Column(name="x", role=Role.QUASI, kind=self.kind, hierarchy=self.hierarchy, order=self.order)


def between(read: Callable[[str], object]) -> Callable[[object, str, str], bool]:
    return lambda value, low, high: read(low) <= value <= read(high)  # type: ignore[operator]


NUMBERS = (Intervals(), Intervals(bounds="exact"), Whole())
CASES = {
    "whole numbers": Case(Kind.NUMERIC, st.integers(-(10**12), 10**12), NUMBERS, between(float)),
    "small whole numbers": Case(
        Kind.NUMERIC, st.integers(-40, 40), (*NUMBERS, Intervals(step="7.5")), between(float)
    ),
    "floats": Case(Kind.NUMERIC, floats, NUMBERS, between(float)),
    "amounts": Case(
        Kind.NUMERIC,
        st.integers(-10_000, 10_000).map(lambda cents: cents / 100),
        (*NUMBERS, Intervals(step=0.1), Intervals(step="0.25"), Intervals(step=3)),
        between(float),
    ),
    "days": Case(
        Kind.DATE,
        st.dates(),
        (*NUMBERS, *(Intervals(step=step) for step in ("day", "week", "month", "quarter", "year"))),
        between(date.fromisoformat),
    ),
    "moments": Case(
        Kind.DATE,
        st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001 - clocks on the wall
        (*NUMBERS, *(Intervals(step=step) for step in ("minute", "hour", "day", "week", "year"))),
        between(datetime.fromisoformat),
    ),
    "categories": Case(Kind.CATEGORICAL, tricky, (Sets(), Prefixes(), Whole()), between(str)),
    "codes": Case(
        Kind.CODE,
        st.text("01*", max_size=4) | st.text("01", min_size=4, max_size=4),
        (Prefixes(), Sets()),
        between(str),
    ),
    "ordinals": Case(Kind.ORDINAL, st.sampled_from(ORDER[1:]), (Sets(), Whole()), between(str), order=ORDER),
    "leaves": Case(
        Kind.CATEGORICAL, st.integers(0, 11).map(str), (Nodes(), Whole()), between(str), hierarchy=TREE
    ),
}
PAIRS = [
    pytest.param(name, recoding, id=f"{name}-{recoding}")
    for name in CASES
    for recoding in CASES[name].recodings
]


def holds(case: Case, cell: str | None, value: object) -> bool:
    """Whether a published cell holds a value, by the grammar and nothing else."""
    match read_cell(cell):
        case Suppressed():
            return True
        case MissingCell():
            return value is None
        case Members(members):
            return value in members
        case Range(low, high):
            return value is not None and case.inside(value, low, high)
        case Prefix(beginning):
            return value is not None and str(value).startswith(beginning)
        case Exact(text) if case.hierarchy is not None:
            return value in UNDER[text]
        case Exact(text):
            return value is not None and (
                text == value if isinstance(value, str) else case.inside(value, text, text)
            )


def drawn(data: st.DataObject, case: Case, *, missing: bool = True) -> tuple[list[object], Axis, Labels, int]:
    rows = data.draw(st.lists(st.none() | case.values if missing else case.values, min_size=1, max_size=24))
    classes = data.draw(st.integers(1, 4))
    labels = data.draw(st.lists(st.integers(-1, classes - 1), min_size=len(rows), max_size=len(rows)))
    return rows, encode_quasi(pl.Series("x", rows, strict=False), case.column()), np.array(labels), classes


def check_shape(cells: Cells, classes: int) -> None:
    losses = cell_losses(cells)
    assert len(cells.text) == len(losses.ncp) == len(losses.iloss) == len(losses.exact) == classes
    assert cells.text.dtype == pl.String
    for loss in (losses.ncp, losses.iloss):
        assert ((loss >= 0) & (loss <= 1)).all()
    assert ((cells.text == "*").fill_null(value=False).to_numpy() == cells.suppressed).all()
    assert (losses.ncp[cells.suppressed] == 1).all()
    assert not (losses.exact & cells.suppressed).any()
    of_text = text_losses(cells.text)  # an audit reads the same off the file
    assert (of_text.ncp == losses.ncp).all()
    assert (of_text.exact == losses.exact).all()


@pytest.mark.parametrize(("name", "recoding"), PAIRS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_value_lies_in_its_published_cell(name: str, recoding: Recoding, data: st.DataObject) -> None:
    case = CASES[name]
    rows, axis, labels, classes = drawn(data, case)
    cells = recoding(axis, labels, classes)
    check_shape(cells, classes)
    for value, label in zip(rows, labels.tolist(), strict=True):
        if label >= 0:
            assert holds(case, cells.text[label], value)


@pytest.mark.parametrize(("name", "recoding"), PAIRS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_missing_values_are_never_hidden_among_present_ones(
    name: str, recoding: Recoding, data: st.DataObject
) -> None:
    rows, axis, labels, classes = drawn(data, CASES[name])
    cells = recoding(axis, labels, classes)
    for label in range(classes):
        values = [value for value, where in zip(rows, labels.tolist(), strict=True) if where == label]
        holes = values.count(None)
        if isinstance(recoding, Whole):
            assert cells.suppressed[label]
        elif holes == len(values):
            assert cells.text[label] is None
            assert cell_losses(cells).ncp[label] == 0
            assert cell_losses(cells).exact[label]
        elif holes and isinstance(recoding, Sets):
            assert cells.suppressed[label] or None in read_cell(cells.text[label]).members  # type: ignore[union-attr]
        elif holes:
            assert cells.suppressed[label]


@pytest.mark.parametrize(("name", "recoding"), PAIRS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_merging_classes_never_lowers_the_loss(name: str, recoding: Recoding, data: st.DataObject) -> None:
    _, axis, labels, classes = drawn(data, CASES[name])
    apart = recoding(axis, labels, classes)
    together = recoding(axis, np.where(labels >= 0, 0, -1), 1)
    used = np.unique(labels[labels >= 0])
    for loss in ("ncp", "iloss"):
        assert (
            getattr(cell_losses(apart), loss)[used] <= getattr(cell_losses(together), loss)[0] + 1e-12
        ).all()


@pytest.mark.parametrize(("name", "recoding"), PAIRS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_exact_cells_say_the_one_value(name: str, recoding: Recoding, data: st.DataObject) -> None:
    case = CASES[name]
    rows, axis, labels, classes = drawn(data, case, missing=False)
    cells = recoding(axis, labels, classes)
    losses = cell_losses(cells, case.hierarchy)
    for label in np.flatnonzero(losses.exact).tolist():
        values = {value for value, where in zip(rows, labels.tolist(), strict=True) if where == label}
        assert len(values) <= 1
        assert losses.ncp[label] == 0


@pytest.mark.parametrize(("name", "recoding"), PAIRS)
def test_one_row_and_constant_columns_work(name: str, recoding: Recoding) -> None:
    examples = {
        "whole numbers": 7,
        "small whole numbers": 7,
        "floats": 7.3,
        "amounts": 0.1,
        "days": date(1912, 6, 23),
        "moments": datetime(1912, 6, 23, 1, 2, 3, 4),  # noqa: DTZ001 - a clock on the wall
        "categories": "a",
        "codes": "01",
        "ordinals": "b",
        "leaves": "3",
    }
    value, case = examples[name], CASES[name]
    for rows in (1, 5):
        axis = encode_quasi(pl.Series("x", [value] * rows), case.column())
        cells = recoding(axis, np.zeros(rows, np.int64), 1)
        check_shape(cells, 1)
        assert holds(case, cells.text[0], value)


@pytest.mark.parametrize("name", CASES)
def test_the_default_recoding_fits_the_column(name: str) -> None:
    case = CASES[name]
    axis = encode_quasi(pl.Series("x", [], dtype=pl.String), case.column())
    chosen = default_recoding(axis, bounds="grid", step=None)
    assert chosen == case.recodings[0]
    check_shape(chosen(axis, np.empty(0, np.int64), 0), 0)


def test_settings_of_the_default_recoding_reach_intervals() -> None:
    axis = encode_quasi(pl.Series("x", [1]), CASES["whole numbers"].column())
    assert default_recoding(axis, bounds="exact", step=5) == Intervals(bounds="exact", step=5)
