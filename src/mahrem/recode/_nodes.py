"""Nodes of a given hierarchy: the lowest one over all values of a class, or the one at a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.recode._recoding import class_ends, whole_numbers, word_cells
from mahrem.table import Axis, Cells, Leaves
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Labels


@dataclass(frozen=True)
class Nodes:
    """Show the lowest node of the hierarchy that covers the class; the root is shown as ``*``.

    Args:
        level: Show the node at this level instead, 0 for the value itself; all values of a class must lie
            under one. At the last level everything is ``*``, missing values too.

        least: Show no node below this level.

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
        >>> Nodes()(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['lung', 'gout']
    """

    level: int | None = None
    least: int = 0

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        if not isinstance(axis.domain, Leaves):
            raise InvalidParameter(f"recoding='nodes' needs a hierarchy for column={axis.name!r}")
        tree = axis.domain.hierarchy
        low, high, missing = class_ends(axis, labels, classes)
        empty = np.isnan(low)
        height, node = tree.lowest_common(whole_numbers(low), whole_numbers(high))
        raised = height < self.least
        height = np.maximum(height, self.least)
        node = np.where(raised, tree.nodes[self.least, whole_numbers(low)], node)
        if self.level is not None:
            if not 0 <= self.level < tree.levels or (height > self.level).any():
                raise InvalidParameter(
                    f"level={self.level} of column={axis.name!r} must be a level "
                    "at which every class has one node"
                )
            height, node = np.full(classes, self.level), tree.nodes[self.level, whole_numbers(low)]
            empty &= self.level < tree.levels - 1
        starts = np.cumsum([0, *map(len, tree.labels)])
        shown = pl.concat([tree.cells(each) for each in range(tree.levels)])
        place = starts[height] + node
        root = (shown == SUPPRESSED).to_numpy()[place]
        return word_cells(shown.gather(place), empty=empty, suppressed=~empty & (root | (missing > 0)))
