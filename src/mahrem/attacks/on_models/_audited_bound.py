"""What right guesses about canaries show: a lower bound on epsilon."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.attacks._interval import binomial_tail
from mahrem.errors import InvalidParameter

LARGEST_EPSILON = 50.0
HALVINGS = 60


@dataclass(frozen=True, kw_only=True)
class AuditedBound:
    """What an audit can show: epsilon is at least this, at this confidence.

    Attributes:
        epsilon: The lower bound; 0 shows nothing.
        ceiling: What so many canaries could show at most, had every guess been right. A bound far below the
            claim says little where the ceiling is as low.
        canaries: How many coins were flipped.
        guesses: How many of them were guessed.
        right: How many guesses were right.
        delta: The delta of the claim.
        confidence: How often such a bound lies below the truth, at least.
    """

    epsilon: float
    ceiling: float
    canaries: int
    guesses: int
    right: int
    delta: float
    confidence: float

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        return asdict(self)


def guess_chance(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """Bound how likely so many right guesses are if the training is ``(epsilon, delta)``-DP.

    Args:
        canaries: How many records were put in by a coin each.
        guesses: How many coins were guessed; who is passed over may depend on the model.
        right: How many of the guesses were right.
        epsilon: The epsilon under test.
        delta: Its delta.

    References:
        Steinke, Nasr, Jagielski: Privacy auditing with one (1) training run, 2023, theorem 5.2.

    Example:
        >>> round(guess_chance(100, 100, 50, 0.0, 0.0), 4)
        0.5398
    """
    if not 0 <= right <= guesses <= canaries:
        raise InvalidParameter(
            f"right={right}, guesses={guesses}, canaries={canaries} must not rise backwards"
        )
    if right == 0:
        return 1.0
    chance = 1 / (1 + math.exp(-epsilon))
    beta = binomial_tail(right, guesses, chance)
    if delta == 0 or chance == 1.0:
        return beta
    counts = np.arange(right - 1, -1, -1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, guesses + 1)))])
    mass = logs[guesses] - logs[counts] - logs[guesses - counts]
    mass = mass + counts * math.log(chance) + (guesses - counts) * math.log1p(-chance)
    alpha = float(np.max(np.cumsum(np.exp(mass)) / np.arange(1, right + 1)))
    return min(1.0, beta + 2 * canaries * delta * alpha)


def audited_epsilon(
    canaries: int, guesses: int, right: int, *, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """Give the largest epsilon that so many right guesses rule out.

    Args:
        canaries: How many records were put in by a coin each.
        guesses: How many were guessed.
        right: How many rightly.
        delta: The delta of the claim.
        confidence: How often the bound must lie below the truth, at least.

    Guarantees:
        - For a training that is ``(epsilon, delta)``-DP under adding or removing a record, the bound lies
          above ``epsilon`` in at most ``1 - confidence`` of runs.
        - More right guesses never give less; 0 where nothing is ruled out.

    Example:
        >>> round(audited_epsilon(1000, 100, 100), 3)
        3.493
    """
    if not 0 < check.finite(confidence=confidence) < 1:
        raise InvalidParameter(f"confidence={confidence!r} must lie between 0 and 1, both outside")
    if not 0 <= check.finite(delta=delta) < 1:
        raise InvalidParameter(f"delta={delta!r} must be at least 0 and below 1")
    miss = 1 - confidence
    if guess_chance(canaries, guesses, right, 0.0, delta) > miss:
        return 0.0
    low, high = 0.0, LARGEST_EPSILON
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if guess_chance(canaries, guesses, right, middle, delta) <= miss:
            low = middle
        else:
            high = middle
    return low
