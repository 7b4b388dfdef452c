"""What a worker does with a part, without Spark."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from mahrem.models import KAnonymity
from mahrem.partition import Mondrian, Partitioner, UtilityAware
from mahrem.spark._finish import PartFinisher
from mahrem.spark._frame import CLASS, PlacedColumn
from mahrem.spark._judge import Judge
from mahrem.spark._points import pack_rows
from mahrem.spark._rounds import _ManagedRound
from mahrem.table import Numbers


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
