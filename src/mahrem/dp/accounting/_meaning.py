"""What a budget means: how much better somebody who attacks does with the answers than without them.

Whoever must decide whether one person is in the table tests two hypotheses. Differential privacy bounds every
such test: how many members it finds at a given share of false alarms, and how far it lies above guessing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp._relation import Relation
from mahrem.dp.accounting._accounting import LOOSE, Spend, composed_profile
from mahrem.errors import InvalidParameter
from mahrem.types import Floats

PRIORS = (0.01, 0.1, 0.5)
ALARMS = (0.001, 0.01, 0.1)
_GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 81)])  # shares of false alarms of the curve


@dataclass(frozen=True, kw_only=True)
class AttackerGain:
    """What the best attack on one person gains; every figure is an upper bound.

    Attributes:
        epsilon: Of the promise that posteriors are taken from.
        delta: The same: with this chance, nothing is promised.
        advantage: The share of members found less the share of false alarms, at most; 0 is guessing.
        posteriors: By the chance somebody gave beforehand that the person is in, the chance afterwards.
        detections: By the share of false alarms, the share of members found.
        curve: ``(false alarms, found)``, for a picture.
    """

    epsilon: float
    delta: float
    advantage: float
    posteriors: dict[float, float]
    detections: dict[float, float]
    curve: tuple[tuple[float, float], ...]

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "advantage": self.advantage,
            "posterior": {f"{prior:g}": after for prior, after in self.posteriors.items()},
            "found": {f"{alarms:g}": share for alarms, share in self.detections.items()},
            "curve": [list(point) for point in self.curve],
        }


def promised_gain(epsilon: float, delta: float = 0.0) -> AttackerGain:
    """Say what a promise lets the best attack gain, whatever kept it.

    Example:
        >>> gain = promised_gain(1.0)
        >>> round(gain.advantage, 3), round(gain.posteriors[0.5], 3), round(gain.detections[0.01], 4)
        (0.462, 0.731, 0.0272)
    """
    grid = np.array([0.0, epsilon])
    total = min(1.0, (math.expm1(min(epsilon, 700)) + 2 * delta) / (math.exp(min(epsilon, 700)) + 1))
    return _gain(epsilon, delta, grid, np.array([total, delta]))


def composed_gain(spends: Sequence[Spend], epsilon: float, delta: float, relation: Relation) -> AttackerGain:
    """Say what mechanisms let the best attack gain together: the trade-off of the whole composition.

    Args:
        spends: What happened.
        epsilon: What it all costs at ``delta``, by the ledger's rule.
        delta: The ledger's delta.
        relation: Which tables are neighbours.

    Guarantees:
        - Never above what the promise ``(epsilon, delta)`` lets anybody gain.
        - Exact for costs that were fixed beforehand, up to the discretisation of distributions.
    """
    promised = promised_gain(epsilon, delta)
    if not spends or epsilon > LOOSE:
        return promised
    grid = np.concatenate([[0.0], np.geomspace(1e-3, max(2 * epsilon, 1.0), 200)])
    exact = _gain(epsilon, delta, grid, composed_profile(spends, grid, relation))
    return AttackerGain(
        epsilon=epsilon,
        delta=delta,
        advantage=min(promised.advantage, exact.advantage),
        posteriors=promised.posteriors,
        detections={
            alarms: min(share, exact.detections[alarms]) for alarms, share in promised.detections.items()
        },
        curve=tuple(
            (alarms, min(mine, other[1]))
            for (alarms, mine), other in zip(promised.curve, exact.curve, strict=True)
        ),
    )


def epsilon_for_advantage(advantage: float, delta: float = 0.0) -> float:
    """Give the epsilon at which no attack on one person lies more than this above guessing.

    Example:
        >>> round(epsilon_for_advantage(0.1), 4)
        0.2007
    """
    wanted = check.between(0, 1, advantage=check.above_zero(advantage=advantage))
    if not 2 * delta < wanted < 1:
        raise InvalidParameter(f"advantage={advantage!r} must lie above twice delta={delta:g} and below 1")
    return math.log((1 + wanted - 2 * delta) / (1 - wanted))


def _gain(epsilon: float, delta: float, grid: Floats, profile: Floats) -> AttackerGain:
    """Read figures off a privacy profile: the delta at each epsilon of a grid, both ways round."""

    def detection(alarms: float) -> float:
        factor = np.exp(np.minimum(grid, 700))
        above = profile + factor * alarms
        below = 1 - (1 - profile - alarms) / factor
        return float(min(1.0, above.min(), np.where(below >= alarms, below, 1.0).min()))

    odds = math.exp(min(epsilon, 700))
    posteriors = {prior: prior * odds / (1 - prior + prior * odds) for prior in PRIORS}
    return AttackerGain(
        epsilon=epsilon,
        delta=delta,
        advantage=float(min(1.0, max(0.0, profile[0]))),
        posteriors=posteriors,
        detections={alarms: detection(alarms) for alarms in ALARMS},
        curve=tuple((float(alarms), detection(float(alarms))) for alarms in _GRID),
    )
