"""How many classes there are of which size, as a report shows it."""

from __future__ import annotations

import math

import numpy as np

from mahrem.types import Integers, Sizes

BINS = 24
# Edges of class sizes beyond the first few, finest first, as digits of one decade.
_LADDERS = ((1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


def class_size_bins(sizes: Sizes) -> list[dict[str, int]]:
    """Count classes and rows by class size on at most 24 bins; ``from`` and ``to`` both lie inside.

    Example:
        >>> class_size_bins(np.array([5, 5, 7]))[0]
        {'from': 5, 'to': 5, 'classes': 2, 'rows': 10}
    """
    present = np.asarray(sizes)[np.asarray(sizes) > 0]
    if not len(present):
        return []
    edges = _size_edges(int(present.min()), int(present.max()))
    place = np.searchsorted(edges, present, side="right") - 1
    classes = np.bincount(place, minlength=len(edges) - 1)
    rows = np.zeros(len(edges) - 1, dtype=np.int64)
    np.add.at(rows, place, present)
    return [
        {"from": int(edges[i]), "to": int(edges[i + 1] - 1), "classes": int(classes[i]), "rows": int(rows[i])}
        for i in range(len(edges) - 1)
    ]


def _size_edges(low: int, high: int) -> Integers:
    if high - low < BINS:
        return np.arange(low, high + 2)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high + 1)) + 1)
    for digits in _LADDERS:
        steps = np.unique([round(digit * 10**power) for power in decades for digit in digits])
        first, last = (
            np.searchsorted(steps, low, side="right") - 1,
            np.searchsorted(steps, high, side="right"),
        )
        if last - first <= BINS:
            break
    return np.asarray(np.maximum(steps[first : last + 1], low), dtype=np.int64)
