"""What a release is still good for when somebody wants to predict a column from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from mahrem.drafts._draft import Draft
from mahrem.drafts._learning_measure import SHOWN, LearningMeasure
from mahrem.drafts._prepare import prepare
from mahrem.report import ReportLearning

_ROWS = 4_000
_CLASSIFIERS = ("logistic_regression", "gaussian_nb")
_SPLITS = 2


def measure_learning(draft: Draft, target: str) -> ReportLearning:
    """Measure entropy loss on the draft, and classifiers on (a sample of) its rows, before and after.

    Classifiers learn from rows that were anonymised by the same policy and are asked about untouched ones.
    Rows are drawn from a large table: the figures say what anonymising costs, not how well the whole table
    would do.
    """
    prepared, policy = draft.prepared, draft.policy
    whole = LearningMeasure.of(prepared, policy, target, _CLASSIFIERS, _SPLITS)
    lost = whole.entropy(draft)
    taken = min(prepared.rows, _ROWS)
    if taken < prepared.rows:
        frame = prepared.source.take(list(prepared.source.columns)).filter(pl.Series(prepared.keep))
        chosen = np.sort(np.random.default_rng(0).choice(frame.height, taken, replace=False))
        small = replace(policy, population=None, delta_presence=None)
        whole = LearningMeasure.of(prepare(frame[chosen], small), small, target, _CLASSIFIERS, _SPLITS)
    before = whole.original()
    after = whole.anonymised()
    return ReportLearning(
        target=target,
        rows=taken,
        sampled=taken < prepared.rows,
        **lost,
        scores={
            name: {figure: [before[f"{figure}_{name}"], after[f"{figure}_{name}"]] for figure in SHOWN}
            for name in _CLASSIFIERS
        },
    )
