"""What classes of the same sizes would show if values were dealt out by chance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mahrem.matching import Published
from mahrem.models import Counts, counts_of

__all__ = ["shuffled_rate"]


def shuffled_rate(
    release: Published,
    column: str,
    rows: Callable[[Counts], int],
    shuffles: int,
    rng: np.random.Generator,
) -> float:
    """Give the share of rows an attack finds on average when sensitive values are shuffled over rows."""
    codes, values = release.values(column)
    shown = release.labels >= 0
    labels, own = release.labels[shown], codes[shown]
    if not len(labels):
        return 0.0
    hits = [
        rows(counts_of(labels, rng.permutation(own), len(release.sizes), len(values)))
        for _ in range(shuffles)
    ]
    return float(np.mean(hits)) / len(labels)
