"""Nodes of a given hierarchy: the lowest one over all values of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.recode._recoding import SUPPRESSED, class_ends, leaf_cells, whole_numbers
from mahrem.table import Axis, Cells, Leaves, write_labels
from mahrem.types import Labels

__all__ = ["Nodes", "nodes"]


def nodes(axis: Axis, labels: Labels, classes: int) -> Cells:
    """Show the lowest node of the hierarchy that covers the class; the root is shown as ``*``.

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
    level, node = tree.lowest_common(whole_numbers(low), whole_numbers(high))
    starts = np.cumsum([0, *map(len, tree.labels)])
    names = pl.Series([name for names in tree.labels for name in names], dtype=pl.String)
    place = starts[level] + node
    root = (names == SUPPRESSED).to_numpy()[place] & (level > 0)
    covered = np.concatenate(tree.leaf_counts)[place]
    return leaf_cells(
        write_labels(names).gather(place),
        np.where(level == 0, 1, covered),
        tree.leaves,
        empty=empty,
        suppressed=~empty & (root | (missing > 0)),
    )


@dataclass(frozen=True)
class Nodes:
    """:func:`nodes` as data."""

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        return nodes(axis, labels, classes)
