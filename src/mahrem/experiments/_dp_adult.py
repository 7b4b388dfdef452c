"""Private logistic regression on Adult: noise on the objective, the coefficients, the loss, the gradients.

Trained on the training file (32,561 rows; a question mark is no declared value), tested on the test file;
delta is 1/n**2. Settings are those of the estimators and the same at every epsilon. The default radius and
the settings of dp-sgd were chosen while looking at this table, which no budget pays for (the table ``radius``
shows how much hangs on it). Noise has no seed, so figures differ a little from run to run; means over several
runs are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mahrem.datasets import find
from mahrem.dp import Facts, Ledger
from mahrem.experiments._adult_facts import ADULT_FACTS, ADULT_TARGET
from mahrem.experiments._row import Row, published_rows
from mahrem.learning.private import FunctionalLogistic, ObjectivePerturbation, OutputPerturbation, PublicRows
from mahrem.types import Floats

__all__ = ["TABLES", "rows_of"]

PAPER = "dp-adult"
TABLES = ("accuracy", "pure", "radius")
ROWS = 32_561
DELTA = 1 / ROWS**2
EPSILONS = (0.1, 1.0, 8.0)
RADII = (5.0, 10.0, 20.0, 40.0)
RUNS, SLOW_RUNS, QUICK_RUNS = 10, 5, 1
CLASSES = ADULT_FACTS[ADULT_TARGET].categories or ()
FEATURES = tuple(name for name in ADULT_FACTS if name != ADULT_TARGET)

Make = Callable[[float], Any]


def _descent(epsilon: float) -> Any:
    """Make the network without a hidden layer, trained by noisy gradients."""
    from mahrem.learning.private import Descent, PrivateClassifier

    return PrivateClassifier(
        network="logistic",
        classes=CLASSES,
        epsilon=epsilon,
        delta=DELTA,
        batch=4096,
        epochs=20,
        descent=Descent(learning_rate=2.0, momentum=0.9),
        device="cpu",
    )


METHODS: Mapping[str, Make] = {
    "objective perturbation": lambda epsilon: ObjectivePerturbation(
        epsilon=epsilon, delta=DELTA, classes=CLASSES, intercept=False
    ),
    "objective perturbation, svm": lambda epsilon: ObjectivePerturbation(
        epsilon=epsilon, delta=DELTA, classes=CLASSES, intercept=False, loss="svm"
    ),
    "output perturbation": lambda epsilon: OutputPerturbation(
        epsilon=epsilon, delta=DELTA, classes=CLASSES, intercept=False
    ),
    "functional mechanism": lambda epsilon: FunctionalLogistic(
        epsilon=epsilon, delta=DELTA, classes=CLASSES, intercept=False
    ),
    "dp-sgd": _descent,
}
PURE: Mapping[str, Make] = {
    "objective perturbation, gamma": lambda epsilon: ObjectivePerturbation(
        epsilon=epsilon, classes=CLASSES, intercept=False
    ),
    "output perturbation, gamma": lambda epsilon: OutputPerturbation(
        epsilon=epsilon, classes=CLASSES, intercept=False, noise="gamma"
    ),
    "output perturbation, laplace": lambda epsilon: OutputPerturbation(
        epsilon=epsilon, classes=CLASSES, intercept=False, noise="laplace"
    ),
    "functional mechanism, laplace": lambda epsilon: FunctionalLogistic(
        epsilon=epsilon, classes=CLASSES, intercept=False
    ),
}


def rows_of(tables: Sequence[str], *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of some tables."""
    runs = QUICK_RUNS if quick else RUNS
    for table in tables:
        if table == "accuracy":
            yield _row(table, "non-private", {"epsilon": "inf"}, [_plain()], runs=1)
        if table == "radius":
            yield from _radius(runs, step)
            continue
        for method, make in (PURE if table == "pure" else METHODS).items():
            times = min(runs, SLOW_RUNS) if method == "dp-sgd" else runs
            for epsilon in EPSILONS:
                step(f"{table}: {method}, epsilon={epsilon:g}, {times} runs")
                found = [_accuracy(make(epsilon), DELTA) for _ in range(times)]
                yield _row(table, method, {"epsilon": epsilon}, found, runs=times)
        if table == "accuracy":
            yield _row(table, "dp-gd", {"epsilon": 0.1}, [], runs=0)


def _radius(runs: int, step: Callable[[str], None]) -> Iterator[Row]:
    for radius in RADII:
        for epsilon in EPSILONS:
            step(f"radius: {radius:g}, epsilon={epsilon:g}, {runs} runs")
            model = ObjectivePerturbation(
                epsilon=epsilon, delta=DELTA, classes=CLASSES, intercept=False, radius=radius
            )
            found = [_accuracy(model, DELTA) for _ in range(runs)]
            setting = {"epsilon": epsilon, "radius": radius}
            yield _row("radius", "objective perturbation", setting, found, runs=runs)


@cache
def _encoded() -> tuple[Floats, Any, Floats, Any]:
    """Read both files; rows have a constant and a norm of at most 1, labels are declared."""
    encode = PublicRows(facts=Facts(columns=ADULT_FACTS), features=FEATURES, target=ADULT_TARGET)
    train, test = (pl.read_csv(find(name)) for name in ("adult_train", "adult_test"))
    labels = np.asarray(CLASSES)
    rows, codes = encode(train)
    tested, truth = encode(test)
    return rows, labels[codes.astype(np.int64)], tested, labels[truth.astype(np.int64)]


def _accuracy(model: Any, delta: float) -> float:
    rows, labels, tested, truth = _encoded()
    ledger = Ledger.temporary(epsilon=model.epsilon, delta=delta, rows=ROWS)
    fitted = model.fit(rows, labels, ledger=ledger)
    return 100 * float(np.mean(fitted.predict(tested) == truth))


@cache
def _plain() -> float:
    """Fit without noise, on the same rows."""
    from sklearn.linear_model import LogisticRegression

    rows, labels, tested, truth = _encoded()
    model = LogisticRegression(C=10.0, fit_intercept=False, max_iter=2000).fit(rows, labels)
    return 100 * float(np.mean(model.predict(tested) == truth))


def _row(table: str, method: str, setting: Mapping[str, Any], found: Sequence[float], *, runs: int) -> Row:
    said = {(row["method"], row["epsilon"]): float(row["accuracy"]) for row in published_rows("dp_adult")}
    spread = f"sd {np.std(found, ddof=1):.2f} over {runs} runs" if runs > 1 else ""
    return Row(
        paper=PAPER,
        table=table,
        dataset="adult",
        setting=setting,
        method=method,
        metric="accuracy in %",
        published=said.get((method, str(setting["epsilon"]))) if table == "accuracy" else None,
        ours=float(np.mean(found)) if found else None,
        note=spread if found else "full gradients: dp-sgd with every row in each batch; not run",
    )
