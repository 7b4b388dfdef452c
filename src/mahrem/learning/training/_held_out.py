"""How good a private model is, measured on rows it has not seen: with budget, or openly and marked so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.dp.accounting import Composed, Event
from mahrem.errors import InvalidParameter
from mahrem.learning.private import SecretStream, error_noise, noisy_share, paid_event, score_error
from mahrem.learning.private.steps import limited_units
from mahrem.types import Floats, Integers, Mask


@dataclass(frozen=True, kw_only=True)
class HeldOutMeasure:
    """Which share of the people is kept away from training, and how what is measured on them goes out.

    Args:
        share: The share; 0 measures nothing.
        epsilon: What a private figure may cost.
        openly: Give figures without noise; they are not private.
    """

    share: float = 0.0
    epsilon: float | None = None
    openly: bool = False

    def __post_init__(self) -> None:
        if not 0 <= check.finite(holdout=self.share) < 1:
            raise InvalidParameter(f"holdout={self.share!r} must be at least 0 and below 1")
        if self.epsilon is not None:
            check.promised(evaluate_epsilon=self.epsilon)
        if (self.share > 0) != ((self.epsilon is not None) or self.openly):
            raise InvalidParameter(
                f"holdout={self.share:g} goes with evaluate_epsilon (a private figure) or evaluate_openly "
                f"(not private), and they with it"
            )
        if self.epsilon is not None and self.openly:
            raise InvalidParameter("evaluate_epsilon and evaluate_openly exclude each other")

    def fits(self, ledger: Ledger, training: Event | None, epsilon: float, delta: float) -> bool:
        """Say whether training (None: it is paid for) and measuring can be paid for together."""
        noise = () if self.epsilon is None else (paid_event(error_noise(ledger, self.epsilon)),)
        events = noise if training is None else (training, *noise)
        if not events:
            return True
        cost = (0.0 if training is None else epsilon) + (self.epsilon or 0.0)
        return ledger.fits(Composed(events), epsilon=cost, delta=0.0 if training is None else delta)

    def foreseen_error(self, ledger: Ledger) -> float | None:
        """Say how far noise may move a private figure (95 %), by how many rows are public."""
        if self.epsilon is None or ledger.facts.rows is None:
            return None
        return min(1.0, score_error(error_noise(ledger, self.epsilon), self.share * ledger.facts.rows))

    def held_out(self, stream: SecretStream, rows: int, units: Integers | None) -> Mask:
        """Choose the rows to measure on, by people where people are protected."""
        if not self.share:
            return np.zeros(rows, dtype=bool)
        count = rows if units is None else int(units.max(initial=0)) + 1
        chosen = np.zeros(count, dtype=bool)
        chosen[stream.chosen(HOLDOUT_STEP, count, self.share)] = True
        return chosen if units is None else chosen[units]

    def __call__(
        self,
        model: Any,
        rows: Floats,
        truth: Any,
        units: Integers | None,
        ledger: Ledger,
        bounds: tuple[float, float] | None,
    ) -> dict[str, Any]:
        """Measure: accuracy of classes, mean absolute error of numbers and of rows written out again."""
        numbered, last = limited_units(units, len(rows), ledger.unit.rows)
        use = np.ones(len(rows), dtype=bool) if numbered is None else numbered < last
        name, errors = _errors(model, rows[use], None if truth is None else truth[use], bounds)
        if self.epsilon is None:
            value = float(errors.mean()) if len(errors) else None
            shown = value if value is None or name != "accuracy" else 1 - value
            return {"metric": name, "value": shown, "rows": len(errors), "private": False, "note": OPEN}
        noise = error_noise(ledger, self.epsilon)
        what = f"measure: {name} on {self.share:g} held out"
        ledger.spend(paid_event(noise), what=what, epsilon=self.epsilon)
        share, off = noisy_share(errors, noise)
        value = 1 - share if name == "accuracy" else share
        return {
            "metric": name,
            "value": value,
            "error": off,
            "private": True,
            "epsilon": self.epsilon,
            "note": "noise costs about this error; rows by chance add to it",
        }


OPEN = "NOT private: computed from real rows without noise; do not publish it as part of the promise"
HOLDOUT_STEP = (1 << 63) - 1  # far from the steps of any training


def _errors(model: Any, rows: Floats, truth: Any, bounds: tuple[float, float] | None) -> tuple[str, Floats]:
    """Give the error of every row between 0 and 1; rows without a declared target are left out.

    There may be none, by chance or for want of targets: models are then not asked, for many refuse that.
    """
    known = np.ones(len(rows), bool) if truth is None else truth != None  # noqa: E711 - elementwise
    if truth is not None and bounds is not None:
        known = np.isfinite(truth)
    name = "accuracy" if truth is not None and bounds is None else "mean_absolute_error"
    if not known.any():
        return name, np.zeros(0)
    if truth is None:
        flat = rows.reshape(len(rows), -1)
        return name, np.clip(np.abs(model.predict(rows) - flat).mean(axis=1) / 2, 0, 1)
    if bounds is None:
        return name, (model.predict(rows[known]) != truth[known]).astype(np.float64)
    low, high = bounds
    return name, np.abs(model.predict(rows[known]) - truth[known]) / (high - low)
