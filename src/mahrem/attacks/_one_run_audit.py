"""Auditing a private training in one run: canaries, guesses, and a lower bound on epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.attacks._examples import Examples, Says, log_odds, true_chances
from mahrem.attacks._interval import binomial_tail
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.types import Floats, Mask

__all__ = ["AuditedBound", "OneRunAudit", "audited_epsilon", "guess_chance"]

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


@dataclass(frozen=True, kw_only=True)
class OneRunAudit:
    """Guesses from scores which canaries were in, and says what epsilon is at least.

    The highest scores are guessed to be in, as many of the lowest to be out, the rest are passed over. How
    many are guessed is fixed beforehand: each share is tried, and the confidence divided among them.

    Args:
        shares: Shares of the canaries that are guessed.
        confidence: Of the bound, over all shares together.

    Guarantees:
        - As :func:`audited_epsilon`, however many shares there are.

    References:
        Steinke, Nasr, Jagielski: Privacy auditing with one (1) training run, 2023.

    Example:
        >>> coins = np.arange(1000) % 2 == 0
        >>> found = OneRunAudit()(coins.astype(float), coins)
        >>> found.right, found.guesses, round(found.epsilon, 2) == round(found.ceiling, 2)
        (1000, 1000, True)
    """

    shares: Sequence[float] = (0.05, 0.2, 0.5, 1.0)
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not self.shares or not all(0 < share <= 1 for share in self.shares):
            raise InvalidParameter(f"shares={tuple(self.shares)} must lie above 0 and not above 1")
        if not 0 < check.finite(confidence=self.confidence) < 1:
            raise InvalidParameter(f"confidence={self.confidence!r} must lie between 0 and 1, both outside")

    def ceiling(self, canaries: int, delta: float = 0.0) -> float:
        """Give the largest bound that so many canaries can lead to."""
        return max(self._bound(canaries, guesses, guesses, delta) for guesses in self._guesses(canaries))

    def __call__(self, scores: Floats, inside: Mask, *, delta: float = 0.0) -> AuditedBound:
        """Audit.

        Args:
            scores: ``(m,)`` the higher, the rather in.
            inside: ``(m,)`` the coins: which canaries were in.
            delta: The delta of the claim.
        """
        if len(scores) != len(inside) or len(scores) < 2:
            raise InvalidInput(f"scores={len(scores)}, inside={len(inside)}: one of each for every canary")
        coins = np.asarray(inside, dtype=np.bool_)
        # Equal scores must not be told apart by where a canary stands: a list may give the coins away.
        mixed = np.random.default_rng(0).permutation(len(coins))
        order = mixed[np.argsort(np.nan_to_num(np.asarray(scores, dtype=np.float64))[mixed], kind="stable")]
        tried = []
        for guesses in self._guesses(len(coins)):
            half = guesses // 2
            right = int(np.count_nonzero(~coins[order[:half]]) + np.count_nonzero(coins[order[-half:]]))
            tried.append(
                (self._bound(len(coins), 2 * half, right, delta), right / (2 * half), 2 * half, right)
            )
        epsilon, _, guesses, right = max(tried)
        return AuditedBound(
            epsilon=epsilon,
            ceiling=self.ceiling(len(coins), delta),
            canaries=len(coins),
            guesses=guesses,
            right=right,
            delta=delta,
            confidence=self.confidence,
        )

    def of_model(
        self,
        model: Says,
        canaries: Examples,
        inside: Mask,
        *,
        delta: float = 0.0,
        classes: Sequence[Any] | None = None,
    ) -> AuditedBound:
        """Audit any classifier by how sure it is of each canary's own label.

        Args:
            model: Anything with ``predict_proba``.
            canaries: Records, each put into the training by a fair coin of its own.
            inside: The coins.
            delta: The delta of the claim.
            classes: The order of the model's columns; by default its ``classes_``.
        """
        return self(log_odds(true_chances(model, canaries, classes)), inside, delta=delta)

    def _guesses(self, canaries: int) -> list[int]:
        return [2 * max(1, int(share * canaries) // 2) for share in self.shares]

    def _bound(self, canaries: int, guesses: int, right: int, delta: float) -> float:
        each = 1 - (1 - self.confidence) / len(self.shares)
        return audited_epsilon(canaries, guesses, right, delta=delta, confidence=each)
