"""Bottom-up generalisation: the step that costs least for what it gains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from mahrem.partition.lattice._lattice_search import FullDomain, Node, Search


@dataclass(frozen=True, kw_only=True)
class BottomUp(FullDomain):
    """Generalise one column by one level at a time, the step with the least loss for each row it saves.

    Begins with the values themselves and stops at the first node that holds; of
    all nodes looked at the one with the least loss is the result. Wang et al. divide information
    loss by the gain in anonymity; the gain here is the number of rows that need no longer be refused, which
    serves any promise. A step that saves no row is taken only when none does, the cheapest first.

    Guarantees:
        - Those of :class:`FullDomain`.

    References:
        Wang, Yu, Chakraborty: Bottom-up generalization: a data mining solution to privacy protection, 2004.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> partition = BottomUp(hierarchies=[tree])(points, Admission(((KAnonymity(2), None),), rows=4))
        >>> partition.labels, partition.how.levels
        (array([0, 0, 1, 1]), (1,))
    """

    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""
        top = search.lattice.top
        node: Node = (0,) * len(top)
        while not search.check(node).holds and node != top:
            steps = [
                (*node[:column], level + 1, *node[column + 1 :])
                for column, level in enumerate(node)
                if level < top[column]
            ]
            node = min(steps, key=partial(_price, search, node))


def _price(search: Search, node: Node, step: Node) -> tuple[float, float]:
    """Give what a step costs for each row it saves, infinite when it saves none, then what it costs."""
    before, after = search.check(node), search.check(step)
    cost = after.bound - before.bound
    saved = before.refused - after.refused
    return (cost / saved if saved > 0 else math.inf), cost
