"""What every method keeps, whatever it does inside: a new one in METHODS is tested as soon as it is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidParameter
from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import METHODS, Admission, Partition, build_method
from mahrem.table import Values
from mahrem.types import Points

QUICK = {"kanonymeans*": {"evaluations": 3}}


@st.composite
def points(draw: st.DrawFn) -> Points:
    """Few rows, many ties: what breaks a method."""
    rows, columns = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    grid = draw(st.lists(st.integers(0, 6), min_size=rows * columns, max_size=rows * columns))
    return np.array(grid, np.float64).reshape(rows, columns) / 6


def build(name: str, seed: int = 1) -> object:
    return build_method(name, seed=seed, options=QUICK.get(name))


def check(partition: Partition, rows: int, k: int) -> None:
    assert partition.labels.shape == (rows,)
    assert partition.labels.dtype == np.int64
    sizes = np.bincount(partition.labels, minlength=partition.classes)
    assert len(sizes) == partition.classes
    assert sizes.min() >= k


@pytest.mark.parametrize("name", METHODS)
@settings(deadline=None, max_examples=20)
@given(points(), st.integers(1, 5))
def test_every_row_has_one_label_and_every_class_k_rows(name: str, table: Points, k: int) -> None:
    admits = Admission(((KAnonymity(k), None),), len(table))
    if len(table) < k:
        with pytest.raises(Infeasible):
            build(name)(table, admits)
        return
    check(build(name)(table, admits), len(table), k)


@pytest.mark.parametrize("name", METHODS)
@settings(deadline=None, max_examples=15)
@given(points(), st.integers(1, 4), st.integers(0, 2**16))
def test_any_promise_is_kept_or_refused_as_a_whole(name: str, table: Points, k: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 3, len(table)).astype(np.int32)
    admits = Admission(((KAnonymity(k), None), (DistinctDiversity(2), Values("d", codes, 3))), len(table))
    if len(table) < k or len(set(codes.tolist())) < 2:
        with pytest.raises(Infeasible):
            build(name)(table, admits)
        return
    partition = build(name)(table, admits)
    check(partition, len(table), k)
    for label in range(partition.classes):
        assert len(set(codes[partition.labels == label].tolist())) >= 2


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_classes(name: str) -> None:
    table = np.random.default_rng(3).random((300, 3))
    admits = Admission(((KAnonymity(4), None),), 300)
    first, second = (build(name, seed=7)(table, admits).labels for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    "table",
    [np.zeros((500, 3)), np.eye(12)[:, :12], np.random.default_rng(0).random((3, 40))],
    ids=["all equal", "far apart", "more columns than rows"],
)
def test_degenerate_tables_simply_work(name: str, table: Points) -> None:
    admits = Admission(((KAnonymity(3), None),), len(table))
    if METHODS[name].full_domain and table.shape[1] > 12:  # 2**40 nodes: found greedily, or refused
        with suppress_too_many_nodes():
            check(build(name)(table, admits), len(table), 3)
        return
    check(build(name)(table, admits), len(table), 3)


@contextmanager
def suppress_too_many_nodes() -> Iterator[None]:
    """Let a method say that a lattice is too large, and what else to take; nothing else."""
    try:
        yield
    except InvalidParameter as error:
        if not re.search(r"nodes=.*datafly", str(error)):
            raise


@pytest.mark.parametrize("name", METHODS)
def test_an_unknown_option_is_refused_by_name(name: str) -> None:
    with pytest.raises(InvalidParameter, match="wings"):
        build_method(name, options={"wings": 2})
