"""What all synthesisers of tables do: declare the domain, refuse, pay, count columns with noise, model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar

from mahrem import check
from mahrem.dp import Facts, Ledger, open_privately
from mahrem.dp.accounting import Event
from mahrem.dp.noise import IntegerNoise
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._declare_domain import FINE
from mahrem.learning.synthesis._drawn_tables import DrawnTable, ModelledTable
from mahrem.learning.synthesis._marginal_plan import refuse_budget
from mahrem.learning.synthesis._noisy_columns import NoisyColumns, count_columns
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._synthetic_schema import SyntheticSchema
from mahrem.table import Reading
from mahrem.types import Integers


class SynthesisPlan(Protocol):
    """Every mechanism of a run; all of them are paid for before the first."""

    @property
    def epsilon(self) -> float:
        """What the run costs."""
        ...

    @property
    def delta(self) -> float:
        """The same."""
        ...

    @property
    def event(self) -> Event:
        """What the run reveals."""
        ...

    @property
    def one_way(self) -> IntegerNoise:
        """Noise on the counts of each column."""
        ...


@dataclass(frozen=True)
class CodedTable:
    """The table as cells, and what noisy counts say of its columns.

    Attributes:
        domain: Columns that need a model.
        codes: ``(n, d)`` cells; private.
        units: ``(n,)`` whose row it is; private. None where single rows are protected.
        columns: Noisy counts.
    """

    domain: DeclaredDomain
    codes: Integers = field(repr=False)
    units: Integers | None = field(repr=False)
    columns: NoisyColumns


PlanKind = TypeVar("PlanKind", bound=SynthesisPlan)
FitKind = TypeVar("FitKind", bound=DrawnTable)


@dataclass(frozen=True, kw_only=True)
class TableSynthesiser(ABC, Generic[PlanKind, FitKind]):
    """What all synthesisers of tables share; use one of its kinds.

    Args:
        epsilon: What the fit may cost.
        delta: The same.
        target: A column to predict: what goes with it is kept best.
        schema: Columns, kinds, gaps and rules, beside what the ledger knows.
        groups: Groups of a column at most.
    """

    epsilon: float
    delta: float
    target: str | None = None
    schema: SyntheticSchema = field(default_factory=SyntheticSchema)
    groups: int = 16

    title: ClassVar[str]

    def __post_init__(self) -> None:
        refuse_budget(self.epsilon, self.delta)
        check.between(2, 256, groups=check.whole(groups=self.groups))

    def fit(
        self, table: object, facts: Facts | None = None, *, ledger: Ledger, reading: Reading | None = None
    ) -> FitKind:
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
        public, unit = ledger.facts if facts is None else facts, ledger.unit
        how = public.read_as(reading)
        columns = open_privately(table, public, how).columns
        inner, plan = self.foresee(columns, ledger=ledger, facts=public)
        named = [name for name in columns if name != unit.subject]
        domain = self.schema.domain(public, named, fine=self.fine(plan, public.rows))
        inner = self._inner(domain, public)
        ledger.refuse_other(table, how, columns)
        ledger.spend(
            plan.event,
            what=f"synthesis by {self.title} of {len(inner.columns)} columns",
            epsilon=plan.epsilon,
            delta=plan.delta,
        )
        codes, units = inner.codes_and_units(table, unit, how)
        target = self.counted_target(inner, plan, public.rows)
        counted = count_columns(codes, inner, plan.one_way, most=self.groups, rows=public.rows, target=target)
        about = ModelledTable(
            domain=domain,
            schema=self.schema,
            modelled=inner.names,
            groups=counted.groups,
            target=target,
            rows=max(1, round(counted.total)),
            epsilon=plan.epsilon,
            delta=plan.delta,
            promise=self.promise(plan, ledger),
        )
        return self.modelled(CodedTable(inner, codes, units, counted), plan, about)

    def foresee(
        self, columns: Sequence[str], *, ledger: Ledger, facts: Facts | None = None
    ) -> tuple[DeclaredDomain, PlanKind]:
        """Say which columns would be modelled and by what mechanisms; no row is looked at.

        Args:
            columns: What the table calls its columns.
            ledger: Would pay.
            facts: What is public; by default what the ledger knows.

        Raises:
            Infeasible: If noise would hide every count.
        """
        public = ledger.facts if facts is None else facts
        named = [name for name in columns if name != ledger.unit.subject]
        inner = self._inner(self.schema.domain(public, named), public)
        if self.target is not None and self.target not in inner.names:
            raise InvalidParameter(
                f"target={self.target!r} must be a column to be synthesised, no total and no key"
            )
        return inner, self.plan(inner, public.rows, ledger)

    def _inner(self, domain: DeclaredDomain, public: Facts) -> DeclaredDomain:
        """Leave out columns that need no model."""
        modelled = (column for column in domain.columns if column.name not in self.schema.without_model)
        return DeclaredDomain(columns=tuple(modelled), facts=public)

    def fine(self, plan: PlanKind, rows: int | None) -> int:  # noqa: ARG002 - for other kinds
        """Say from public numbers into how many cells a number is cut."""
        return FINE

    def counted_target(self, domain: DeclaredDomain, plan: PlanKind, rows: int | None) -> int | None:  # noqa: ARG002 - the same
        """Say from public numbers whether columns are counted by the target, and where it is."""
        return None

    @abstractmethod
    def plan(self, domain: DeclaredDomain, rows: int | None, ledger: Ledger) -> PlanKind:
        """Split the budget before the data is touched; refuses what cannot work."""

    @abstractmethod
    def modelled(self, table: CodedTable, plan: PlanKind, about: ModelledTable) -> FitKind:
        """Fit the model; everything it may look at is paid for."""

    @abstractmethod
    def promise(self, plan: PlanKind, ledger: Ledger) -> str:
        """Say the promise in words."""


def neighbours_in_words(plan: SynthesisPlan, ledger: Ledger) -> str:
    """Begin a promise: what it costs, and in what neighbouring tables differ."""
    what = "one row more or less" if str(ledger.relation) == "add-remove" else "one row exchanged"
    if ledger.unit.subject is not None:
        what = f"all rows of one person (at most {ledger.unit.rows} are used), {ledger.relation}"
    return f"({plan.epsilon:g}, {plan.delta:g})-differentially private for tables that differ in {what}"
