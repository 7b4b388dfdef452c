"""Rows from a tree of cliques, column after column, with rounding under control."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mahrem.learning.synthesis._clique_tree import CliqueTree
from mahrem.types import Floats, Integers


def tree_sample(
    tree: CliqueTree, conditionals: Sequence[Floats], rows: int, rng: np.random.Generator
) -> Integers:
    """Draw rows: the first column, then each next one given those it hangs on.

    Args:
        tree: The cliques.
        conditionals: As :meth:`CliqueTree.conditionals` gives them.
        rows: How many.
        rng: Draws.

    Guarantees:
        - Rows come in random order, each from the distribution of the tree.
        - Among rows that agree on what a column hangs on, each run of neighbouring values occurs as often
          as expected, give or take one row.

    Example:
        >>> from mahrem.learning.synthesis._clique_tree import Clique
        >>> tree = CliqueTree((2,), (Clique((0,), -1),))
        >>> drawn = tree_sample(tree, [np.array([0.25, 0.75])], 8, np.random.default_rng(0))
        >>> int(drawn.sum())
        6
    """
    sample = np.zeros((rows, len(tree.sizes)), dtype=np.int64)
    for clique, table in zip(tree.cliques, conditionals, strict=True):
        above = clique.columns[:-1]
        shape = tuple(tree.sizes[column] for column in above)
        group = (
            np.ravel_multi_index(tuple(sample[:, column] for column in above), shape)
            if above
            else np.zeros(rows, dtype=np.int64)
        )
        sample[:, clique.columns[-1]] = spread_draw(table.reshape(-1, table.shape[-1]), group, rng)
    return sample


def spread_draw(table: Floats, group: Integers, rng: np.random.Generator) -> Integers:
    """Draw one value for each row from its group's distribution by an evenly spaced comb per group.

    Args:
        table: ``(groups, values)`` probabilities; rows add up to 1.
        group: ``(n,)`` which distribution each row has.
        rng: Draws.
    """
    rows = len(group)
    if rows == 0:
        return np.zeros(0, dtype=np.int64)
    shuffled = rng.permutation(rows)
    order = shuffled[np.argsort(group[shuffled], kind="stable")]  # random inside a group
    sizes = np.bincount(group, minlength=len(table))
    starts = np.cumsum(sizes) - sizes
    owner = group[order]
    tooth = (np.arange(rows) - starts[owner] + rng.random(len(table))[owner]) / sizes[owner]
    edges = np.cumsum(table, axis=1)
    edges /= edges[:, -1:]
    edges[:, -1] = 1.0
    flat = (edges + np.arange(len(table))[:, None]).ravel()  # rises over all groups: one search for all
    place = np.searchsorted(flat, np.minimum(tooth, 1 - 1e-12) + owner, side="right")
    values = np.empty(rows, dtype=np.int64)
    values[order] = np.clip(place - owner * table.shape[1], 0, table.shape[1] - 1)
    return values
