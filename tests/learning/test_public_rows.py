"""Rows by public facts: awkward cells, outliers, what is not declared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mahrem.dp import Facts, Ledger
from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.learning.private import ObjectivePerturbation, PublicRows
from mahrem.learning.private.inputs import clip_rows, label_codes
from mahrem.learning.private.inputs._public_rows import given_rows
from mahrem.table import ColumnDeclaration
from mahrem.types import Floats

FACTS = Facts(
    columns={
        "age": ColumnDeclaration(lower=0, upper=100),
        "cost": ColumnDeclaration(lower=0, upper=10, missing=0),
        "sex": ColumnDeclaration(categories=("f", "m")),
        "ill": ColumnDeclaration(categories=("no", "yes")),
    }
)
ENCODE = PublicRows(facts=FACTS, features=("age", "cost", "sex"), target="ill", norm=9.0)


def rows_of(**cells: list[object]) -> tuple[Floats, Floats]:
    return ENCODE(pl.DataFrame(cells, strict=False))


def test_cells_become_what_the_facts_say() -> None:
    rows, target = rows_of(age=[50], cost=[5], sex=["m"], ill=["yes"])
    assert rows.tolist() == [[0.5, 0.5, 0.0, 1.0, 1.0]]
    assert target.tolist() == [1.0]
    assert ENCODE.names == ("age", "cost", "sex=f", "sex=m", "(constant)")


def test_missing_undeclared_and_endless_cells_have_a_fixed_place() -> None:
    rows, _ = rows_of(
        age=[None, float("nan"), float("inf"), -5.0],
        cost=[None, float("nan"), 1e300, float("-inf")],
        sex=["x", None, "", "f"],
        ill=["no"] * 4,
    )
    assert rows[:, 0].tolist() == [0.5, 0.5, 1.0, 0.0]
    assert rows[:, 1].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert rows[:, 2:4].tolist() == [[0, 0], [0, 0], [0, 0], [1, 0]]


def test_a_row_without_a_declared_target_adds_nothing() -> None:
    rows, target = rows_of(age=[50, 50], cost=[1, 1], sex=["f", "f"], ill=["perhaps", None])
    assert not rows.any()
    assert np.isnan(target).all()


def test_text_that_is_no_number_counts_as_missing() -> None:
    rows, _ = rows_of(age=["fifty"], cost=[" 5 "], sex=["f"], ill=["no"])
    assert rows[0, :2].tolist() == [0.5, 0.5]


@given(arrays.arrays(np.float64, (7, 3), elements=st.floats(allow_nan=True, allow_infinity=True)))
@settings(max_examples=50, deadline=None)
def test_every_row_is_bounded_and_depends_on_itself_alone(rows: Floats) -> None:
    clipped = clip_rows(rows, 2.0)
    assert np.isfinite(clipped).all()
    assert (np.linalg.norm(clipped, axis=1) <= 2.0).all()
    for place in range(7):
        assert np.array_equal(clip_rows(rows[place : place + 1], 2.0)[0], clipped[place])


def test_one_wild_record_changes_nothing_but_its_own_row() -> None:
    tame = np.random.default_rng(1).normal(size=(20, 3))
    wild = tame.copy()
    wild[4] = [np.nan, 1e308, -np.inf]
    labels = np.tile([0, 1], 10)
    before, after = (given_rows(rows, labels, (0, 1), 1.0)[0] for rows in (tame, wild))
    assert not after[4].any()
    assert np.array_equal(np.delete(before, 4, axis=0), np.delete(after, 4, axis=0))


def test_a_fit_survives_wild_records() -> None:
    inputs = np.array([[1.0, 2.0], [np.nan, 1.0], [1e308, -1e308], [-np.inf, 0.0]])
    ledger = Ledger.temporary(epsilon=1, delta=1e-6)
    model = ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(0, 1)).fit(
        inputs, [0, 1, 1, 7], ledger=ledger
    )
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    ("features", "target", "message"),
    [
        (("age", "height"), "ill", "height"),
        ((), "ill", "features"),
        (("age", "ill"), "ill", "among the features"),
    ],
)
def test_what_is_not_declared_is_refused(features: tuple[str, ...], target: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        PublicRows(facts=FACTS, features=features, target=target)


def test_bounds_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="lower=9 must be below upper=3"):
        Ledger.temporary(epsilon=1, columns={"age": {"lower": 9, "upper": 3}})


def test_a_column_the_table_lacks_is_named() -> None:
    ledger = Ledger.temporary(epsilon=1, delta=1e-6, columns=FACTS.columns)
    model = ObjectivePerturbation(epsilon=1, delta=1e-6, target="ill")
    with pytest.raises(ColumnNotFound, match="sex"):
        model.fit(pl.DataFrame({"age": [1], "cost": [1], "ill": ["no"]}), ledger=ledger)
    assert ledger.spent().epsilon == 0


def test_a_table_is_learnt_by_its_ledger(tmp_path: Path) -> None:
    people = pl.DataFrame(
        {"age": [20.0, 80.0] * 500, "cost": [1.0] * 1000, "sex": ["f", "m"] * 500, "ill": ["no", "yes"] * 500}
    )
    path = tmp_path / "people.parquet"
    people.write_parquet(path)
    ledger = Ledger.create(tmp_path / "l", path, epsilon=2, delta=1e-8, columns=FACTS.columns)
    model = ObjectivePerturbation(epsilon=2, delta=1e-8, target="ill").fit(path, ledger=tmp_path / "l")
    assert np.mean(model.predict(people) == people["ill"].to_numpy()) > 0.99
    assert model.classes_ == ("no", "yes")
    assert ledger.spent().epsilon == pytest.approx(2, rel=1e-3)
    other = tmp_path / "other.parquet"
    people[:10].write_parquet(other)
    with pytest.raises((InvalidInput, InvalidParameter)):
        ObjectivePerturbation(epsilon=1, delta=1e-8, target="ill").fit(other, ledger=ledger)


def test_a_ledger_of_people_is_refused() -> None:
    ledger = Ledger.temporary(epsilon=1, delta=1e-6, subject="who", rows_per_person=3, columns=FACTS.columns)
    with pytest.raises(InvalidParameter, match="one row per person"):
        ObjectivePerturbation(epsilon=1, delta=1e-6, target="ill").fit(pl.DataFrame(), ledger=ledger)


def test_a_model_that_is_not_fitted_says_so() -> None:
    with pytest.raises(InvalidParameter, match="not fitted"):
        ObjectivePerturbation(epsilon=1, classes=(0, 1)).predict([[1.0]])


@pytest.mark.parametrize(
    ("inputs", "labels"),
    [
        (np.ones((3, 2)), [1, 2]),
        ([1, 2], [1, 2]),
        (np.ones((3, 0)), [1, 2, 1]),
    ],
)
def test_what_is_no_table_of_numbers_is_refused_before_paying(inputs: object, labels: object) -> None:
    ledger = Ledger.temporary(epsilon=1, delta=1e-6)
    model = ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(1, 2))
    with pytest.raises(InvalidInput) as caught:
        model.fit(inputs, labels, ledger=ledger)
    assert "secret" not in str(caught.value)
    assert ledger.spent().epsilon == 0


def test_words_among_numbers_spoil_their_own_row_alone() -> None:
    rows, labels = [[1.0, 0.0], [0.0, 1.0]], [1, 2]
    clean, _ = given_rows(rows, labels, (1, 2), 1.0)
    for odd in ("secret", None, float("nan"), [3]):
        spoilt, codes = given_rows([*rows, [odd, 1.0]], [*labels, odd], (1, 2), 1.0)
        assert np.array_equal(spoilt[:2], clean)
        assert not spoilt[2].any()
        assert codes.tolist() == [0, 1, -1]


@pytest.mark.parametrize("odd", [[], [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], None, "secret"])
@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_row_of_another_length_is_missing_and_changes_no_other(odd: object, place: int) -> None:
    rows, labels = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]] * 2, [1, 2, 1] * 2
    clean, _ = given_rows(rows, labels, (1, 2), 1.0)
    spoilt, _ = given_rows([*rows[:place], odd, *rows[place:]], [1, *labels], (1, 2), 1.0)
    assert np.array_equal(np.delete(spoilt, place, axis=0), clean)
    assert not spoilt[place].any()


def test_other_rows_than_fitted_are_refused() -> None:
    model = ObjectivePerturbation(epsilon=1, delta=1e-6, classes=(1, 2))
    model.fit(np.ones((3, 2)), [1, 2, 1], ledger=Ledger.temporary(epsilon=1, delta=1e-6))
    with pytest.raises(InvalidInput, match="5 features, but ObjectivePerturbation is expecting 2"):
        model.predict(np.ones((3, 5)))


@pytest.mark.parametrize("classes", [("1", "1.0"), ("f", "no"), ("NA", "yes")])
def test_labels_are_never_classes_that_a_type_makes_one(classes: tuple[str, str]) -> None:
    with pytest.raises(InvalidParameter, match="value"):
        label_codes(["1", "2"], classes)
