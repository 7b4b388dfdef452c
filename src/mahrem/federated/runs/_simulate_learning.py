"""Learning over anonymised silos on one machine: a table is shared out, all else is as over a wire."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.federated.runs._learning import LearningRun
from mahrem.federated.runs._simulate import Split, _read, rows_apart, split_table
from mahrem.federated.sums import make_weight_keys
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
    training_client,
)
from mahrem.federated.wire import ClientPool, LocalGrid
from mahrem.table import Reading

__all__ = ["TableSharing", "simulate_learning", "train_alone"]

HELD = 64  # clients in memory at once, where few take part in a round
Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class TableSharing:
    """How a table is shared out.

    Args:
        clients: How many clients; not used with ``by``.
        split: ``iid``, ``skewed`` or ``dirichlet``, see :func:`split_table`.
        alpha: How even a ``dirichlet`` split is.
        by: A column whose values are the clients.
        test: Share of the rows that no client gets, and that nobody anonymises.
        held_out: Share of the other rows that the server keeps to vet updates by; used where the plan says
            :attr:`Protections.held_out`.
        seed: Of all that is drawn.
    """

    clients: int = 3
    split: Split = "iid"
    alpha: float = 0.5
    by: str | None = None
    test: float = 0.3
    held_out: float = 0.05
    seed: int = 0

    def parts(self, whole: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Give rows to learn from, and rows to judge by."""
        check.between(0.01, 0.9, test=self.test)
        return rows_apart(whole, max(1, int(self.test * whole.height)), self.seed)

    def server_rows(
        self, learning: pl.DataFrame, plan: LearningPlan
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """Give rows to learn from, and those that the server keeps if the plan needs them."""
        if plan.protections.held_out is None:
            return learning, None
        check.between(0.001, 0.9, held_out=self.held_out)
        return rows_apart(learning, max(1, int(self.held_out * learning.height)), [self.seed, 1])


def simulate_learning(
    source: object,
    target: str,
    folder: Path,
    plan: LearningPlan | None = None,
    *,
    anonymise: Mapping[str, Any] | None = None,
    policies: Mapping[str, Mapping[str, Any]] | None = None,
    shared: TableSharing | None = None,
    columns: tuple[str, ...] | None = None,
    schema: SharedSchema | None = None,
    byte_budget: int | None = None,
    force: bool = False,
    reading: Reading | None = None,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """Learn from a table that is shared among silos which anonymise first, and write a run folder.

    A run that did not finish goes on after its last round, if nothing about it was changed.

    Args:
        source: The table.
        target: The column to predict.
        folder: Where the run is written.
        plan: What is learnt and how it is protected.
        anonymise: The silos' policy, as of :func:`mahrem.anonymize`; ``quasi`` is all columns by default.
            None leaves tables as they are.
        policies: More settings for single silos, by name.
        shared: How the table is shared out.
        columns: The columns to learn from; all others by default.
        schema: What was agreed on; by default proposed from the rows to learn from.
        byte_budget: Stop before more bytes than this went over the grid, both ways; the model so far is kept.
        force: Replace a finished run.
        reading: How to read the source.
        tell: Told about progress.

    Guarantees:
        - Test rows are never anonymised, never learnt from, and no choice depends on them.

    Returns:
        The summary that also lies in the folder.
    """
    chosen, sharing = plan or LearningPlan(), shared or TableSharing()
    whole = _read(source, target, sharing.by, columns, reading)
    learning, judged = sharing.parts(whole)
    by = {sharing.by} if sharing.by else set()
    names = [name for name in whole.columns if name not in {target, *by}]
    classes = whole[target].cast(pl.String).unique().sort().to_list()  # their names are public
    agreed = schema or replace(propose_schema(learning, target, names), classes=tuple(classes))
    if agreed.target != target:
        raise InvalidParameter(f"target={target!r} is not the schema's {agreed.target!r}")
    learning, held_out = sharing.server_rows(learning, chosen)
    parts = split_table(
        learning,
        target,
        clients=sharing.clients,
        split=sharing.split,
        by=sharing.by,
        alpha=sharing.alpha,
        seed=sharing.seed,
    )
    ruled = _policies(anonymise, policies or {}, parts, agreed)
    if ruled:
        chosen.protections.refuse_anonymised()
    run = LearningRun.begin(
        folder,
        agreed,
        chosen,
        depends_on=repr([sharing, sorted(ruled.items()), whole.shape, _content(whole)]),
        judged=judged,
        byte_budget=byte_budget,
        force=force,
        tell=tell,
    )
    with run.folder.recording():
        secret, public = make_weight_keys() if chosen.sum == "homomorphic" else (None, None)
        if chosen.protections.dummies:  # clients would draw a key; here all are one, and a run must go on
            run.decoys = Decoys(key=run.progress.key.encode(), share=chosen.protections.dummies)

        def make(name: str) -> Any:
            policy = ruled.get(name, ruled.get(""))
            silo = TrainingSilo(name, parts[name], agreed, chosen, policy, decoys=run.decoys)
            return training_client(silo, secret=secret)

        keep = len(parts) if chosen.fraction == 1 else max(HELD, int(chosen.fraction * len(parts)) + 1)
        grid = LocalGrid(ClientPool(tuple(parts), make, keep=keep))
        learnt = run.learn(grid, held_out=held_out, public=public)
        drawn = {"clients": len(parts), "split": sharing.by or sharing.split, "seed": sharing.seed}
        drawn |= {"target": target, "rows": whole.height, "test_rows": judged.height}
        drawn["server_rows"] = 0 if held_out is None else held_out.height
        drawn["learnt_rows"] = sum(parts[name].height for name in learnt.reports)
        return run.finish(learnt, {"simulated": drawn})


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


def _policies(
    anonymise: Mapping[str, Any] | None,
    policies: Mapping[str, Mapping[str, Any]],
    parts: Mapping[str, pl.DataFrame],
    schema: SharedSchema,
) -> dict[str, dict[str, Any]]:
    """Give each silo's policy; under the empty name the one of all others."""
    unknown = [name for name in policies if name not in parts]
    if unknown:
        raise InvalidParameter(
            f"client={unknown[0]!r} is none of the {len(parts)} clients, whose policy is given"
        )
    made = {name: silo_policy({**(anonymise or {}), **more}, schema) for name, more in policies.items()}
    if anonymise is not None:
        made[""] = silo_policy(anonymise, schema)
    return made
