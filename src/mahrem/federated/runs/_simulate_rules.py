"""Rules learnt over a table that is shared out, and CBA on all of it, which only a simulation can compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.federated.rules import RulesCrowd, RulesPlan, RulesResult, RulesSchema
from mahrem.federated.runs._entries import BINS
from mahrem.federated.runs._rules_task import RulesTask
from mahrem.federated.runs._sharing import TableSharing
from mahrem.federated.runs._simulate import SimulatedFederation, SimulatedTable
from mahrem.federated.sums import ClientKeys, make_sum_keys
from mahrem.federated.wire import LocalGrid
from mahrem.learning.rules import RuleList, as_cells, cba
from mahrem.table import Kind, read_kind

FEW = 10  # a column of numbers with at most so many values is left as it is


@dataclass(frozen=True, kw_only=True)
class RulesSimulation:
    """Rules, learnt over a table that is shared out.

    Args:
        plan: What is learnt.
        sharing: How the table is shared out.
        bins: How columns of numbers are cut (:data:`BINS`, or ``none``); the cuts are found on all training
            rows, which a real federation cannot do: there they are agreed on before.
    """

    plan: RulesPlan = field(default_factory=RulesPlan)
    sharing: TableSharing = field(default_factory=TableSharing)
    bins: str = "supervised"

    def __post_init__(self) -> None:
        check.one_of((*BINS, "none"), bins=self.bins)

    def arrange(self, table: SimulatedTable) -> SimulatedFederation:
        """See :class:`Simulation`."""
        names, target = table.columns, table.target
        learning, judged = _binned(table, self.bins)
        parts = self.sharing.parts(learning, target)
        task = RulesTask(RulesSchema(columns=names, target=target), self.plan)

        def grid(_: object) -> tuple[LocalGrid, bytes | None]:
            secret, public = make_sum_keys(self.plan)
            frames = {name: part.select(*names, target) for name, part in parts.items()}
            silos = RulesCrowd.of(frames, target, self.plan.least_count)
            keys = ClientKeys(secret=secret)
            many = len(silos)
            clients = {name: task.client(name, silo, keys, members=many) for name, silo in silos.items()}
            return LocalGrid(clients), public

        def compare(result: RulesResult) -> tuple[dict[str, Any], dict[str, Any]]:
            cells = as_cells(learning.select(*names, target))
            central = cba(cells.select(names), cells[target], self.plan.cba)
            return {
                "equals_central": result.model == central if not result.left_out else None,
                "accuracy": _accuracy(result.model, judged, names, target),
                "central_accuracy": _accuracy(central, judged, names, target),
                "central_rules": len(central),
                "raw_bytes": len(learning.select(*names, target).write_csv().encode()),
                "model_bytes": len(result.model.to_json().encode()),
            }, {"clients": len(parts), "bins": self.bins}

        return SimulatedFederation(task, grid, compare)


def _binned(table: SimulatedTable, bins: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cut columns of numbers at places found on the rows to learn from."""
    learning, judged = table.learning, table.judged
    if bins == "none":
        return learning, judged
    numbers = [
        name
        for name in table.columns
        if read_kind(learning[name])[0] is Kind.NUMERIC and learning[name].n_unique() > FEW
    ]
    cut = BINS[bins].load()(columns=numbers)
    as_numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in numbers]
    first, second = learning.with_columns(as_numbers), judged.with_columns(as_numbers)
    cut.fit(first, first[table.target].cast(pl.String).to_list())
    return cut.transform(first), cut.transform(second)


def _accuracy(model: RuleList, judged: pl.DataFrame, names: tuple[str, ...], target: str) -> float | None:
    if judged.height == 0:
        return None
    cells = as_cells(judged.select(*names, target))
    predicted = np.array(model.classes)[model.decide(model.first(cells.select(names)))]
    return round(float((predicted == cells[target].to_numpy()).mean()), 6)
