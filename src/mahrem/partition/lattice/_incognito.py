"""Incognito: few columns first, and what fails there fails with more."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from mahrem.partition.lattice._lattice_search import FullDomain, Search
from mahrem.partition.lattice._lattice_tags import Tags


@dataclass(frozen=True, kw_only=True)
class Incognito(FullDomain):
    """Find the node with the least loss by searching ever larger sets of columns, from the bottom up.

    Leaving a column out puts its cells at the root: a table that fails on some columns fails on more. The
    lattice of a set of columns is the part of the whole lattice in which the others are at the root, and is
    searched breadth first; what fails marks all below it, in larger sets too, what holds all above it.

    Where the marks alone do not tell the best, every node that may still lose less is checked as well.

    Raises:
        InvalidParameter: If the lattice has too many nodes.

    Guarantees:
        - Those of :class:`FullDomain`.
        - No node of the lattice that holds has a smaller loss, unless the time was over.

    References:
        LeFevre, DeWitt, Ramakrishnan: Incognito: efficient full-domain k-anonymity, 2005.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> partition = Incognito(hierarchies=[tree])(points, Admission(((KAnonymity(2), None),), rows=4))
        >>> partition.labels, partition.how.levels
        (array([0, 0, 1, 1]), (1,))
    """

    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""
        tags = Tags(search)
        if search.prunes:
            columns = range(len(search.lattice.top))
            for size in range(len(columns) + 1):
                for chosen in itertools.combinations(columns, size):
                    _breadth_first(tags, chosen)
        tags.finish()


def _breadth_first(tags: Tags, chosen: tuple[int, ...]) -> None:
    """Check what is unknown of the nodes in which all other columns are at the root, from the bottom up."""
    top = tags.search.lattice.top
    part = tuple(slice(None) if column in chosen else slice(level, None) for column, level in enumerate(top))
    unknown = np.argwhere(tags.unknown(part))
    unknown += np.array([0 if column in chosen else level for column, level in enumerate(top)], np.int64)
    for node in map(tuple, unknown[np.argsort(unknown.sum(axis=1), kind="stable")].tolist()):
        if tags.wanted(node):
            tags.check(node)
