"""Synthetic tables from a network that was trained with differential privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mahrem.dp import Ledger
from mahrem.errors import InvalidParameter
from mahrem.learning.private import SecretStream, new_stream
from mahrem.learning.private.steps import choose_device
from mahrem.learning.synthesis._drawings import CHUNK, CellsAsked, NetworkDrawing
from mahrem.learning.synthesis._drawn_tables import DrawGroups, DrawnTable, GroupConditions, ModelledTable
from mahrem.learning.synthesis._generators import Generator, GeneratorExamples
from mahrem.learning.synthesis._likelihoods import CellLikelihood
from mahrem.learning.synthesis._marginal_plan import MarginalBudget, refuse_too_little
from mahrem.learning.synthesis._network_plan import NetworkPlan, plan_network
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._table_synthesiser import CodedTable, TableSynthesiser, neighbours_in_words
from mahrem.learning.synthesis._variational import Variational
from mahrem.types import Floats, Integers

TRIES = 8  # codes for each row that must meet conditions
TRIED = 1024  # and for few rows so many in all


@dataclass(frozen=True, kw_only=True)
class NetworkTables(TableSynthesiser[NetworkPlan, "NetworkTablesFit"]):
    """A synthesiser of tables: a network that makes the cells of a row from random numbers.

    Every column is counted once with noise, and its cells gathered into groups that stand out from it. The
    network begins with those counts, as if columns had nothing to do with each other, and learns from clipped
    and noised gradients what goes together. With a target, rows are made for a value of it.

    Args:
        generator: The network and its training: :class:`~mahrem.learning.synthesis.Variational` or
            :class:`~mahrem.learning.synthesis.Adversarial`.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit; paid for before a value is looked at.
        - No domain is read off the data; an undeclared value is missing or leaves its row out.
        - Every network that sees a row is clipped and noised; sampling costs nothing.

    References:
        See the generator, and :class:`~mahrem.learning.private.TrainingPlan`.

    Example:
        >>> import polars as pl
        >>> facts = {"age": {"lower": 0, "upper": 99}, "ill": {"categories": ["no", "yes"]}}
        >>> ledger = Ledger.temporary(epsilon=1, delta=1e-6, columns=facts, rows=5000)
        >>> table = pl.DataFrame({"age": np.arange(5000) % 100, "ill": ["no", "yes"] * 2500})
        >>> small = Variational(hidden=(8,), code=2, steps=20)
        >>> fitted = NetworkTables(epsilon=1, delta=1e-6, generator=small).fit(table, ledger=ledger)
        >>> fitted.sample(3, seed=1).columns, fitted.cost_
        (['age', 'ill'], (1.0, 1e-06))
    """

    generator: Generator = field(default_factory=Variational)

    @property
    def title(self) -> str:  # type: ignore[override]
        """What the ledger's history calls it."""
        return f"a network ({self.generator.name})"

    def plan(self, domain: DeclaredDomain, rows: int | None, ledger: Ledger) -> NetworkPlan:
        choose_device(self.generator.device)
        public: dict[str, Any] = {"relation": ledger.relation, "unit": ledger.unit, "rows": rows}
        columns = len(domain.columns)
        if self.target is not None and columns < 2:
            raise InvalidParameter(f"target={self.target!r} needs a column beside it, made for each value")
        cells = min(column.cells for column in domain.columns)
        budget = MarginalBudget(float(self.epsilon), float(self.delta), ledger.relation, ledger.unit)
        refuse_too_little(budget, columns=columns, cells=cells, rows=rows)
        plan = plan_network(
            self.generator, epsilon=float(self.epsilon), delta=float(self.delta), columns=columns, **public
        )
        self._rehearse(domain, plan, people=ledger.unit.subject is not None)
        return plan

    def modelled(self, table: CodedTable, plan: NetworkPlan, about: ModelledTable) -> NetworkTablesFit:
        layout = self._layout(table.domain, [one.weight for one in table.columns.groups])
        examples = layout.examples(table.columns.coarse(table.codes), table.units)
        train = self.generator.prepared(examples, layout.likelihood, plan.training, self.stream())
        return NetworkTablesFit(
            about=about,
            plan=plan,
            kind=self.generator.name,
            drawing=train(),
            likelihood=layout.likelihood,
            order=layout.order,
            label=layout.label,
            shares=layout.shares,
        )

    def _rehearse(self, domain: DeclaredDomain, plan: NetworkPlan, *, people: bool) -> None:
        """Make the networks for no rows and even groups: what they refuse must be refused unpaid."""
        sizes = [min(column.cells, self.groups + column.gaps) for column in domain.columns]
        layout = self._layout(domain, [np.full(size, 1 / size) for size in sizes])
        nobody = np.zeros(0, dtype=np.int64) if people else None
        examples = layout.examples(np.zeros((0, len(sizes)), dtype=np.int64), nobody)
        self.generator.prepared(examples, layout.likelihood, plan.training, self.stream())

    def _layout(self, domain: DeclaredDomain, weights: Sequence[Floats]) -> _Layout:
        label = None if self.target is None else domain.names.index(self.target)
        return _Layout(tuple(place for place in range(len(weights)) if place != label), label, weights)

    def stream(self) -> SecretStream:
        """Give where batches and noise come from: a fresh secret key."""
        return new_stream()

    def promise(self, plan: NetworkPlan, ledger: Ledger) -> str:
        return (
            f"{neighbours_in_words(plan, ledger)}: {plan.columns} columns counted with discrete Gaussian "
            f"noise of deviation {plan.one_way.scale:.4g}, drawn exactly (OpenDP) on whole numbers; then a "
            f"network ({self.generator.name}) that is by itself {plan.training.guarantee()} Sampling is "
            f"post-processing."
        )


