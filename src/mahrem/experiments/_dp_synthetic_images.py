"""Synthetic digits: train a classifier on made-up images, test it on real ones.

Generating networks learn from the 60,000 training images of MNIST; a small network without privacy is trained
on 30,000 made-up images and tested on the 10,000 test images. Beside them the same with real images, and
with the same network trained without noise. Made-up images come with their row, as a picture. Runs have a
seed so that they repeat, which real ones must not have. Settings were chosen while looking at this table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mahrem.dp import Ledger
from mahrem.experiments._mnist import DELTA, MIDDLE, ROWS, SPREAD, mnist
from mahrem.experiments._row import Place, Row, TableRun
from mahrem.learning.private import PlainNetwork, TrainingPlan, new_stream
from mahrem.learning.synthesis import Adversarial, Generator, NetworkImages, NetworkImagesFit, Variational
from mahrem.types import Floats, Integers

EPSILONS = {"epsilon-10": 10.0, "epsilon-3": 3.0}
DIGITS = tuple(range(10))
RATE = 4096 / ROWS
GENERATORS: Mapping[str, Generator] = {
    "vae": Variational(code=4, rate=RATE, steps=1000, learning_rate=0.02, weight=2.0),
    "gan": Adversarial(
        judge=64, rate=RATE / 2, turns=1, learning_rate=0.002, generator_rate=0.001, average=0.99
    ),
}
LOOSE, SILENT = 1000.0, 1e-6  # a clip that clips nothing, and next to no noise


@dataclass(frozen=True)
class _Effort:
    """How much work a run is worth."""

    steps: int | None
    images: int
    epochs: int

    def generator(self, name: str) -> Generator:
        generator = GENERATORS[name]
        return generator if self.steps is None else replace(generator, steps=self.steps)


FULL, QUICK = _Effort(None, 30_000, 3), _Effort(40, 2_000, 1)


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table: accuracy on real images after training on made-up ones."""
    effort = QUICK if run.quick else FULL
    if run.table not in EPSILONS:
        yield from _plain(run, effort)
        return
    for name in GENERATORS:
        yield from _private(run, name, effort)


def synthesiser(generator: Generator, epsilon: float) -> NetworkImages:
    """Give a synthesiser of digits that repeats."""
    return NetworkImages(generator=generator, classes=DIGITS, epsilon=epsilon, delta=DELTA, seed=1)


def judge(images: Floats, labels: Integers, epochs: int) -> float:
    """Train a small network on images in shades; give its accuracy on the real test images, in percent."""
    _, _, tested, truth = mnist()
    scaled = ((images.reshape(-1, 1, 28, 28) - MIDDLE) / SPREAD).astype(np.float32)
    network = PlainNetwork(
        network="cnn", classes=DIGITS, epochs=epochs, batch=256, learning_rate=0.002, seed=1
    )
    return 100 * float(np.mean(network.fit(scaled, labels).predict(tested) == truth))


def _private(run: TableRun, name: str, effort: _Effort) -> Iterator[Row]:
    epsilon, generator = EPSILONS[run.table], effort.generator(name)
    run.step(f"{run.table}: {name}, {generator.steps} steps")
    ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, rows=ROWS)
    fitted = synthesiser(generator, epsilon).fit(*_digits(), ledger=ledger)
    place = run.place(
        "mnist",
        epsilon=epsilon,
        batch=round(fitted.plan.batch),
        steps=fitted.plan.steps,
        noise=round(fitted.plan.noise_multiplier, 3),
    ).rounded(None)
    run.step(f"{run.table}: {name}, judging")
    yield _judged(place, name, fitted, effort, "with a seed, so that it repeats")
    yield place.row(name, "epsilon", ledger.spent().epsilon, note=f"by PLD, delta {DELTA:g}")


def _plain(run: TableRun, effort: _Effort) -> Iterator[Row]:
    """Give what can be had without privacy: the same networks without noise, and real images."""
    images, labels = _digits()
    place = run.place("mnist", epsilon="inf").rounded(None)
    for name in GENERATORS:
        generator = replace(effort.generator(name), clip=LOOSE)
        run.step(f"{run.table}: {name}, {generator.steps} steps")
        plan = TrainingPlan(
            rows=ROWS,
            batch=generator.rate * ROWS,
            steps=generator.steps,
            clip=LOOSE,
            noise_multiplier=SILENT,
            delta=DELTA,
        )
        fitted = synthesiser(generator, 1.0).prepared(images, labels, plan, new_stream(1))()
        yield _judged(place.at(steps=generator.steps), name, fitted, effort, "NOT private")
    run.step(f"{run.table}: real images")
    some = judge(images[: effort.images], labels[: effort.images], effort.epochs)
    yield place.row("real images", "accuracy in %", some, note="NOT private")


def _digits() -> tuple[Floats, Integers]:
    """Give the training images in shades from 0 to 1, and their labels."""
    images, labels, _, _ = mnist()
    return images * SPREAD + MIDDLE, labels


def _judged(place: Place, name: str, fitted: NetworkImagesFit, effort: _Effort, note: str) -> Row:
    """Give the accuracy after training on made-up images, with some of them as a picture."""
    reached = judge(*fitted.sample(effort.images, seed=1), effort.epochs)
    return replace(place.row(name, "accuracy in %", reached, note=note), picture=fitted.sheet(seed=1))
