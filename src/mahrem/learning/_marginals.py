"""Synthetic tables from noisy marginals: columns, privately selected cliques, one consistent joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem import check
from mahrem.dp import Facts, Ledger
from mahrem.errors import InvalidParameter
from mahrem.learning._clique_growth import Growth, grow_cliques, marginal_counts, whole_shares
from mahrem.learning._clique_tree import Clique, CliqueTree, Measured, fit_tree
from mahrem.learning._coarse_groups import CoarseGroups, coarse_groups
from mahrem.learning._marginal_plan import MarginalPlan, plan_marginals, refuse_budget, refuse_too_little
from mahrem.learning._marginals_fit import MarginalsFit
from mahrem.learning._synthetic_domain import DeclaredColumn, DeclaredDomain
from mahrem.learning._synthetic_schema import SyntheticSchema
from mahrem.table import Reading, open_source
from mahrem.types import Integers

__all__ = ["Marginals"]

USEFUL = 1.0  # cells of a clique at most: each holds on average what its noise deviates by


@dataclass(frozen=True, kw_only=True)
class Marginals:
    """A synthesiser of tables: noisy marginals, privately selected, made one distribution.

    Every column is counted once with noise and its cells gathered into groups that stand out from it. Then
    columns are added one by one to a tree of cliques, each selected by how strongly it depends on a clique
    that is there, and counted with noise. Mirror descent finds one distribution that fits all counts.

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
        See :func:`~mahrem.learning.grow_cliques` and :func:`~mahrem.learning.fit_tree`.

    Example:
        >>> import polars as pl
        >>> facts = {"age": {"lower": 0, "upper": 99}, "ill": {"categories": ["no", "yes"]}}
        >>> ledger = Ledger.temporary(epsilon=1, delta=1e-6, columns=facts, rows=5000)
        >>> table = pl.DataFrame({"age": np.arange(5000) % 100, "ill": ["no", "yes"] * 2500})
        >>> fitted = Marginals(epsilon=1, delta=1e-6).fit(table, ledger=ledger)
        >>> fitted.sample(3, seed=1).columns, fitted.cost_
        (['age', 'ill'], (1.0, 1e-06))
    """

    epsilon: float
    delta: float
    target: str | None = None
    schema: SyntheticSchema = field(default_factory=SyntheticSchema)
    width: int = 2
    groups: int = 16

    def __post_init__(self) -> None:
        refuse_budget(self.epsilon, self.delta)
        check.between(1, 4, width=check.whole(width=self.width))
        check.between(2, 256, groups=check.whole(groups=self.groups))

    def fit(
        self, table: object, facts: Facts | None = None, *, ledger: Ledger, reading: Reading | None = None
    ) -> MarginalsFit:
        """Pay, count with noise, and fit.

        Args:
            table: A frame, a file or a database.
            facts: What is public; by default what the ledger knows.
            ledger: Pays.
            reading: How to read the table.

        Raises:
            Infeasible: If noise would hide every count; nothing was spent.
            BudgetExceeded: If the ledger does not cover it; nothing was spent.
        """
        how, unit = reading or Reading(), ledger.unit
        public = ledger.facts if facts is None else facts
        columns = open_source(table, how).columns
        domain = self.schema.domain(public, [name for name in columns if name != unit.subject])
        modelled = [column for column in domain.columns if column.name not in self.schema.totals]
        if self.target is not None and self.target not in [column.name for column in modelled]:
            raise InvalidParameter(f"target={self.target!r} must be a column to be synthesised, and no total")
        plan = self._plan(modelled, public.rows, ledger)
        ledger.refuse_other(table, how, columns)
        ledger.spend(
            plan.event,
            what=f"synthesis by marginals of {len(modelled)} columns",
            epsilon=plan.epsilon,
            delta=plan.delta,
        )
        inner = DeclaredDomain(columns=tuple(modelled), facts=public)
        codes = inner.codes(table, unit, how)
        groups, singles, total = _one_ways(codes, inner, plan, self.groups, public.rows)
        tree, measured = self._grown(codes, inner, plan, groups, total)
        potentials = fit_tree(tree, [*singles, *measured], total)
        return MarginalsFit(
            settings=self,
            domain=domain,
            plan=plan,
            rows_=max(1, round(total)) if public.rows is None else public.rows,
            promise=_promise(plan, ledger),
            modelled=tuple(column.name for column in modelled),
            groups=groups,
            tree=tree,
            potentials=tuple(potentials),
        )

    def _plan(self, columns: Sequence[DeclaredColumn], rows: int | None, ledger: Ledger) -> MarginalPlan:
        refuse_too_little(
            self.epsilon,
            self.delta,
            columns=len(columns),
            cells=min(column.cells for column in columns),
            rows=rows,
            relation=ledger.relation,
            unit=ledger.unit,
        )
        return plan_marginals(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            columns=len(columns),
            relation=ledger.relation,
            unit=ledger.unit,
        )

    def _grown(
        self,
        codes: Integers,
        domain: DeclaredDomain,
        plan: MarginalPlan,
        groups: Sequence[CoarseGroups],
        total: float,
    ) -> tuple[CliqueTree, list[Measured]]:
        sizes = tuple(one.size for one in groups)
        coarse = np.stack([one.group[codes[:, place]] for place, one in enumerate(groups)], axis=1)
        deviation = 1.0 if plan.clique is None else plan.clique.scale
        growth = Growth(
            sizes=sizes,
            target=None if self.target is None else domain.names.index(self.target),
            width=self.width,
            most=max(16, int(total / (USEFUL * deviation))),
            deviation=deviation,
            shares=tuple(whole_shares(one.weight) for one in groups),
        )
        if plan.selection is None or plan.clique is None:
            return CliqueTree(sizes, (Clique((0,), -1),)), []
        cliques, measured = grow_cliques(coarse, growth, plan.selection, plan.clique)
        return CliqueTree(sizes, cliques), measured


def _one_ways(
    codes: Integers, domain: DeclaredDomain, plan: MarginalPlan, most: int, rows: int | None
) -> tuple[list[CoarseGroups], list[Measured], float]:
    """Count every column with noise; gives groups, their counts, and the number of rows they speak of."""
    sizes = [column.cells for column in domain.columns]
    deviation = plan.one_way.scale
    noisy = [
        np.asarray(plan.one_way(marginal_counts(codes, (place,), sizes).tolist()), dtype=np.float64)
        for place in range(len(sizes))
    ]
    # Every column adds up to the number of rows; long columns say it less exactly.
    weight = np.array([1 / size for size in sizes])
    total = float((weight * [counts.sum() for counts in noisy]).sum() / weight.sum())
    total = max(total, deviation, 1.0) if rows is None else float(rows)
    groups, singles = [], []
    for place, (column, counts) in enumerate(zip(domain.columns, noisy, strict=True)):
        made = coarse_groups(
            counts,
            deviation=deviation,
            ordered=column.kind != "category",
            apart=int(column.gaps),
            most=most,
        )
        groups.append(made)
        gathered = np.bincount(made.group, weights=counts).astype(np.float64)
        cells = float(np.bincount(made.group).mean())
        singles.append(Measured((place,), gathered, deviation * cells**0.5))
    return groups, singles, total


def _promise(plan: MarginalPlan, ledger: Ledger) -> str:
    what = "one row more or less" if str(ledger.relation) == "add-remove" else "one row exchanged"
    if ledger.unit.subject is not None:
        what = f"all rows of one person (at most {ledger.unit.rows} are used), {ledger.relation}"
    cliques = ""
    if plan.clique is not None and plan.selection is not None:
        cliques = (
            f", {plan.columns - 1} selections by the exponential mechanism (epsilon "
            f"{plan.selection.epsilon:.4g} each) and as many cliques counted with deviation "
            f"{plan.clique.scale:.4g}"
        )
    return (
        f"({plan.epsilon:g}, {plan.delta:g})-differentially private for tables that differ in {what}: "
        f"{plan.columns} columns counted with discrete Gaussian noise of deviation {plan.one_way.scale:.4g}"
        f"{cliques}. Noise is drawn exactly (OpenDP) on whole numbers. Sampling is post-processing. Not "
        f"hidden: running time."
    )
