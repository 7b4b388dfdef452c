"""What a release is still good for when somebody wants to predict a column from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mahrem.disclosed import of_crowd, published
from mahrem.drafts._draft import Draft
from mahrem.drafts._learning_measure import SHOWN, LearningMeasure
from mahrem.drafts._prepare import prepare
from mahrem.drafts._rewritten import past_the_door
from mahrem.models import COUNTED
from mahrem.report import ReportLearning

_ROWS = 4_000
_CLASSIFIERS = ("logistic_regression", "gaussian_nb")
_SPLITS = 2


def measure_learning(draft: Draft, target: str) -> ReportLearning:
    """Measure entropy loss on the draft, and classifiers on (a sample of) its rows, before and after.

    Classifiers learn from rows that were anonymised by the same policy and are asked about untouched ones.
    Rows are drawn from a large table: the figures say what anonymising costs, not how well the whole table
    would do. Only rows that the release shows take part, and figures are rounded to two places.
    """
    prepared, policy = draft.prepared, draft.policy
    lost = LearningMeasure.of(prepared, policy, target, _CLASSIFIERS, _SPLITS).entropy(draft)
    shown = np.flatnonzero(prepared.keep)[draft.labels >= 0]
    frame = prepared.source.take(list(prepared.source.columns))[shown]
    taken = min(frame.height, _ROWS)
    chosen = frame.drop([name for name in frame.columns if name in prepared.leave_out])
    order = np.argsort(chosen.hash_rows(seed=0).to_numpy(), kind="stable")[
        :taken
    ]  # whatever order rows came in
    small = past_the_door(policy)
    if policy.population is not None:
        alone: dict[str, Any] = dict.fromkeys(("population", "delta_presence", "known_absence", *COUNTED))
        small = replace(small, **alone)
    prepared = prepare(frame[order], small, to_publish=False)
    whole = LearningMeasure.of(prepared, small, target, _CLASSIFIERS, _SPLITS)
    before = whole.original()
    after = whole.anonymised()
    return ReportLearning(
        target=target,
        rows=published(taken),
        sampled=taken < frame.height,
        **{name: of_crowd(round(figure, 2)) for name, figure in lost.items()},
        scores={
            name: {
                figure: [of_crowd(round(side[f"{figure}_{name}"], 2)) for side in (before, after)]
                for figure in SHOWN
            }
            for name in _CLASSIFIERS
        },
    )
