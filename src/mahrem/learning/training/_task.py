"""What is to be learnt: settings beside what the ledger declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, refuse_undeclared
from mahrem.errors import InvalidParameter
from mahrem.learning.private import PublicInputs, declared_features
from mahrem.learning.training._canaries import canary_count
from mahrem.learning.training._entries import GRADIENTS, PrivateModel, find_model
from mahrem.learning.training._held_out import HeldOutMeasure
from mahrem.learning.training._settings import TrainingSettings
from mahrem.types import Floats

Progress = Callable[[int, int, float], None]  # step, steps, epsilon so far


@dataclass(frozen=True, kw_only=True)
class TrainingTask:
    """A training that can be planned: public facts and settings, nothing of the rows.

    Attributes:
        settings: What a person said.
        ledger: What pays, and declares what is public.
        entry: The model.
        classes: Declared values of the target; None if it has none.
        bounds: Declared bounds of the target, if it is a number.
        delta: What the training may cost beside ``settings.epsilon``.
        rows: The public number of rows (people) that are trained on; None if it was not declared.
        canaries: How many made-up rows an audit puts in.
        measure: How the model is measured.
        progress: Called after some steps.
    """

    settings: TrainingSettings
    ledger: Ledger = field(repr=False)
    entry: PrivateModel
    classes: tuple[str, ...] | None
    bounds: tuple[float, float] | None
    delta: float
    rows: int | None
    canaries: int
    measure: HeldOutMeasure
    progress: Progress | None = field(default=None, repr=False)

    @classmethod
    def of(cls, settings: TrainingSettings, ledger: Ledger, progress: Progress | None = None) -> TrainingTask:
        """Put settings and the ledger's facts together; refuses what does not fit."""
        facts, target = ledger.facts, settings.target
        measure = HeldOutMeasure(
            share=settings.holdout, epsilon=settings.evaluate_epsilon, openly=settings.evaluate_openly
        )
        if (target is None) != (settings.model == "autoencoder"):
            raise InvalidParameter(
                f"target={target!r}: an autoencoder takes none, every other model needs the column to learn"
            )
        if target is not None:
            refuse_undeclared(facts, [target])
        check.promised(epsilon=settings.epsilon)
        if settings.canaries is not None and not settings.audit:
            raise InvalidParameter(f"canaries={settings.canaries} belongs to audit=True")
        classes = None if target is None else facts.columns[target].categories
        return cls(
            settings=settings,
            ledger=ledger,
            entry=find_model(settings.model, settings.how),
            classes=classes,
            bounds=None if target is None or classes is not None else facts.bounds(target),
            delta=_own_delta(settings, ledger) if settings.delta is None else settings.delta,
            rows=None if facts.rows is None else max(1, round(facts.rows * (1 - settings.holdout))),
            canaries=canary_count(ledger, settings.canaries) if settings.audit else 0,
            measure=measure,
            progress=progress,
        )

    def inputs(self) -> PublicInputs:
        """Say how columns become numbers, by public facts alone."""
        facts = self.ledger.facts
        return PublicInputs(
            facts=facts,
            features=declared_features(facts, self.settings.target, self.settings.features),
            low=-1.0 if self.entry.torch else 0.0,
        )

    def estimator(self) -> Any:
        """Make the model, untrained."""
        return self.entry.load()(self)

    def labels(self, cells: Floats) -> Any:
        """Give targets as estimators take them: declared labels (None: not declared), or numbers."""
        if self.classes is not None:
            names = np.array([*self.classes, None], dtype=object)
            return names[np.where(np.isnan(cells), len(self.classes), cells).astype(np.int64)]
        low, high = self.bounds or (0.0, 1.0)
        return low + (high - low) * cells


def _own_delta(settings: TrainingSettings, ledger: Ledger) -> float:
    """Give the delta of a training for which none was named."""
    if settings.noise == "laplace":
        return 0.0
    # an event of its own uses its delta up
    return ledger.delta if settings.how == GRADIENTS else ledger.delta * 0.1
