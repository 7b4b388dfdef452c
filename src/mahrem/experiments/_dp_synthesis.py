"""Synthetic Adult at epsilon 1: train on made-up rows, test on real ones; all 15 columns.

Fitted to the training file (32,561 rows), classifiers tested on the test file that no synthesiser saw; delta
is 1e-6. Declared values are those of the code book; bounds of age, education and hours are the table's own,
which have been known for decades. Question marks are missing values. Noise has no seed: five runs, with a
95 % interval of their mean (Student's t).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mahrem.datasets import find
from mahrem.dp import Ledger
from mahrem.experiments._adult_facts import ADULT_FACTS, ADULT_TARGET
from mahrem.experiments._row import Place, Row, TableRun
from mahrem.learning.synthesis import (
    FittedSynthesiser,
    SyntheticSchema,
    make_synthesiser,
    synthetic_quality,
)
from mahrem.table import ColumnDeclaration

DELTA = 1e-6
RUNS, QUICK_RUNS = 5, 1
STUDENT = {2: 12.706, 5: 2.776}  # 97.5 % quantiles, by the number of runs
CLASSIFIERS = ("hist_gradient_boosting", "logistic_regression")
METHODS = ("marginals", "vae", "gan")  # for AIM and MST see dp-tables
EPSILONS = (0.1, 0.3, 3.0, 10.0)

_SCHOOLS = (
    "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc Assoc-acdm "
    "Bachelors Masters Prof-school Doctorate"
)
SYNTHESIS_FACTS: Mapping[str, ColumnDeclaration] = {
    **ADULT_FACTS,
    "fnlwgt": ColumnDeclaration(lower=10_000, upper=1_000_000),
    "education": ColumnDeclaration(categories=tuple(_SCHOOLS.split())),
    "capital-gain": ColumnDeclaration(lower=0, upper=99_999),
    "capital-loss": ColumnDeclaration(lower=0, upper=5_000),
}
ADULT_SCHEMA = SyntheticSchema(missing=("workclass", "occupation", "native-country"))


def synthetic_adult(method: str, epsilon: float, **options: Any) -> FittedSynthesiser:
    """Fit a synthesiser to the training file."""
    ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, columns=SYNTHESIS_FACTS)
    synthesiser = make_synthesiser(
        method, epsilon=epsilon, delta=DELTA, target=ADULT_TARGET, schema=ADULT_SCHEMA, **options
    )
    return synthesiser.fit(_files()[0], ledger=ledger)


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table."""
    runs = QUICK_RUNS if run.quick else RUNS
    place = run.place("adult").rounded(None)
    if run.table == "accuracy":
        yield from _accuracy(run, place, runs)
        return
    for epsilon in EPSILONS:
        run.step(f"epsilon={epsilon:g}, {min(runs, 2)} runs")
        measured = [_measure("marginals", epsilon) for _ in range(min(runs, 2))]
        yield from _rows(place.at(epsilon=epsilon), "marginals", measured)


def _accuracy(run: TableRun, place: Place, runs: int) -> Iterator[Row]:
    reached: dict[str, float] = {}
    measured: list[dict[str, float]] = []
    metric = f"synthetic accuracy, {CLASSIFIERS[0]}"
    for method in METHODS:
        measured = []
        for number in range(runs):
            run.step(f"{method}, epsilon=1, run {number + 1} of {runs}")
            measured.append(_measure(method, 1.0))
        reached[method] = float(np.mean([figures[metric] for figures in measured]))
        yield from _rows(place.at(epsilon=1.0), method, measured)
    real = {name: figure for name, figure in measured[0].items() if name.startswith("real")}
    yield from _rows(place.at(epsilon="inf"), "non-private", [real])
    best = max(reached, key=lambda name: reached[name])
    beaten = ", ".join(f"{name} {figure:.4f}" for name, figure in reached.items() if name != best)
    note = f"it wins over {beaten}" if beaten else ""
    highest = f"highest accuracy, {CLASSIFIERS[0]}"
    yield place.at(epsilon=1.0).row(best, highest, reached[best], note=note)


@cache
def _files() -> tuple[pl.DataFrame, pl.DataFrame]:
    train, test = (pl.read_csv(find(name)) for name in ("adult_train", "adult_test"))
    return train, test


def _measure(method: str, epsilon: float) -> dict[str, float]:
    """Fit, draw as many rows as there were, and measure."""
    train, test = _files()
    fitted = synthetic_adult(method, epsilon)
    drawn = fitted.sample(train.height)
    quality = synthetic_quality(
        train, drawn, fitted.domain, holdout=test, target=ADULT_TARGET, classifiers=CLASSIFIERS
    )
    accuracies = {
        f"{side} accuracy, {name}": figures[f"{side}_accuracy"]
        for name, figures in quality.learning.items()
        for side in ("synthetic", "real")
    }
    return {
        **accuracies,
        "pairs of columns, mean distance": quality.pairs["synthetic_mean"],
        "propensity score, pMSE": quality.propensity["synthetic"]["pmse"],
        "nearer to training than to hold-out": quality.closest["nearer_to_real"],
    }


def _rows(place: Place, method: str, measured: Sequence[Mapping[str, float]]) -> Iterator[Row]:
    for metric in measured[0]:
        if method != "non-private" and metric.startswith("real "):
            continue
        values = np.array([figures[metric] for figures in measured])
        note = ""
        if len(values) > 1:
            half = STUDENT[len(values)] * values.std(ddof=1) / len(values) ** 0.5
            ends = f"{values.mean() - half:.4f} to {values.mean() + half:.4f}"
            note = f"95 % interval {ends}, {len(values)} runs"
        shown = metric.removeprefix("synthetic ").removeprefix("real ")
        yield place.row(method, shown, float(values.mean()), note=note)
