"""Minimality: what classes tell of sensitive values, and classes that are made without them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mahrem as mh
from mahrem.drafts import ladder
from mahrem.errors import InvalidParameter
from mahrem.partition import METHODS

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "ill", "html": False}
QUICK = [name for name, entry in METHODS.items() if entry.rows_a_second > 5000]


def patients(rows: int, seed: int, *, skewed: bool = True) -> pl.DataFrame:
    """Make people of whom some neighbours all have the same illness."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    ill = np.array(["hiv", "flu", "cold", "ms"])[rng.integers(0, 4, rows)]
    ill = np.where((age < 24) & skewed, "hiv", ill)
    return pl.DataFrame({"age": age, "sex": np.array(["f", "m"])[rng.integers(0, 2, rows)], "ill": ill})


def noted(release: mh.Release) -> dict[str, Any]:
    (note,) = (note for note in release.report["notes"] if note["code"].startswith("warning.classes_"))
    return dict(note)


@pytest.mark.parametrize("method", QUICK)
def test_safe_classes_are_those_of_the_quasi_identifiers_alone(method: str) -> None:
    source = patients(120, seed=4)
    safe = mh.anonymize(source, **ROLES, k=3, l=2, method=method, minimality_safe=True, seed=1)
    note = noted(safe)
    assert note["code"] == "warning.classes_alone"
    for k in ladder(3, note["values"]["k"]):  # whoever plays the method again, without anybody's illness
        alone = mh.anonymize(
            source.drop("ill"), quasi=["age", "sex"], k=k, method=method, seed=1, html=False
        ).table
        if mh.audit(alone.with_columns(source["ill"]), quasi=["age", "sex"], sensitive="ill", k=3, l=2).holds:
            break  # the first step that keeps the promise
    assert safe.table.select("age", "sex").rows() == alone.rows()


def test_the_whole_table_may_be_the_first_step_that_holds() -> None:
    tiny = pl.DataFrame({"a": [1] * 3 + [2] * 4, "s": ["hiv"] * 3 + ["flu", "cold", "ms", "flu"]})
    release = mh.anonymize(tiny, quasi="a", sensitive="s", k=2, l=2, minimality_safe=True)
    assert set(release.table["a"]) == {"[1, 2]"}
    assert noted(release) == {"code": "warning.classes_alone", "values": {"k": 7}}
    (tried,) = (f for f in release.report["red_team"]["findings"] if f["attack"] == "minimality")
    assert tried["rate"] is None  # it is right about three of three: too few to be told of
    (company,) = (f for f in release.report["red_team"]["findings"] if f["attack"] == "company")
    assert company["rate"] is None  # who stands with whom is looked at as well


def test_without_being_asked_it_may_cost_five_percent() -> None:
    dear = patients(400, seed=1)
    usual = mh.anonymize(dear, **ROLES, k=3, l=2)
    assert noted(usual) == {"code": "warning.classes_either", "values": {"share": 0.05}}
    asked = mh.anonymize(dear, **ROLES, k=3, l=2, minimality_safe=True)
    assert asked.report["utility"]["gcp"] > 1.05 * usual.report["utility"]["gcp"]
    off = mh.anonymize(dear, **ROLES, k=3, l=2, minimality_safe=False)
    assert off.table.equals(usual.table)
    assert noted(off)["code"] == "warning.classes_by_values"
    cheap = patients(400, seed=1, skewed=False)
    free = mh.anonymize(cheap, **ROLES, k=12, l=2)
    assert noted(free) == noted(usual)  # which classes were taken hangs on what is hidden
    assert free.table.equals(mh.anonymize(cheap, **ROLES, k=12, l=2, minimality_safe=False).table)


def test_large_tables_are_cut_once_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahrem.drafts._steps._SECONDS", 0.0)
    source = patients(100, seed=2)
    assert noted(mh.anonymize(source, **ROLES, k=3, l=2))["code"] == "warning.classes_untried"
    asked = mh.anonymize(source, **ROLES, k=3, l=2, minimality_safe=True)
    assert noted(asked)["code"] == "warning.classes_alone"


def test_k_alone_needs_no_word_about_it() -> None:
    source = patients(100, seed=3)
    for safe in (None, True, False):
        release = mh.anonymize(source, **ROLES, k=3, minimality_safe=safe)
        assert not [note for note in release.report["notes"] if "classes_" in note["code"]]


@pytest.mark.parametrize(
    "promise", [{"t": 0.3}, {"l": 2, "l_kind": "entropy"}, {"alpha": 0.6}, {"beta": 2.0}]
)
def test_every_promise_holds_on_safe_classes(promise: dict[str, Any]) -> None:
    source = patients(150, seed=6)
    for method in ("mondrian", "flash"):
        extra = {"suppression_limit": 0.1} if method == "flash" else {}
        release = mh.anonymize(source, **ROLES, k=3, method=method, minimality_safe=True, **promise, **extra)
        assert release.holds
        assert noted(release)["code"] == "warning.classes_alone"


@given(k=st.integers(1, 50), most=st.integers(1, 5000))
def test_the_ladder_is_public_and_ends_with_everybody(k: int, most: int) -> None:
    steps = list(ladder(k, max(k, most)))
    assert steps[0] == k
    assert steps[-1] == max(k, most)
    assert steps == sorted(set(steps))
    assert all(later <= max(earlier + 1, 1.2 * earlier + 1) for earlier, later in pairwise(steps))


def test_a_cluster_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InvalidParameter, match="minimality_safe"):
        mh.anonymize(patients(10, seed=0), **ROLES, k=2, engine="spark", minimality_safe=True)
