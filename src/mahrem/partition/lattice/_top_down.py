"""Top-down specialisation: from the root down while the promise holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from mahrem.partition.lattice._lattice_search import FullDomain, Node, Search


@dataclass(frozen=True, kw_only=True)
class TopDown(FullDomain):
    """Specialise one column by one level at a time, the step that wins back most for what it costs.

    Begins at the root of every column and ends where no step holds any more; of all
    nodes looked at the one with the least loss is the result. As in Fung et al. the score of a
    step is its gain over its cost in anonymity plus one: the gain is the drop in loss, the cost how much
    smaller the smallest class becomes. They specialise single values; here a column goes down as a whole.

    Guarantees:
        - Those of :class:`FullDomain`.

    References:
        Fung, Wang, Yu: Top-down specialization for information and privacy preservation, 2005.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> partition = TopDown(hierarchies=[tree])(points, Admission(((KAnonymity(2), None),), rows=4))
        >>> partition.labels, partition.how.levels
        (array([0, 0, 1, 1]), (1,))
    """

    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""
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
