"""What a worker does with a part, without Spark."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import mahrem as mh
from mahrem.drafts import Prepared, draft, prepare
from mahrem.drafts._method import admission
from mahrem.models import KAnonymity
from mahrem.partition import Mondrian, Partitioner, UtilityAware
from mahrem.partition.mosaic._repaired import Bench
from mahrem.release.decisions import Policy, cell_costs, policy_from, pricing_of, recoding_of
from mahrem.spark._finish import PartFinisher
from mahrem.spark._frame import CLASS, PlacedColumn
from mahrem.spark._judge import CodedColumn, Judge
from mahrem.spark._points import pack_rows
from mahrem.spark._prepare import built_method
from mahrem.spark._rounds import _ManagedRound
from mahrem.table import Numbers
from mahrem.types import Labels

PATIENTS = mh.demo_patients(600).drop_nulls(["age", "sex", "zip", "admission"])
SAID = {
    "quasi": ["age", "sex", "zip", "admission"],
    "sensitive": ["diagnosis"],
    "rest": "drop",
    "l": 2,
    "k": 5,
}


def classes_of(table: pa.Table, method: Partitioner) -> dict[str, int]:
    """Finish a table that arrives as one part; gives the class of every name."""
    age = PlacedColumn("age", "age", Numbers(0, 3, whole=True))
    finish = PartFinisher((age,), Judge(((KAnonymity(2), None),)), method, ordered=True)
    pieces = [[0, piece] for piece in pack_rows(table.to_batches())]
    batch = pa.RecordBatch.from_arrays([*map(pa.array, zip(*pieces, strict=True))], ["leaf", "blob"])
    found = pl.DataFrame(pa.Table.from_batches(finish(iter([batch]))))
    return dict(found.select("name", CLASS).iter_rows())


@pytest.mark.parametrize("method", [Mondrian(strict=False), _ManagedRound(UtilityAware(Mondrian()))])
def test_rows_that_arrive_in_another_order_get_the_same_classes(method: Partitioner) -> None:
    """Many rows are equal in what the cuts see: work done twice must not swap them, or one would be lost."""
    rng = np.random.default_rng(8)
    ages = np.sort(rng.integers(0, 4, 60)).astype(np.float64)
    names = [f"person {number}" for number in range(60)]
    table = pa.table({"p": ages, "name": names, "visits": [[1, number] for number in range(60)]})
    first = classes_of(table, method)
    assert len(set(first.values())) > 4
    for _ in range(3):
        assert classes_of(table.take(pa.array(rng.permutation(60))), method) == first


@pytest.mark.parametrize("said", [{"method": "mosaic"}, {"method": "mondrian", "repair": True}])
def test_a_worker_lowers_what_published_cells_cost_as_one_machine_does(said: dict[str, Any]) -> None:
    """One part is the table, and two parts know what a cell of the whole table costs."""
    policy = policy_from(None, {**SAID, **said, "minimality_safe": False}, whole=True)
    prepared = prepare(PATIENTS, policy)
    bench = Bench(prepared.points(), admission(prepared), cell_costs(prepared.axes, policy))
    here = draft(prepared, policy).partition
    for parts, most in ((1, 1.0), (2, 1.1)):
        labels, classes = _on_workers(prepared, policy, parts)
        assert bench.total(labels, classes) <= most * bench.total(here.labels, here.classes) + 1e-9


def _on_workers(prepared: Prepared, policy: Policy, parts: int) -> tuple[Labels, int]:
    """Finish the rows of a table in parts along its first column, as a cluster cuts them."""
    placed = tuple(PlacedColumn(axis.name, axis.name, axis.domain) for axis in prepared.axes)
    recodings = tuple(recoding_of(axis, policy, None) for axis in prepared.axes)
    (values,) = prepared.values.values()
    coded = CodedColumn(values.name, values.name, values.size)
    shares = np.bincount(values.codes, minlength=values.size) / len(values.codes)
    judge = Judge(
        tuple((promise.model, coded if promise.column else None) for promise in prepared.promises), (shares,)
    )
    pricing = tuple(map(pricing_of, prepared.axes, [policy] * len(placed), recodings))
    finish = PartFinisher(
        placed, judge, built_method(policy, policy.method, placed, prepared.promises), True, pricing=pricing
    )
    rank = np.argsort(np.argsort(prepared.axes[0].positions, kind="stable"))
    found = np.empty(len(rank), np.int64)
    for part in range(parts):
        rows = np.flatnonzero(rank * parts // len(rank) == part)
        table = pa.table(
            {
                **{axis.name: axis.positions[rows] for axis in prepared.axes},
                values.name: values.codes[rows],
                "row": rows,
            }
        )
        batches = [[part, piece] for piece in pack_rows(table.to_batches())]
        batch = pa.RecordBatch.from_arrays([*map(pa.array, zip(*batches, strict=True))], ["leaf", "blob"])
        done = pa.Table.from_batches(finish(iter([batch])))
        found[done["row"].to_numpy()] = done[CLASS].to_numpy()
    names, labels = np.unique(found, return_inverse=True)
    return labels, len(names)
