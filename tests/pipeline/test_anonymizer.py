"""The anonymiser as a step of pipelines, and how far estimators keep scikit-learn's contract."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.learning.private import ObjectivePerturbation
from mahrem.learning.rules import CBA, EqualWidthBins, QuantileBins, SupervisedBins

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

# What an estimator does not keep of scikit-learn's contract, and why.
TEXTS = "gives texts, which the check subtracts from each other"
EXCEPTIONS: dict[str, dict[str, str]] = {
    "cba": {"check_classifiers_train": "every cell is a category: numbers that come once tell nothing"},
    "text bins": dict.fromkeys(
        (
            "check_estimators_pickle",
            "check_fit_idempotent",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_pipeline_consistency",
            "check_transformer_data_not_an_array",
            "check_transformer_general",
            "check_transformer_preserve_dtypes",
        ),
        TEXTS,
    ),
    "private": {
        "check_classifier_data_not_an_array": "rows are read by their own numbers, not by NumPy's functions",
        "check_classifiers_classes": "classes_ is what was declared, in that order and type",
        "check_classifiers_one_label": "a declared class may be predicted although nobody shows it",
        "check_classifiers_regression_target": "a target that nobody declared is nobody's: a refusal tells",
        "check_classifiers_train": "noise: so few rows are not learnt at so small an epsilon",
        "check_complex_data": "what is no number is no value, and a refusal would tell of it",
        "check_estimator_sparse_array": "sparse rows are refused by their shape",
        "check_estimator_sparse_matrix": "sparse rows are refused by their shape",
        "check_estimator_sparse_tag": "sparse rows are refused by their shape",
        "check_estimators_empty_data_messages": "no rows are as good as some: a refusal would tell of one",
        "check_estimators_overwrite_params": "a ledger in memory is not copied: its budget is one",
        "check_estimators_pickle": "a ledger in memory is not copied: its budget is one",
        "check_fit_idempotent": "every fit is paid for and has noise of its own",
        "check_requires_y_none": "without y a table is fitted whose ledger names the target",
        "check_supervised_y_2d": "targets in two dimensions are refused",
        "check_supervised_y_no_nan": "a target that is no class is nobody's; refusing it would tell",
    },
    "ordinal bins": {},
    "equal bins": {},
    "supervised bins": {},
}
# Of these, what noise lets pass at times: 26 of 150 runs predict nothing but the one class that is shown.
BY_CHANCE = {"private": {"check_classifiers_one_label"}}
CHECKED = {
    "cba": CBA(),
    "text bins": QuantileBins(),
    "private": ObjectivePerturbation(epsilon=0.1, delta=1e-9, classes=(0, 1)),
    "ordinal bins": QuantileBins(encode="ordinal"),
    "equal bins": EqualWidthBins(encode="ordinal"),
    "supervised bins": SupervisedBins(encode="ordinal"),
}


def people(rows: int = 300, seed: int = 3) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 90, rows), rng.integers(0, 60, rows)
    table = pd.DataFrame({"age": age, "hours": hours, "ward": rng.choice(["a", "b", "c"], rows)})
    return table, (age + hours + rng.normal(0, 10, rows) > 85).astype(int)


def step(**further: Any) -> mh.Anonymizer:
    return mh.Anonymizer(quasi=["age", "hours"], settings={"insensitive": ["ward"]}, **further)


@pytest.mark.parametrize("name", CHECKED)
def test_estimators_keep_the_contract_but_for_named_exceptions(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "private":  # a budget for all fits of all checks
            paying = mh.Ledger.temporary(epsilon=1e4, delta=1e-3, relation="add-remove")
            CHECKED[name].set_params(ledger=paying)
        checks = check_estimator(CHECKED[name], on_skip=None, on_fail=None)
    failed = {check["check_name"] for check in checks if check["status"] == "failed"}
    assert failed | BY_CHANCE.get(name, set()) == set(EXCEPTIONS[name])


def test_training_rows_are_the_verified_release() -> None:
    table, _ = people()
    anonymizer = step(k=7)
    shown = anonymizer.fit_transform(table)
    assert anonymizer.release_.holds
    assert shown.groupby(["age", "hours"]).size().min() >= 7
    assert shown.index.equals(table.index)
    assert list(anonymizer.get_feature_names_out()) == list(shown.columns) == ["age", "hours", "ward"]


@given(ages=st.lists(st.integers(0, 120), min_size=1, max_size=12))
@settings(max_examples=15, deadline=None)
def test_every_value_lies_in_its_cell_or_shows_nothing(ages: list[int]) -> None:
    rows = pl.DataFrame({"age": [20, 24, 31, 36, 40, 47, 52, 60]})
    anonymizer = FITTED or _fit(rows)
    for age, cell in zip(ages, anonymizer.transform(pl.DataFrame({"age": ages}))["age"], strict=True):
        if cell != "*":
            low, high = (float(end) for end in cell.strip("[]").split(","))
            assert low <= age <= high


FITTED: Any = None


def _fit(rows: pl.DataFrame) -> mh.Anonymizer:
    global FITTED  # noqa: PLW0603 - one fit serves all examples
    FITTED = mh.Anonymizer(quasi=["age"], k=2).fit(rows)
    return FITTED  # type: ignore[no-any-return]


def test_a_model_learns_behind_it_and_k_is_searched() -> None:
    table, labels = people()
    model = make_pipeline(step(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=300))
    search = GridSearchCV(model, {"anonymizer__k": [3, 10]}, cv=3, error_score="raise").fit(table, labels)
    assert search.best_score_ > 0.6
    assert {row["anonymizer__k"] for row in search.cv_results_["params"]} == {3, 10}


def test_it_stands_beside_other_columns() -> None:
    table, labels = people()
    known = mh.Anonymizer(quasi=["age", "hours"], k=5)
    columns = ColumnTransformer([("hidden", known, ["age", "hours"])], remainder="passthrough")
    columns.set_output(transform="pandas")
    shown = columns.fit_transform(table, labels)
    assert list(shown.columns) == ["hidden__age", "hidden__hours", "remainder__ward"]
    assert shown["hidden__age"].str.startswith("[").all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "default"])
def test_tables_come_as_asked(kind: Any) -> None:
    table, _ = people(60)
    shown = step(k=3).set_output(transform=kind).fit_transform(pl.from_pandas(table))
    assert isinstance(shown, pd.DataFrame if kind == "pandas" else pl.DataFrame)


def test_arrays_come_back_as_arrays() -> None:
    table, _ = people(60)
    numbers = table[["age", "hours"]].to_numpy()
    anonymizer = mh.Anonymizer(k=3).fit(numbers)
    assert anonymizer.transform(numbers).shape == (60, 2)
    assert list(anonymizer.get_feature_names_out()) == ["x0", "x1"]


def test_the_target_can_be_protected_and_is_not_given() -> None:
    table, labels = people()
    anonymizer = step(k=3, l=2, sensitive_target=True)
    shown = anonymizer.fit_transform(table, labels)
    assert list(shown.columns) == ["age", "hours", "ward"]
    assert shown.assign(y=labels).groupby(["age", "hours"])["y"].nunique().min() >= 2
    assert list(anonymizer.transform(table.head(5)).columns) == list(shown.columns)


def test_it_can_be_cloned_and_refuses_what_it_cannot_do() -> None:
    table, _ = people(60)
    assert clone(step(k=4)).get_params() == step(k=4).get_params()
    with pytest.raises(NotFittedError):
        step().transform(table)
    with pytest.raises(InvalidParameter, match="leave it out of settings"):
        mh.Anonymizer(settings={"k": 3}).fit(table)
    with pytest.raises(ColumnNotFound, match="hours"):
        step(k=3).fit(table).transform(table.drop(columns="hours"))
    with pytest.raises(InvalidInput, match="fit needs y"):
        step(l=2, sensitive_target=True).fit(table)


def test_columns_are_taken_by_name() -> None:
    table, _ = people(60)
    anonymizer = step(k=3).fit(table)
    turned = anonymizer.transform(table[["ward", "hours", "age"]])
    pd.testing.assert_frame_equal(turned, anonymizer.transform(table))
