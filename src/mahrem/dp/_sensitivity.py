"""By how much one unit of privacy can move a figure, and under which relation that holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.dp._relation import Relation, Unit
from mahrem.errors import InvalidParameter
from mahrem.types import Integers


@dataclass(frozen=True, kw_only=True)
class GlobalSensitivity:
    """The largest change of a vector of integers between any two neighbours under ``relation``.

    Attributes:
        relation: The relation it holds under.
        l1: Largest sum of absolute changes.
        l2_squared: Largest sum of squared changes.
        linf: Largest change of one entry.
        single: Whether at most one entry changes; noise can then be accounted exactly.
    """

    relation: Relation
    l1: int
    l2_squared: int
    linf: int
    single: bool


def global_sensitivity(
    low: int, high: int, relation: Relation, unit: Unit, *, grouped: bool, optional: bool
) -> GlobalSensitivity:
    """Bound the change of sums over rows, each row adding an integer in ``[low, high]`` to one entry.

    Args:
        low: Least a row adds.
        high: Most a row adds.
        relation: Which tables are neighbours.
        unit: Whose presence is hidden; ``unit.rows`` rows are used at most.
        grouped: Whether there are several entries, one per group.
        optional: Whether a row may add nothing (a condition, or a missing value that is left out).

    Guarantees:
        - No two neighbours differ by more, whatever the other rows are.

    Example:
        >>> global_sensitivity(0, 1, Relation.REPLACE, Unit(), grouped=True, optional=False).l1
        2
        >>> global_sensitivity(0, 1, Relation.ADD_REMOVE, Unit(), grouped=True, optional=False).l1
        1
    """
    if optional or grouped or unit.rows > 1:
        low, high = min(low, 0), max(high, 0)
    alone, swap, rows = max(abs(low), abs(high)), high - low, unit.rows
    if relation is Relation.ADD_REMOVE:
        most = rows * alone
        return GlobalSensitivity(
            relation=relation, l1=most, l2_squared=most**2, linf=most, single=not grouped or rows == 1
        )
    if not grouped:
        most = rows * swap
        return GlobalSensitivity(relation=relation, l1=most, l2_squared=most**2, linf=most, single=True)
    return GlobalSensitivity(
        relation=relation,
        l1=rows * max(swap, 2 * alone),
        l2_squared=rows**2 * max(swap**2, 2 * alone**2),
        linf=rows * swap,
        single=False,
    )


def coarsened(fine: GlobalSensitivity, bits: int, entries: int) -> GlobalSensitivity:
    """Bound the change after every entry was divided by ``2**bits`` and rounded to a whole number.

    An entry that moves by at most d moves by at most ``ceil(d / 2**bits)`` then; ``entries`` may move.
    """
    step = 1 << bits
    whole = -(-fine.l1 // step)
    if fine.single:
        return GlobalSensitivity(
            relation=fine.relation, l1=whole, l2_squared=whole**2, linf=whole, single=True
        )
    length = math.sqrt(fine.l2_squared) / step + math.sqrt(entries)
    return GlobalSensitivity(
        relation=fine.relation,
        l1=whole + entries,
        l2_squared=math.ceil(length**2 * (1 + 1e-12)),
        linf=-(-fine.linf // step),
        single=False,
    )


@dataclass(frozen=True, kw_only=True)
class SmoothSensitivity:
    """A smooth upper bound on the local sensitivity of this very table.

    Unlike a global one it depends on the data and must never be published itself; raw local sensitivity
    leaks. Between neighbours its logarithm changes by at most ``beta``.

    Attributes:
        relation: The relation it holds under.
        value: The bound, in steps of the lattice of values.
        beta: How smooth it is.
    """

    relation: Relation
    value: float
    beta: float


def smooth_median(
    values: Integers, low: int, high: int, beta: float, *, least: float = 0.0
) -> SmoothSensitivity:
    """Give the smooth sensitivity of the median of integers in ``[low, high]``, under replacement of one.

    Args:
        values: ``(n,)`` integers; they are clipped first.
        low: Public lower bound.
        high: Public upper bound.
        beta: How smooth it must be.
        least: The result is at least this, which keeps it as smooth; above 0 it is found far sooner where
            many values are equal.

    Guarantees:
        - At least the local sensitivity of the median of this table.
        - Of two tables that differ in one value, the logarithms differ by at most ``beta``.

    References:
        Nissim, Raskhodnikova, Smith: Smooth sensitivity and sampling in private data analysis, 2007,
        claim 3.3.

    Example:
        >>> smooth_median(np.array([1, 2, 3, 4, 5]), 0, 100, beta=100.0).value
        1.0
    """
    check.at_least(0, beta=beta)
    check.at_least(0, least=least)
    if low >= high:
        raise InvalidParameter(f"lower={low} must be below upper={high}")
    n = len(values)
    if n == 0:
        return SmoothSensitivity(relation=Relation.REPLACE, value=float(high - low), beta=beta)
    ordered = np.sort(np.clip(values, low, high).astype(np.int64))
    middle = (n - 1) // 2
    best = least
    for k in range(n + 1):
        fade = math.exp(-beta * k)
        if fade * (high - low) <= best:
            break  # no later distance can win
        places = middle + np.arange(k + 2)
        gaps = _at(ordered, places, low, high) - _at(ordered, places - k - 1, low, high)
        best = max(best, fade * float(gaps.max()))
    return SmoothSensitivity(relation=Relation.REPLACE, value=best, beta=beta)


def _at(ordered: Integers, places: Integers, low: int, high: int) -> Integers:
    """Read order statistics; before the first stands the lower bound, after the last the upper."""
    inside = ordered[np.clip(places, 0, len(ordered) - 1)]
    return np.where(places < 0, low, np.where(places >= len(ordered), high, inside)).astype(np.int64)