@dataclass(frozen=True, kw_only=True)
class NetworkTablesFit(DrawnTable):
    """A trained network that makes rows.

    Attributes:
        drawing: From random codes, and a label, to the chances of groups of columns.
        likelihood: What its outputs stand for.
        order: The columns it makes.
        label: The column that rows are made for; None without a target.
        shares: How often each group of that column occurs.
    """

    plan: NetworkPlan = field(repr=False)
    kind: str
    drawing: NetworkDrawing = field(repr=False)
    likelihood: CellLikelihood = field(repr=False)
    order: tuple[int, ...]
    label: int | None
    shares: Floats = field(repr=False)

    def details(self) -> dict[str, Any]:
        training = self.plan.training
        return {
            "network": self.kind,
            "training": {
                "steps": training.steps,
                "rate": training.rate,
                "clip": training.clip,
                "noise_multiplier": training.noise_multiplier,
            },
            "deviation": {"columns": self.plan.one_way.scale, "cliques": None},
        }

    def drawer(self, admitted: GroupConditions) -> DrawGroups:
        def draw(rows: int, rng: np.random.Generator) -> Integers:
            parts = [min(CHUNK, rows - start) for start in range(0, rows, CHUNK)]
            return np.concatenate([self._part(part, rng, admitted.kept) for part in parts])

        return draw

    def _part(self, rows: int, rng: np.random.Generator, kept: Mapping[int, Floats]) -> Integers:
        """Draw some rows."""
        conditions = {at: kept[place] for at, place in enumerate(self.order) if place in kept}
        tried = max(TRIED, TRIES * rows) if conditions else rows
        labels = None
        if self.label is not None:
            chances = self.shares * kept.get(self.label, 1.0)
            chances = chances if chances.any() else kept[self.label]
            labels = rng.choice(len(chances), size=tried, p=chances / chances.sum())
        asked = CellsAsked(self.likelihood.sizes, rows, tried, labels, conditions)
        drawn, taken = self.drawing.cells(asked, rng)
        groups = np.zeros((rows, len(self.order) + (labels is not None)), dtype=np.int64)
        groups[:, self.order] = drawn
        if labels is not None:
            groups[:, self.label] = labels[taken]
        return groups


@dataclass(frozen=True)
class _Layout:
    """Which columns a network makes, which one it makes them for, and the shares of groups of all."""

    order: tuple[int, ...]
    label: int | None
    weights: Sequence[Floats]

    @property
    def likelihood(self) -> CellLikelihood:
        return CellLikelihood([self.weights[place] for place in self.order])

    @property
    def shares(self) -> Floats:
        return np.zeros(0) if self.label is None else self.weights[self.label]

    def examples(self, codes: Integers, units: Integers | None) -> GeneratorExamples:
        fed = self.order if self.label is None else (*self.order, self.label)
        ones = _ones(codes[:, list(fed)], [len(self.weights[place]) for place in fed])
        return GeneratorExamples(ones, self.shares, units)


def _ones(codes: Integers, sizes: list[int]) -> npt.NDArray[np.float32]:
    """Write groups as ones and zeros, columns side by side."""
    ones = np.zeros((len(codes), sum(sizes)), dtype=np.float32)
    starts = np.cumsum([0, *sizes[:-1]])
    ones[np.arange(len(codes))[:, None], codes + starts] = 1
    return ones
