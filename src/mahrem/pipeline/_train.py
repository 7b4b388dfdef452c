"""Private models: a table, a ledger and a promise in, a model with its guarantee out."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.errors import BudgetExceeded, InvalidParameter, spelled
from mahrem.learning.private import (
    Descent,
    PrivateNetwork,
    PublicInputs,
    checkpoint_stream,
    declared_features,
    new_stream,
    read_rows,
)
from mahrem.pipeline._canaries import Canaries, canary_count
from mahrem.pipeline._model_score import Measure
from mahrem.pipeline._reading import ReadingSettings, reading_from
from mahrem.pipeline._train_models import GRADIENTS, MODELS, Wish, model_name, wish_for
from mahrem.pipeline._trained import Trained
from mahrem.release import is_release
from mahrem.table import Reading, hold, open_source

__all__ = ["train"]


def train(
    source: object,
    *,
    ledger: str | Path | Ledger,
    epsilon: float,
    delta: float | None = None,
    target: Hashable | None = None,
    model: str = "dnn",
    how: str = "gradients",
    features: Sequence[Hashable] | None = None,
    output: str | Path | None = None,
    force: bool = False,
    holdout: float = 0.0,
    evaluate_epsilon: float | None = None,
    evaluate_openly: bool = False,
    batch: float | None = None,
    epochs: float | None = None,
    clip: float | None = None,
    noise: str | None = None,
    learning_rate: float | None = None,
    optimiser: str | None = None,
    hidden: Sequence[int] | None = None,
    shape: Sequence[int] | None = None,
    device: str | None = None,
    checkpoint: str | Path | None = None,
    poisson: bool = True,
    accept_no_amplification: bool = False,
    audit: bool = False,
    canaries: int | None = None,
    plan: bool = False,
    progress: Callable[[str], None] | None = None,
    **reading: Unpack[ReadingSettings],
) -> Trained:
    """Train a model on a table with differential privacy.

    Args:
        source: A frame, a file or a database: the one the ledger was made for.
        ledger: The ledger that pays, or its path; it also says what is public about the columns.
        epsilon: What the training may cost.
        delta: The same; by default the ledger's, or a tenth of it where noise does not go on gradients (such
            an event uses its delta up).
        target: The column to learn: declared values make classes, bounds make a number.
        model: ``logistic``, ``dnn``, ``cnn``, ``lstm``, ``autoencoder``, ``svm`` or ``linear``.
        how: Where the noise goes: ``gradients`` (every network), or for logistic regression, SVM and linear
            regression ``objective``, ``output`` or ``functional``.
        features: Columns to learn from; every declared one by default.
        output: A folder for the model, its plan and its data sheet.
        force: Replace an earlier model there.
        holdout: Share of the people kept away from training, to measure on.
        evaluate_epsilon: Measure on them privately, for this much.
        evaluate_openly: Measure on them without noise; the figure is then not private, and says so.
        batch: Expected size of a batch.
        epochs: How often each row is seen on average.
        clip: Largest norm of a gradient.
        noise: ``gaussian`` or ``laplace``.
        learning_rate: Size of a step.
        optimiser: ``sgd`` or ``adam``.
        hidden: Sizes of hidden layers.
        shape: Shape of a row, for ``cnn`` and ``lstm``.
        device: ``auto``, ``cpu``, ``cuda`` …
        checkpoint: A private file to go on from after an interruption.
        poisson: False needs ``accept_no_amplification``.
        accept_no_amplification: Accept the bound without amplification by sampling.
        audit: Put made-up rows in by a coin each, guess from the model which were in, and give the epsilon
            that follows (a lower bound) beside the one that is claimed. Costs no budget, and some accuracy.
        canaries: How many such rows; by default a twentieth of the public number of rows, at most 1000.
        plan: Only say what would be done, what it costs and whether it fits; nothing is read or spent.
        progress: Called with a sentence now and then.
        **reading: How the source is read: every name of :class:`~mahrem.pipeline.ReadingSettings`.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit of privacy; measuring costs extra.
        - Everything is paid for before the first step; what does not fit is refused and nothing is computed.
        - The model folder holds public facts, the model and figures that were paid for or say they are not.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(600)
        >>> columns = {"age": {"lower": 0, "upper": 100}, "sex": {"categories": ["f", "m"]}}
        >>> ledger = mh.Ledger.temporary(epsilon=2, delta=1e-6, rows=600, columns=columns)
        >>> trained = train(patients, ledger=ledger, target="sex", model="logistic", epsilon=1, epochs=2)
        >>> trained.epsilon <= 1, len(trained.predict(patients))
        (True, 600)
    """
    start = time.perf_counter()
    book = Ledger.of(ledger)
    way = reading_from(reading)
    measure = Measure(holdout=holdout, epsilon=evaluate_epsilon, openly=evaluate_openly)
    settings = {
        "batch": batch,
        "epochs": epochs,
        "clip": clip,
        "noise": noise,
        "shape": None if shape is None else tuple(shape),
        "device": device,
        "checkpoint": checkpoint,
        "poisson": None if poisson else False,
        "accept_no_amplification": accept_no_amplification or None,
        "descent": _descent(learning_rate, optimiser),
        "progress": None if progress is None else _reports(progress),
    }
    learnt = None if target is None else check.column_name(target=target)
    used = None if features is None else check.column_names(features=features)
    own = _own_delta(book, how, noise) if delta is None else delta
    wish = wish_for(book, model, learnt, epsilon, own, holdout, hidden, settings)
    wanted = _wanted_canaries(book, canaries, audit=audit)
    made = _untrained(book, wish, how, learnt, used)
    resumed = checkpoint is not None and Path(checkpoint).exists()  # then training is paid for already
    made.fits = measure.fits(book, None if resumed else made.event, epsilon, wish.delta)
    if plan:
        return made
    _refuse_unpayable(made, epsilon)
    if output is not None:
        _refuse_occupied(Path(output), force=force)  # before anything is paid
    with book.cost_told():
        _fit(made, measure, source, way, wish, wanted)
        made.seconds = time.perf_counter() - start
        if output is not None:
            made.save(output, force=force)
    if isinstance(made.estimator, PrivateNetwork):
        made.estimator.forget()
    return made


def _own_delta(book: Ledger, how: str, noise: str | None) -> float:
    """Give the delta of a training for which none was named."""
    if noise == "laplace":
        return 0.0
    return book.delta if how == GRADIENTS else book.delta * 0.1  # an event of its own uses its delta up


def _untrained(
    book: Ledger, wish: Wish, how: str, target: str | None, features: Sequence[str] | None
) -> Trained:
    """Give the model that was wished for with what its training will cost."""
    made = Trained(
        model=wish.network,
        how=how,
        target=target,
        estimator=MODELS[model_name(wish.network, how)](wish),
        inputs=PublicInputs(
            facts=book.facts,
            features=declared_features(book.facts, target, features),
            low=-1.0 if how == GRADIENTS else 0.0,
        ),
        ledger=book,
    )
    made.event = made.planned_event(wish.epsilon, wish.delta)
    return made


def _refuse_unpayable(made: Trained, epsilon: float) -> None:
    if not made.fits:
        raise BudgetExceeded(
            f"epsilon={epsilon:g} and measuring do not fit the ledger "
            f"({made.ledger.remaining().epsilon:.4g} is left); nothing was computed"
        )


def _wanted_canaries(book: Ledger, canaries: int | None, *, audit: bool) -> int:
    if canaries is not None and not audit:
        raise InvalidParameter(f"canaries={canaries} belongs to audit=True")
    return canary_count(book, canaries) if audit else 0


def _fit(
    made: Trained, measure: Measure, source: object, reading: Reading, wish: Wish, canaries: int = 0
) -> None:
    """Read, keep some rows away, train on the rest, measure on those; audit with so many canaries."""
    book, target = made.ledger, made.target
    source = hold(source)
    opened = open_source(source, reading)
    check.columns_exist([*made.inputs.features, *([] if target is None else [target])], opened.columns)
    book.refuse_other(source, reading, opened.columns)
    rows, cells, units = read_rows(opened, made.inputs, target, book.unit.subject)
    labels = None if cells is None else wish.labels(cells)
    known = np.ones(len(rows), dtype=bool) if units is None else units > 0
    path = wish.settings.get("checkpoint")
    stream = new_stream() if path is None else checkpoint_stream(path) or new_stream()
    tested = measure.held_out(stream, len(rows), units)
    kept = known & ~tested
    learnt = (rows[kept], None if labels is None else labels[kept], None if units is None else units[kept])
    placed = None
    if canaries:
        placed = Canaries.draw(stream, canaries, made.inputs, wish.classes, wish.bounds, model=made.estimator)
        learnt = placed.added(*learnt)
    more: dict[str, Any] = {}
    if isinstance(made.estimator, PrivateNetwork):
        more = {"stream": stream, "units": learnt[2]}
    if placed is None:
        made.estimator.fit(learnt[0], learnt[1], ledger=book, **more)
    else:
        made.audit = placed.fit(made.estimator, learnt, wish.delta, ledger=book, **more)
    tested &= known
    if measure.holdout:
        place = None if units is None else units[tested]
        answers = None if labels is None else labels[tested]
        made.metrics = measure(made.estimator, rows[tested], answers, place, book, wish.bounds)


def _refuse_occupied(folder: Path, *, force: bool) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists() and not (force and folder.is_dir() and is_release(folder)):
        raise InvalidParameter(
            f"output={folder.name!r} exists; choose another, or pass "
            f"{spelled('force', True)} to replace a model"
        )


def _descent(learning_rate: float | None, optimiser: str | None) -> Descent | None:
    if learning_rate is None and optimiser is None:
        return None
    kind = optimiser or "sgd"
    rate = learning_rate if learning_rate is not None else {"adam": 0.01}.get(kind, Descent().learning_rate)
    return Descent(learning_rate=rate, optimiser=kind)


def _reports(progress: Callable[[str], None]) -> Callable[[int, int, float], None]:
    def report(done: int, steps: int, epsilon: float) -> None:
        progress(f"step {done:,} of {steps:,}, epsilon so far {epsilon:.3g}")

    return report
