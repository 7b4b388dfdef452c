"""A one-run audit as a finding: what was claimed, and what canaries show of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mahrem.attacks._finding import Finding
from mahrem.attacks._interval import clopper_pearson
from mahrem.attacks.on_models._audited_bound import AuditedBound


@dataclass(frozen=True, kw_only=True)
class AuditFinding(Finding):
    """What an audit found: ``rate`` is the share of guesses about canaries that were right.

    ``baseline`` is the largest share a claim allows on average, e^epsilon / (1 + e^epsilon) (its delta
    aside), or that of a coin where nothing is claimed.
    """

    bound: AuditedBound
    claimed: float | None

    @property
    def alarming(self) -> bool:
        """True when the audit rules the claim out, or shows anything where nothing is claimed."""
        return self.bound.epsilon > (self.claimed or 0.0)


def audit_finding(bound: AuditedBound, claimed: float | None = None) -> AuditFinding:
    """Put a bound beside the claim.

    Args:
        bound: What :class:`OneRunAudit` gave.
        claimed: The epsilon that is claimed; None for a model without a promise.

    Example:
        >>> import numpy as np
        >>> from mahrem.attacks.on_models import OneRunAudit
        >>> coins = np.arange(200) % 2 == 0
        >>> told = OneRunAudit()(coins.astype(float), coins)
        >>> audit_finding(told, claimed=1.0).alarming, audit_finding(told, claimed=9.0).alarming
        (True, False)
    """
    return AuditFinding(
        attack="one-run audit",
        rate=bound.right / bound.guesses,
        baseline=1 / (1 + math.exp(-(claimed or 0.0))),
        interval=clopper_pearson(bound.right, bound.guesses),
        successes=bound.right,
        trials=bound.guesses,
        meaning=(
            "Of the canaries that were guessed to be in the training or not, this share was guessed rightly; "
            "the baseline is what the claim allows, or a coin."
        ),
        bound=bound,
        claimed=claimed,
    )
