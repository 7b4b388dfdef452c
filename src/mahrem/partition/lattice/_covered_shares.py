"""How much of all combinations of values the cells of a class cover, and how many people are around it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mahrem.partition.lattice._column_objectives import Penalties, domain_share, penalties_of
from mahrem.partition.lattice._lattice import Grouped, Lattice, Tree, lattice_of_trees
from mahrem.types import Floats, Mask


@dataclass(frozen=True)
class CoveredShares:
    """What share of all combinations of values the cells of a class stand for, as a logarithm."""

    lattice: Lattice = field(repr=False)
    logarithms: Penalties = field(repr=False)
    most: float  # logarithm of all combinations

    @classmethod
    def of(cls, lattice: Lattice) -> CoveredShares:
        """Prepare logarithms of domain shares."""
        most = sum(math.log(tree.nodes.shape[1]) for tree in lattice.trees)
        return cls(lattice, penalties_of(lattice, _logarithm), most)

    def combinations(self, grouped: Grouped, chosen: Mask) -> Floats:
        """Give the logarithm of how many combinations the cells of some classes stand for."""
        parts = [
            self.logarithms.by_class(self.lattice, grouped, column, chosen)
            for column in range(len(self.lattice.trees))
        ]
        covered: Floats = np.sum(parts, axis=0) + self.most
        return covered

    def losses(self, grouped: Grouped, chosen: Mask) -> Floats:
        """Give the information loss of a row in some classes: 0 for values as they are, 1 at the root."""
        if not self.most:
            return np.zeros(int(chosen.sum()))
        losses: Floats = np.clip(self.combinations(grouped, chosen) / self.most, 0.0, 1.0)
        return losses


def _logarithm(tree: Tree, level: int) -> Floats:
    return np.log(domain_share(tree, level))


def people_of(lattice: Lattice) -> Lattice | None:
    """Give a lattice with the same classes in which everybody around the table counts; None without them."""
    if lattice.members is None:
        return None
    return lattice_of_trees(lattice.trees, len(lattice.members))
