"""Which class a record should join, and what a class lacks with one more: asked by growth and by repair."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import lean
from mahrem.arrays.growing._cells import joined_costs
from mahrem.arrays.growing._costs import CellCosts, Workbench
from mahrem.arrays.growing._members import keeps_after, keeps_whoever, missing_after
from mahrem.arrays.growing._promises import Promises

__all__ = ["LARGEST", "best_class", "forget", "may_change", "missing_with"]

LARGEST = 4  # times the least size: a class that grows beyond it without keeping its promises is given up


@lean
def may_change(bench: Workbench, promises: Promises, group: int, gone: int, come: int, blind: bool) -> bool:  # noqa: FBT001
    """Say whether a class keeps its promises without one record and with another; blind, whoever they are."""
    if blind:
        return keeps_whoever(bench, promises, group, gone, come)
    return keeps_after(bench, promises, group, gone, come)


@lean
def best_class(
    bench: Workbench,
    costs: CellCosts,
    promises: Promises,
    record: int,
    classes: int,
    limit: float,
    barred: int,
    blind: bool,  # noqa: FBT001 - by position
) -> tuple[int, float]:
    """Find the class that a record costs least, below a limit, and that keeps its promises with it.

    Blind, only the cheapest of all is asked whether it does, whoever comes.
    """
    joined_costs(bench, costs, record, classes)
    into = bench.into[:classes]
    if barred >= 0:
        into[barred] = np.inf
    best, chosen = limit, -1
    for group in range(classes):
        if into[group] < best and (blind or keeps_after(bench, promises, group, -1, record)):
            best, chosen = into[group], group
    if blind and chosen >= 0 and not keeps_whoever(bench, promises, chosen, -1, record):
        return -1, limit
    return chosen, best


@lean
def missing_with(bench: Workbench, promises: Promises, group: int, record: int) -> int:
    """Say what a class lacks with one record more; where combinations of values are few, it is remembered."""
    if bench.kinds[0] == 0:
        return missing_after(bench, promises, group, -1, record)
    kind = bench.joint[record]
    if bench.answers[kind] < 0:
        bench.answers[kind] = missing_after(bench, promises, group, -1, record)
    return int(bench.answers[kind])


@lean
def forget(bench: Workbench) -> bool:
    """Remember nothing of what a class lacks with one more; say whether answers will be remembered."""
    bench.answers[: bench.kinds[0]] = -1
    return bool(bench.kinds[0] > 0)
