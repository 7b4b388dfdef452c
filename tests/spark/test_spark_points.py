"""Rows in pieces, and the first look at them, without a cluster."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.models import KAnonymity
from mahrem.spark._frame import PlacedColumn
from mahrem.spark._glance import GlanceTaker, TableGlance
from mahrem.spark._judge import Judge
from mahrem.spark._plan import CutPlan, plan_cuts
from mahrem.spark._points import Axes, LeafSorter, open_pieces, pack_rows
from mahrem.table import Numbers

AXES = Axes(tuple(PlacedColumn(name, name, Numbers(0.0, 9.0, whole=True)) for name in "ab"), (4,))


def rows(count: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    a, b = (np.where(rng.random(count) < 0.3, np.nan, rng.integers(0, 10, count)) for _ in "ab")
    codes = rng.integers(-1, 4, count).astype(np.int32)
    return pa.table({"p0": pa.array(a, from_pandas=True), "p1": b, "c0": codes, "name": np.arange(count)})


def pieces_of(table: pa.Table, at_once: int) -> pa.Array:
    return pa.array(list(pack_rows(table.to_batches(max_chunksize=at_once))), pa.binary())


@given(st.integers(1, 400), st.integers(1, 150), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_packed_rows_come_out_as_they_went_in(count: int, at_once: int, seed: int) -> None:
    table = rows(count, seed)
    found = pa.concat_tables(open_pieces(pieces_of(table, at_once)))
    assert pl.DataFrame(found).equals(pl.DataFrame(table), null_equal=True)


def test_pieces_are_neither_long_nor_heavy() -> None:
    many = pa.table({"p0": np.zeros(250_001)})
    assert [table.num_rows for table in open_pieces(pieces_of(many, 10_000))] == [100_000, 100_000, 50_001]
    heavy = pa.table({"p0": np.zeros(40), "text": ["x" * 1_000_000] * 40})
    blobs = pieces_of(heavy, 40)
    assert sum(table.num_rows for table in open_pieces(blobs)) == 40
    assert max(len(blob.as_py()) for blob in blobs) < 6 << 20


@given(st.integers(1, 300), st.integers(1, 5), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_a_look_counts_patterns_and_codes_however_rows_lie(count: int, workers: int, seed: int) -> None:
    table, look = rows(count, seed), GlanceTaker(2, (4,))
    lots = np.array_split(np.random.default_rng(seed).permutation(count), workers)
    seen = [look(AXES.piece(table.take(lot)) for lot in [lot] if len(lot)) for lot in lots]
    found = TableGlance.merged([look.nothing(), *map(TableGlance.unpack, seen)])
    missing = AXES.points(table) < 0
    by_hand = Counter(np.packbits(missing, axis=1)[:, 0].tolist())
    assert dict(zip(found.patterns[:, 0].tolist(), found.sizes.tolist(), strict=True)) == by_hand
    codes = table["c0"].to_numpy()
    pairs = Counter(zip(np.packbits(missing, axis=1)[codes >= 0, 0].tolist(), codes[codes >= 0].tolist()))  # noqa: B905
    (triplets,) = found.triplets
    assert {(found.patterns[p, 0], c): times for p, c, times in triplets.tolist()} == pairs
    assert found.weights.sum() == pytest.approx(count)
    assert np.isinf(found.edges()[:, -1]).all()


def planned(table: pa.Table, target: int) -> CutPlan:
    points, _ = AXES.piece(table)
    found = GlanceTaker(2, (4,)).seen(iter([AXES.piece(table)]))
    judge = Judge(((KAnonymity(3), None),))
    return plan_cuts(
        lambda survey: survey.count(points, []), found.edges(), judge, target=target, sizes=[table.num_rows]
    )


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("target", [20, 1_000])
def test_every_row_goes_to_its_leaf_and_rows_of_whole_leaves_stay(target: int, packed: bool) -> None:  # noqa: FBT001
    table = rows(500, 7)
    made = planned(table, target)
    source: list[Any] = table.to_batches(max_chunksize=64)
    if packed:
        source = [pa.RecordBatch.from_arrays([pieces_of(table, 64)], ["blob"])]
    leaf = made.number[made.survey().stand(AXES.points(table))]
    wanted = {one: np.flatnonzero(leaf == one).tolist() for one in np.flatnonzero(~made.whole).tolist()}
    found: dict[int, list[int]] = {}
    for batch in LeafSorter(AXES, made, packed=packed)(iter(source)):
        for part in open_pieces(batch.column(1)):
            found.setdefault(batch.column(0)[0].as_py(), []).extend(part["name"].to_pylist())
    assert {one: sorted(names) for one, names in found.items()} == {
        one: names for one, names in wanted.items() if names
    }
