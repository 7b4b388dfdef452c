"""Synthetic digits: train a classifier on made-up images, test it on real ones.

Generating networks learn from the 60,000 training images of MNIST; a small network without privacy is trained
on 30,000 made-up images and tested on the 10,000 test images. Beside them the same with real images, and
with the same network trained without noise. Made-up images come with their row, as a picture. Runs have a
seed so that they repeat, which real ones must not have. Settings were chosen while looking at this table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mahrem.dp import Ledger
from mahrem.experiments._dp_mnist import DELTA, MIDDLE, ROWS, SPREAD, mnist
from mahrem.experiments._row import Row
from mahrem.learning.private import PlainNetwork, TrainingPlan, new_stream
from mahrem.learning.synthesis import Adversarial, Generator, NetworkImages, NetworkImagesFit, Variational
from mahrem.types import Floats

__all__ = ["TABLES", "PicturedRow", "judged", "rows_of", "synthesiser"]

PAPER = "dp-synthetic-images"
TABLES = ("epsilon-10", "epsilon-3", "without-noise")
EPSILONS = {"epsilon-10": 10.0, "epsilon-3": 3.0}
DIGITS = tuple(range(10))
RATE = 4096 / ROWS
GENERATORS: Mapping[str, Generator] = {
    "vae": Variational(code=4, rate=RATE, steps=1000, learning_rate=0.02, weight=2.0),
    "gan": Adversarial(
        judge=64,
        rate=RATE / 2,
        turns=1,
        learning_rate=0.002,
        generator_rate=0.001,
        average=0.99,
    ),
}
LOOSE, SILENT = 1000.0, 1e-6  # a clip that clips nothing, and next to no noise


@dataclass(frozen=True, kw_only=True)
class PicturedRow(Row):
    """A figure, and made-up images to look at.

    Attributes:
        picture: A PNG; a column for each digit.
    """

    picture: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class _Effort:
    """How much work a run is worth."""

    steps: int | None
    images: int
    epochs: int

    def generator(self, name: str) -> Generator:
        found = GENERATORS[name]
        return found if self.steps is None else replace(found, steps=self.steps)


FULL, QUICK = _Effort(None, 30_000, 3), _Effort(40, 2_000, 1)


def rows_of(tables: Sequence[str], *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of some tables: accuracy on real images after training on made-up ones."""
    effort = QUICK if quick else FULL
    for table in tables:
        if table in EPSILONS:
            for name in GENERATORS:
                yield from _private(table, name, effort, step)
        else:
            yield from _plain(table, effort, step)


def synthesiser(generator: Generator, epsilon: float) -> NetworkImages:
    """Give a synthesiser of digits that repeats."""
    return NetworkImages(generator=generator, classes=DIGITS, epsilon=epsilon, delta=DELTA, seed=1)


def judged(images: Floats, labels: Any, epochs: int) -> float:
    """Train a small network on images in shades; give its accuracy on the real test images, in percent."""
    _, _, tested, truth = mnist()
    scaled = ((images.reshape(-1, 1, 28, 28) - MIDDLE) / SPREAD).astype(np.float32)
    judge = PlainNetwork(network="cnn", classes=DIGITS, epochs=epochs, batch=256, learning_rate=0.002, seed=1)
    return 100 * float(np.mean(judge.fit(scaled, labels).predict(tested) == truth))


def _private(table: str, name: str, effort: _Effort, step: Callable[[str], None]) -> Iterator[Row]:
    epsilon, generator = EPSILONS[table], effort.generator(name)
    step(f"{table}: {name}, {generator.steps} steps")
    ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, rows=ROWS)
    made = synthesiser(generator, epsilon).fit(*_digits(), ledger=ledger)
    setting = {
        "epsilon": epsilon,
        "batch": round(made.plan.batch),
        "steps": made.plan.steps,
        "noise": round(made.plan.noise_multiplier, 3),
    }
    step(f"{table}: {name}, judging")
    yield _judged(made, effort, table, setting, name, "with a seed, so that it repeats")
    yield _row(table, setting, name, "epsilon", ledger.spent().epsilon, f"by PLD, delta {DELTA:g}")


def _plain(table: str, effort: _Effort, step: Callable[[str], None]) -> Iterator[Row]:
    """Give what can be had without privacy: the same networks without noise, and real images."""
    images, labels = _digits()
    for name in GENERATORS:
        generator = replace(effort.generator(name), clip=LOOSE)
        step(f"{table}: {name}, {generator.steps} steps")
        plan = TrainingPlan(
            rows=ROWS,
            batch=generator.rate * ROWS,
            steps=generator.steps,
            clip=LOOSE,
            noise_multiplier=SILENT,
            delta=DELTA,
        )
        made = synthesiser(generator, 1.0).prepared(images, labels, plan, new_stream(1))()
        setting = {"epsilon": "inf", "steps": generator.steps}
        yield _judged(made, effort, table, setting, name, "NOT private")
    step(f"{table}: real images")
    some = judged(images[: effort.images], labels[: effort.images], effort.epochs)
    yield _row(table, {"epsilon": "inf"}, "real images", "accuracy in %", some, "NOT private")


def _digits() -> tuple[Floats, Any]:
    """Give the training images in shades from 0 to 1, and their labels."""
    images, labels, _, _ = mnist()
    return images * SPREAD + MIDDLE, labels


def _judged(
    made: NetworkImagesFit, effort: _Effort, table: str, setting: Mapping[str, Any], name: str, note: str
) -> PicturedRow:
    reached = judged(*made.sample(effort.images, seed=1), effort.epochs)
    return replace(_row(table, setting, name, "accuracy in %", reached, note), picture=made.sheet(seed=1))


def _row(
    table: str, setting: Mapping[str, Any], method: str, metric: str, ours: float, note: str
) -> PicturedRow:
    return PicturedRow(
        paper=PAPER,
        table=table,
        dataset="mnist",
        setting=setting,
        method=method,
        metric=metric,
        ours=ours,
        note=note,
    )
