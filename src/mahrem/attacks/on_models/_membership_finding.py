"""From scores to figures: how well members are told from other rows, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mahrem.attacks._finding import Finding
from mahrem.attacks._interval import clopper_pearson
from mahrem.errors import InvalidInput
from mahrem.types import Floats

RATES = (0.001, 0.01)  # false alarms at which the share of members found is told
LEAST = 20  # members, and as many others


@dataclass(frozen=True, kw_only=True)
class ModelFinding(Finding):
    """A finding about a model: ``rate`` is the share of members found at one false alarm in a hundred.

    ``interval`` is exact for a threshold that is given. The threshold comes from the non-members, so chance
    alone spreads further; ``chance`` is the exact 95 % range of the rate if nothing leaks.
    """

    chance: tuple[float, float]
    area: float  # under the curve; 0.5 is chance
    area_interval: tuple[float, float]

    @property
    def alarming(self) -> bool:
        """True when the rate lies above what chance gives, or the area does beyond doubt."""
        return (self.rate or 0.0) > self.chance[1] or self.area_interval[0] > 0.5

    def beside_promise(self, cost: tuple[float, float] | None) -> ModelFinding:
        """Put beside the rate what an epsilon and a delta allow at its false alarms."""
        if cost is None or self.baseline is None:
            return self
        allowed = min(1.0, math.exp(min(cost[0], 50.0)) * self.baseline + cost[1])
        return replace(self, details={**self.details, "promised": allowed})


def membership_finding(
    attack: str, members: Floats, others: Floats, *, meaning: str, **details: float | str
) -> ModelFinding:
    """Make a finding of scores: the higher, the rather a member.

    Args:
        attack: Its name.
        members: ``(n,)`` scores of rows the model was trained on.
        others: ``(m,)`` scores of rows it never saw.
        meaning: One plain sentence.
        details: More figures.

    Guarantees:
        - ``rate`` is the share of members above a threshold that at most a hundredth of the others pass;
          ties count for the others.
        - If both come from one distribution without ties, the rate is in ``chance`` in at least 95 % of runs.

    Example:
        >>> found = membership_finding("loss", np.arange(50.0) + 30, np.arange(50.0), meaning="Found.")
        >>> found.rate, round(found.area, 3)
        (0.6, 0.92)
    """
    if min(len(members), len(others)) < LEAST:
        raise InvalidInput(
            f"members={len(members)}, others={len(others)}: at least {LEAST} of each are needed"
        )
    inside, outside = _ordered(members), _ordered(others)
    figures: dict[str, float | str] = {}
    successes = 0
    for share in RATES:
        successes = _count_above(inside, outside, share)
        low, high = clopper_pearson(successes, len(inside))
        name = f"at_{share:g}"
        figures |= {name: successes / len(inside), f"{name}_low": low, f"{name}_high": high}
        if share * len(outside) < 1:
            figures[f"{name}_note"] = "fewer others than one false alarm needs: a lower bound"
    area, spread = area_under_curve(inside, outside)
    return ModelFinding(
        attack=attack,
        rate=successes / len(inside),
        baseline=RATES[-1],
        interval=clopper_pearson(successes, len(inside)),
        successes=successes,
        trials=len(inside),
        meaning=meaning,
        details=figures | details,
        chance=chance_rates(len(inside), len(outside), RATES[-1]),
        area=area,
        area_interval=(max(0.0, area - 1.96 * spread), min(1.0, area + 1.96 * spread)),
    )


def _ordered(scores: Floats) -> Floats:
    known = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, posinf=1e300, neginf=-1e300)
    return np.sort(known)


def _count_above(members: Floats, others: Floats, share: float) -> int:
    """Count members above the score that only ``share`` of the others pass."""
    allowed = math.floor(share * len(others) + 1e-9)
    threshold = others[len(others) - 1 - allowed]
    return int(len(members) - np.searchsorted(members, threshold, side="right"))


def area_under_curve(members: Floats, others: Floats) -> tuple[float, float]:
    """Give the area under the curve of sorted scores, and its standard error.

    The error is DeLong's, or under the null where that is 0 (all members above all others).

    References:
        DeLong, DeLong, Clarke-Pearson: Comparing the areas under correlated receiver operating curves, 1988.
    """
    count, rest = len(members), len(others)
    below = (np.searchsorted(others, members, "left") + np.searchsorted(others, members, "right")) / 2
    above = rest_above(members, others)
    area = float(below.mean() / rest)
    error = float(np.var(below / rest, ddof=1) / count + np.var(above / count, ddof=1) / rest)
    if error == 0.0:
        error = (count + rest + 1) / (12 * count * rest)
    return area, math.sqrt(error)


def rest_above(members: Floats, others: Floats) -> Floats:
    """Count for each of the others how many members lie above, ties as one half."""
    left, right = np.searchsorted(members, others, "left"), np.searchsorted(members, others, "right")
    return np.asarray(len(members) - (left + right) / 2)


def chance_rates(members: int, others: int, share: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """Give the range of the rate where nothing leaks: how many members rank above so many of the others.

    If all scores come from one distribution, every order is equally likely, so the count of members above
    the (a + 1)-th highest of the others is negative hypergeometric.

    Example:
        >>> chance_rates(1000, 1000, 0.01)
        (0.003, 0.021)
    """
    allowed = math.floor(share * others + 1e-9)
    counts = np.arange(members + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, members + others + 1)))])

    def choose(whole: Any, part: int) -> Any:
        return logs[whole] - logs[part] - logs[whole - part]

    chances = np.exp(
        choose(counts + allowed, allowed)
        + choose(members - counts + others - allowed - 1, others - allowed - 1)
        - choose(members + others, members)
    )
    reached = np.cumsum(chances)
    tail = (1 - confidence) / 2
    low = int(np.searchsorted(reached, tail, side="right"))
    high = int(np.searchsorted(reached, 1 - tail, side="left"))
    return low / members, min(high, members) / members
