"""LiRA: is this confidence likelier with the row in the training table, or without it?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.attacks._examples import Examples, Says, log_odds, refuse_mixed, true_chances
from mahrem.attacks._membership_finding import ModelFinding, membership_finding
from mahrem.attacks._shadow_models import Make, Shadows, train_shadows
from mahrem.errors import InvalidParameter
from mahrem.types import Floats, Mask

__all__ = ["Lira", "likelihood_ratios", "shadow_attack"]

ENOUGH = 32  # fewer shadows share one variance over all rows, as the authors advise
LEAST_SPREAD = 1e-3

Score = Callable[[Floats, Shadows], Floats]


@dataclass(frozen=True, kw_only=True)
class Lira:
    """The likelihood-ratio attack.

    Args:
        shadows: How many shadow models.
        online: Whether shadows are trained on the attacked rows, each on a part. Else they are trained on
            ``reference`` rows, and only "as without it" is known.
        classes: The order of the model's columns; by default its ``classes_``.
        seed: Of the shadows.

    References:
        Carlini, Chien, Nasr, Song, Terzis, Tramer: Membership inference attacks from first principles, 2022.
    """

    shadows: int = 16
    online: bool = True
    classes: Sequence[Any] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(2, shadows=check.whole(shadows=self.shadows))

    def __call__(
        self,
        model: Says,
        members: Examples,
        others: Examples,
        *,
        make: Make,
        reference: Examples | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ModelFinding:
        """Attack a model.

        Args:
            model: Any classifier with ``predict_proba``.
            members: Rows it was trained on.
            others: Rows it never saw.
            make: Takes a seed and gives an untrained classifier of the same kind.
            reference: Rows for offline shadows: neither members nor others.
            progress: Called with how many shadows are done.
        """
        return shadow_attack(
            "lira" if self.online else "lira, offline",
            likelihood_ratios,
            model,
            (members, others),
            settings=(self.shadows, self.online, self.classes, self.seed),
            make=make,
            reference=reference,
            progress=progress,
        )


def shadow_attack(
    name: str,
    score: Score,
    model: Says,
    rows: tuple[Examples, Examples],
    *,
    settings: tuple[int, bool, Sequence[Any] | None, int],
    make: Make,
    reference: Examples | None,
    progress: Callable[[int, int], None] | None,
) -> ModelFinding:
    """Train shadows, score every row against them, and tell how well the scores part members from others."""
    members, others = rows
    shadows, online, classes, seed = settings
    refuse_mixed(members, others)
    if online != (reference is None):
        raise InvalidParameter(f"online={online}: offline shadows need reference rows, online ones take none")
    if reference is not None:
        refuse_mixed(members.joined(others), reference)
    asked = members.joined(others)
    trained = train_shadows(
        make,
        asked,
        share=len(members) / len(asked) if reference is None else 0.5,
        shadows=shadows,
        reference=reference,
        classes=classes,
        seed=seed,
        progress=progress,
    )
    scores = score(log_odds(true_chances(model, asked, classes)), trained)
    return membership_finding(
        name,
        scores[: len(members)],
        scores[len(members) :],
        meaning=(
            f"Somebody who trains {shadows} models of the same kind finds this share of the training rows, "
            f"at one false alarm in a hundred; the baseline guesses."
        ),
        shadows=shadows,
    )


def likelihood_ratios(said: Floats, shadows: Shadows) -> Floats:
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
        return (said - out) / width
    middle, spread = _fitted(shadows.confidences, shadows.inside)
    return np.asarray(_log_normal(said, middle, spread) - _log_normal(said, out, width))


def _fitted(confidences: Floats, use: Mask) -> tuple[Floats, Floats]:
    count = np.maximum(use.sum(axis=0), 1)
    middle = np.where(use, confidences, 0.0).sum(axis=0) / count
    squares = np.where(use, (confidences - middle) ** 2, 0.0).sum(axis=0)
    if count.min() < ENOUGH:
        free = np.maximum(count - 1, 0).sum()
        pooled = math.sqrt(squares.sum() / free) if free else 1.0
        return middle, np.full(len(middle), max(pooled, LEAST_SPREAD))
    return middle, np.maximum(np.sqrt(squares / count), LEAST_SPREAD)


def _log_normal(value: Floats, middle: Floats, spread: Floats) -> Floats:
    return np.asarray(-np.log(spread) - ((value - middle) / spread) ** 2 / 2)
