"""What every method of microaggregation promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import AtLeast
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.metrics import information_loss, standardised
from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity
from mahrem.partition import (
    METHODS,
    Admission,
    KAnonyMeans,
    KAnonyMeansStar,
    Mdav,
    MdavPlus,
    MdavStar,
    OnaStar,
    Partition,
    Partitioner,
    VariableMdav,
    build_method,
)
from mahrem.partition.clustering._microaggregation import admit_by_merging
from mahrem.table import Values
from mahrem.types import Points
from strategies import points_and_k

STEADY: dict[str, Partitioner] = {
    "mdav": Mdav(),
    "mdav+": MdavPlus(),
    "v-mdav": VariableMdav(gamma=1.1),
    "mdav*": MdavStar(),
}
DRAWN: dict[str, Partitioner] = {
    "ona*": OnaStar(restarts=2, seed=1),
    "kanonymeans": KAnonyMeans(seed=1),
    "kanonymeans refined": KAnonyMeans(seed=1, refine=True),
    "kanonymeans inside": KAnonyMeans(seed=1, timing="inside", order="outer", measure="sse", start="forgy"),
    "kanonymeans single": KAnonyMeans(seed=1, order="none", kappa=1),
    "kanonymeans*": KAnonyMeansStar(seed=1, evaluations=3),
    "kanonymeans* by centres": KAnonyMeansStar(
        seed=1, population=3, survivors=1, evaluations=6, refine=False
    ),
}
EVERY = pytest.mark.parametrize("method", [*STEADY.values(), *DRAWN.values()], ids=[*STEADY, *DRAWN])


def check_contract(partition: Partition, rows: int, k: int) -> None:
    assert partition.labels.shape == (rows,)
    assert partition.labels.dtype == np.int64
    assert partition.sizes.sum() == rows
    assert len(partition.sizes) == partition.classes
    assert partition.sizes.min() >= k


@EVERY
@given(table=points_and_k(most=120))
@settings(max_examples=20, deadline=None)
def test_every_row_has_one_label_and_every_class_its_minimum(
    method: Partitioner, table: tuple[Points, int]
) -> None:
    points, k = table
    before = points.copy()
    partition = method(points, AtLeast(k))
    check_contract(partition, len(points), k)
    assert (points == before).all()
    assert (method(points, AtLeast(k)).labels == partition.labels).all()
    if k == 1:
        assert information_loss(points, partition.labels) == 0


@EVERY
@pytest.mark.parametrize("people", [False, True])
def test_every_class_keeps_every_promise(method: Partitioner, people: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(2)
    points = rng.random((400, 3))
    disease = Values("disease", rng.integers(0, 4, 400).astype(np.int32), 4)
    subjects = (np.arange(400) // 2).astype(np.int32) if people else None
    # Three of four people have two values here, and count under the worse of them.
    for model in (DistinctDiversity(3), EqualCloseness(0.9 if people else 0.4)):
        admits = Admission(((KAnonymity(4), None), (model, disease)), rows=400, subjects=subjects)
        partition = method(points, admits)
        check_contract(partition, 400, 4)
        assert partition.classes > 3
        order = np.argsort(partition.labels, kind="stable").astype(np.int32)
        assert admits(order, np.concatenate([[0], np.cumsum(partition.sizes)])).all()


@EVERY
def test_equal_rows_constant_columns_and_odd_shapes_simply_work(method: Partitioner) -> None:
    check_contract(method(np.full((300, 3), 0.1), AtLeast(5)), 300, 5)
    half = np.column_stack([np.full(60, 0.1), np.linspace(0, 1, 60)])
    check_contract(method(half, AtLeast(4)), 60, 4)
    wide = np.random.default_rng(0).random((30, 500))
    check_contract(method(wide, AtLeast(4)), 30, 4)
    check_contract(method(np.zeros((9, 0)), AtLeast(2)), 9, 2)
    check_contract(method(np.zeros((1, 2)), AtLeast(1)), 1, 1)
    for rows in (5, 9):  # fewer than two classes need
        assert method(np.random.default_rng(0).random((rows, 2)), AtLeast(5)).classes == 1


@pytest.mark.parametrize("method", STEADY.values(), ids=list(STEADY))
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 6))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_rows_does_not_matter(method: Partitioner, seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((100, 3))
    order = rng.permutation(100)
    loss = information_loss(points, method(points, AtLeast(k)).labels)
    assert information_loss(points[order], method(points[order], AtLeast(k)).labels) == pytest.approx(loss)


@EVERY
def test_standardising_makes_units_irrelevant(method: Partitioner) -> None:
    points = np.random.default_rng(3).random((120, 3))
    stretched = points * np.array([1.0, 1024.0, 0.25])  # powers of two: nothing is rounded
    assert (method(points, AtLeast(4)).labels == method(stretched, AtLeast(4)).labels).all()


@EVERY
def test_what_cannot_be_grouped_is_said_without_its_values(method: Partitioner) -> None:
    with pytest.raises(Infeasible, match="rows=3 must be at least 4"):
        method(np.zeros((3, 2)), AtLeast(4))
    with pytest.raises(InvalidInput, match="1 numbers that are not finite"):
        method(np.array([[0.0], [np.nan], [1.0]]), AtLeast(2))
    disease = Values("disease", np.zeros(6, np.int32), 1)
    with pytest.raises(Infeasible, match="even as one class"):
        method(np.zeros((6, 1)), Admission(((DistinctDiversity(2), disease),), rows=6))


@pytest.mark.parametrize("name", ["mdav", "mdav+", "v-mdav", "mdav*", "ona*", "kanonymeans", "kanonymeans*"])
def test_methods_are_built_by_name(name: str) -> None:
    assert name in METHODS
    assert build_method(name, seed=4, options={"standardise": False}) != build_method(name, seed=4)
    assert "standardise=True" in repr(build_method(name))


@pytest.mark.parametrize("option", ["refine", "standardise", "anytime"])
def test_a_word_is_no_yes_or_no(option: str) -> None:
    with pytest.raises(InvalidParameter, match=f"{option}='no' of .* must be true or false"):
        build_method("kanonymeans*", options={option: "no"})


def test_a_refused_class_joins_the_one_whose_error_grows_least() -> None:
    points = np.array([[0.0], [0.0], [1.0], [1.0], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6]])
    labels = np.array([0, 0, 1, 1, 2, 2, 2, 2, 2, 2])
    members = np.array([True, True, True, False] + [True] * 6)
    admits = Admission(((KAnonymity(2), None),), rows=10, members=members)
    # 2 * 2 / 4 * 1 = 1 against 2 * 6 / 8 * 0.36 = 0.54
    assert admit_by_merging(points, labels, admits).labels.tolist() == [0, 0] + [1] * 8


def test_standardised_columns_have_deviation_one_and_constant_ones_are_zero() -> None:
    points = np.column_stack([np.random.default_rng(0).random(50) * 9, np.full(50, 0.1)])
    scaled = standardised(points)
    assert scaled.std(axis=0, ddof=1) == pytest.approx([1, 0])
    assert (scaled[:, 1] == 0).all()
