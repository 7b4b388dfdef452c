"""Whole numbers of noise with a privacy promise, from the system's generator and exact arithmetic."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from mahrem.errors import InvalidParameter
from mahrem.learning.rules import Rule, RuleList

if TYPE_CHECKING:
    from mahrem.dp import Ledger

FINE = 1 << 20  # epsilon is read as a fraction of this


def _coin(chance: Fraction) -> bool:
    return secrets.randbelow(chance.denominator) < chance.numerator


def _exponential_coin(rate: Fraction) -> bool:
    """Be true with probability exp(-rate), exactly."""
    while rate > 1:
        if not _exponential_coin(Fraction(1)):
            return False
        rate -= 1
    turns = 1
    while _coin(rate / turns):
        turns += 1
    return turns % 2 == 1


def discrete_laplace(scale: Fraction) -> int:
    """Draw a whole number with probability proportional to exp(-|number| / scale), exactly.

    References:
        Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy, 2020, algorithm 2.
    """
    if scale <= 0:
        raise InvalidParameter(f"scale={scale} must be above 0")
    above, below = scale.numerator, scale.denominator
    while True:
        rest = secrets.randbelow(above)
        if not _exponential_coin(Fraction(rest, above)):
            continue
        turns = 0
        while _exponential_coin(Fraction(1)):
            turns += 1
        size = (rest + above * turns) // below
        negative = bool(secrets.randbits(1))
        if not (negative and size == 0):
            return -size if negative else size


@dataclass(frozen=True)
class NoisyRules:
    """Rules with noisy counts, and what was promised for them."""

    rules: RuleList
    epsilon: float  # of all counts together, for one row more or less
    scale: float  # of the noise on each count
    paid: bool = False  # from a ledger


def perturb_rules(
    rules: RuleList, epsilon: float, *, ledger: Ledger | None = None, what: str = "rules of du-CBA"
) -> NoisyRules:
    """Add noise to the counts behind a client's rules before they leave.

    For each rule two counts get noise: rows that show it and have its class, and rows that show it and do
    not. One row more or less changes one of the two by one, in each rule it shows, and the number of rows by
    one: ``m + 1`` in all for ``m`` rules. So noise of scale ``(m + 1) / epsilon`` on each makes them together
    ``epsilon``-differentially private; where the ledger lets one row be replaced, of twice that scale.

    Which rules there are and which class is the default is chosen from the data and is *not* covered by this
    promise. Counts that come out below 1 take their rule away; others stay below the noisy number of rows.

    Args:
        rules: Rules with counts by class.
        epsilon: Promise for all counts together.
        ledger: Pays for it before any noise is drawn (:class:`mahrem.dp.Ledger`, extra ``dp``); without one
            nobody adds up what several calls promise together.
        what: What the ledger notes; it must be public.

    Raises:
        InvalidParameter: If ``epsilon`` is not above 0, the rules carry no counts, or the ledger protects
            persons with several rows.
        BudgetExceeded: If the ledger does not cover it; nothing was drawn.
    """
    if not 0 < epsilon < math.inf:
        raise InvalidParameter(f"epsilon={epsilon} must be above 0 and finite")
    if any(rule.counts is None for rule in rules.rules):
        raise InvalidParameter("counts=None: noise is added to counts, and these rules carry none")
    exact = Fraction(max(1, round(epsilon * FINE)), FINE)
    moved = 1 if ledger is None else _paid(ledger, float(exact), what)
    scale = moved * (len(rules) + 1) / exact
    rows = max(1, rules.rows + discrete_laplace(scale))
    noisy = [_noisy(rule, rules, rows, scale) for rule in rules.rules]
    kept = tuple(rule for rule in noisy if rule is not None)
    return NoisyRules(
        replace(rules, rules=kept, rows=rows, rest=None), float(exact), float(scale), ledger is not None
    )


def _paid(ledger: Ledger, epsilon: float, what: str) -> int:
    """Spend before anything is drawn; gives how far one unit moves a count."""
    from mahrem.dp import Relation
    from mahrem.dp.accounting import Pure

    if ledger.unit.subject is not None:
        raise InvalidParameter(
            f"ledger: its unit is a person (subject={ledger.unit.subject!r}); these counts are of rows, so "
            f"use a ledger whose unit is a row"
        )
    ledger.spend(Pure(epsilon), what=what)
    return 2 if ledger.relation is Relation.REPLACE else 1


def _noisy(rule: Rule, rules: RuleList, rows: int, scale: Fraction) -> Rule | None:
    counts = rule.counts or ()
    hits = counts[rules.classes.index(rule.right)]
    right = min(hits + discrete_laplace(scale), rows)
    wrong = max(0, sum(counts) - hits + discrete_laplace(scale))
    if right < 1:
        return None
    wrong = min(wrong, rows - right)
    return Rule(rule.left, rule.right, right / rows, right / (right + wrong))
