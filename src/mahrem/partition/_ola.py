"""OLA: halve the lattice, and the halves again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from mahrem.partition._lattice_search import FullDomain, Node, Search, Settings, generalise
from mahrem.partition._lattice_tags import Tags
from mahrem.partition._partition import Admits, Partition
from mahrem.types import Points

__all__ = ["Ola", "ola"]


def ola(points: Points, admits: Admits, **settings: Unpack[Settings]) -> Partition:
    """Find the node with the least loss by halving the lattice and every part of it.

    Nodes half way between the bottom and the top of a part are checked; below one that holds and above one
    that fails lie smaller parts, treated the same way. What holds marks all above it, what fails all below
    it.

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
        El Emam et al.: A globally optimal k-anonymity method for the de-identification of health data, 2009.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Hierarchy
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> points = np.array([[0.0], [0.5], [1.0], [1.0]])
        >>> found = ola(points, Admission(((KAnonymity(2), None),), rows=4), hierarchies=[tree])
        >>> found.labels, found.how.levels
        (array([0, 0, 1, 1]), (1,))
    """
    return generalise(points, admits, _search, **settings)


def _search(search: Search) -> None:
    tags = Tags(search)
    if search.prunes:
        _halve(tags, (0,) * len(search.lattice.top), search.lattice.top)
    tags.finish()


def _halve(tags: Tags, bottom: Node, top: Node) -> None:
    """Settle the part of the lattice between two nodes."""
    part = tuple(slice(low, high + 1) for low, high in zip(bottom, top, strict=True))
    if not tags.unknown(part).any():
        return
    height = sum(top) - sum(bottom)
    if height <= 1:
        for node in (bottom, top):
            if tags.wanted(node):
                tags.check(node)
        return
    middle = np.argwhere(tags.height[part] == sum(bottom) + height // 2) + np.array(bottom)
    for node in map(tuple, middle.tolist()):
        if tags.wanted(node):
            tags.check(node)
        if tags.fails(node):
            _halve(tags, node, top)
        else:
            _halve(tags, bottom, node)


@dataclass(frozen=True, kw_only=True)
class Ola(FullDomain):
    """:func:`ola` as data: its settings can be printed, compared and stored."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return ola(points, admits, **self.settings)
