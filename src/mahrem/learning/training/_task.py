"""What is to be learnt: settings beside what the ledger declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, refuse_undeclared
from mahrem.errors import InvalidParameter
from mahrem.learning.private import BoostedTrees, PrivateNetwork, PrivateSearch, PublicInputs
from mahrem.learning.private.inputs import declared_features
from mahrem.learning.training._canaries import canary_count
from mahrem.learning.training._entries import GRADIENTS, PrivateModel, find_model
from mahrem.learning.training._held_out import HeldOutMeasure
from mahrem.learning.training._settings import TrainingSettings
from mahrem.types import Floats

REPEATS = 5.0
SCORE_NOISE = 50.0  # on right answers, at an epsilon of 1: about a tenth of what a search costs
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
        _refuse_together(settings)
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
        """Make the model, untrained, or the search for the best of several."""
        make, search = self.entry.load(), self.settings.search
        if search is None:
            return make(self)
        tasks = [
            replace(self, settings=replace(self.settings, search=None, **one)) for one in self.combinations()
        ]
        models = [make(task) for task in tasks]
        if not all(isinstance(model, PrivateNetwork | BoostedTrees) for model in models):
            raise InvalidParameter(f"search: {self.entry.name} has no settings to choose among")
        return PrivateSearch(
            candidates=models,
            repeats=self.settings.repeats or REPEATS,
            score_noise=SCORE_NOISE / self.settings.epsilon,
            epsilon=self.settings.epsilon,
            delta=self.delta,
        )

    def combinations(self) -> list[dict[str, Any]]:
        """Give the settings that a search chooses among."""
        search = self.settings.search or {}
        return [dict(zip(search, values, strict=True)) for values in product(*search.values())]

    def labels(self, cells: Floats) -> Any:
        """Give targets as estimators take them: declared labels (None: not declared), or numbers."""
        if self.classes is not None:
            names = np.array([*self.classes, None], dtype=object)
            return names[np.where(np.isnan(cells), len(self.classes), cells).astype(np.int64)]
        low, high = self.bounds or (0.0, 1.0)
        return low + (high - low) * cells


def _refuse_together(settings: TrainingSettings) -> None:
    """Refuse settings that exclude each other."""
    if settings.repeats is not None and settings.search is None:
        raise InvalidParameter(f"repeats={settings.repeats:g} belongs to search")
    others = {"audit": settings.audit, "checkpoint": settings.checkpoint is not None}
    for name, given in others.items():
        if given and settings.search is not None:
            raise InvalidParameter(f"search and {name} exclude each other: several models are trained")
    if settings.audit and settings.warm_start is not None:
        raise InvalidParameter("audit and warm_start exclude each other: canaries need columns of their own")


def _own_delta(settings: TrainingSettings, ledger: Ledger) -> float:
    """Give the delta of a training for which none was named."""
    if settings.noise == "laplace":
        return 0.0
    # an event of its own uses its delta up
    return ledger.delta if settings.how == GRADIENTS and settings.search is None else ledger.delta * 0.1
