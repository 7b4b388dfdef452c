from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import Admission, Jittered, Mdav, Mondrian, Mosaic
from mahrem.partition.lattice._datafly import Datafly
from mahrem.table import Values


@settings(max_examples=40, deadline=None)
@given(
    st.integers(8, 200),
    st.integers(1, 4),
    st.integers(0, 2**16),
    st.sampled_from([Mondrian(), Mosaic(), Mdav()]),
)
def test_every_class_may_stand_and_no_row_is_lost(rows: int, columns: int, seed: int, method: object) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 7, (rows, columns)) / 6
    points[rng.random(points.shape) < 0.05] = -1.0
    values = Values("ill", rng.integers(0, 3, rows).astype(np.int32), 3)
    promises = ((KAnonymity(3), None), (DistinctDiversity(2), values))
    admits = Admission(promises, rows)
    if not admits(np.arange(rows, dtype=np.int32), np.array([0, rows])).all():
        return
    found = Jittered(method, share=0.2, seed=seed)(points, admits)  # type: ignore[arg-type]
    order = np.argsort(found.labels, kind="stable").astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(found.sizes)])
    assert found.labels.min() == 0
    assert (found.sizes > 0).all()
    assert admits(order, offsets).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(20, 150), st.integers(0, 2**16))
def test_equal_rows_share_a_class_around_strict_mondrian(rows: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 4, (rows, 2)) / 3
    found = Jittered(Mondrian(), seed=seed)(points, Admission(((KAnonymity(3), None),), rows))
    for row in np.unique(points, axis=0):
        assert len(set(found.labels[(points == row).all(axis=1)])) == 1


def test_a_seed_gives_the_same_cuts_and_another_one_others() -> None:
    points = np.random.default_rng(0).random((400, 3))
    admits = Admission(((KAnonymity(5), None),), 400)
    first, again, other = (Jittered(Mondrian(), seed=seed)(points, admits).labels for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_without_a_seed_nobody_can_play_it_again() -> None:
    points = np.random.default_rng(0).random((400, 3))
    admits = Admission(((KAnonymity(5), None),), 400)
    runs = [Jittered(Mondrian())(points, admits).labels.tobytes() for _ in range(5)]
    assert len(set(runs)) > 1  # five equal runs have a chance far below 1e-9


def test_columns_of_a_tree_are_neither_cut_nor_weighed() -> None:
    seen = []

    def spy(points: np.ndarray, admits: object) -> object:
        seen.append(points)
        return Mondrian()(points, admits)  # type: ignore[arg-type]

    points = np.column_stack([np.arange(60) % 6 / 5, np.linspace(0, 1, 60)])
    Jittered(spy, trees=(True, False), seed=1)(points, Admission(((KAnonymity(3), None),), 60))  # type: ignore[arg-type]
    kept = np.concatenate(seen)
    assert set(kept[:, 0]) == set(points[:, 0])
    assert not np.isin(kept[:, 1], points[:, 1])[kept[:, 1] > 0].all()


def test_methods_on_whole_tables_and_wild_shares_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="levels"):
        Jittered(Datafly())(np.zeros((4, 1)), Admission(((KAnonymity(2), None),), 4))
    with pytest.raises(InvalidParameter, match="share"):
        Jittered(Mondrian(), share=0.5)
