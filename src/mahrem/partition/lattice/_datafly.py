"""Datafly: generalise the column with the most values until few enough rows are left over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.partition.lattice._lattice_search import FullDomain, Node, Search
from mahrem.types import Integers


@dataclass(frozen=True, kw_only=True)
class Datafly(FullDomain):
    """Generalise one column after the other, each time the one that shows the most distinct values.

    Stops at the first node that holds; what is still too rare there is suppressed. Fast and greedy: the loss
    is not looked at on the way.

    Guarantees:
        - Those of :class:`FullDomain`.

    References:
        Sweeney: Achieving k-anonymity privacy protection using generalization and suppression, 2002.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> partition = Datafly(hierarchies=[tree])(points, Admission(((KAnonymity(2), None),), rows=4))
        >>> partition.labels, partition.how.levels
        (array([0, 0, 1, 1]), (1,))
    """

    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""
        trees, members = search.lattice.trees, search.lattice.members
        values = [_values(tree.nodes, tree.leaf if members is None else tree.leaf[members]) for tree in trees]
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
