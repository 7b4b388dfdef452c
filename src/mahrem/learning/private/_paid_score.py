"""How good a private model is: a number about rows, so a ledger pays for it, or they are nobody's secret."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.dp.accounting import Event, Repeated
from mahrem.dp.noise import IntegerNoise, global_sensitivity, laplace_integers
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning.private.inputs import label_codes, length_of
from mahrem.types import Floats

FINE = 1000  # steps of an error, from none to the whole range


class PaidScore(ABC):
    """A model whose score is paid from a ledger."""

    ledger: Ledger | str | Path | None

    def score(
        self,
        X: object,
        y: object = None,
        *,
        ledger: Ledger | str | Path | None = None,
        epsilon: float | None = None,
        openly: bool = False,
    ) -> float:
        """Say how good the model is on these rows: the share of right answers, or what fits the model.

        Args:
            X: Rows, as for ``predict``.
            y: Their labels, or numbers.
            ledger: Pays; by default the one that the model was made with.
            epsilon: What the figure may cost; it then carries noise.
            openly: The rows are nobody's secret: the figure has no noise, and nobody pays.

        Guarantees:
            - A figure about rows of a ledger is ``epsilon``-DP and paid for, or it is not given.

        Raises:
            InvalidParameter: If neither ``epsilon`` nor ``openly`` is said, or both.
            BudgetExceeded: If it does not fit.
        """
        if openly == (epsilon is not None):
            raise InvalidParameter(
                "score: it is a number about these rows; either a ledger pays for it (epsilon=…, ledger=…), "
                "or openly=True says that they are nobody's secret"
            )
        if epsilon is None:
            return self._open_score(X, y)
        return noisy_score(self, X, y, Ledger.paying(self.ledger, ledger), check.promised(epsilon=epsilon))

    @abstractmethod
    def _open_score(self, X: Any, y: Any) -> float:
        """Give the figure itself."""


def noisy_score(model: Any, X: object, y: object, book: Ledger, epsilon: float) -> float:
    """Pay for the share of right answers, and give it with noise."""
    if getattr(model, "classes_", None) is None or not hasattr(model, "predict"):
        raise InvalidParameter(
            f"epsilon={epsilon:g}: the score of a {type(model).__name__} is no count of right answers, and "
            f"no noise is known for it; train measures with evaluate_epsilon"
        )
    if book.unit.subject is not None:
        raise InvalidParameter(
            f"ledger: its unit is a person (subject={book.unit.subject!r}), and a score counts single rows"
        )
    predictions = label_codes(np.asarray(model.predict(X)).tolist(), model.classes_)
    if length_of(y) != predictions.shape:
        raise InvalidInput(f"X={len(predictions)} rows, y of shape {length_of(y)}: every row needs one label")
    wrong = (predictions != label_codes(y, model.classes_)).astype(np.float64)
    noise = error_noise(book, epsilon)
    book.spend(paid_event(noise), what="score: share of right answers", epsilon=epsilon)
    return 1 - noisy_share(wrong, noise)[0]


def error_noise(book: Ledger, epsilon: float) -> IntegerNoise:
    """Give the noise of a sum of errors, each between 0 and FINE; a share takes two such sums."""
    reach = global_sensitivity(0, FINE, book.relation, book.unit, grouped=False, optional=True)
    return laplace_integers(reach, epsilon=epsilon / 2)


def paid_event(noise: IntegerNoise) -> Event:
    """Say what a share of errors reveals: their sum, and their number."""
    return Repeated(noise.event, 2)


def noisy_share(errors: Floats, noise: IntegerNoise) -> tuple[float, float]:
    """Give the mean of errors between 0 and 1 with noise, and how far noise may have moved it (95 %).

    Row by row, so that a row moves the sum by FINE at most; what is no number is all wrong.
    """
    whole = np.rint(FINE * np.nan_to_num(errors, nan=1.0).clip(0, 1)).astype(np.int64)
    wrong = noise([int(whole.sum())])[0] / FINE
    count = noise([FINE * len(errors)])[0] / FINE
    return min(1.0, max(0.0, wrong / max(count, 1.0))), score_error(noise, count)


def score_error(noise: IntegerNoise, count: float) -> float:
    """Say how far noise may move a share of so many rows (95 %)."""
    return 2 * noise.half_width(0.05) / FINE / max(count, 1.0)
