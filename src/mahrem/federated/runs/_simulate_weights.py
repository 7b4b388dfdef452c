"""Weights and trees learnt over a table that is shared among silos which anonymise first."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.federated.runs._learning import LearningRun
from mahrem.federated.runs._settings import RunSettings
from mahrem.federated.runs._sharing import TableSharing
from mahrem.federated.runs._simulate import SimulatedFederation, SimulatedTable
from mahrem.federated.runs._weights_task import WeightsTask
from mahrem.federated.sums import ClientKeys, make_sum_keys
from mahrem.federated.weights import (
    Decoys,
    LearningPlan,
    Measure,
    Protections,
    SharedSchema,
    TrainingSilo,
    WeightsResult,
    learn_together,
    propose_schema,
    silo_policy,
)
from mahrem.federated.wire import Answerer, ClientPool, LocalGrid

HELD = 64  # clients in memory at once, where few take part in a round


@dataclass(frozen=True, kw_only=True)
class WeightsSimulation:
    """Weights or trees, learnt over a table that is shared among silos which anonymise first.

    Args:
        plan: What is learnt and how it is protected.
        sharing: How the table is shared out.
        anonymise: The silos' policy, as of :func:`mahrem.anonymize`; ``quasi`` is all columns by default.
            None leaves tables as they are.
        policies: More settings for single silos, by name.
        schema: What was agreed on; by default proposed from the rows to learn from.
        byte_budget: Stop before more bytes than this went over the grid, both ways; the model so far is kept.
    """

    plan: LearningPlan = field(default_factory=LearningPlan)
    sharing: TableSharing = field(default_factory=TableSharing)
    anonymise: Mapping[str, Any] | None = None
    policies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    schema: SharedSchema | None = None
    byte_budget: int | None = None

    def arrange(self, table: SimulatedTable) -> SimulatedFederation:
        """See :class:`Simulation`."""
        check.between(0.01, 0.9, test=self.sharing.test)
        plan, schema, learning = self.plan, self._agreed(table), table.learning
        held_out = None
        if plan.protections.held_out is not None:
            learning, held_out = self.sharing.part_held_out(learning)
        parts = self.sharing.parts(learning, table.target)
        policies = self._policies(parts, schema)
        if policies:
            plan.protections.refuse_anonymised()

        def grid(run: LearningRun) -> tuple[LocalGrid, bytes | None]:
            secret, public = make_sum_keys(plan)
            if plan.protections.dummies:  # clients would draw a key; here all are one, and a run must go on
                run.decoys = Decoys(key=run.progress.key.encode(), share=plan.protections.dummies)

            def make(name: str) -> Answerer:
                policy = policies.get(name, policies.get(""))
                silo = TrainingSilo(name, parts[name], schema, plan, policy, decoys=run.decoys)
                return silo.for_grid(ClientKeys(secret=secret))

            keep = len(parts) if plan.fraction == 1 else max(HELD, int(plan.fraction * len(parts)) + 1)
            return LocalGrid(ClientPool(tuple(parts), make, keep=keep)), public

        def compare(result: WeightsResult) -> tuple[dict[str, Any], dict[str, Any]]:
            server_rows = 0 if held_out is None else held_out.height
            learnt_rows = sum(parts[name].height for name in result.reports)
            return {}, {"clients": len(parts), "server_rows": server_rows, "learnt_rows": learnt_rows}

        depends_on = [self.sharing, sorted(policies.items()), table.whole.shape, _content(table.whole)]
        settings = RunSettings(
            test=table.judged, vet_by=held_out, byte_budget=self.byte_budget, depends_on=repr(depends_on)
        )
        return SimulatedFederation(WeightsTask(schema, plan), grid, compare, settings)

    def _agreed(self, table: SimulatedTable) -> SharedSchema:
        proposed = self.schema or propose_schema(table.learning, table.target, table.columns)
        if proposed.target != table.target:
            raise InvalidParameter(f"target={table.target!r} is not the schema's {proposed.target!r}")
        return proposed if self.schema else replace(proposed, classes=table.classes)

    def _policies(self, parts: Mapping[str, pl.DataFrame], schema: SharedSchema) -> dict[str, dict[str, Any]]:
        """Give each silo's policy; under the empty name the one of all others."""
        for name in self.policies:
            if name not in parts:
                raise InvalidParameter(
                    f"client={name!r} is none of the {len(parts)} clients, whose policy is given"
                )
        usual = self.anonymise or {}
        policies = {name: silo_policy({**usual, **more}, schema) for name, more in self.policies.items()}
        if self.anonymise is not None:
            policies[""] = silo_policy(self.anonymise, schema)
        return policies


def _content(table: pl.DataFrame) -> str:
    """Name the cells of a table, in their order: a run goes on with the same ones only."""
    return hashlib.sha256(table.hash_rows(0).to_numpy().tobytes()).hexdigest()


def train_alone(
    frame: pl.DataFrame,
    schema: SharedSchema,
    plan: LearningPlan,
    policy: Mapping[str, Any] | None = None,
    measure: Measure | None = None,
) -> WeightsResult:
    """Train the same model on one table, without a federation: what silos are compared with."""
    alone = replace(
        plan, least_clients=1, sum="plain", aggregate="mean", fraction=1.0, protections=Protections()
    )
    silo = TrainingSilo("all", frame, schema, alone, policy, measure)
    return learn_together(LocalGrid({"all": silo}), schema, alone)
