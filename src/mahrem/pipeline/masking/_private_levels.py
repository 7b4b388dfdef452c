"""Levels of columns chosen privately, and rows of a sample shown at them: what docs/theory proves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.dp import Relation, noised
from mahrem.dp.accounting import (
    STEPS,
    Approximate,
    Composed,
    Event,
    Pure,
    largest_rate,
    sampled_counts_threshold,
    sparing_rate,
)
from mahrem.dp.noise import Exponential, GlobalSensitivity
from mahrem.errors import InvalidParameter
from mahrem.learning.private import new_stream
from mahrem.partition.lattice import Tree, lattice_of_trees
from mahrem.table import Hierarchy
from mahrem.types import Integers

UNIT = 1 << 20  # what a row shown as it is scores; scores are whole numbers
MOST_NODES = 200_000

Node = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LevelPlan:
    """Every public number of a run; all of it is paid for before the first row is read.

    Attributes:
        epsilon: What the run costs; ``delta`` the same.
        levels_epsilon: Part of it for choosing levels.
        rate: Each row is sampled with this probability.
        k: Sampled rows that a class must have to be shown.
    """

    epsilon: float
    delta: float
    levels_epsilon: float
    rate: float
    k: int

    @classmethod
    def of(cls, epsilon: float, delta: float, *, rate: float | None, share: float) -> LevelPlan:
        """Split a budget; the rate that is usual needs the smallest classes."""
        check.above_zero(epsilon=check.finite(epsilon=epsilon))
        check.above_zero(delta=delta)
        check.between(0, 1, share=share)
        if not 0 < share < 1:
            raise InvalidParameter(f"share={share:g} must lie between 0 and 1, both outside")
        levels = epsilon * share
        rest = epsilon - levels
        drawn = sparing_rate(rest, delta) if rate is None else _in_steps(rate, rest)
        k = sampled_counts_threshold(rest, delta, drawn)
        return cls(epsilon=epsilon, delta=delta, levels_epsilon=levels, rate=drawn, k=k)

    @property
    def rows_epsilon(self) -> float:
        """The part of epsilon that pays for rows."""
        return self.epsilon - self.levels_epsilon

    @property
    def margin(self) -> int:
        """Rows of the table from which a class is expected to be shown."""
        return math.ceil(self.k / self.rate)

    @property
    def event(self) -> Event:
        """What the run costs."""
        return Composed((Pure(self.levels_epsilon), Approximate(self.rows_epsilon, self.delta)))

    @property
    def selection(self) -> Exponential:
        """What chooses levels: one row moves no score by more than ``UNIT``."""
        reach = GlobalSensitivity(
            relation=Relation.ADD_REMOVE, l1=UNIT, l2_squared=UNIT**2, linf=UNIT, single=False
        )
        return Exponential(epsilon=self.levels_epsilon, sensitivity=reach)


def _in_steps(rate: float, epsilon: float) -> float:
    check.between(0, 1, beta=rate)
    check.above_zero(beta=rate)
    if rate > largest_rate(epsilon):
        raise InvalidParameter(
            f"beta={rate:g} must be at most {largest_rate(epsilon):.6g}: whoever is absent is covered by "
            f"1 - exp(-epsilon), of the part of epsilon that pays for rows"
        )
    return max(1, math.floor(rate * STEPS)) / STEPS


def level_nodes(trees: Sequence[Hierarchy]) -> list[Node]:
    """List all nodes; too many are refused by what is public."""
    count = math.prod(tree.levels for tree in trees)
    if count > MOST_NODES:
        raise InvalidParameter(
            f"hierarchies make {count:,} nodes, and at most {MOST_NODES:,} are scored; "
            f"leave out columns or levels"
        )
    return list(itertools.product(*(range(tree.levels) for tree in trees)))


def level_scores(
    leaves: Integers, trees: Sequence[Hierarchy], margin: int, weights: Sequence[float]
) -> list[int]:
    """Score every node: rows beyond the first ``margin`` of their class, by how much their cells tell.

    A cell tells the logarithm of the nodes at its level over that of the leaves: public, from 0 at the root
    to 1 for values as they are; columns count by their weights.

    Args:
        leaves: ``(n, d)`` leaf of each row in each tree.
        trees: One for each column.
        margin: Rows of a class that count nothing.
        weights: How much each column counts.

    Guarantees:
        - One row more or less changes no score by more than ``UNIT``: it changes the size of one class by 1.
        - Scores depend on nothing but how many rows share each combination of leaves.
    """
    nodes = level_nodes(trees)
    if not len(leaves):
        return [0] * len(nodes)
    grown = tuple(
        Tree(leaves[:, place].astype(np.int64), tree.nodes, np.zeros(tree.nodes.shape))
        for place, tree in enumerate(trees)
    )
    lattice = lattice_of_trees(grown, len(leaves))
    details = [_detail_by_level(tree) for tree in trees]
    whole = math.fsum(weights)
    scores = []
    for node in nodes:
        sizes = lattice.classes(node).sizes
        beyond = int(np.maximum(sizes - margin, 0).sum())
        worth = math.fsum(w * one[level] for w, one, level in zip(weights, details, node, strict=True))
        scores.append(math.floor(min(1.0, worth / whole) * UNIT) * beyond)
    return scores


def _detail_by_level(tree: Hierarchy) -> list[float]:
    """Say for each level how much a cell tells."""
    if tree.leaves == 1:
        return [0.0] * tree.levels
    counts = [int(level.max()) + 1 for level in tree.nodes]
    return [math.log(count) / math.log(tree.leaves) for count in counts]


@dataclass(frozen=True)
class ShownClasses:
    """What is published: cells of each class, by column the number of its node, and its sampled rows."""

    levels: Node
    nodes: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]


def shown_classes(leaves: Integers, trees: Sequence[Hierarchy], plan: LevelPlan, node: Node) -> ShownClasses:
    """Sample rows and count those that look alike at a node; classes below k are left out.

    Guarantees:
        - Every row is sampled by itself, by a secret generator, with a probability that is exactly
          ``plan.rate``.
        - What is left out leaves no trace, not even how many rows it was.
    """
    reach = GlobalSensitivity(relation=Relation.ADD_REMOVE, l1=1, l2_squared=1, linf=1, single=True)
    cost = Approximate(plan.rows_epsilon, plan.delta)

    def draw() -> ShownClasses:
        chosen = leaves[new_stream().chosen(0, len(leaves), plan.rate)]
        lifted = [tree.nodes[level][chosen[:, place]] for place, (tree, level) in enumerate(_at(trees, node))]
        shown, sizes = np.unique(np.column_stack(lifted), axis=0, return_counts=True)
        large = sizes >= plan.k
        cells = tuple(tuple(int(code) for code in row) for row in shown[large])
        return ShownClasses(node, cells, tuple(int(size) for size in sizes[large]))

    return noised("sampled-counts", [len(leaves)], reach, cost, draw)


def _at(trees: Sequence[Hierarchy], node: Node) -> list[tuple[Hierarchy, int]]:
    return list(zip(trees, node, strict=True))
