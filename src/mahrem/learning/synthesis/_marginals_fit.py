"""A fitted model of marginals: what it says of itself, and groups drawn from it, under conditions too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from mahrem.dp.noise import IntegerNoise
from mahrem.learning.synthesis._clique_tree import CliqueTree
from mahrem.learning.synthesis._drawn_tables import DrawGroups, DrawnTable, GroupConditions
from mahrem.learning.synthesis._population import draw_rows
from mahrem.learning.synthesis._tree_sampling import tree_sample
from mahrem.types import Floats, Integers

ENOUGH = 200  # rows to draw from; fewer would come over and over


class CountingPlan(Protocol):
    """What a plan says of its noise."""

    @property
    def one_way(self) -> IntegerNoise:
        """Noise on the counts of each column."""
        ...


@dataclass(frozen=True, kw_only=True)
class MarginalsFit(DrawnTable):
    """A fitted tree of marginals, and weighted rows that stand for more than a tree can hold.

    Attributes:
        plan: What was paid for.
        tree: The cliques.
        potentials: Of the tree.
        rows: ``(n, d)`` groups; None where the tree is all there is.
        weights: ``(n,)`` of those rows.
        counted: Tables that were counted with noise, and its deviation.
    """

    plan: CountingPlan = field(repr=False)
    tree: CliqueTree = field(repr=False)
    potentials: tuple[Floats, ...] = field(repr=False)
    rows: Integers | None = field(default=None, repr=False)
    weights: Floats | None = field(default=None, repr=False)
    counted: Mapping[tuple[int, ...], float] = field(default_factory=dict, repr=False)

    def details(self) -> dict[str, Any]:
        names = self.about.modelled
        return {
            "cliques": [[names[column] for column in clique.columns] for clique in self.tree.cliques],
            "tables": [
                {"columns": [names[column] for column in columns], "deviation": deviation}
                for columns, deviation in self.counted.items()
            ],
            "deviation": {"columns": self.plan.one_way.scale},
        }

    def drawer(self, admitted: GroupConditions) -> DrawGroups:
        if self.rows is None or self.weights is None:
            return self._tree_drawer(admitted)
        rows, weights = self.rows, self.weights
        for place, kept in admitted.kept.items():
            weights = weights * kept[rows[:, place]]
        if np.count_nonzero(weights) < ENOUGH:
            return self._tree_drawer(admitted)
        return lambda count, rng: draw_rows(rows, weights, self.tree.sizes, count, rng)

    def _tree_drawer(self, admitted: GroupConditions) -> DrawGroups:
        potentials = list(self.potentials)
        for place, kept in admitted.kept.items():
            home = self.tree.home((place,))
            axis = self.tree.cliques[home].columns.index(place)
            shape = [1] * potentials[home].ndim
            shape[axis] = len(kept)
            with np.errstate(divide="ignore"):
                potentials[home] = potentials[home] + np.maximum(np.log(kept), -1e200).reshape(shape)
        conditionals = self.tree.conditionals(self.tree.marginals(potentials))
        return lambda rows, rng: tree_sample(self.tree, conditionals, rows, rng)
