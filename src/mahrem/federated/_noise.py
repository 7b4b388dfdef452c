"""Whole numbers of noise with a privacy promise, from the system's generator and exact arithmetic."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from fractions import Fraction

from mahrem.errors import InvalidParameter
from mahrem.learning import Rule, RuleList

__all__ = ["Perturbed", "discrete_laplace", "perturb_rules"]

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
class Perturbed:
    """Rules with noisy counts, and what was promised for them."""

    rules: RuleList
    epsilon: float  # of all counts together, for one row more or less
    scale: float  # of the noise on each count


def perturb_rules(rules: RuleList, epsilon: float) -> Perturbed:
    """Add noise to the counts behind a client's rules before they leave.

    For each rule two counts get noise: rows that show it and have its class, and rows that show it and do
    not. One row more or less changes one of the two by one, in each rule it shows; so with ``m`` rules noise
    of scale ``m / epsilon`` on each count makes all of them together ``epsilon``-differentially private. The
    number of rows gets noise of its own, with a part ``1 / (m + 1)`` of the budget.

    Which rules there are is chosen from the data and is *not* covered by this promise. Counts that come out
    below 1 take their rule away; others are kept below the noisy number of rows.

    Args:
        rules: Rules with counts by class.
        epsilon: Promise for all counts together.

    Raises:
        InvalidParameter: If ``epsilon`` is not above 0, or the rules carry no counts.
    """
    if not epsilon > 0:
        raise InvalidParameter(f"epsilon={epsilon} must be above 0")
    exact = Fraction(max(1, round(epsilon * FINE)), FINE)
    scale = (len(rules) + 1) / exact
    rows = max(1, rules.rows + discrete_laplace(scale))
    noisy = [_noisy(rule, rules, rows, scale) for rule in rules.rules]
    kept = tuple(rule for rule in noisy if rule is not None)
    return Perturbed(replace(rules, rules=kept, rows=rows, rest=None), float(exact), float(scale))


def _noisy(rule: Rule, rules: RuleList, rows: int, scale: Fraction) -> Rule | None:
    if rule.counts is None:
        raise InvalidParameter("counts=None: noise is added to counts, and these rules carry none")
    hits = rule.counts[rules.classes.index(rule.right)]
    right = min(hits + discrete_laplace(scale), rows)
    wrong = max(0, sum(rule.counts) - hits + discrete_laplace(scale))
    if right < 1:
        return None
    wrong = min(wrong, rows - right)
    return Rule(rule.left, rule.right, right / rows, right / (right + wrong))
