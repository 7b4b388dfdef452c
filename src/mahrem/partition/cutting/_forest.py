"""From the hierarchies of columns to the packed trees that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mahrem.arrays import cutting
from mahrem.errors import InvalidParameter
from mahrem.types import Integers, Points

if TYPE_CHECKING:
    from mahrem.table import Hierarchy


def forest_of(hierarchies: Sequence[Hierarchy | None], columns: int) -> cutting.Forest:
    """Pack the trees of a table's columns; no hierarchies at all means none for every column.

    Args:
        hierarchies: One for each column of the points, None for those without.
        columns: How many columns the points have.

    Example:
        >>> from mahrem.table import Hierarchy
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> forest = forest_of([None, tree], 2)
        >>> forest.first.tolist(), forest.leaves.tolist(), forest.levels.tolist()
        ([-1, 0], [0, 3], [0, 3])
        >>> forest.shares.round(2).tolist()
        [0.0, 0.0, 0.0, 0.67, 0.67, 0.0, 1.0, 1.0, 1.0]
    """
    trees = list(hierarchies) or [None] * columns
    if len(trees) != columns:
        raise InvalidParameter(f"hierarchies={len(trees)} must be one for each of the {columns} columns")
    blocks = [tree.nodes for tree in trees if tree is not None]
    sizes = np.array([0 if tree is None else tree.nodes.size for tree in trees], np.int64)
    here = np.array([tree is not None for tree in trees])
    return cutting.Forest(
        first=np.where(here, np.cumsum(sizes) - sizes, -1),
        leaves=np.array([0 if tree is None else tree.leaves for tree in trees], np.int64),
        levels=np.array([0 if tree is None else tree.levels for tree in trees], np.int64),
        nodes=np.concatenate([block.ravel() for block in blocks]) if blocks else np.empty(0, np.int64),
        shares=(
            np.concatenate([_shares(tree) for tree in trees if tree is not None])
            if blocks
            else np.empty(0, np.float64)
        ),
    )


def leaves_of(points: Points, column: int, hierarchy: Hierarchy) -> Integers:
    """Give the leaf of every row in a column that has a hierarchy, -1 where the value is missing.

    Example:
        >>> from mahrem.table import Hierarchy
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> leaves_of(np.array([[0.5], [-1.0], [1.0]]), 0, tree)
        array([ 1, -1,  2])
    """
    places = points[:, column]
    leaves = np.rint(places * (hierarchy.leaves - 1)).astype(np.int64)
    return np.where(places < 0, -1, leaves)


def _shares(tree: Hierarchy) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    counts = [count[nodes] for count, nodes in zip(tree.leaf_counts, tree.nodes, strict=True)]
    covered = np.concatenate(counts).astype(np.float64)
    return np.where(covered > 1, covered / tree.leaves, 0.0)
