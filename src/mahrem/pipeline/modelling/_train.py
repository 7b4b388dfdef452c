"""Private models: a table, a ledger and a promise in, a model with its guarantee out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Unpack

from mahrem import check
from mahrem.attacks.on_models import OneRunAudit
from mahrem.dp import Ledger, open_privately
from mahrem.errors import BudgetExceeded, InvalidParameter, in_our_words, spelled
from mahrem.learning.private import PrivateNetwork, WarmStart
from mahrem.learning.training import (
    TrainingKeywords,
    TrainingRows,
    TrainingSettings,
    TrainingTask,
    fit_model,
    planned_event,
)
from mahrem.pipeline.modelling._trained import TrainedModel
from mahrem.release.decisions import ReadingSettings, reading_from
from mahrem.release.folders import is_release
from mahrem.settings import read_settings, settings_of
from mahrem.table import Reading, hold
from mahrem.words import Note


class TrainKeywords(TrainingKeywords, ReadingSettings, total=False):
    """How to learn, and how the source is read."""


@in_our_words
def train(
    source: object,
    *,
    ledger: str | Path | Ledger,
    epsilon: float,
    output: str | Path | None = None,
    force: bool = False,
    plan: bool = False,
    progress: Callable[[str], None] | None = None,
    **settings: Unpack[TrainKeywords],
) -> TrainedModel:
    """Train a model on a table with differential privacy.

    Args:
        source: A frame, a file or a database: the one the ledger was made for.
        ledger: The ledger that pays, or its path; it also says what is public about the columns.
        epsilon: What the training may cost.
        output: A folder for the model, its plan and its data sheet.
        force: Replace an earlier model there.
        plan: Only say what would be done, what it costs and whether it fits; nothing is read or spent.
        progress: Called with a sentence now and then.
        **settings: How to learn, every name of :class:`~mahrem.learning.training.TrainingKeywords`; how the
            source is read, every name of :class:`~mahrem.release.decisions.ReadingSettings`.

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
    book, known = Ledger.of(ledger), settings_of(TrainingSettings)
    reading = reading_from({name: value for name, value in settings.items() if name not in known})
    own = read_settings(known, {name: value for name, value in settings.items() if name in known})
    chosen = TrainingSettings(epsilon=epsilon, **own)
    task = TrainingTask.of(chosen, book, None if progress is None else _reports(progress))
    trained = _untrained(task)
    paid = chosen.checkpoint is not None and chosen.checkpoint.exists()  # an interrupted training was paid
    trained.fits = task.measure.fits(book, None if paid else trained.event, epsilon, task.delta)
    if plan:
        return trained
    if not trained.fits:
        raise BudgetExceeded(
            f"epsilon={epsilon:g} and measuring do not fit the ledger "
            f"({book.remaining().epsilon:.4g} is left); nothing was computed"
        )
    if output is not None:
        _refuse_occupied(Path(output), force=force)  # before anything is paid
    with book.cost_told():
        _fit(trained, task, source, reading)
        trained.seconds = time.perf_counter() - start
        if output is not None:
            trained.save(output, force=force)
    if isinstance(trained.estimator, PrivateNetwork):
        trained.estimator.forget()
    return trained


def _untrained(task: TrainingTask) -> TrainedModel:
    """Give the model that is to be trained with what its training will cost."""
    settings, estimator = task.settings, task.estimator()
    return TrainedModel(
        model=settings.model,
        how=settings.how,
        target=settings.target,
        estimator=estimator,
        inputs=task.inputs(),
        ledger=task.ledger,
        event=planned_event(task, estimator),
    )


def _fit(trained: TrainedModel, task: TrainingTask, source: object, reading: Reading) -> None:
    source, target = hold(source), trained.target
    opened = open_privately(source, task.ledger.facts, reading)
    check.columns_exist([*trained.inputs.features, *([] if target is None else [target])], opened.columns)
    task.ledger.refuse_other(source, reading, opened.columns)
    rows = TrainingRows.read(opened, trained.inputs, task)
    _warm_up(trained, task, source)
    result = fit_model(task, trained.estimator, trained.inputs, rows)
    trained.estimator, trained.metrics = result.model, result.metrics
    if task.settings.search is not None:
        trained.chosen = task.combinations()[result.model.candidate_]
    if result.canaries is not None and result.scores is not None:
        trained.audit = OneRunAudit()(result.scores, result.canaries.inside, delta=task.delta)
        shown = trained.audit.as_dict()
        at_least = shown.pop("epsilon")
        what = f"training: {trained.model}, {trained.how}"
        task.ledger.note_audit(what, claimed=trained.epsilon, at_least=at_least, **shown)


def _warm_up(trained: TrainedModel, task: TrainingTask, source: object) -> None:
    """Give a network its public examples; the table that the ledger protects is none.

    It is known by its place alone: a refusal that compared rows would tell who guesses them that they are
    right.
    """
    public = hold(task.settings.warm_start)
    if public is None:
        return
    if _same_place(public, source):
        raise InvalidParameter("warm_start: it is the very table that the ledger protects")
    opened = open_privately(public, task.ledger.facts)
    rows = TrainingRows.read(opened, trained.inputs, task)
    start = WarmStart(inputs=rows.numbers, targets=rows.labels)
    models = getattr(trained.estimator, "candidates", [trained.estimator])
    for model in models:
        model.start = start


def _same_place(one: object, other: object) -> bool:
    """Say whether two sources are one object, one file (links too) or one database."""
    if one is other:
        return True
    if not (isinstance(one, str | PathLike) and isinstance(other, str | PathLike)):
        return False
    try:
        return Path(os.fsdecode(one)).samefile(os.fsdecode(other))
    except OSError:  # no files
        return os.fsdecode(one) == os.fsdecode(other)


def _refuse_occupied(folder: Path, *, force: bool) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists() and not (force and folder.is_dir() and is_release(folder)):
        raise InvalidParameter(
            f"output={folder.name!r} exists; choose another, or pass "
            f"{spelled('force', True)} to replace a model"
        )


def _reports(progress: Callable[[str], None]) -> Callable[[int, int, float], None]:
    def report(done: int, steps: int, epsilon: float) -> None:
        progress(Note("stage.step", {"done": done, "steps": steps, "epsilon": epsilon}))

    return report
