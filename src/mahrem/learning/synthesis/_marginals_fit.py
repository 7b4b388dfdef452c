"""A fitted model of marginals: what it says of itself, and groups drawn from it, under conditions too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mahrem.learning.synthesis._clique_tree import CliqueTree, Measured
from mahrem.learning.synthesis._drawings import resampled
from mahrem.learning.synthesis._drawn_tables import DrawGroups, DrawnTable, GroupConditions
from mahrem.learning.synthesis._marginal_plan import MarginalPlan
from mahrem.learning.synthesis._raked_rows import rake
from mahrem.learning.synthesis._tree_sampling import tree_sample
from mahrem.types import Floats, Integers

DRAWN = 3.0  # rows that are weighted, for each that is described
FEWEST, MOST = 20_000, 200_000
ENOUGH = 200


@dataclass(frozen=True, kw_only=True)
class MarginalsFit(DrawnTable):
    """A fitted tree of marginals, and rows drawn from it with weights where loops were counted too.

    Attributes:
        plan: What was paid for.
        tree: The cliques.
        potentials: Of the tree.
        rows: ``(n, d)`` groups of rows that were drawn from the tree; None where the tree is all there is.
        weights: ``(n,)`` of those rows.
    """

    plan: MarginalPlan = field(repr=False)
    tree: CliqueTree = field(repr=False)
    potentials: tuple[Floats, ...] = field(repr=False)
    rows: Integers | None = field(default=None, repr=False)
    weights: Floats | None = field(default=None, repr=False)

    def raked(self, measured: Sequence[Measured], total: float) -> MarginalsFit:
        """Draw rows from the tree and weight them until they agree with all noisy counts."""
        count = int(min(max(DRAWN * total, FEWEST), MOST))
        draw = self._tree_drawer(GroupConditions((), {}, {}))
        rows = draw(count, np.random.default_rng(0))
        return replace(self, rows=rows, weights=rake(rows, self.tree.sizes, measured, total))

    def details(self) -> dict[str, Any]:
        names = self.about.modelled
        return {
            "cliques": [[names[column] for column in clique.columns] for clique in self.tree.cliques],
            "deviation": {
                "columns": self.plan.one_way.scale,
                "cliques": None if self.plan.clique is None else self.plan.clique.scale,
                "pairs": None if self.plan.pair is None else self.plan.pair.scale,
            },
        }

    def drawer(self, admitted: GroupConditions) -> DrawGroups:
        if self.rows is None or self.weights is None:
            return self._tree_drawer(admitted)
        rows = self.rows
        with np.errstate(divide="ignore"):
            likely = np.log(self.weights)
            for place, kept in admitted.kept.items():
                likely = likely + np.log(kept)[rows[:, place]]
        if np.isfinite(likely).sum() < ENOUGH:  # so few rows would be drawn over and over
            return self._tree_drawer(admitted)
        return lambda count, rng: rows[resampled(likely, count, rng)]

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
