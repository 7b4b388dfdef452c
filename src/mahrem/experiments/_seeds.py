"""Figures over several seeds: their mean, and an interval that knows how splits overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mahrem.learning.classifiers import Score


def seeds_score(metric: str, values: Sequence[float], tested: float) -> Score:
    """Take one figure of several splits, each of which tests a share of the rows, as a score."""
    figures, ratio = {metric: np.array(values)}, tested / (1 - tested)
    return Score(classifier="network", figures=figures, settings=(), ratio=ratio, seconds=0.0)


def interval_note(score: Score, metric: str, digits: int = 3) -> str:
    """Write the 95 % interval; nothing where a single seed has none."""
    ends = score.interval(metric)
    return "" if ends is None else f"; 95 % interval {ends[0]:.{digits}f} to {ends[1]:.{digits}f}"
