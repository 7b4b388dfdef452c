"""A fitted model of marginals: what it says of itself, and groups drawn from it, under conditions too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem.learning.synthesis._clique_tree import CliqueTree
from mahrem.learning.synthesis._drawn_tables import DrawGroups, DrawnTable, GroupConditions
from mahrem.learning.synthesis._marginal_plan import MarginalPlan
from mahrem.learning.synthesis._tree_sampling import tree_sample
from mahrem.types import Floats


@dataclass(frozen=True, kw_only=True)
class MarginalsFit(DrawnTable):
    """A fitted tree of marginals."""

    plan: MarginalPlan = field(repr=False)
    tree: CliqueTree = field(repr=False)
    potentials: tuple[Floats, ...] = field(repr=False)

    def details(self) -> dict[str, Any]:
        names = self.about.modelled
        return {
            "cliques": [[names[column] for column in clique.columns] for clique in self.tree.cliques],
            "deviation": {
                "columns": self.plan.one_way.scale,
                "cliques": None if self.plan.clique is None else self.plan.clique.scale,
            },
        }

    def drawer(self, admitted: GroupConditions) -> DrawGroups:
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
