"""Poisoning: how often does a model say what somebody wanted it to say?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem.attacks._finding import Finding, counted_finding
from mahrem.attacks.on_models import Examples, Says
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.types import Mask


@dataclass(frozen=True, kw_only=True)
class Misled:
    """Counts rows of which a model says what a poisoner wants, beside a model learnt without the poisoner.

    With a back-door the rows carry its trigger; with flipped labels they are rows of the class that was
    renamed; without a wanted class every wrong answer counts. Rows that have the wanted class anyway prove
    nothing and are left out.

    Args:
        into: The class the poisoner wants; None counts every wrong answer.
        classes: The order of the models' columns.
        name: Of the finding.

    Guarantees:
        - The rate of the honest model itself is the baseline, so that it never alarms against itself.

    References:
        Bagdasaryan et al.: How to backdoor federated learning, 2020; Tolpegin et al.: Data poisoning attacks
        against federated learning systems, 2020.

    Example:
        >>> class Says:
        ...     def __init__(self, share):
        ...         self.share = share
        ...     def predict_proba(self, X):
        ...         return np.tile([1 - self.share, self.share], (len(X), 1))
        >>> rows = Examples(np.zeros((50, 1)), np.zeros(50, dtype=int))
        >>> found = Misled(into=1, classes=(0, 1))(Says(0.9), rows, Says(0.1))
        >>> found.rate, found.baseline, found.alarming
        (1.0, 0.0, True)
    """

    into: Any = None
    classes: Sequence[Any]
    name: str = "poisoning"

    def __post_init__(self) -> None:
        if self.into is not None and self.into not in self.classes:
            raise InvalidParameter("into: the wanted class is none of the model's classes")

    def __call__(self, model: Says, rows: Examples, honest: Says) -> Finding:
        """Ask the poisoned and the honest model about the same rows, which neither was trained on."""
        if self.into is not None:
            rows = rows.take(np.asarray(rows.labels) != self.into)
        if len(rows) == 0:
            raise InvalidInput("rows=0: no row is left of which something else could be said")
        obeyed = self._obeyed(model, rows)
        return counted_finding(
            self.name,
            int(obeyed.sum()),
            len(rows),
            baseline=float(self._obeyed(honest, rows).mean()),
            meaning=(
                "Of this share of the rows the model says what the poisoner wants; the baseline is a model "
                "that was learnt without the poisoner."
            ),
        )

    def _obeyed(self, model: Says, rows: Examples) -> Mask:
        places = np.asarray(model.predict_proba(rows.inputs)).argmax(axis=1)
        answers = np.asarray(list(self.classes))[places]
        wanted = answers != np.asarray(rows.labels) if self.into is None else answers == self.into
        return np.asarray(wanted)
