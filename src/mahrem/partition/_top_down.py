"""Top-down specialisation: from the root down while the promise holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Unpack

from mahrem.partition._lattice_search import FullDomain, Node, Search, Settings, generalise
from mahrem.partition._partition import Admits, Partition
from mahrem.types import Points

__all__ = ["TopDown", "top_down"]


def top_down(points: Points, admits: Admits, **settings: Unpack[Settings]) -> Partition:
    """Specialise one column by one level at a time, the step that wins back most for what it costs.

    Begins at the root of every column and ends where no step holds any more; of all
    nodes looked at the one with the least loss is the result. As in Fung et al. the score of a
    step is its gain over its cost in anonymity plus one: the gain is the drop in loss, the cost how much
    smaller the smallest class becomes. They specialise single values; here a column goes down as a whole.

    Args:
        points: ``(n, d)`` quasi-identifiers; missing values are -1 and a value of their own below the root.
        admits: Says of many candidate classes at once which may stand.
        **settings: What all full-domain methods share: see :class:`FullDomain`.

    Raises:
        Infeasible: If no node that was looked at holds; ``reached`` is what the best comes to.
        InvalidParameter: If a setting does not fit.

    Guarantees:
        - Labels are ``0 .. c-1`` and none is empty; suppressed rows, at most the share allowed, have -1.
        - ``admits`` accepts every class.
        - Two rows that are not suppressed share a class exactly when all their cells are the same node.

    References:
        Fung, Wang, Yu: Top-down specialization for information and privacy preservation, 2005.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> found = top_down(points, Admission(((KAnonymity(2), None),), rows=4), hierarchies=[tree])
        >>> found.labels, found.how.levels
        (array([0, 0, 1, 1]), (1,))
    """
    return generalise(points, admits, _search, **settings)


def _search(search: Search) -> None:
    node = search.lattice.top
    if not search.check(node).holds:  # possible only where promises are not monotone
        return
    while True:
        steps = [
            (*node[:column], level - 1, *node[column + 1 :]) for column, level in enumerate(node) if level
        ]
        may = [step for step in steps if search.check(step).holds]
        if not may:
            return
        node = max(may, key=partial(_score, search, node))


def _score(search: Search, node: Node, step: Node) -> float:
    before, after = search.check(node), search.check(step)
    lost = max(0, before.smallest - after.smallest)
    return (before.loss - after.loss) / (1 + lost)


@dataclass(frozen=True, kw_only=True)
class TopDown(FullDomain):
    """:func:`top_down` as data: its settings can be printed, compared and stored."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return top_down(points, admits, **self.settings)
