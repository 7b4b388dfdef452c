"""The simplest attack on a model: rows it was trained on have a smaller loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mahrem.attacks.on_models._examples import Examples, Says, log_odds, refuse_mixed, true_chances
from mahrem.attacks.on_models._membership_finding import ModelFinding, membership_finding
from mahrem.attacks.on_models._target import ModelTarget


@dataclass(frozen=True, kw_only=True)
class LossThreshold:
    """Whoever the model is sure about was in its training table.

    Args:
        classes: The order of the model's columns; by default its ``classes_``.

    Guarantees:
        - Others that were among the members are refused before the model is asked.

    References:
        Yeom, Giacomelli, Fredrikson, Jha: Privacy risk in machine learning: analyzing the connection to
        overfitting, 2018.

    Example:
        >>> import numpy as np
        >>> class Knows:
        ...     classes_ = (0, 1)
        ...     def predict_proba(self, X):
        ...         sure = np.where(X[:, 0] < 30, 0.99, 0.6)
        ...         return np.stack([1 - sure, sure], axis=1)
        >>> rows = np.arange(60.0)[:, None]
        >>> ones = np.ones(30)
        >>> LossThreshold()(Knows(), Examples(rows[:30], ones), Examples(rows[30:], ones)).rate
        1.0
    """

    classes: Sequence[Any] | None = None

    @classmethod
    def against(cls, target: ModelTarget) -> Iterator[ModelFinding]:
        """Try it once."""
        finding = cls(classes=target.classes)(target.model, target.members, target.holdout)
        yield finding.beside_promise(target.cost)

    def __call__(self, model: Says, members: Examples, others: Examples) -> ModelFinding:
        """Attack a model with rows it was trained on and rows it never saw."""
        refuse_mixed(members, others)
        return membership_finding(
            "membership by loss",
            log_odds(true_chances(model, members, self.classes)),
            log_odds(true_chances(model, others, self.classes)),
            meaning=(
                "Somebody who asks the model about a row and its label finds this share of the training "
                "rows, at one false alarm in a hundred; the baseline guesses."
            ),
        )
