"""Incognito: few columns first, and what fails there fails with more."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from mahrem.partition._lattice_search import FullDomain, Search, Settings, generalise
from mahrem.partition._lattice_tags import Tags
from mahrem.partition._partition import Admits, Partition
from mahrem.types import Points

__all__ = ["Incognito", "incognito"]


def incognito(points: Points, admits: Admits, **settings: Unpack[Settings]) -> Partition:
    """Find the node with the least loss by searching ever larger sets of columns, from the bottom up.

    Leaving a column out puts its cells at the root: a table that fails on some columns fails on more. The
    lattice of a set of columns is the part of the whole lattice in which the others are at the root, and is
    searched breadth first; what fails marks all below it, in larger sets too, what holds all above it.

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
        LeFevre, DeWitt, Ramakrishnan: Incognito: efficient full-domain k-anonymity, 2005.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> found = incognito(points, Admission(((KAnonymity(2), None),), rows=4), hierarchies=[tree])
        >>> found.labels, found.how.levels
        (array([0, 0, 1, 1]), (1,))
    """
    return generalise(points, admits, _search, **settings)


def _search(search: Search) -> None:
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


@dataclass(frozen=True, kw_only=True)
class Incognito(FullDomain):
    """:func:`incognito` as data: its settings can be printed, compared and stored."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return incognito(points, admits, **self.settings)
