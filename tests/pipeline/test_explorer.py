"""Tries in memory: they give what a release gives, and show nothing that fewer people share than k."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.datasets import patients
from mahrem.disclosed import unmarked
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.pipeline import Explorer, anonymize, lattice, portray

PEOPLE = patients(300)
BASE: dict[str, Any] = {"quasi": ["age", "sex", "zip"], "rest": "drop", "k": 4}
CASES: list[dict[str, Any]] = [
    {},
    {"k": 11},
    {"k": 2, "weights": {"age": 3.0}},
    {"at_least": {"age": 10}, "at_most": {"age": 50}},
    {"sensitive": {"diagnosis": {"l": 3}}},
    {"sensitive": {"diagnosis": {}}, "t": 0.5},
    {"method": "canon", "seed": 1},
    {"method": "flash", "suppression_limit": 0.1},
    {"top": {"age": 80}, "subject": "patient_id"},
]


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return Explorer(PEOPLE)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_try_of_all_rows_gives_the_figures_of_the_release(explorer: Explorer, case: dict[str, Any]) -> None:
    """Whatever was tried before: arrays that were kept must not be those of other settings."""
    trial = explorer.attempt(**BASE | case)
    report = anonymize(PEOPLE, accept={}, **BASE | case).report
    assert trial.exact
    assert trial.loss == report["utility"]["gcp"]
    assert trial.highest == report["risk"]["highest"]
    assert trial.classes == report["utility"]["classes"]
    assert {name: float(one.gcp) for name, one in trial.columns.items()} == {
        name: report["columns"][name]["gcp"] for name in BASE["quasi"]
    }
    assert unmarked(trial.as_dict()) is None


@given(k=st.integers(2, 40), rows=st.integers(60, 300))
@settings(max_examples=12, deadline=None)
def test_examples_are_values_that_k_people_share(k: int, rows: int) -> None:
    table = PEOPLE.head(rows)
    try:
        trial = Explorer(table).attempt(**BASE | {"k": k})
    except Infeasible:
        return
    for name, one in trial.columns.items():
        held = Counter(str(value) for value in table[name])
        assert all(held[before] >= max(k, 3) for before, _ in one.examples)


def test_people_with_several_rows_count_once_for_examples() -> None:
    one = pl.DataFrame({"who": ["a"] * 9, "town": ["Ulm"] * 9})
    others = pl.DataFrame(
        {"who": [f"p{n}" for n in range(40)], "town": ["Bonn" if n % 2 else "Köln" for n in range(40)]}
    )
    trial = Explorer(pl.concat([one, others])).attempt(
        quasi=["town"], identifier=["who"], subject="who", rest="drop", k=3
    )
    assert {before for before, _ in trial.columns["town"].examples} <= {"Bonn", "Köln"}


def test_quick_tries_of_large_tables_take_a_sample_and_say_so() -> None:
    ages = pl.DataFrame({"age": [n % 90 for n in range(40_000)], "sex": ["f", "m"] * 20_000})
    trial = Explorer(ages).attempt(quick=True, quasi=["age", "sex"], k=5)
    assert (trial.rows, trial.tried, trial.exact) == (40_000, 30_000, False)
    slow = Explorer(ages.head(5000)).attempt(quick=True, quasi=["age"], rest="drop", k=5, method="mdav")
    assert slow.tried == 5000
    assert (
        Explorer(ages.head(5000)).attempt(quick=True, quasi=["age"], rest="drop", k=5, method="mosaic").tried
        < 5000
    )


def test_what_cannot_be_kept_or_is_not_asked_is_refused(explorer: Explorer) -> None:
    with pytest.raises(Infeasible):
        explorer.attempt(**BASE | {"k": 301})
    with pytest.raises(InvalidParameter):
        explorer.attempt(quasi=["age"], rest="drop")
    with pytest.raises(InvalidParameter):
        explorer.attempt(**BASE | {"engine": "spark"})


def test_singling_out_is_counted_by_hand() -> None:
    table = pl.DataFrame({"a": [*range(6), 9, 9, 9, 9], "b": ["x"] * 5 + ["y"] * 5, "c": list("ppppqppppp")})
    found = Explorer(table).singling(others=("c",), quasi=["a", "b"], k=3)
    # a alone leaves six rows of ten alone, told as the next multiple of three below; b and c leave none.
    assert found["a"] == {"alone": 0.6, "adds": 0.6}
    assert found["b"] == {"alone": 0.0, "adds": 0.0}
    assert found["c"]["adds"] == 0.0
    few = Explorer(table).singling(quasi=["a"], k=8)
    assert few["a"]["alone"] is None  # six people are fewer than eight


def test_it_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    Explorer(PEOPLE).attempt(**BASE)
    assert list(tmp_path.rglob("*")) == []


@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", "rare", None]), min_size=1, max_size=60),
    st.integers(2, 8),
)
@settings(max_examples=60, deadline=None)
def test_portraits_name_no_value_of_fewer_people(values: list[str | None], floor: int) -> None:
    drawn = portray(pl.DataFrame({"c": pl.Series(values, dtype=pl.String)}), ["c"], floor=floor)
    if "c" not in drawn:
        return
    held, known = Counter(values), sum(value is not None for value in values)
    assert all(held[label] >= floor for label in drawn["c"]["labels"])
    rest = known - sum(held[label] for label in drawn["c"]["labels"])
    assert rest == 0 or rest >= floor
    assert drawn["c"]["other"] == pytest.approx(round(rest / floor) * floor / known, abs=1e-3)


@given(st.lists(st.integers(-50, 2000), min_size=10, max_size=80), st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_portraits_of_numbers_do_not_tell_extremes(values: list[int], floor: int) -> None:
    drawn = portray(pl.DataFrame({"c": values}), ["c"], floor=floor).get("c")
    far = [value * 1000 if value == max(values) else value for value in values]
    other = portray(pl.DataFrame({"c": far}), ["c"], floor=floor).get("c")
    if drawn is None or drawn["kind"] != "range" or values.count(max(values)) >= floor or max(values) <= 0:
        return
    assert other is not None
    assert other["labels"] == drawn["labels"]
    assert other["shares"] == drawn["shares"]


@pytest.mark.parametrize(
    "more", [{"k": 5}, {"k": 3, "suppression_limit": 0.05, "sensitive": {"cost": {"t": 0.4}}}]
)
def test_a_node_of_its_lattice_is_what_the_lattice_of_the_table_says(more: dict[str, Any]) -> None:
    said: dict[str, Any] = {"quasi": ["age", "sex", "zip"], "rest": "drop", **more}
    explorer = Explorer(PEOPLE)
    here, there = explorer.lattice(**said), lattice(PEOPLE, **said)
    assert explorer.lattice(**said) is here  # it stays open
    assert list(here) == list(there)
    assert here.why({"age": 0}) == there.why({"age": 0})
    assert explorer.lattice(**{**said, "k": 9}) is not here
