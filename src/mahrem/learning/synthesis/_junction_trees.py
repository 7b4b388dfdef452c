"""Sets of columns that overlap in loops, laid out as one tree of cliques, and sums over any columns of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from mahrem.learning.synthesis._clique_tree import Clique, CliqueTree
from mahrem.types import Floats

CELL_BYTES = 8


def junction_tree(sizes: Sequence[int], sets: Collection[Sequence[int]]) -> CliqueTree:
    """Find a tree of cliques in which every set of columns lies inside one clique.

    Columns are taken out one by one, the one whose neighbours make the smallest table first; a column and its
    neighbours at that time are a clique. Put back in reverse order, each hangs on an earlier one.

    Guarantees:
        - Each set lies inside one clique; each clique adds one column to columns of an earlier one.

    References:
        Lauritzen, Spiegelhalter: Local computations with probabilities on graphical structures, 1988.

    Example:
        >>> junction_tree((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)]).cliques[-1].columns
        (1, 3, 0)
    """
    near: list[set[int]] = [set() for _ in sizes]
    for columns in sets:
        for column in columns:
            near[column].update(other for other in columns if other != column)
    left, taken = set(range(len(sizes))), []
    while left:
        column = min(left, key=lambda one: (math.prod(sizes[other] for other in near[one]) * sizes[one], one))
        taken.append((column, tuple(sorted(near[column]))))
        for other in near[column]:
            near[other] = (near[other] | near[column]) - {other, column}
        left.remove(column)
    cliques: list[Clique] = []
    for column, others in reversed(taken):
        parent = next((place for place, one in enumerate(cliques) if set(others) <= set(one.columns)), -1)
        cliques.append(Clique((*others, column), parent))
    return CliqueTree(tuple(sizes), tuple(cliques))


def megabytes(tree: CliqueTree) -> float:
    """Say how large the tables of the largest cliques are together."""
    sets = [set(clique.columns) for clique in tree.cliques]
    largest = [one for place, one in enumerate(sets) if not any(one < other for other in sets[place + 1 :])]
    return sum(math.prod(tree.sizes[column] for column in one) for one in largest) * CELL_BYTES / 2**20


def projected(tree: CliqueTree, conditionals: Sequence[Floats], columns: Sequence[int]) -> Floats:
    """Give the probabilities of some columns together, wherever they lie in the tree.

    Args:
        tree: The cliques.
        conditionals: As :meth:`CliqueTree.conditionals` gives them.
        columns: Which columns.

    Example:
        >>> tree = CliqueTree((2, 2), (Clique((0,), -1), Clique((0, 1), 0)))
        >>> projected(tree, [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.1, 0.9]])], (1,)).tolist()
        [0.5, 0.5]
    """
    needed = set(columns)
    parts: list[Any] = []
    for clique, table in zip(reversed(tree.cliques), reversed(conditionals), strict=True):
        if clique.columns[-1] in needed:  # what hangs below and is not asked for adds up to one
            needed.update(clique.columns)
            parts += [table, list(clique.columns)]
    return np.asarray(np.einsum(*parts, list(columns), optimize="greedy"), dtype=np.float64)
