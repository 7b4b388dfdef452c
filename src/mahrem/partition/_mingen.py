"""MinGen: look at every node; the oracle of the other optimal methods."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Unpack

from mahrem.errors import InvalidParameter
from mahrem.partition._lattice_search import FullDomain, Search, Settings, generalise
from mahrem.partition._partition import Admits, Partition
from mahrem.types import Points

__all__ = ["MinGen", "mingen"]

LARGEST = 100_000  # nodes


def mingen(points: Points, admits: Admits, **settings: Unpack[Settings]) -> Partition:
    """Check every node of a small lattice and take the one with the least loss.

    Nothing is concluded from one node about another, so that any promise and any loss will do. Lattices of
    more than 100,000 nodes are refused.

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
        Sweeney: Achieving k-anonymity privacy protection using generalization and suppression, 2002.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> found = mingen(points, Admission(((KAnonymity(2), None),), rows=4), hierarchies=[tree])
        >>> found.labels, found.how.levels
        (array([0, 0, 1, 1]), (1,))
    """
    return generalise(points, admits, _search, **settings)


def _search(search: Search) -> None:
    heights = search.lattice.heights
    nodes = math.prod(heights)
    if nodes > LARGEST:
        raise InvalidParameter(
            f"nodes={nodes:,} of the lattice are too many to check one by one, at most {LARGEST:,}; "
            "flash finds the same result, datafly a quick one"
        )
    for node in itertools.product(*map(range, heights)):
        search.check(node)


@dataclass(frozen=True, kw_only=True)
class MinGen(FullDomain):
    """:func:`mingen` as data: its settings can be printed, compared and stored."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return mingen(points, admits, **self.settings)
