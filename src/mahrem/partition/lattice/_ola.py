"""OLA: halve the lattice, and the halves again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.partition.lattice._lattice_search import FullDomain, Node, Search
from mahrem.partition.lattice._lattice_tags import Tags


@dataclass(frozen=True, kw_only=True)
class Ola(FullDomain):
    """Find the node with the least loss by halving the lattice and every part of it.

    Nodes half way between the bottom and the top of a part are checked; below one that holds and above one
    that fails lie smaller parts, treated the same way. What holds marks all above it, what fails all below
    it.

    Where the marks alone do not tell the best, every node that may still lose less is checked as well.

    Raises:
        InvalidParameter: If the lattice has too many nodes.

    Guarantees:
        - Those of :class:`FullDomain`.
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
        >>> partition = Ola(hierarchies=[tree])(points, Admission(((KAnonymity(2), None),), rows=4))
        >>> partition.labels, partition.how.levels
        (array([0, 0, 1, 1]), (1,))
    """

    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""
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
