"""Rules of synthetic tables: order, values that never go together, keys; kept in every row or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Ledger
from mahrem.errors import GuaranteeBroken, Infeasible, InvalidParameter
from mahrem.learning.synthesis import Marginals, SyntheticSchema
from mahrem.learning.synthesis import _drawn_tables as drawing
from mahrem.learning.synthesis._synthetic_keys import distinct_numbers

FACTS: dict[str, Any] = {
    "id": {"lower": 1, "upper": 999_999},
    "sex": {"categories": ["f", "m"]},
    "pregnant": {"categories": ["no", "yes"]},
    "age": {"lower": 0, "upper": 99},
    "start": {"lower": 0, "upper": 365},
    "end": {"lower": 0, "upper": 365},
}


def patients(rows: int) -> pl.DataFrame:
    """As they never are: anybody is pregnant, ends come before starts, numbers come twice."""
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "id": rng.integers(1, 50, rows),
            "sex": rng.choice(["f", "m"], rows),
            "pregnant": rng.choice(["no", "yes"], rows),
            "age": rng.integers(0, 100, rows),
            "start": rng.integers(0, 366, rows),
            "end": rng.integers(0, 366, rows),
        }
    )


def model(*rules: str, **more: Any) -> Any:
    ledger = Ledger.temporary(epsilon=1, delta=1e-6, columns=FACTS, rows=2000)
    schema = SyntheticSchema(constraints=rules, **more)
    return Marginals(epsilon=1, delta=1e-6, schema=schema, rounds=1).fit(patients(2000), ledger=ledger)


@pytest.fixture(scope="module")
def ruled() -> Any:
    return model(
        "never sex=m and pregnant=yes", "never age=0:11 and pregnant=yes", "end >= start", "unique id"
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.sampled_from([1, 40, 3000]),
    old=st.sampled_from([None, (10, 60), (30, 40)]),
)
@settings(max_examples=12, deadline=None)
def test_every_rule_is_kept_in_every_row(ruled: Any, seed: int, rows: int, old: Any) -> None:
    drawn = ruled.sample(rows, seed=seed, given={"age": old} if old else {})
    assert drawn.height == rows
    assert not drawn.filter((pl.col("sex") == "m") & (pl.col("pregnant") == "yes")).height
    assert not drawn.filter((pl.col("age") <= 11) & (pl.col("pregnant") == "yes")).height
    assert (drawn["start"] <= drawn["end"]).all()
    assert drawn["id"].n_unique() == rows
    assert drawn["id"].is_between(1, 999_999).all()
    assert drawn.equals(ruled.sample(rows, seed=seed, given={"age": old} if old else {}))


def test_a_key_of_its_own_has_no_model_and_is_not_read_off_the_rows(ruled: Any) -> None:
    assert ruled.plan.columns == 5
    assert ruled.sample(500, seed=1)["id"].max() > 50  # as large as the table's go


def test_keys_are_unique_over_all_parts_and_over_several_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "BATCH", 100)
    drawn = model("unique age, start", "unique id").sample(1000, seed=2)
    assert drawn.select("age", "start").n_unique() == 1000
    assert drawn["id"].n_unique() == 1000


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        (("never sex=m",), "must read like"),
        (("never sex=m and pregnant=perhaps",), "nothing that is declared"),
        (("never age=200:300 and sex=m",), "nothing that is declared"),
        (("never sex=m and height=3",), "height"),
        (("never sex=f,m and pregnant=no,yes",), "cannot be kept"),
        (("unique",), "must read like"),
        (("unique id", "id <= end"), "no other rule"),
        (("unique id, id",), "twice"),
        (("start < end",), "must read like"),
    ],
)
def test_rules_that_say_nothing_or_leave_nothing_are_refused(rules: tuple[str, ...], match: str) -> None:
    with pytest.raises(InvalidParameter, match=match):
        model(*rules)


def test_more_rows_than_keys_are_refused(ruled: Any) -> None:
    with pytest.raises(InvalidParameter, match="more keys than"):
        model("unique age").sample(101)
    with pytest.raises(Infeasible, match="too unlikely"):
        model("unique sex, pregnant").sample(4, given={"sex": "f"})
    with pytest.raises(InvalidParameter, match="made up"):
        ruled.sample(5, given={"id": 7})


def test_a_rule_that_is_not_kept_after_all_is_not_given_out(
    ruled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "keep_constraints", lambda draw, rows, *_: (draw(rows), 0))
    with pytest.raises(GuaranteeBroken):
        ruled.sample(500, seed=1)


@given(capacity=st.integers(1, 10**12), count=st.integers(1, 300), seed=st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_numbers_are_different(capacity: int, count: int, seed: int) -> None:
    count = min(count, capacity)
    found = distinct_numbers(capacity, count, np.random.default_rng(seed))
    assert len(set(found.tolist())) == count
    assert found.min() >= 0
    assert found.max() < capacity
