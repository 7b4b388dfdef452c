"""MinGen: look at every node; the oracle of the other optimal methods."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from mahrem.errors import InvalidParameter
from mahrem.partition.lattice._lattice_search import FullDomain, Search

LARGEST = 100_000  # nodes


@dataclass(frozen=True, kw_only=True)
class MinGen(FullDomain):
    """Check every node of a small lattice and take the one with the least loss.

    Nothing is concluded from one node about another, so that any promise and any loss will do. Lattices of
    more than 100,000 nodes are refused.

    Raises:
        InvalidParameter: If the lattice has too many nodes.

    Guarantees:
        - Those of :class:`FullDomain`.
        - No node of the lattice that holds has a smaller loss, unless the time was over.

    References:
        Sweeney: Achieving k-anonymity privacy protection using generalization and suppression, 2002.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> partition = MinGen(hierarchies=[tree])(points, Admission(((KAnonymity(2), None),), rows=4))
        >>> partition.labels, partition.how.levels
        (array([0, 0, 1, 1]), (1,))
    """

    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""
        heights = search.lattice.heights
        nodes = math.prod(heights)
        if nodes > LARGEST:
            raise InvalidParameter(
                f"nodes={nodes:,} of the lattice are too many to check one by one, at most {LARGEST:,}; "
                "flash finds the same result, datafly a quick one"
            )
        for node in itertools.product(*map(range, heights)):
            search.check(node)
