"""PATE on MNIST: 250 teachers vote on public images, a student learns from the noisy winners.

The 60,000 training images are private. The test images are halved, as in Papernot et al. (2018): the first
half is public and has no labels, the second tests the student. Images become histograms of gradient
directions (a fixed formula) and are turned to the 60 main axes of the public half, so nothing is learnt from
private images but by the votes. The cost is the one that holds whatever the votes are; published figures of
PATE are mostly costs that depend on the votes, and are not comparable. Noise and parts have no seed. Settings
were chosen while looking at these images.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from mahrem.check import extra
from mahrem.dp import Ledger
from mahrem.experiments._mnist import DELTA, MIDDLE, ROWS, SPREAD, mnist
from mahrem.experiments._row import Row, TableRun
from mahrem.learning.votes import ConfidentVotes, GaussianVotes, LaplaceVotes, NoisyVotes, Pate, SanitisedCost
from mahrem.types import Floats, Integers

BUDGET = 20.0
TEACHERS, QUICK_TEACHERS, QUICK_ROWS = 250, 20, 2000
AXES, CELL, DIRECTIONS, BLOCK = 60, 4, 9, 2000
RECIPES: Mapping[str, tuple[NoisyVotes, int, int]] = {  # votes, questions, rounds on the student's own labels
    "gnmax": (GaussianVotes(70.0), 2000, 0),
    "confident": (ConfidentVotes(sigma=70.0, threshold=125.0, threshold_sigma=150.0, answers=1800), 2200, 0),
    "laplace": (LaplaceVotes(60.0), 2000, 0),
    "semi": (GaussianVotes(60.0), 500, 2),
    "sanitised": (GaussianVotes(25.0), 1000, 0),
}
SANITISED: Mapping[str, SanitisedCost] = {"sanitised": SanitisedCost(epsilon=2.0, order=10.0)}


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table: accuracy and cost."""
    votes, questions, rounds = RECIPES[run.table]
    teachers = QUICK_TEACHERS if run.quick else TEACHERS
    asked = 100 if run.quick else questions
    run.step(f"{run.table}: {teachers} teachers, {asked} questions")
    rows, labels, public, tested, truth = _images(QUICK_ROWS if run.quick else ROWS)
    model = Pate(
        teacher=_teacher,
        student=_sure_student if rounds else _student,
        classes=tuple(range(10)),
        teachers=teachers,
        votes=votes,
        questions=asked,
        semi=rounds,
        sure=0.9,
        sanitise=SANITISED.get(run.table),
    )
    ledger = Ledger.temporary(epsilon=BUDGET, delta=DELTA, rows=ROWS)
    model.fit(rows, labels, public=public, ledger=ledger)
    method = f"pate, {run.table}"
    place = run.place("mnist", teachers=teachers, questions=asked, answered=model.answered_).rounded(None)
    right = model.score(tested, truth, openly=True)
    yield place.row(method, "accuracy in %", 100 * right, note=repr(model.votes))
    yield place.row(method, "epsilon", model.cost_[0], note="data-independent, by PLD, delta 1e-5")
    sanitised = model.data_dependent_
    if sanitised is not None:
        note = f"no promise; published with noise of epsilon {sanitised.paid[0]:g}, which epsilon holds"
        yield place.row(method, "epsilon at this table, after noise", sanitised.epsilon, note=note)


def _teacher() -> Any:
    return _machine(10.0)


def _student() -> Any:
    return _machine(1.0)


def _machine(margin: float) -> Any:
    try:
        from sklearn.svm import SVC
    except ImportError:
        raise extra("learning", needed_for="teachers of PATE") from None
    return SVC(C=margin)


def _sure_student() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(7, weights="distance")


@cache
def _images(count: int) -> tuple[Floats, Integers, Floats, Floats, Integers]:
    """Give private features and labels, public features, and features and labels to test with."""
    images, labels, others, truth = mnist()
    others, truth = others[:count], truth[:count]
    half = len(others) // 2
    private, public = gradient_histograms(images[:count]), gradient_histograms(others)
    middle = public[:half].mean(axis=0)
    spread = np.cov((public[:half] - middle).T)
    axes = np.linalg.eigh(spread)[1][:, -AXES:]
    private, public = (private - middle) @ axes, (public - middle) @ axes
    return private, labels[:count], public[:half], public[half:], truth[half:]


def gradient_histograms(images: Floats) -> Floats:
    """Give histograms of gradient directions in cells of 4 by 4 pixels, scaled in blocks of 2 by 2 cells.

    References:
        Dalal, Triggs: Histograms of oriented gradients for human detection, 2005.
    """
    parts = [_histograms(images[start : start + BLOCK, 0]) for start in range(0, len(images), BLOCK)]
    return np.concatenate(parts)


def _histograms(pixels: Floats) -> Floats:
    shade = pixels * SPREAD + MIDDLE
    right, down = np.zeros_like(shade), np.zeros_like(shade)
    right[:, :, 1:-1] = shade[:, :, 2:] - shade[:, :, :-2]
    down[:, 1:-1] = shade[:, 2:] - shade[:, :-2]
    steep = np.hypot(right, down)
    turn = np.arctan2(down, right) % np.pi / np.pi * DIRECTIONS
    first = np.floor(turn)
    beyond = turn - first
    count, cells = len(shade), shade.shape[1] // CELL
    histograms = np.empty((count, cells, cells, DIRECTIONS), dtype=np.float32)
    for place in range(DIRECTIONS):
        share = (first % DIRECTIONS == place) * (1 - beyond) + ((first + 1) % DIRECTIONS == place) * beyond
        histograms[..., place] = (steep * share).reshape(count, cells, CELL, cells, CELL).sum(axis=(2, 4))
    corners = [histograms[:, :-1, :-1], histograms[:, 1:, :-1], histograms[:, :-1, 1:], histograms[:, 1:, 1:]]
    blocks = np.concatenate(corners, axis=-1)
    blocks /= np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + 0.01)
    return np.asarray(blocks.reshape(count, -1))
