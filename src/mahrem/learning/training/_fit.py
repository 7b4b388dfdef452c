"""Train an estimator for a task: keep some rows away, put canaries in, train, measure."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from mahrem.dp import Ledger
from mahrem.dp.accounting import Event, promise_event
from mahrem.learning.private import (
    BoostedTrees,
    PrivateNetwork,
    PrivateSearch,
    PublicInputs,
    SecretStream,
    new_stream,
)
from mahrem.learning.private.inputs import read_rows
from mahrem.learning.private.steps import checkpoint_stream
from mahrem.learning.training._canaries import Canaries
from mahrem.learning.training._task import TrainingTask
from mahrem.table import Source
from mahrem.types import Floats, Integers, Mask


@dataclass(frozen=True)
class TrainingRows:
    """Rows of a table as numbers, what is to be learnt of them, and whose they are."""

    numbers: Floats = field(repr=False)
    labels: Any = field(repr=False)  # (n,) as estimators take them; None where rows are their own target
    units: Integers | None = field(repr=False)  # (n,) people from 1, 0 for nobody; None protects rows

    @classmethod
    def read(cls, source: Source, inputs: PublicInputs, task: TrainingTask) -> TrainingRows:
        """Read a table."""
        rows, cells, units = read_rows(source, inputs, task.settings.target, task.ledger.unit.subject)
        return cls(rows, None if cells is None else task.labels(cells), units)

    def where(self, chosen: Mask) -> TrainingRows:
        """Give some of them."""
        labels, units = (None if part is None else part[chosen] for part in (self.labels, self.units))
        return TrainingRows(self.numbers[chosen], labels, units)


@dataclass(frozen=True)
class FitResult:
    """What came of a training: the model, figures on rows kept away, canaries and their scores."""

    model: Any = field(repr=False)
    metrics: dict[str, Any] | None
    canaries: Canaries | None
    scores: Floats | None = field(repr=False)


def planned_event(task: TrainingTask, estimator: object) -> Event:
    """Give what training will reveal, before anything is read."""
    if isinstance(estimator, PrivateNetwork | BoostedTrees | PrivateSearch):
        return estimator.plan(task.ledger).event
    return promise_event(task.settings.epsilon, task.delta)


def _train(estimator: Any, rows: TrainingRows, ledger: Ledger, stream: SecretStream) -> Any:
    """Pay and train; the key that chose rows to measure on is the one that noise comes from."""
    if isinstance(estimator, PrivateNetwork):
        return estimator._fit(rows.numbers, rows.labels, ledger, units=rows.units, stream=stream)  # noqa: SLF001 - it was made here, for this training alone
    if isinstance(estimator, BoostedTrees):
        return estimator._fit(rows.numbers, rows.labels, ledger, stream=stream)  # noqa: SLF001 - the same
    return estimator.fit(rows.numbers, rows.labels, ledger=ledger)


def fit_model(task: TrainingTask, estimator: object, inputs: PublicInputs, rows: TrainingRows) -> FitResult:
    """Train an estimator in place, or search; the ledger pays for training and measuring."""
    path = task.settings.checkpoint
    stream = new_stream() if path is None else checkpoint_stream(path) or new_stream()
    count = len(rows.numbers)
    known = np.ones(count, dtype=bool) if rows.units is None else rows.units > 0
    tested = task.measure.held_out(stream, count, rows.units)
    kept = rows.where(known & ~tested)
    numbers, labels, units = kept.numbers, kept.labels, kept.units
    canaries = scores = None
    if task.canaries:
        canaries = Canaries.draw(stream, task.canaries, inputs, task.classes, task.bounds, model=estimator)
        numbers, labels, units = canaries.added(numbers, labels, units)
    model = estimator
    train = partial(_train, estimator, TrainingRows(numbers, labels, units), task.ledger, stream)
    if canaries is None:
        model = train()
    else:
        scores = canaries.fit(estimator, train)
    metrics = None
    if task.measure.share:
        asked = rows.where(tested & known)
        metrics = task.measure(model, asked.numbers, asked.labels, asked.units, task.ledger, task.bounds)
    return FitResult(model, metrics, canaries, scores)
