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
from mahrem.experiments._row import Place, Row, TableRun, published_rows, spread_note
from mahrem.learning.private import FunctionalLogistic, ObjectivePerturbation, OutputPerturbation, PublicRows
from mahrem.types import Floats

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
    from mahrem.learning.private import PrivateClassifier
    from mahrem.learning.private.steps import Descent

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


def _regression(kind: Callable[..., Any], **settings: Any) -> Make:
    return lambda epsilon: kind(epsilon=epsilon, classes=CLASSES, intercept=False, **settings)


METHODS: Mapping[str, Make] = {
    "objective perturbation": _regression(ObjectivePerturbation, delta=DELTA),
    # A rounded hinge bends so much that rounding could hide the usual tolerance.
    "objective perturbation, svm": _regression(
        ObjectivePerturbation, delta=DELTA, loss="svm", tolerance=2e-5
    ),
    "output perturbation": _regression(OutputPerturbation, delta=DELTA),
    "functional mechanism": _regression(FunctionalLogistic, delta=DELTA),
    "dp-sgd": _descent,
}
PURE: Mapping[str, Make] = {
    "objective perturbation, gamma": _regression(ObjectivePerturbation),
    "output perturbation, gamma": _regression(OutputPerturbation, noise="gamma"),
    "output perturbation, laplace": _regression(OutputPerturbation, noise="laplace"),
    "functional mechanism, laplace": _regression(FunctionalLogistic),
}


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table."""
    place = run.place("adult").rounded(None)
    if run.table == "radius":
        for radius in RADII:
            make = _regression(ObjectivePerturbation, delta=DELTA, radius=radius)
            yield from _rows(run, "objective perturbation", make, radius=radius)
        return
    if run.table == "accuracy":
        yield _row(place.at(epsilon="inf"), "non-private", [_plain()])
    for method, make in (PURE if run.table == "pure" else METHODS).items():
        yield from _rows(run, method, make)
    if run.table == "accuracy":
        yield _row(place.at(epsilon=0.1), "dp-gd", [])


def _rows(run: TableRun, method: str, make: Make, **more: float) -> Iterator[Row]:
    runs = QUICK_RUNS if run.quick else SLOW_RUNS if method == "dp-sgd" else RUNS
    for epsilon in EPSILONS:
        setting = {"epsilon": epsilon, **more}
        run.step(f"{run.table}: {method}, {setting}, {runs} runs")
        place = run.place("adult", **setting).rounded(None)
        yield _row(place, method, [_accuracy(make(epsilon), DELTA) for _ in range(runs)])


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


def _row(place: Place, method: str, accuracies: Sequence[float]) -> Row:
    printed = {(row["method"], row["epsilon"]): float(row["accuracy"]) for row in published_rows("dp_adult")}
    published = printed.get((method, str(place.setting["epsilon"]))) if place.table == "accuracy" else None
    note = "" if accuracies else "full gradients: dp-sgd with every row in each batch; not run"
    ours = float(np.mean(accuracies)) if accuracies else None
    return place.row(method, "accuracy in %", ours, published, note or spread_note(accuracies))
