"""Flash: greedy paths through the lattice, searched by halving."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from mahrem.partition.lattice._lattice_search import FullDomain, Node, Search
from mahrem.partition.lattice._lattice_tags import Tags


@dataclass(frozen=True, kw_only=True)
class Flash(FullDomain):
    """Find the node with the least loss along paths from the bottom to the top of the lattice.

    From every node that is still open a path goes up, at each step to the successor that promises the least
    loss; on it the lowest node that holds is found by halving. What holds marks all above it, what fails all
    below it.

    Where the marks alone do not tell the best, every node that may still lose less is checked as well.

    Raises:
        InvalidParameter: If the lattice has too many nodes.

    Guarantees:
        - Those of :class:`FullDomain`.
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
        >>> partition = Flash(hierarchies=[tree])(points, Admission(((KAnonymity(2), None),), rows=4))
        >>> partition.labels, partition.how.levels
        (array([0, 0, 1, 1]), (1,))
    """

    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""
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
        upper = next((node for node in tags.successors(path[-1]) if tags.wanted(node)), None)
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
