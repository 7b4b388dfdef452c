"""Membership in one client's rows, by whoever sees its updates: the server, or a listener."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem.attacks.on_models import (
    Examples,
    ModelFinding,
    Says,
    log_odds,
    membership_finding,
    refuse_mixed,
    true_chances,
)
from mahrem.errors import InvalidParameter
from mahrem.types import Floats


@dataclass(frozen=True, kw_only=True)
class UpdateMembership:
    """Rows a client trained on gain confidence between the model it was given and the model it sends.

    The gain is compared, not the confidence: easy rows are sure in both models. Over several rounds gains
    add up. The same attack works on the common model between two rounds, where every client is in the gain.

    Args:
        classes: The order of the models' columns; by default the ``classes_`` of each.

    Guarantees:
        - Others that were among the members are refused before a model is asked.
        - A client that sends back what it was given gives nothing away.

    References:
        Nasr, Shokri, Houmansadr: Comprehensive privacy analysis of deep learning, 2019 (passive attacker at
        the server); here by the gain of the loss alone, for any ``predict_proba``.

    Example:
        >>> class Sure:
        ...     def __init__(self, upto):
        ...         self.upto = upto
        ...     def predict_proba(self, X):
        ...         sure = np.where(X[:, 0] < self.upto, 0.9, 0.6)
        ...         return np.stack([1 - sure, sure], axis=1)
        >>> rows, ones = np.arange(60.0)[:, None], np.ones(30, dtype=int)
        >>> inside, outside = Examples(rows[:30], ones), Examples(rows[30:], ones)
        >>> UpdateMembership(classes=(0, 1))([Sure(0)], [Sure(30)], inside, outside).rate
        1.0
    """

    classes: Sequence[Any] | None = None

    def __call__(
        self, given: Sequence[Says], sent: Sequence[Says], members: Examples, others: Examples
    ) -> ModelFinding:
        """Attack a client.

        Args:
            given: The model it was given, round by round.
            sent: The model it sent back in each.
            members: Rows it trained on.
            others: Rows it never saw.
        """
        if not 0 < len(given) == len(sent):
            raise InvalidParameter(f"given={len(given)}, sent={len(sent)}: one of each is needed for a round")
        refuse_mixed(members, others)
        return membership_finding(
            "membership by updates",
            self._gain(given, sent, members),
            self._gain(given, sent, others),
            meaning=(
                "Somebody who sees what one client was given and what it sent back finds this share of its "
                "rows, at one false alarm in a hundred; the baseline guesses."
            ),
            rounds=len(given),
        )

    def _gain(self, given: Sequence[Says], sent: Sequence[Says], rows: Examples) -> Floats:
        before = [log_odds(true_chances(model, rows, self.classes)) for model in given]
        after = [log_odds(true_chances(model, rows, self.classes)) for model in sent]
        return np.asarray(np.sum(after, axis=0) - np.sum(before, axis=0))
