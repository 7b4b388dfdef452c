"""What a release is still good for when somebody wants to predict a column from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mahrem.metrics import measure_entropy
from mahrem.pipeline._draft import Draft
from mahrem.pipeline._learnt import SHOWN, Learnt
from mahrem.pipeline._prepare import prepare

__all__ = ["learnt_from"]

_ROWS = 4_000
_CLASSIFIERS = ("logistic_regression", "gaussian_nb")
_SPLITS = 2


def learnt_from(draft: Draft, target: str) -> dict[str, Any]:
    """Measure entropy loss on the draft, and classifiers on (a sample of) its rows, before and after.

    Classifiers learn from rows that were anonymised by the same policy and are asked about untouched ones.
    Rows are drawn from a large table: the figures say what anonymising costs, not how well the whole table
    would do.
    """
    prepared, policy = draft.prepared, draft.policy
    whole = Learnt.of(prepared, policy, target, _CLASSIFIERS, _SPLITS)
    part = prepared.taking_part
    axes = [replace(axis, positions=axis.positions[:part]) for axis in prepared.axes]
    texts = {axis.name: draft.cells[axis.name].text for axis in axes}
    rows = ~prepared.suppress
    lost = measure_entropy(axes, texts, draft.labels[rows], whole.codes[rows])
    taken = min(prepared.rows, _ROWS)
    if taken < prepared.rows:
        frame = prepared.source.take(list(prepared.source.columns)).filter(pl.Series(prepared.keep))
        chosen = np.sort(np.random.default_rng(0).choice(frame.height, taken, replace=False))
        small = replace(policy, population=None, delta_presence=None)
        whole = Learnt.of(prepare(frame[chosen], small), small, target, _CLASSIFIERS, _SPLITS)
    before = whole.original()
    after = whole.anonymised()
    return {
        "target": target,
        "rows": taken,
        "sampled": taken < prepared.rows,
        "entropy_loss": lost.entropy_loss,
        "entropy_loss_cells": lost.entropy_loss_cells,
        "scores": {
            name: {figure: [before[f"{figure}_{name}"], after[f"{figure}_{name}"]] for figure in SHOWN}
            for name in _CLASSIFIERS
        },
    }
