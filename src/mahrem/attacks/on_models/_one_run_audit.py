"""Auditing a private training in one run: canaries, guesses, and a lower bound on epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.attacks._finding import Finding
from mahrem.attacks.on_models._audit_finding import audit_finding
from mahrem.attacks.on_models._audited_bound import AuditedBound, audited_epsilon
from mahrem.attacks.on_models._examples import Examples, Says, log_odds, true_chances
from mahrem.attacks.on_models._target import ModelTarget
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.types import Floats, Mask


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
        >>> bound = OneRunAudit()(coins.astype(float), coins)
        >>> bound.right, bound.guesses, round(bound.epsilon, 2) == round(bound.ceiling, 2)
        (1000, 1000, True)
    """

    shares: Sequence[float] = (0.05, 0.2, 0.5, 1.0)
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not self.shares or not all(0 < share <= 1 for share in self.shares):
            raise InvalidParameter(f"shares={tuple(self.shares)} must lie above 0 and not above 1")
        if not 0 < check.finite(confidence=self.confidence) < 1:
            raise InvalidParameter(f"confidence={self.confidence!r} must lie between 0 and 1, both outside")

    @classmethod
    def against(cls, target: ModelTarget) -> Iterator[Finding]:
        """Put what canaries show, now or in its training, beside the claim."""
        claimed, delta = target.cost or (None, 0.0)
        bound = target.audit
        if target.canaries is not None:
            examples, inside = target.canaries.examples, target.canaries.inside
            bound = cls().of_model(target.model, examples, inside, delta=delta, classes=target.classes)
        if bound is not None:
            yield audit_finding(bound, claimed)

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
