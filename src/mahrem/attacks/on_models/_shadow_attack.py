"""What attacks with shadow models have in common: train them, score every row against them, tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahrem import check
from mahrem.attacks.on_models._examples import Examples, Says, log_odds, refuse_mixed, true_chances
from mahrem.attacks.on_models._membership_finding import ModelFinding, membership_finding
from mahrem.attacks.on_models._shadow_models import Make, Shadows, train_shadows
from mahrem.attacks.on_models._target import ModelTarget
from mahrem.errors import InvalidParameter
from mahrem.types import Floats, Mask

MANY = 16  # shadows from which on each row speaks for itself


@dataclass(frozen=True, kw_only=True)
class ShadowAttack(ABC):
    """Membership by models of the same kind that were trained with and without each row.

    Args:
        shadows: How many shadow models.
        online: Whether shadows are trained on the attacked rows, each on a part. Else they are trained on
            ``reference`` rows, and only "as without it" is known.
        classes: The order of the model's columns; by default its ``classes_``.
        seed: Of the shadows.
    """

    shadows: int = 16
    online: bool = True
    classes: Sequence[Any] | None = None
    seed: int = 0
    name: ClassVar[str]
    suits: ClassVar[range]  # with how many shadows a red team tries it

    def __post_init__(self) -> None:
        check.at_least(2, shadows=check.whole(shadows=self.shadows))

    @abstractmethod
    def score(self, confidences: Floats, shadows: Shadows) -> Floats:
        """Say of each row how much likelier its confidence is with the row in the table than without."""

    @classmethod
    def against(cls, target: ModelTarget) -> Iterator[ModelFinding]:
        """Try it if so many shadows suit it."""
        if target.make is None or target.shadows not in cls.suits:
            return
        attack = cls(shadows=target.shadows, classes=target.classes, seed=target.seed)
        finding = attack(
            target.model,
            target.members,
            target.holdout,
            make=target.make,
            progress=lambda done, count: target.progress(f"shadow {done} of {count}"),
        )
        yield finding.beside_promise(target.cost)

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
        refuse_mixed(members, others)
        if self.online != (reference is None):
            raise InvalidParameter(
                f"online={self.online}: offline shadows need reference rows, online ones take none"
            )
        asked = members.joined(others)
        if reference is not None:
            refuse_mixed(asked, reference)
        trained = train_shadows(
            make,
            asked,
            share=len(members) / len(asked) if reference is None else 0.5,
            shadows=self.shadows,
            reference=reference,
            classes=self.classes,
            seed=self.seed,
            progress=progress,
        )
        scores = self.score(log_odds(true_chances(model, asked, self.classes)), trained)
        return membership_finding(
            self.name if self.online else f"{self.name}, offline",
            scores[: len(members)],
            scores[len(members) :],
            meaning=(
                f"Somebody who trains {self.shadows} models of the same kind finds this share of the "
                f"training rows, at one false alarm in a hundred; the baseline guesses."
            ),
            shadows=self.shadows,
        )


def moments(confidences: Floats, use: Mask) -> tuple[Floats, Floats, Floats]:
    """Give each row's mean over the shadows in use, how many they are (1 for none), and its sum of squares.

    Example:
        >>> use = np.array([[True], [True], [False]])
        >>> middle, count, squares = moments(np.array([[1.0], [3.0], [9.0]]), use)
        >>> middle.tolist(), count.tolist(), squares.tolist()
        ([2.0], [2.0], [2.0])
    """
    count = np.maximum(use.sum(axis=0), 1).astype(np.float64)
    middle = np.where(use, confidences, 0.0).sum(axis=0) / count
    squares = np.where(use, (confidences - middle) ** 2, 0.0).sum(axis=0)
    return middle, count, squares
