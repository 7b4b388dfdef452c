"""AIM and MST: tables chosen by where the model is farthest off, one graphical model fitted by ``mbi``.

Both stand behind our ledger, our declared cells and our noise; ``mbi`` fits the model to noisy tables, which
is post-processing.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, Relation
from mahrem.dp.accounting import Event, rho_for
from mahrem.dp.noise import GlobalSensitivity, IntegerNoise
from mahrem.learning.synthesis._clique_growth import CountedTables
from mahrem.learning.synthesis._clique_tree import Measured
from mahrem.learning.synthesis._drawn_tables import ModelledTable
from mahrem.learning.synthesis._junction_trees import junction_tree, megabytes, projected
from mahrem.learning.synthesis._marginal_plan import (
    MarginalBudget,
    WholeExponential,
    count_noise,
    refuse_too_little,
)
from mahrem.learning.synthesis._marginals_fit import MarginalsFit
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._table_synthesiser import CodedTable, TableSynthesiser, neighbours_in_words
from mahrem.types import Floats

UNIT = 1 << 20  # scores are whole numbers of this part of a row
FITTED = 1000  # steps of mirror descent, as the authors take
MEASURED = 0.9  # of what a round costs; the rest selects
HALF_NORMAL = math.sqrt(2 / math.pi)


@dataclass(frozen=True, kw_only=True)
class GraphicalPlan:
    """What a run may cost as zero-concentrated differential privacy, and the noise on single columns.

    Attributes:
        rho: The whole budget.
        reach: How far one person moves counts of one table.
        moved: How far one person moves a score, in rows.
        one_way: Noise on the counts of each column.
        event: What the run costs.
    """

    epsilon: float
    delta: float
    columns: int
    rho: float
    reach: GlobalSensitivity = field(repr=False)
    moved: int
    one_way: IntegerNoise
    event: Event = field(repr=False)

    def noise(self, rho: float) -> IntegerNoise:
        """Make noise on counts that costs ``rho``."""
        sigma = math.nextafter(math.sqrt(self.reach.l2_squared / (2 * rho)), math.inf)
        return count_noise(sigma, self.reach, self.event, exact=False)

    def selection(self, rho: float, weight: int) -> WholeExponential:
        """Make what selects a score that counts up to ``weight`` times for ``rho``."""
        moved = self.moved * weight * UNIT
        scores = GlobalSensitivity(
            relation=self.reach.relation, l1=moved, l2_squared=moved**2, linf=moved, single=False
        )
        return WholeExponential(epsilon=math.sqrt(8 * rho), sensitivity=scores, whole=self.event)


@dataclass(frozen=True, kw_only=True)
class Graphical(TableSynthesiser[GraphicalPlan, MarginalsFit]):
    """What AIM and MST share; use one of them."""

    @abstractmethod
    def share(self, columns: int) -> float:
        """Say which part of the budget pays for single columns."""

    def plan(self, domain: DeclaredDomain, rows: int | None, ledger: Ledger) -> GraphicalPlan:
        engine()
        columns = len(domain.columns)
        budget = MarginalBudget(float(self.epsilon), float(self.delta), ledger.relation, ledger.unit)
        cells = min(column.cells for column in domain.columns)
        refuse_too_little(budget, columns=columns, cells=cells, rows=rows)
        rho = rho_for(self.epsilon, self.delta)
        everything, reach = budget.everything, budget.reach
        spent = rho * (self.share(columns) if columns > 1 else 1.0) / columns
        sigma = math.nextafter(math.sqrt(reach.l2_squared / (2 * spent)), math.inf)
        return GraphicalPlan(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            columns=columns,
            rho=rho,
            reach=reach,
            moved=ledger.unit.rows * (1 if ledger.relation is Relation.ADD_REMOVE else 2),
            one_way=count_noise(sigma, reach, everything, exact=False),
            event=everything,
        )

    def modelled(self, table: CodedTable, plan: GraphicalPlan, about: ModelledTable) -> MarginalsFit:
        coarse = table.columns.coarse(table.codes)
        sizes = tuple(one.size for one in table.columns.groups)
        model = GraphicalModel(sizes, table.columns.total, list(table.columns.singles))
        model.fit()
        if len(sizes) > 1:
            target = None if self.target is None else table.domain.names.index(self.target)
            self.learn(model, CountedTables(coarse, sizes), plan, target)
        return MarginalsFit(about=about, plan=plan, tree=model.tree, potentials=model.logarithms())

    def promise(self, plan: GraphicalPlan, ledger: Ledger) -> str:
        return (
            f"{neighbours_in_words(plan, ledger)}: {plan.columns} columns counted with discrete Gaussian "
            f"noise of deviation {plan.one_way.scale:.4g}, then tables selected by the exponential mechanism "
            f"and counted with such noise, {plan.rho:.4g}-zCDP in all. Noise is drawn exactly (OpenDP) on "
            f"whole numbers. Sampling is post-processing. Not hidden: running time."
        )

    @abstractmethod
    def learn(
        self, model: GraphicalModel, tables: CountedTables, plan: GraphicalPlan, target: int | None
    ) -> None:
        """Select tables, count them with noise, and fit the model to them."""


@dataclass(frozen=True, kw_only=True)
class Aim(Graphical):
    """AIM: in every round the table that the model describes worst is counted and the model fitted again.

    Tables of up to three columns are scored by how far the model is off, less what noise would add, and how
    many of all triples (with a target: of those with it) they serve. A round that moves the model by less
    than noise would makes the next ones dearer. The engine is ``mbi``, so this needs the extra ``mbi``.

    Args:
        epsilon: What the fit may cost.
        delta: The same.
        target: A column to predict: triples with it are what is served.
        schema: Columns, kinds, gaps and rules, beside what the ledger knows.
        groups: Groups of a column at most.
        rounds: How many rounds a column, if none grows dearer.
        largest: Megabytes of the tables of the model at most.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit; paid for before a value is looked at.

    References:
        McKenna, Mullins, Sheldon, Miklau: AIM: an adaptive and iterative mechanism, 2022.
    """

    rounds: int = 16
    largest: float = 80.0

    title: ClassVar[str] = "AIM"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.at_least(2, rounds=check.whole(rounds=self.rounds))
        check.above_zero(largest=self.largest)

    def share(self, columns: int) -> float:  # noqa: ARG002 - a round for each column
        return MEASURED / self.rounds

    def learn(
        self, model: GraphicalModel, tables: CountedTables, plan: GraphicalPlan, target: int | None
    ) -> None:
        weights = _workload(plan.columns, target)
        spent, each = plan.rho * self.share(plan.columns), plan.rho / (self.rounds * plan.columns)
        last = False
        while not last:
            last = plan.rho - spent < 2 * each
            each = plan.rho - spent if last else each
            spent += each
            room = self.largest * spent / plan.rho
            fitting = [
                one for one in weights if megabytes(junction_tree(tables.sizes, [*model.sets, one])) <= room
            ]
            noise = plan.noise(MEASURED * each)
            penalty = HALF_NORMAL * noise.scale
            scores = [
                weights[one] * (model.apart(tables, one) - round(UNIT * penalty * model.cells(one)))
                for one in fitting
            ]
            select = plan.selection((1 - MEASURED) * each, max(weights[one] for one in fitting))
            chosen = fitting[select(np.array(scores))]
            before = model.counts(chosen)
            model.add(tables.noisy(chosen, noise, noise.scale))
            if np.abs(model.counts(chosen) - before).sum() <= penalty * model.cells(chosen):
                each *= 4  # half the deviation


@dataclass(frozen=True, kw_only=True)
class Mst(Graphical):
    """MST: the pairs of columns that hang together most, as many as join all columns, counted with noise.

    The engine is ``mbi``, so this needs the extra ``mbi``.

    Args:
        epsilon: What the fit may cost.
        delta: The same.
        target: A column to predict; the tree begins with it.
        schema: Columns, kinds, gaps and rules, beside what the ledger knows.
        groups: Groups of a column at most.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit; paid for before a value is looked at.

    References:
        McKenna, Miklau, Sheldon: Winning the NIST contest (MST), 2021.
    """

    title: ClassVar[str] = "MST"

    def share(self, columns: int) -> float:  # noqa: ARG002 - a third for each of its three parts
        return 1 / 3

    def learn(
        self, model: GraphicalModel, tables: CountedTables, plan: GraphicalPlan, target: int | None
    ) -> None:
        edges, third = plan.columns - 1, plan.rho / 3 / (plan.columns - 1)
        select, noise = plan.selection(third, 1), plan.noise(third)
        pairs = list(combinations(range(plan.columns), 2))
        apart = {pair: model.apart(tables, pair) for pair in pairs}
        island = list(range(plan.columns))
        chosen: list[Measured] = []
        for _ in range(edges):
            open_ = [one for one in pairs if island[one[0]] != island[one[1]]]
            if target is not None and not chosen:
                open_ = [one for one in open_ if target in one]
            pair = open_[select(np.array([apart[one] for one in open_]))]
            island = [island[pair[0]] if one == island[pair[1]] else one for one in island]
            chosen.append(tables.noisy(pair, noise, noise.scale))
        model.add(*chosen)


def _workload(columns: int, target: int | None) -> dict[tuple[int, ...], int]:
    """Give tables of up to three columns and how many columns of the workload's triples each serves."""
    triples = [
        one for one in combinations(range(columns), min(3, columns)) if target is None or target in one
    ]
    weights: dict[tuple[int, ...], int] = {}
    for one in triples:
        for width in range(1, len(one) + 1):
            for part in combinations(one, width):
                weights[part] = 0
    for part in weights:
        weights[part] = sum(len(set(part) & set(one)) for one in triples)
    return weights


