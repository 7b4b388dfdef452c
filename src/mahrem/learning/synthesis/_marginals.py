"""Synthetic tables from noisy marginals: columns, privately selected cliques, one consistent joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.dp.noise import IntegerNoise
from mahrem.learning.synthesis._clique_growth import Growth, grow_cliques, marginal_counts, whole_shares
from mahrem.learning.synthesis._clique_tree import Clique, CliqueTree, Measured, fit_tree
from mahrem.learning.synthesis._drawn_tables import ModelledTable
from mahrem.learning.synthesis._marginal_plan import MarginalPlan, plan_marginals, refuse_too_little
from mahrem.learning.synthesis._marginals_fit import MarginalsFit
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._table_synthesiser import CodedTable, TableSynthesiser, neighbours_in_words
from mahrem.types import Integers

USEFUL = 1.0  # cells of a clique at most: each holds on average what its noise deviates by


@dataclass(frozen=True, kw_only=True)
class Marginals(TableSynthesiser[MarginalPlan, MarginalsFit]):
    """A synthesiser of tables: noisy marginals, privately selected, made one distribution.

    Every column is counted once with noise and its cells gathered into groups that stand out from it. Then
    columns are added one by one to a tree of cliques, each selected by how strongly it depends on a clique
    that is there, and counted with noise. Mirror descent finds one distribution that fits all counts. A tree
    cannot close loops: where they stand out from noise, all pairs of columns are counted as well, and rows
    drawn from the tree are weighted until they agree with everything.

    Args:
        epsilon: What the fit may cost.
        delta: The same.
        target: A column to predict: every clique then holds it.
        schema: Columns, kinds, gaps and rules, beside what the ledger knows.
        width: Columns that a column hangs on at most, the target among them: 2 counts up to three together.
        groups: Groups of a column at most.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit; paid for before a value is looked at.
        - No domain is read off the data; an undeclared value is missing or leaves its row out.
        - Sampling looks at the noisy model only, and costs nothing.

    References:
        See ``grow_cliques`` and ``fit_tree`` of this room.

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

    title: ClassVar[str] = "marginals"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.between(1, 4, width=check.whole(width=self.width))

    def plan(self, domain: DeclaredDomain, rows: int | None, ledger: Ledger) -> MarginalPlan:
        refuse_too_little(
            self.epsilon,
            self.delta,
            columns=len(domain.columns),
            cells=min(column.cells for column in domain.columns),
            rows=rows,
            relation=ledger.relation,
            unit=ledger.unit,
        )
        return plan_marginals(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            columns=len(domain.columns),
            relation=ledger.relation,
            unit=ledger.unit,
            rows=rows,
        )

    def modelled(self, table: CodedTable, plan: MarginalPlan, about: ModelledTable) -> MarginalsFit:
        tree, measured = self._grown(table, plan)
        known, total = [*table.columns.singles, *measured], table.columns.total
        potentials = fit_tree(tree, known, total)
        fitted = MarginalsFit(about=about, plan=plan, tree=tree, potentials=tuple(potentials))
        if plan.pair is None:
            return fitted
        coarse = table.columns.coarse(table.codes)
        pairs = [
            _counted_pair(coarse, pair, tree.sizes, plan.pair)
            for pair in combinations(range(plan.columns), 2)
        ]
        return fitted.raked([*known, *pairs], total)

    def promise(self, plan: MarginalPlan, ledger: Ledger) -> str:
        cliques = ""
        if plan.clique is not None and plan.selection is not None:
            cliques = (
                f", {plan.columns - 1} selections by the exponential mechanism (epsilon "
                f"{plan.selection.epsilon:.4g} each) and as many cliques counted with deviation "
                f"{plan.clique.scale:.4g}"
            )
        if plan.pair is not None:
            cliques += f", {plan.pairs} pairs of columns counted with deviation {plan.pair.scale:.4g}"
        return (
            f"{neighbours_in_words(plan, ledger)}: {plan.columns} columns counted with discrete Gaussian "
            f"noise of deviation {plan.one_way.scale:.4g}{cliques}. Noise is drawn exactly (OpenDP) on whole "
            f"numbers. Sampling is post-processing. Not hidden: running time."
        )

    def _grown(self, table: CodedTable, plan: MarginalPlan) -> tuple[CliqueTree, list[Measured]]:
        groups = table.columns.groups
        sizes = tuple(one.size for one in groups)
        deviation = 1.0 if plan.clique is None else plan.clique.scale
        growth = Growth(
            sizes=sizes,
            target=None if self.target is None else table.domain.names.index(self.target),
            width=self.width,
            most=max(16, int(table.columns.total / (USEFUL * deviation))),
            deviation=deviation,
            shares=tuple(whole_shares(one.weight) for one in groups),
        )
        if plan.selection is None or plan.clique is None:
            return CliqueTree(sizes, (Clique((0,), -1),)), []
        coarse = table.columns.coarse(table.codes)
        cliques, measured = grow_cliques(coarse, growth, plan.selection, plan.clique)
        return CliqueTree(sizes, cliques), measured


def _counted_pair(
    codes: Integers, pair: tuple[int, int], sizes: Sequence[int], noise: IntegerNoise
) -> Measured:
    counts = marginal_counts(codes, pair, sizes)
    noisy = np.asarray(noise([int(one) for one in counts.ravel()]), dtype=np.float64)
    return Measured(pair, noisy.reshape(counts.shape), noise.scale)
