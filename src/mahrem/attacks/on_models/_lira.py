"""LiRA: is this confidence likelier with the row in the training table, or without it?"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mahrem.attacks.on_models._shadow_attack import MANY, ShadowAttack, moments
from mahrem.attacks.on_models._shadow_models import Shadows
from mahrem.types import Floats, Mask

ENOUGH = 32  # fewer shadows share one variance over all rows, as the authors advise
LEAST_SPREAD = 1e-3


@dataclass(frozen=True, kw_only=True)
class Lira(ShadowAttack):
    """The likelihood-ratio attack; its settings are those of :class:`ShadowAttack`.

    References:
        Carlini, Chien, Nasr, Song, Terzis, Tramer: Membership inference attacks from first principles, 2022.
    """

    name: ClassVar[str] = "lira"
    suits: ClassVar[range] = range(MANY, sys.maxsize)

    def score(self, confidences: Floats, shadows: Shadows) -> Floats:
        """See :func:`likelihood_ratios`."""
        return likelihood_ratios(confidences, shadows)


def likelihood_ratios(confidences: Floats, shadows: Shadows) -> Floats:
    """Give each row's log likelihood ratio of normal distributions fitted to the shadows.

    With fewer than 32 shadows on a side the variance is one over all rows. Without shadows inside, the score
    is how unusually high the confidence is for a row that was not in the table.

    Example:
        >>> half = np.array([[True], [True], [False], [False]])
        >>> shadows = Shadows(confidences=np.array([[4.0], [6.0], [0.0], [2.0]]), inside=half)
        >>> round(float(likelihood_ratios(np.array([5.0]), shadows)[0]), 6)
        4.0
    """
    out, width = _fitted(shadows.confidences, ~shadows.inside)
    if not shadows.inside.any():
        return (confidences - out) / width
    middle, spread = _fitted(shadows.confidences, shadows.inside)
    return np.asarray(_log_normal(confidences, middle, spread) - _log_normal(confidences, out, width))


def _fitted(confidences: Floats, use: Mask) -> tuple[Floats, Floats]:
    middle, count, squares = moments(confidences, use)
    if count.min() < ENOUGH:
        free = np.maximum(count - 1, 0).sum()
        pooled = math.sqrt(squares.sum() / free) if free else 1.0
        return middle, np.full(len(middle), max(pooled, LEAST_SPREAD))
    return middle, np.maximum(np.sqrt(squares / count), LEAST_SPREAD)


def _log_normal(value: Floats, middle: Floats, spread: Floats) -> Floats:
    return np.asarray(-np.log(spread) - ((value - middle) / spread) ** 2 / 2)
