"""How far each client's update lies from what most clients send."""

from __future__ import annotations

import numpy as np

from mahrem.federated.weights._average import enough
from mahrem.federated.weights._defence import Defence, JudgedUpdates
from mahrem.federated.weights._norm_bound import norms_of
from mahrem.types import Floats

LEAST_COMPARED = 3  # of two, nobody can say which is odd
SPREAD = 1.4826  # times the median deviation is the standard deviation of normal numbers
FLOOR = 0.05  # of the middle update, and of a full turn: clients that agree closely make nobody odd


def anomaly_scores(updates: Floats) -> Floats:
    """Score updates by distance and direction from the middle one, in units of the usual spread.

    The middle update is the median, weight by weight. Two figures of each client, how far it lies from the
    middle and how much it turns away from it, are compared with those of the other clients; the score is the
    larger excess over the middle client, in standard deviations as the median deviation gives them.

    Args:
        updates: ``(clients, size)``, at least three clients.

    Returns:
        ``(clients,)`` scores; 0 is usual, above 3 is rare among honest clients with rows of one distribution.

    Guarantees:
        - The order of the clients and a common factor do not matter.
        - Fewer than half of the clients cannot move the middle, nor the usual spread, at will.

    References:
        Iglewicz, Hoaglin: How to detect and handle outliers, 1993 (modified z-scores). Yin et al.:
        Byzantine-robust distributed learning, 2018 (the middle update).

    Example:
        >>> anomaly_scores(np.array([[1.0, 0.0], [1.1, 0.0], [0.9, 0.1], [-9.0, 2.0]])).argmax()
        np.int64(3)
    """
    values = np.asarray(updates, np.float64)
    middle = np.median(values, axis=0)
    lengths, reach = norms_of(values), float(norms_of(middle))
    turned = 1 - values @ middle / np.maximum(lengths * reach, np.finfo(np.float64).tiny)
    return np.maximum(_excess(norms_of(values - middle), FLOOR * reach), _excess(turned, FLOOR))


def _excess(figures: Floats, least: float) -> Floats:
    """Give how far figures lie above the middle one, in units of their spread or of ``least``."""
    middle = np.median(figures)
    spread = SPREAD * float(np.median(np.abs(figures - middle)))
    scale = max(spread, least)
    above = np.maximum(0.0, figures - middle)
    if scale < np.finfo(np.float64).tiny:  # all others agree to the last digit
        return np.where(above > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        return np.asarray(above / scale)


class AnomalyBound(Defence):
    """Refuses updates whose :func:`anomaly_scores` lies above ``most``."""

    def require(self, clients: int) -> None:
        """Ask for enough clients to say which is odd."""
        enough(clients, LEAST_COMPARED, "an anomaly score")

    def judge(self, judged: JudgedUpdates) -> None:
        """Score all updates against each other."""
        self.require(len(judged.updates))
        judged.figures["score"] = scores = anomaly_scores(judged.updates)
        judged.refuse_above(scores, self.most, f"anomaly score {{:.3g}} is above {self.most:g}")
