"""Nodes of a given hierarchy: the lowest one over all values of a class, or the one at a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.recode._recoding import SUPPRESSED, class_ends, leaf_cells, whole_numbers
from mahrem.table import Axis, Cells, Leaves
from mahrem.types import Labels

__all__ = ["Nodes", "nodes"]


def nodes(axis: Axis, labels: Labels, classes: int, *, level: int | None = None) -> Cells:
    """Show the lowest node of the hierarchy that covers the class; the root is shown as ``*``.

    Args:
        axis: A column with a hierarchy.
        labels: Class of each row; -1 = suppressed.
        classes: How many classes there are.
        level: Show the node at this level instead, 0 for the value itself; all values of a class must lie
            under one. At the last level everything is ``*``, missing values too.

    Raises:
        InvalidParameter: If the column has no hierarchy, or a class does not fit under one node of the level.

    Guarantees:
        - Every value of a class is a leaf under its node, and no lower node covers them all.
        - A class with missing and present values shows ``*``; one with only missing values shows none.

    References:
        Samarati: Protecting respondents' identities in microdata release, 2001.

    Example:
        >>> from mahrem.table import Hierarchy
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> axis = Axis("disease", np.array([0.0, 1.0, 2.0]), Leaves(tree))
        >>> nodes(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['lung', 'gout']
    """
    if not isinstance(axis.domain, Leaves):
        raise InvalidParameter(f"recoding='nodes' needs a hierarchy for column={axis.name!r}")
    tree = axis.domain.hierarchy
    low, high, missing = class_ends(axis, labels, classes)
    empty = np.isnan(low)
    height, node = tree.lowest_common(whole_numbers(low), whole_numbers(high))
    if level is not None:
        if not 0 <= level < tree.levels or (height > level).any():
            raise InvalidParameter(
                f"level={level} of column={axis.name!r} must be a level at which every class has one node"
            )
        height, node = np.full(classes, level), tree.nodes[level, whole_numbers(low)]
        empty &= level < tree.levels - 1
    starts = np.cumsum([0, *map(len, tree.labels)])
    shown = pl.concat([tree.cells(each) for each in range(tree.levels)])
    place = starts[height] + node
    root = (shown == SUPPRESSED).to_numpy()[place]
    covered = np.concatenate(tree.leaf_counts)[place]
    return leaf_cells(
        shown.gather(place),
        np.where(height == 0, 1, covered),
        tree.leaves,
        empty=empty,
        suppressed=~empty & (root | (missing > 0)),
    )


@dataclass(frozen=True)
class Nodes:
    """:func:`nodes` as data."""

    level: int | None = None

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        return nodes(axis, labels, classes, level=self.level)
