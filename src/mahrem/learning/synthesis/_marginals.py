"""Synthetic tables from noisy marginals: columns, privately selected cliques, one consistent joint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._clique_growth import CountedTables, Growth, grow_cliques, whole_shares
from mahrem.learning.synthesis._clique_tree import Clique, CliqueTree, Measured, fit_tree
from mahrem.learning.synthesis._drawn_tables import ModelledTable
from mahrem.learning.synthesis._farthest_tables import WITH_TARGET, count_farthest
from mahrem.learning.synthesis._marginal_plan import (
    MarginalBudget,
    MarginalPlan,
    cells_of_pairs,
    fine_cells,
    plan_marginals,
    refuse_too_little,
    tells_classes,
)
from mahrem.learning.synthesis._marginals_fit import MarginalsFit
from mahrem.learning.synthesis._population import UNLIKELY, Population, rows_to_weigh
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._table_synthesiser import CodedTable, TableSynthesiser, neighbours_in_words
from mahrem.learning.synthesis._tree_sampling import tree_sample

USEFUL = 1.0  # cells of a clique at most: each holds on average what its noise deviates by


@dataclass(frozen=True, kw_only=True)
class Marginals(TableSynthesiser[MarginalPlan, MarginalsFit]):
    """A synthesiser of tables: noisy marginals, privately selected, made one distribution.

    Every column is counted once with noise and its cells gathered into groups that stand out from it. Then
    columns are added one by one to a tree of cliques, each selected by how strongly it depends on a clique
    that is there, and counted with noise. Mirror descent finds one distribution that fits all counts. A tree
    cannot close loops: in rounds, the tables of two and three columns that the model describes worst are
    selected and counted as well, and rows drawn from the tree are weighted and renewed until they agree with
    everything, as far as noise lets it be known.

    Args:
        epsilon: What the fit may cost.
        delta: The same.
        target: A column to predict: every clique then holds it, and its tables are counted first.
        schema: Columns, kinds, gaps and rules, beside what the ledger knows.
        width: Columns that a column of the tree hangs on at most, the target among them: 2 counts up to three
            together; 0 counts columns alone, and nothing that goes together is kept.
        groups: Groups of a column at most.
        rounds: Rounds at most that look for tables the model describes worst; 0 leaves the tree as it is, and
            so do public numbers that say noise would hide what a round could find.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit; paid for before a value is looked at.
        - No domain is read off the data; an undeclared value is missing or leaves its row out.
        - Sampling looks at the noisy model only, and costs nothing.

    References:
        See ``grow_cliques``, ``fit_tree`` and ``Population`` of this room; McKenna, Mullins, Sheldon, Miklau:
        AIM, 2022 (what the model describes worst is counted next).

    Example:
        >>> import numpy as np
        >>> import polars as pl
        >>> from mahrem.dp import Ledger
        >>> facts = {"age": {"lower": 0, "upper": 99}, "ill": {"categories": ["no", "yes"]}}
        >>> ledger = Ledger.temporary(epsilon=1, delta=1e-6, columns=facts, rows=5000)
        >>> table = pl.DataFrame({"age": np.arange(5000) % 100, "ill": ["no", "yes"] * 2500})
        >>> fitted = Marginals(epsilon=1, delta=1e-6).fit(table, ledger=ledger)
        >>> fitted.sample(3, seed=1).columns, fitted.cost_
        (['age', 'ill'], (1.0, 1e-06))
    """

    width: int = 2
    rounds: int = 6

    title: ClassVar[str] = "marginals"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.between(0, 4, width=check.whole(width=self.width))
        check.between(0, 50, rounds=check.whole(rounds=self.rounds))
        if self.target is not None and not self.width:
            raise InvalidParameter(
                f"width=0 keeps nothing that goes with target={self.target!r}; leave one of them out"
            )

    def plan(self, domain: DeclaredDomain, rows: int | None, ledger: Ledger) -> MarginalPlan:
        budget = MarginalBudget(float(self.epsilon), float(self.delta), ledger.relation, ledger.unit)
        columns = len(domain.columns)
        cells = min(column.cells for column in domain.columns)
        refuse_too_little(budget, columns=columns, cells=cells, rows=rows)
        return plan_marginals(
            budget,
            columns=columns,
            rows=rows,
            rounds=self.rounds,
            weight=1 if self.target is None else WITH_TARGET,
            alone=not self.width,
            cells=cells_of_pairs([min(column.cells, self.groups) for column in domain.columns]),
        )

    def fine(self, plan: MarginalPlan, rows: int | None) -> int:
        return fine_cells(plan.one_way.scale, rows)

    def counted_target(self, domain: DeclaredDomain, plan: MarginalPlan, rows: int | None) -> int | None:
        if self.target is None:
            return None
        cells = domain[self.target].cells
        return domain.names.index(self.target) if tells_classes(plan.one_way.scale, rows, cells) else None

    def modelled(self, table: CodedTable, plan: MarginalPlan, about: ModelledTable) -> MarginalsFit:
        sizes = tuple(one.size for one in table.columns.groups)
        tables = CountedTables(table.columns.coarse(table.codes), sizes)
        target = None if self.target is None else table.domain.names.index(self.target)
        tree, measured = self._grown(table, tables, plan, target)
        known, total = [*table.columns.singles, *measured], table.columns.total
        fitted = MarginalsFit(
            about=about,
            plan=plan,
            tree=tree,
            potentials=tuple(fit_tree(tree, known, total)),
            counted={one.columns: plan.clique.scale for one in measured if plan.clique is not None},
        )
        if not plan.rounds:
            return fitted
        conditionals = tree.conditionals(tree.marginals(fitted.potentials))
        rows = tree_sample(tree, conditionals, rows_to_weigh(total, len(sizes)), np.random.default_rng(0))
        population = Population(
            sizes,
            rows,
            total,
            {
                clique.columns: np.log(np.maximum(one, UNLIKELY)).ravel()
                for clique, one in zip(tree.cliques, conditionals, strict=True)
            },
        )
        population.believe(known)
        counted = count_farthest(population, tables, plan.rounds, target)
        return replace(
            fitted, rows=population.rows, weights=population.weights, counted={**fitted.counted, **counted}
        )

    def promise(self, plan: MarginalPlan, ledger: Ledger) -> str:
        more = ""
        if plan.clique is not None and plan.selection is not None:
            more = (
                f", {plan.columns - 1} selections by the exponential mechanism (epsilon "
                f"{plan.selection.epsilon:.4g} each) and as many cliques counted with deviation "
                f"{plan.clique.scale:.4g}"
            )
        if plan.rounds:
            more += (
                f", {plan.tables} more tables selected (epsilon {plan.rounds[0].selection.epsilon:.4g} to "
                f"{plan.rounds[-1].selection.epsilon:.4g} each) and counted with deviations "
                f"{plan.rounds[0].noise.scale:.4g} to {plan.rounds[-1].noise.scale:.4g}"
            )
        return (
            f"{neighbours_in_words(plan, ledger)}: {plan.columns} columns counted with discrete Gaussian "
            f"noise of deviation {plan.one_way.scale:.4g}{more}. Noise is drawn exactly (OpenDP) on whole "
            f"numbers. Sampling is post-processing. Not hidden: running time."
        )

    def _grown(
        self, table: CodedTable, tables: CountedTables, plan: MarginalPlan, target: int | None
    ) -> tuple[CliqueTree, list[Measured]]:
        if plan.selection is None or plan.clique is None:
            alone = tuple(Clique((column,), 0 if column else -1) for column in range(plan.columns))
            return CliqueTree(tables.sizes, alone), []
        growth = Growth(
            sizes=tables.sizes,
            target=target,
            width=self.width,
            most=max(16, int(table.columns.total / (USEFUL * plan.clique.scale))),
            deviation=plan.clique.scale,
            shares=tuple(whole_shares(one.weight) for one in table.columns.groups),
        )
        cliques, measured = grow_cliques(tables, growth, plan.selection, plan.clique)
        return CliqueTree(tables.sizes, cliques), measured
