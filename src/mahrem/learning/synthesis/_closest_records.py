"""How far each row lies from the closest of others, in blocks: no table of all distances is ever held."""

from __future__ import annotations

import numpy as np

from mahrem.types import Floats

_DISTANCES = 1 << 24  # held at once


def closest_distances(asked: Floats, known: Floats) -> Floats:
    """Give the Euclidean distance of each row to the closest of the known rows.

    Args:
        asked: ``(n, d)`` rows.
        known: ``(m, d)`` rows, at least one.

    Example:
        >>> closest_distances(np.array([[0.0], [5.0]]), np.array([[1.0], [5.0]])).tolist()
        [1.0, 0.0]
    """
    lengths = np.einsum("ij,ij->i", known, known)
    distances = np.empty(len(asked))
    block = max(1, _DISTANCES // len(known))
    for start in range(0, len(asked), block):
        part = asked[start : start + block]
        nearest = np.argmin(lengths - 2 * (part @ known.T), axis=1)
        # Differences once more for the winner alone: the product loses digits where rows are equal.
        distances[start : start + block] = np.linalg.norm(part - known[nearest], axis=1)
    return distances
