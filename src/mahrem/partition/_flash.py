"""Flash: greedy paths through the lattice, searched by halving."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Unpack

from mahrem.partition._lattice_search import FullDomain, Node, Search, Settings, generalise
from mahrem.partition._lattice_tags import Tags
from mahrem.partition._partition import Admits, Partition
from mahrem.types import Points

__all__ = ["Flash", "flash"]


def flash(points: Points, admits: Admits, **settings: Unpack[Settings]) -> Partition:
    """Find the node with the least loss along paths from the bottom to the top of the lattice.

    From every node that is still open a path goes up, at each step to the successor that promises the least
    loss; on it the lowest node that holds is found by halving. What holds marks all above it, what fails all
    below it.

    Where promises are not monotone, or rows may be suppressed, the marks alone do not tell the best: every
    node that may still lose less is then checked as well. A node whose loss has a lower bound above the best
    loss so far is left out together with all above it.

    Args:
        points: ``(n, d)`` quasi-identifiers; missing values are -1 and a value of their own below the root.
        admits: Says of many candidate classes at once which may stand.
        **settings: What all full-domain methods share: see :class:`FullDomain`.

    Raises:
        Infeasible: If no node that was looked at holds; ``reached`` is what the best comes to.
        InvalidParameter: If a setting does not fit, or the lattice has too many nodes.

    Guarantees:
        - Labels are ``0 .. c-1`` and none is empty; suppressed rows, at most the share allowed, have -1.
        - ``admits`` accepts every class.
        - Two rows that are not suppressed share a class exactly when all their cells are the same node.
        - No node of the lattice that holds has a smaller loss, unless the time was over.

    References:
        Kohlmayer, Prasser, Eckert, Kemper, Kuhn: Flash: efficient, stable and optimal k-anonymity, 2012.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> found = flash(points, Admission(((KAnonymity(2), None),), rows=4), hierarchies=[tree])
        >>> found.labels, found.how.levels
        (array([0, 0, 1, 1]), (1,))
    """
    return generalise(points, admits, _search, **settings)


def _search(search: Search) -> None:
    tags = Tags(search)
    if search.prunes:
        for node in tags.upwards():
            _explore(tags, node)
    tags.finish()


def _explore(tags: Tags, node: Node) -> None:
    """Search a path from a node, then paths from the successors of what failed on it, the lowest first."""
    failed: list[tuple[int, Node]] = []
    _halve(tags, _path(tags, node), failed)
    while failed:
        _, lower = heapq.heappop(failed)
        for upper in tags.successors(lower):
            if tags.wanted(upper):
                _halve(tags, _path(tags, upper), failed)


def _path(tags: Tags, node: Node) -> list[Node]:
    """Go up from a node as long as some successor is still unknown."""
    path = [node]
    while True:
        upper = next((one for one in tags.successors(path[-1]) if tags.wanted(one)), None)
        if upper is None:
            return path
        path.append(upper)


def _halve(tags: Tags, path: list[Node], failed: list[tuple[int, Node]]) -> None:
    """Find the lowest node of a path that holds."""
    low, high = 0, len(path)
    while low < high:
        middle = (low + high) // 2
        if tags.check(path[middle]):
            high = middle
        else:
            heapq.heappush(failed, (sum(path[middle]), path[middle]))
            low = middle + 1


@dataclass(frozen=True, kw_only=True)
class Flash(FullDomain):
    """:func:`flash` as data: its settings can be printed, compared and stored."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return flash(points, admits, **self.settings)