class GraphicalModel:
    """A graphical model of noisy tables that grows; what it says is free to look at."""

    def __init__(self, sizes: tuple[int, ...], total: float, measured: list[Measured]) -> None:
        self.sizes, self.total, self.measured = sizes, total, measured
        self.known: Any = None

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """Columns of every table."""
        return list(dict.fromkeys(tuple(sorted(one.columns)) for one in self.measured))

    def add(self, *measured: Measured) -> None:
        """Take noisy tables in and fit again, from where it stood."""
        self.measured += measured
        self.fit()

    def fit(self) -> None:
        """Fit a graphical model to all tables by mirror descent."""
        mbi = engine()
        domain = mbi.Domain(tuple(range(len(self.sizes))), self.sizes)
        measurements = [
            mbi.LinearMeasurement(
                one.counts.ravel(), one.columns, float(np.sqrt(np.mean(np.square(one.deviation))))
            )
            for one in self.measured
        ]
        self.known = mbi.estimation.MirrorDescent().estimate(
            domain, measurements, known_total=self.total, iters=FITTED, warm_start=self.known
        )
        self.tree = junction_tree(self.sizes, self.sets)
        potentials = self.tree.zeros()
        for columns in self.known.cliques:
            home = self.tree.home(columns)
            held = self.tree.cliques[home].columns
            factor = np.asarray(self.known.potentials[columns].values, dtype=np.float64)
            order = sorted(range(len(columns)), key=lambda axis: held.index(columns[axis]))
            shape = [self.sizes[column] if column in columns else 1 for column in held]
            potentials[home] = potentials[home] + factor.transpose(order).reshape(shape)
        self.conditionals = self.tree.conditionals(self.tree.marginals(potentials))

    def cells(self, columns: Sequence[int]) -> int:
        """Say how many cells a table has."""
        return math.prod(self.sizes[column] for column in columns)

    def counts(self, columns: Sequence[int]) -> Floats:
        """Say what the model expects of a table."""
        return self.total * projected(self.tree, self.conditionals, columns)

    def apart(self, tables: CountedTables, columns: tuple[int, ...]) -> int:
        """Say how far the model is off, in whole numbers: a row moves it by one :data:`UNIT`."""
        expected = np.rint(self.counts(columns) * UNIT).astype(np.int64)
        return int(np.abs(tables.counts(columns) * UNIT - expected).sum())

    def logarithms(self) -> tuple[Floats, ...]:
        """Give potentials of the tree from which rows are drawn."""
        with np.errstate(divide="ignore"):
            return tuple(np.maximum(np.log(table), -1e200) for table in self.conditionals)


def engine() -> Any:
    """Load ``mbi``; in double precision, and quietly."""
    try:
        import jax
    except ImportError:
        raise check.extra("mbi", needed_for="AIM and MST") from None  # noqa: S610 - no query
    settings: Any = jax.config
    settings.update("jax_enable_x64", True)
    settings.update("jax_enable_compilation_cache", False)
    import mbi

    return mbi
