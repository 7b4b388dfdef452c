"""Datafly: generalise the column with the most values until few enough rows are left over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from mahrem.partition._lattice_search import FullDomain, Node, Search, Settings, generalise
from mahrem.partition._partition import Admits, Partition
from mahrem.types import Integers, Points

__all__ = ["Datafly", "datafly"]


def datafly(points: Points, admits: Admits, **settings: Unpack[Settings]) -> Partition:
    """Generalise one column after the other, each time the one that shows the most distinct values.

    Stops at the first node that holds; what is still too rare there is suppressed. Fast and greedy: the loss
    is not looked at on the way.

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
        Sweeney: Achieving k-anonymity privacy protection using generalization and suppression, 2002.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> found = datafly(points, Admission(((KAnonymity(2), None),), rows=4), hierarchies=[tree])
        >>> found.labels, found.how.levels
        (array([0, 0, 1, 1]), (1,))
    """
    return generalise(points, admits, _search, **settings)


def _search(search: Search) -> None:
    trees = search.lattice.trees
    values = [_values(tree.nodes, tree.leaf) for tree in trees]
    node: Node = (0,) * len(trees)
    while not search.check(node).holds and node != search.lattice.top:
        shown = [
            -1 if level == tree.levels - 1 else counts[level]
            for tree, counts, level in zip(trees, values, node, strict=True)
        ]
        widest = shown.index(max(shown))
        node = (*node[:widest], node[widest] + 1, *node[widest + 1 :])
    search.choose(node)


def _values(nodes: Integers, leaf: Integers) -> list[int]:
    """Count the distinct values that the rows show at every level."""
    met = np.unique(leaf[leaf >= 0])
    return [len(np.unique(level[met])) for level in nodes]


@dataclass(frozen=True, kw_only=True)
class Datafly(FullDomain):
    """:func:`datafly` as data: its settings can be printed, compared and stored."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return datafly(points, admits, **self.settings)
