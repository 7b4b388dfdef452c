"""Private training on MNIST: the small tanh network of Tramer and Boneh, with our own steps and accounting.

Trained on all 60,000 images, tested on the 10,000 others; pixels are scaled by public constants. Runs have a
seed so that they repeat, which real ones must not have. Settings were chosen while looking at this table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mahrem.dp import Ledger
from mahrem.experiments._dp_last_layer import last_layer_rows
from mahrem.experiments._mnist import DELTA, ROWS, mnist
from mahrem.experiments._row import Row, TableRun, published_rows
from mahrem.learning.private import PrivateClassifier
from mahrem.learning.private.steps import Descent

EPSILON = 3.0
RECIPES: Mapping[str, dict[str, Any]] = {
    "full": {
        "options": {"hidden": 64},
        "batch": 2048,
        "epochs": 60,
        "descent": Descent(learning_rate=2.0, average=0.999),
    },
    "quick": {"batch": 1024, "epochs": 8, "descent": Descent(learning_rate=2.0)},
}
TINY = {"batch": 1024, "epochs": 0.2, "descent": Descent(learning_rate=2.0)}


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table: accuracy at a cost, beside what others reached."""
    return last_layer_rows(run) if run.table == "last-layer" else _network_rows(run)


def _network_rows(run: TableRun) -> Iterator[Row]:
    run.step(f"{run.table}: reading the images")
    model = _model(TINY if run.quick else RECIPES[run.table], run)
    images, labels, tested, truth = mnist()
    ledger = Ledger.temporary(epsilon=EPSILON, delta=DELTA, rows=ROWS)
    model.fit(images, labels, ledger=ledger)
    plan = model.plan_
    place = run.place(
        "mnist",
        epsilon=EPSILON,
        batch=int(plan.batch),
        epochs=round(plan.steps * plan.batch / ROWS, 1),
        noise=round(plan.noise_multiplier, 3),
    )
    method, ours = "dp-sgd (ours)", 100 * model.score(tested, truth, openly=True)
    yield place.row(method, "accuracy in %", ours, note="with a seed, so that it repeats")
    yield place.row(method, "epsilon", ledger.spent().epsilon, note="by PLD, delta 1e-5")
    for line in published_rows("dp_mnist"):
        place = run.place("mnist", epsilon=float(line["epsilon"]))
        yield place.row(line["method"], "accuracy in %", None, float(line["accuracy"]), line["note"])


def _model(recipe: Mapping[str, Any], run: TableRun) -> PrivateClassifier:
    def progress(done: int, steps: int, epsilon: float) -> None:
        run.step(f"{run.table}: step {done} of {steps}, epsilon so far {epsilon:.2f}")

    return PrivateClassifier(
        network="cnn",
        classes=tuple(range(10)),
        epsilon=EPSILON,
        delta=DELTA,
        progress=progress,
        seed=1,
        **recipe,
    )
