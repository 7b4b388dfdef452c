"""Siamese and triplet networks on MNIST, private and not: do images of one digit come to lie together?

Images are halved in height and width (means of 2 by 2 pixels). A dense network is trained on the 60,000
training images (groups are drawn anew in each step) and judged on the 10,000 others:
how often the nearest other image shows the same digit, and how well distances tell pairs of one digit from
pairs of two (area under the curve, 20,000 pairs). Private runs have a seed so that they repeat, which real
ones must not have. Settings were chosen while looking at these figures.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mahrem.attacks.on_models import area_under_curve
from mahrem.dp import Ledger
from mahrem.experiments._mnist import DELTA, mnist
from mahrem.experiments._row import Place, Row, TableRun
from mahrem.learning.private import PlainSiamese, PrivateSiamese, nearest_others
from mahrem.learning.private.steps import Descent
from mahrem.types import Floats, Integers

EPSILONS = (1.0, 3.0, 8.0)
TESTED = 20_000  # pairs
CODE = 16
OPTIONS = {"hidden": (128,)}


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table, which is named by its kind of groups."""
    most = 2000 if run.quick else None
    images, labels, tested, truth = mnist()
    images, labels = _halved(images[:most]), labels[:most]
    tested, truth = _halved(tested[:most]), truth[:most]
    place = run.place("mnist")
    yield from _rows(place, "pixels", tested.astype(np.float64), truth)
    for epsilon in EPSILONS[-1:] if run.quick else EPSILONS:
        model = _private(run, epsilon)
        ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, rows=len(images))
        model.fit(images, labels, ledger=ledger)
        here = place.at(epsilon=epsilon, batch=int(model.plan_.batch), steps=model.plan_.steps)
        yield from _rows(here, "private", model.transform(tested), truth)
    run.step(f"{run.table}: not private")
    plain = _plain(run.table, quick=run.quick).fit(images, labels)
    here = place.at(batch=plain.batch, steps=plain.steps)
    yield from _rows(here, "not private", plain.transform(tested), truth)


def _halved(images: Floats) -> Floats:
    """Give flat images of half the height and width."""
    count, _, height, width = images.shape
    means = images.reshape(count, height // 2, 2, width // 2, 2).mean(axis=(2, 4))
    return np.asarray(means.reshape(count, -1))


def _private(run: TableRun, epsilon: float) -> PrivateSiamese:
    def progress(done: int, steps: int, spent: float) -> None:
        run.step(f"{run.table}: epsilon={epsilon:g}, step {done} of {steps}, epsilon so far {spent:.2f}")

    return PrivateSiamese(
        kind=run.table,
        options=OPTIONS,
        classes=tuple(range(10)),
        code=CODE,
        epsilon=epsilon,
        delta=DELTA,
        batch=500 if run.quick else 4096,
        epochs=0.5 if run.quick else 15,
        descent=Descent(learning_rate=3e-3, optimiser="adam", average=0.95),
        microbatch=1024,
        progress=progress,
        seed=1,
    )


def _plain(kind: str, *, quick: bool) -> PlainSiamese:
    """Make the same network for groups drawn the same way, without clipping and noise."""
    return PlainSiamese(
        kind=kind, options=OPTIONS, code=CODE, batch=512, steps=3 if quick else 1500, learning_rate=1e-3
    )


def _rows(place: Place, method: str, codes: Floats, truth: Integers) -> Iterator[Row]:
    draws = np.random.default_rng(2)
    left, right = draws.integers(len(codes), size=(2, TESTED))
    near = -np.linalg.norm(codes[left] - codes[right], axis=1)
    alike = truth[left] == truth[right]
    area, error = area_under_curve(np.sort(near[alike & (left != right)]), np.sort(near[~alike]))
    nearest = 100 * float(np.mean(truth[nearest_others(codes)] == truth))
    same = "nearest other image of the same digit in %"
    yield place.row(method, same, nearest, note=f"{len(codes):,} images")
    yield place.row(method, "one digit or two, AUC", area, note=f"standard error {error:.4f}")
