"""Columns of a pandas frame may be called anything; they are named as they are and come back as they were."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.pipeline import check_hierarchy, dry_run

PEOPLE = mh.demo_patients(80).select("age", "zip", "sex", "diagnosis", "cost").to_pandas()
PEOPLE["cost"] = np.where(PEOPLE["cost"] > PEOPLE["cost"].median(), "high", "low")
LABELS = st.one_of(
    st.integers(-9, 9),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.booleans(),
    st.dates(),
    st.sampled_from(["age", "zip", "a b"]),
    st.tuples(st.integers(0, 3), st.sampled_from("xy")),
)


def renamed(labels: list[Any], kind: Any = None) -> pd.DataFrame:
    frame = PEOPLE.copy()
    frame.columns = pd.Index(labels, dtype=kind, tupleize_cols=False, name="labels")
    return frame


@settings(max_examples=25)
@given(st.lists(LABELS, min_size=5, max_size=5, unique_by=(str, lambda label: label)))
def test_names_of_every_kind_take_every_role_and_come_back(labels: list[Any]) -> None:
    age, code, sex, ill, cost = labels
    frame = renamed(labels, object)  # else pandas makes numbers of one sort of them
    release = mh.anonymize(
        frame, quasi=[age, code], sensitive=[ill], insensitive=[cost], identifier=[sex], k=4, html=False
    )
    expected = frame.columns.delete(2)
    assert list(release.table.columns) == list(expected)
    assert [type(one) for one in release.table.columns] == [type(one) for one in expected]
    assert release.table.columns.name is None
    pd.testing.assert_series_equal(release.table[cost], frame[cost])


def test_every_setting_that_names_columns_takes_numbers(tmp_path: Path) -> None:
    frame = renamed([0, 1, 2, 3, 4])
    tree = mh.make_hierarchy(frame, 1, prefix=[3, 1])
    said: dict[str, Any] = {
        "roles": {0: "quasi", 1: "quasi", 2: "quasi"},
        "sensitive": {3: {"l": 2}},
        "rest": "insensitive",
        "hierarchy": {1: tree},
        "kind": {0: "numeric", 2: "categorical"},
        "grid": {0: 10},
        "top": {0: 80},
        "bottom": {0: 20},
        "weights": {0: 2.0, 1: 1.0},
        "suppress": 2,
        "k": 3,
        "html": False,
    }
    release = mh.anonymize(frame, output=tmp_path / "release", **said)
    assert release.table.columns.tolist() == [0, 1, 2, 3, 4]
    again = mh.apply(tmp_path / "release", frame, hierarchy={1: tree}, html=False).table
    assert again.columns.tolist() == [0, 1, 2, 3, 4]
    assert mh.audit(release.table, quasi=[0, 1, 2], sensitive=3, k=3, hierarchy={1: tree}).report["holds"]
    found = mh.attack(release.table, original=frame, quasi=[0, 1], sensitive=[3], hierarchy={1: tree})
    assert found.report["rows"] == 80
    assert check_hierarchy(tree, frame, 1).unknown_values == 0


def test_single_names_may_be_numbers() -> None:
    frame = renamed([0, 1, 2, 3, 4])
    roles: dict[str, Any] = {"quasi": 0, "sensitive": 3, "rest": "drop"}
    assert mh.anonymize(frame, subject=2, k=2, html=False, **roles).table.columns.tolist() == [0, 3]
    order = sorted(map(str, frame[2].unique()))
    made = mh.anonymize(frame, quasi=[2, 0], order={2: order}, rest="drop", k=4, html=False).table
    assert made.columns.tolist() == [0, 2]
    pairs = mh.anonymize(frame, quasi=[0], rest="drop", cells="pairs", k=4, html=False).table
    assert pairs.columns.tolist() == ["0_min", "0_max"]
    with pytest.warns(mh.PrivacyWarning, match=r"pseudonym\.4"):
        keyed = mh.anonymize(frame, pseudonym={4: b"k" * 32}, k=2, html=False, **roles).table
    assert keyed.columns.tolist() == [0, 3, 4]
    assert mh.anonymize(frame, quasi=[0], rest="drop", target=4, k=2).holds
    assert dry_run(frame, k=2, html=False, **roles).report["rows"] == 80
    assert mh.compare(
        frame, methods=["mondrian"], ks=[2], target=4, splits=2, **{**roles, "sensitive": ()}
    ).rows
    assert [one.name for one in mh.inspect(frame, kind={0: "categorical"}).columns] == list("01234")


def test_lists_of_numpy_and_pandas_name_columns() -> None:
    frame = renamed([0, 1, 2, 3, 4])
    for names in (frame.columns[:2], np.array([0, 1]), (np.int64(0), np.int64(1)), range(2)):
        made = mh.anonymize(frame, quasi=names, rest="drop", k=4, html=False)
        assert made.table.columns.tolist() == [0, 1]


def test_rows_that_show_nothing_keep_their_labels() -> None:
    frame = renamed([0, 1, 2, 3, 4]).astype({0: "Int64"})
    frame.iloc[0, 0] = pd.NA
    made = mh.anonymize(
        frame, quasi=[0, 2], rest="insensitive", accept={"*": "made up"}, missing="suppress", k=3, html=False
    )
    assert made.table.columns.tolist() == [0, 1, 2, 3, 4]


def test_a_ledger_takes_numbers_for_names() -> None:
    frame = renamed([0, 1, 2, 3, 4])
    facts: dict[Any, Any] = {0: {"lower": 0, "upper": 110}, 2: {"categories": sorted(frame[2].unique())}}
    ledger = mh.Ledger.temporary(epsilon=20, delta=1e-6, rows=80, columns=facts)
    made = mh.synthesize(
        frame, ledger=ledger, epsilon=5, delta=1e-7, columns=[2, 0], kinds={0: "whole"}, rows=5
    )
    assert set(made.table.columns) == {"0", "2"}
    model: dict[str, Any] = {"model": "logistic", "how": "output"}
    assert mh.train(frame, ledger=ledger, target=2, features=[0], epsilon=1, **model).target == "2"


@pytest.mark.parametrize(
    "labels", [[0, "0", 2, 3, 4], [True, "True", 2, 3, 4], [dt.date(2020, 1, 1), "2020-01-01", 2, 3, 4]]
)
def test_names_that_are_one_as_text_are_refused(labels: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="are one name as text; rename one"):
        mh.anonymize(renamed(labels, object), quasi=[2], rest="drop", k=2)


def test_a_setting_that_names_a_column_twice_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="kind names column='0' twice"):
        mh.Policy.of({"kind": {0: "code", "0": "numeric"}})


@pytest.mark.parametrize("names", [[["a"]], {"a"}, b"a", [None], pl.Series(["a"]), [pl.Series]])
def test_what_is_no_name_is_refused(names: Any) -> None:
    with pytest.raises(InvalidParameter, match="a name or a list of names"):
        mh.Policy.of({"quasi": names})
