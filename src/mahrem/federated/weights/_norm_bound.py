"""A bound on how far one client moves the model in a round."""

from __future__ import annotations

import numpy as np

from mahrem.federated.weights._defence import Defence, JudgedUpdates
from mahrem.types import Floats


def norms_of(updates: Floats) -> Floats:
    """Give the length (L2) of each update; ``(clients, size)`` or one ``(size,)``."""
    return np.asarray(np.linalg.norm(np.asarray(updates, np.float64), axis=-1))


def bound_norms(updates: Floats, bound: float) -> Floats:
    """Shorten updates that are longer than a bound; the others stay as they are.

    Args:
        updates: ``(clients, size)`` differences from the model they were given, or one ``(size,)``.
        bound: The longest that is left, in L2.

    Guarantees:
        - No update is longer than ``bound``, and each keeps its direction.
        - A client that multiplies its update gains nothing beyond ``bound``.

    References:
        Sun et al.: Can you really backdoor federated learning?, 2019.

    Example:
        >>> bound_norms(np.array([[3.0, 4.0], [0.3, 0.4]]), 2.5).tolist()
        [[1.5, 2.0], [0.3, 0.4]]
    """
    values = np.asarray(updates, np.float64)
    return np.asarray(values * (bound / np.maximum(norms_of(values), bound))[..., None])


class NormBound(Defence):
    """:func:`bound_norms` as a defence of the server."""

    def judge(self, judged: JudgedUpdates) -> None:
        """Shorten what is too long."""
        for place in np.flatnonzero(norms_of(judged.updates) > self.most):
            judged.notes[place].append(f"shortened to norm_bound={self.most:g}")
        judged.updates = bound_norms(judged.updates, self.most)
