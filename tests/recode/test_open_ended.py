from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import InvalidParameter
from mahrem.metrics import cell_losses
from mahrem.recode import Intervals, OpenEnded
from mahrem.table import Axis, Numbers, Words, read_ranges
from releases import crowd


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-100, 100).map(float), min_size=2, max_size=40),
    st.floats(-50, 0),
    st.floats(1, 50),
    st.sampled_from(["grid", "exact"]),
)
def test_every_value_lies_in_its_cell_and_no_end_lies_beyond(
    values: list[float], bottom: float, top: float, bounds: str
) -> None:
    raw = np.array(values)
    whole = bool(np.all(raw == np.floor(raw)))
    axis = Axis("x", np.clip(raw, bottom, top), Numbers(raw.min(), raw.max(), whole))
    labels = np.arange(len(raw)) // 2
    cells = OpenEnded(Intervals(bounds=bounds), bottom, top)(axis, labels, labels[-1] + 1)  # type: ignore[arg-type]
    low, high = read_ranges(cells.text)
    assert (low[labels] <= raw).all()
    assert (raw <= high[labels]).all()
    for ends in (low, high):
        finite = ends[np.isfinite(ends)]
        assert ((bottom <= finite) & (finite <= top)).all()
    assert ((cell_losses(cells).ncp >= 0) & (cell_losses(cells).ncp <= 1)).all()


def test_missing_values_stay_hidden_or_missing() -> None:
    axis = Axis("age", np.array([90.0, np.nan, np.nan, 95.0]), Numbers(90, 95, True))
    cells = OpenEnded(Intervals(), None, 90)(axis, np.array([0, 0, 1, 2]), 3)
    assert cells.text.to_list() == ["*", None, "[90, inf]"]


def test_words_have_no_top() -> None:
    from mahrem.recode import Sets

    with pytest.raises(InvalidParameter, match="numbers"):
        OpenEnded(Sets(), None, 1)(Axis("a", np.zeros(1), Words(("x",))), np.zeros(1, np.int64), 1)


ROLES = {"quasi": ["age", "pay"], "rest": "drop", "k": 5, "html": False}


def test_a_release_with_ends_shows_them_open_and_audits_true(tmp_path) -> None:  # noqa: ANN001
    people = crowd(500)
    release = mh.anonymize(people, **ROLES, top={"age": 80}, bottom={"pay": 15}, output=tmp_path / "r")
    shown = release.table
    assert shown.filter(pl.Series(people["age"] >= 80))["age"].str.ends_with("inf]").all()
    assert shown.filter(pl.Series(people["pay"] <= 15))["pay"].str.starts_with("[-inf").all()
    assert mh.audit(tmp_path / "r").holds


@pytest.mark.parametrize("cells", ["pairs", "midpoint"])
def test_pairs_are_infinite_and_midpoints_are_not(cells: str) -> None:
    table = mh.anonymize(crowd(500), **ROLES, top={"age": 80}, cells=cells).table
    if cells == "pairs":
        assert table["age_max"].max() == np.inf
    else:
        assert np.isfinite(table["age"].max())


def test_ends_are_for_numbers_and_for_methods_that_cut() -> None:
    with pytest.raises(InvalidParameter, match=r"top\.zip is for columns of numbers"):
        mh.anonymize(crowd(50), quasi=["zip"], rest="drop", k=2, top={"zip": 3})
    with pytest.raises(InvalidParameter, match="top is for methods that cut"):
        mh.anonymize(crowd(50), **{**ROLES, "method": "flash"}, top={"age": 80})
    with pytest.raises(InvalidParameter, match="must lie above"):
        mh.anonymize(crowd(50), **ROLES, top={"age": 20}, bottom={"age": 30})
