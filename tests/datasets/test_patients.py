from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.datasets import PATIENT_POLICY, patients
from mahrem.errors import InvalidParameter

GAPS = ("zip", "smoker", "height_cm", "weight_kg", "cost", "insurance")


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return patients(20_000, seed=3)


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(1, 300), seed=st.integers(0, 2**32))
def test_equal_rows_and_seed_give_equal_tables_of_any_size(rows: int, seed: int) -> None:
    made = patients(rows, seed)
    assert made.height == rows
    assert set(PATIENT_POLICY["quasi"]) | set(PATIENT_POLICY["sensitive"]) < set(made.columns)
    assert made.schema == patients(1).schema
    assert made.equals(patients(rows, seed))


def test_another_seed_gives_another_table() -> None:
    assert not patients(50, seed=1).equals(patients(50, seed=2))


def test_some_people_come_back_and_stay_themselves(table: pl.DataFrame) -> None:
    people = table.group_by("patient_id").agg(
        pl.len(), *(pl.col(name).drop_nulls().n_unique() for name in ("name", "sex", "zip", "insurance"))
    )
    assert (people["len"] > 1).mean() > 0.1
    assert people.select(pl.max_horizontal("name", "sex", "zip", "insurance").max()).item() == 1


def test_two_to_four_in_a_hundred_are_missing_where_values_go_missing(table: pl.DataFrame) -> None:
    shares = {name: table[name].null_count() / table.height for name in table.columns}
    assert all(0.015 < shares[name] < 0.045 for name in GAPS)
    assert 0.04 < shares["bmi"] < 0.07
    assert all(shares[name] == 0 for name in table.columns if name not in {*GAPS, "bmi"})


def test_bmi_follows_from_height_and_weight(table: pl.DataFrame) -> None:
    whole = table.drop_nulls("bmi")
    expected = whole["weight_kg"] / (whole["height_cm"] / 100) ** 2
    assert (whole["bmi"] - expected).abs().max() <= 0.0501


def test_cost_depends_on_diagnosis_and_on_age(table: pl.DataFrame) -> None:
    known = table.drop_nulls("cost").with_columns(pl.col("cost").log())
    between = known.with_columns(pl.col("cost").mean().over("diagnosis"))["cost"].var()
    assert between / known["cost"].var() > 0.5
    lung = known.filter(pl.col("diagnosis") == "Pneumonia")
    old, young = lung.filter(pl.col("age") > 75)["cost"], lung.filter(pl.col("age") < 50)["cost"]
    assert old.mean() > young.mean() + 0.1


def test_diagnosis_depends_on_age_sex_and_smoking(table: pl.DataFrame) -> None:
    ages = dict(table.group_by("diagnosis").agg(pl.col("age").median()).iter_rows())
    assert ages["Tonsillitis"] < 15
    assert ages["Hip fracture"] > 70
    assert table.filter(pl.col("diagnosis") == "Childbirth")["sex"].unique().to_list() == ["female"]
    assert table.filter(pl.col("diagnosis") == "Prostate cancer")["sex"].unique().to_list() == ["male"]
    smokers = table.group_by("diagnosis").agg((pl.col("smoker") == "yes").mean())
    rate = dict(smokers.iter_rows())
    assert rate["Lung cancer"] > 2 * rate["Hypertension"]


def test_diagnoses_have_a_long_tail_and_one_code_each(table: pl.DataFrame) -> None:
    shares = table["diagnosis"].value_counts(sort=True)["count"] / table.height
    assert 12 <= len(shares) <= 24
    assert shares[0] > 0.08
    assert 0 < shares[-1] < 0.01
    assert table.select("diagnosis", "icd").unique().height == len(shares)


def test_postal_codes_keep_their_leading_zero_and_cluster(table: pl.DataFrame) -> None:
    codes = table["zip"].drop_nulls()
    assert set(codes.str.len_chars()) == {5}
    assert codes.str.starts_with("0").any()
    assert codes.str.slice(0, 2).n_unique() == 10
    top = codes.value_counts(sort=True)["count"]
    assert top.head(len(top) // 4).sum() > 0.5 * len(codes)


def test_ages_and_stays_are_those_of_people(table: pl.DataFrame) -> None:
    assert table["age"].min() == 0
    assert 90 < np.asarray(table["age"]).max() <= 99
    assert table["stay_days"].min() == 1
    assert table["cost"].min() > 0  # type: ignore[operator]


@pytest.mark.parametrize(("rows", "seed"), [(0, 1), (-3, 1), (5, -1), (2.5, 1), (True, 1)])
def test_rows_and_seed_must_be_whole_and_in_range(rows: int, seed: int) -> None:
    with pytest.raises(InvalidParameter):
        patients(rows, seed)
