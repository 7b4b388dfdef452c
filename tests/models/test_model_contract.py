"""What every privacy model guarantees, over everything in ``__all__`` that is one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.special import digamma

from mahrem import models
from mahrem.models import Counts, PrivacyModel, counts_of, populations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIGHTEST_FIRST = {
    "KAnonymity": [models.KAnonymity(k) for k in (9, 4, 2, 1)],
    "DistinctDiversity": [models.DistinctDiversity(least) for least in (4, 3, 2, 1)],
    "EntropyDiversity": [models.EntropyDiversity(least) for least in (3.5, 2, 1.5, 1)],
    "GrassbergerDiversity": [models.GrassbergerDiversity(least) for least in (3.5, 2, 1.5, 1)],
    "KMap": [populations.KMap(k, 0.3) for k in (20, 9, 4, 1)],
    "JournalistRisk": [populations.JournalistRisk(risk, 0.4) for risk in (0.05, 0.2, 0.5, 1)],
    "NoAttack": [populations.NoAttack(gain, 4.0) for gain in (90, 30, 9, 1)],
    "RecursiveDiversity": [models.RecursiveDiversity(*bound) for bound in ((0.5, 3), (2, 3), (2, 2), (4, 1))],
    "EqualCloseness": [models.EqualCloseness(t) for t in (0, 0.1, 0.3, 0.8)],
    "OrderedCloseness": [models.OrderedCloseness(t) for t in (0, 0.1, 0.3, 0.8)],
    "HierarchicalCloseness": [models.HierarchicalCloseness(t) for t in (0, 0.1, 0.3, 0.8)],
    "KLCloseness": [models.KLCloseness(t) for t in (0, 0.1, 0.5, 2)],
    "AlphaK": [models.AlphaK(a, k) for a, k in ((0.3, 4), (0.5, 4), (0.5, 2), (1, 1))],
    "BasicLikeness": [models.BasicLikeness(b) for b in (0.1, 0.5, 1, 4)],
    "EnhancedLikeness": [models.EnhancedLikeness(b) for b in (0.1, 0.5, 1, 4)],
    "DeltaDisclosure": [models.DeltaDisclosure(d) for d in (0.1, 0.5, 1, 3)],
    "TrajectoryAnonymity": [models.TrajectoryAnonymity(k) for k in (9, 4, 2, 1)],
    "DeltaPresence": [models.DeltaPresence(*b) for b in ((0.4, 0.5), (0.2, 0.5), (0.2, 0.8), (0, 1))],
    "PopulationNoAttack": [populations.PopulationNoAttack(gain, 4.0) for gain in (35.0, 15.0, 7.0, 3.0)],
    "PopulationKMap": [populations.PopulationKMap(k) for k in (9, 4, 2, 1)],
    "ShownPresence": [models.ShownPresence(*b) for b in ((0.4, 0.5), (0.2, 0.5), (0.2, 0.8), (0, 1))],
}
OF_MEMBERS = {"DeltaPresence", "ShownPresence", "PopulationKMap", "PopulationNoAttack"}
ORDER_MATTERS = {"OrderedCloseness", *OF_MEMBERS}
TREE = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
ALL = {
    name: getattr(room, name)
    for room in (models, populations)
    for name in room.__all__
    if PrivacyModel in getattr(getattr(room, name), "__mro__", ())[1:]
}
EVERY = [  # what is about all classes together, or about cells, has a contract of its own
    name
    for name, model in ALL.items()
    if not (model.of_table or model.of_cells) and name not in {"Sampled", "PeopleEnough"}
]


@dataclass(frozen=True)
class Table:
    labels: np.ndarray
    codes: np.ndarray
    classes: int
    size: int

    def counts(self) -> Counts:
        return counts_of(self.labels, self.codes, self.classes, self.size, TREE[:, : self.size])


@st.composite
def tables(draw: st.DrawFn, name: str) -> Table:
    size = 2 if name in OF_MEMBERS else draw(st.integers(1, 5))
    classes = draw(st.integers(1, 4))
    rows = draw(st.integers(1, 30))
    cells = st.tuples(st.integers(0, classes - 1), st.integers(0, size - 1))
    drawn = draw(st.lists(cells, min_size=rows, max_size=rows))
    return Table(np.array([c for c, _ in drawn]), np.array([v for _, v in drawn]), classes, size)


def dense(counts: Counts) -> Iterator[tuple[np.ndarray, int]]:
    matrix = np.zeros((counts.groups, len(counts.table)), dtype=np.int64)
    matrix[counts.group, counts.value] = counts.count
    yield from zip(matrix, counts.sizes.tolist(), strict=True)


def moved(p: np.ndarray, q: np.ndarray, cost: np.ndarray) -> float:
    """Give the cheapest transport of one distribution onto another, by linear programming."""
    m = len(p)
    leaving = np.kron(np.eye(m), np.ones(m))
    coming = np.kron(np.ones(m), np.eye(m))
    solved = linprog(cost.ravel(), A_eq=np.vstack([leaving, coming])[:-1], b_eq=np.concatenate([p, q])[:-1])
    return float(solved.fun)


def heights(tree: np.ndarray) -> np.ndarray:
    lowest = (tree[:, :, None] == tree[:, None, :]).argmax(axis=0)
    return lowest / (len(tree) - 1)


def slow_level(model: PrivacyModel, row: np.ndarray, rows: int, counts: Counts) -> float:  # noqa: C901, PLR0912
    """Give one class's level from the definition, on a dense row of counts."""
    q = counts.table
    p = row / row.sum()
    m = len(q)
    steps = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / max(m - 1, 1)
    descending = sorted(row[row > 0].tolist(), reverse=True)
    gains = [(a - b) / b for a, b in zip(p, q, strict=True) if a > 0]
    match model:
        case models.KAnonymity() | models.TrajectoryAnonymity():
            return rows
        case models.DistinctDiversity():
            return len(descending)
        case models.EntropyDiversity():
            return float(np.exp(-sum(a * np.log(a) for a in p if a > 0)))
        case models.GrassbergerDiversity():
            estimate = np.log(row.sum()) - sum(n * grassberger(n) for n in row.tolist() if n) / row.sum()
            return min(float(np.exp(estimate)), len(descending))
        case populations.KMap():
            return rows
        case populations.JournalistRisk() | populations.NoAttack():
            share = 1 / model.fraction - 1
            return float(quad(lambda v: v ** (rows - 1) / (1 + share * v), 0, 1)[0])
        case models.RecursiveDiversity():
            tail = sum(descending[model.l - 1 :])
            return descending[0] / tail if tail else np.inf
        case models.EqualCloseness():
            return moved(p, q, 1 - np.eye(m))
        case models.OrderedCloseness():
            return moved(p, q, steps)
        case models.HierarchicalCloseness():
            return moved(p, q, heights(counts.ancestors))
        case models.KLCloseness():
            return sum(a * np.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
        case models.AlphaK():
            return p.max()
        case models.BasicLikeness():
            return max(gains)
        case models.EnhancedLikeness():
            return min((b for b in [*gains, max(gains)] if _enhanced(p, q, b)), default=np.inf)
        case models.DeltaDisclosure():
            return max(abs(np.log(a / b)) if a > 0 else np.inf for a, b in zip(p, q, strict=True) if b > 0)
        case models.DeltaPresence():
            return p[1]
        case populations.PeopleEnough():
            return float(row.sum()) if row[1] else np.inf
    raise AssertionError(model)


def grassberger(n: int) -> float:
    """G(n) as in the paper, with digamma functions."""
    return float(digamma(n) + (-1) ** n / 2 * (digamma((n + 1) / 2) - digamma(n / 2)))


def _enhanced(p: np.ndarray, q: np.ndarray, beta: float) -> bool:
    return all((a - b) / b <= min(beta, -np.log(b)) + 1e-9 for a, b in zip(p, q, strict=True) if b > 0)


def join(table: Table, first: int, second: int) -> Counts:
    labels = np.where(table.labels == second, first, table.labels)
    return dataclasses.replace(table, labels=labels).counts()


def test_every_model_is_under_contract() -> None:
    assert sorted(EVERY) == sorted(TIGHTEST_FIRST)


def each_model(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.parametrize("name", EVERY)(settings(max_examples=40, deadline=None)(test))


@each_model
@given(data=st.data())
def test_a_tighter_bound_never_admits_more(name: str, data: st.DataObject) -> None:
    counts = data.draw(tables(name)).counts()
    admitted = [model.holds(counts) for model in TIGHTEST_FIRST[name]]
    for tight, loose in pairwise(admitted):
        assert (loose | ~tight).all()


@each_model
@given(data=st.data())
def test_a_union_of_admissible_classes_is_admissible(name: str, data: st.DataObject) -> None:
    table = data.draw(tables(name))
    for model in TIGHTEST_FIRST[name]:
        if not (model.monotone or model == models.ShownPresence(0, 1)):
            continue
        holds = model.holds(table.counts())
        for second in range(1, table.classes):
            if holds[0] and holds[second]:
                assert model.holds(join(table, 0, second))[0]


@each_model
@given(data=st.data())
def test_renaming_classes_renames_levels(name: str, data: st.DataObject) -> None:
    table = data.draw(tables(name))
    order = np.array(data.draw(st.permutations(range(table.classes))))
    renamed = dataclasses.replace(table, labels=order[table.labels]).counts()
    for model in TIGHTEST_FIRST[name]:
        np.testing.assert_allclose(model.level(renamed)[order], model.level(table.counts()), atol=1e-12)


@each_model
@given(data=st.data())
def test_renaming_values_changes_nothing_where_order_is_nothing(name: str, data: st.DataObject) -> None:
    if name in ORDER_MATTERS:
        return
    table = data.draw(tables(name))
    order = np.array(data.draw(st.permutations(range(table.size))))
    tree = np.empty_like(TREE[:, : table.size])
    tree[:, order] = TREE[:, : table.size]
    renamed = counts_of(table.labels, order[table.codes], table.classes, table.size, tree)
    for model in TIGHTEST_FIRST[name]:
        np.testing.assert_allclose(model.level(renamed), model.level(table.counts()), atol=1e-12)


@each_model
@given(data=st.data())
def test_the_level_is_that_of_the_definition(name: str, data: st.DataObject) -> None:
    counts = data.draw(tables(name)).counts()
    for model in TIGHTEST_FIRST[name][1:3]:
        levels = model.level(counts)
        for level, (row, rows) in zip(levels, dense(counts), strict=True):
            if row.sum():
                assert level == pytest.approx(slow_level(model, row, rows, counts), abs=1e-9)


@each_model
@given(data=st.data())
def test_holds_compares_the_level_with_what_is_wanted(name: str, data: st.DataObject) -> None:
    counts = data.draw(tables(name)).counts()
    strict = {"RecursiveDiversity", "DeltaDisclosure", "NoAttack"}
    for model in TIGHTEST_FIRST[name]:
        level, wanted = model.level(counts), model.wanted
        expected = level >= wanted - 1e-9 if model.rising else level <= wanted + 1e-9
        if name in strict:
            expected = level < wanted
        if isinstance(model, populations.Sampled):
            expected &= counts.sizes > 0  # nobody is found in an empty class, and it promises nothing
        if isinstance(model, models.AlphaK):
            expected = (level <= wanted) & (counts.sizes >= model.k)
        if isinstance(model, models.DeltaPresence):
            expected = (counts.totals == 0) | ((level <= wanted) & (level >= model.low))
        if isinstance(model, models.ShownPresence):
            expected |= level == 0
        np.testing.assert_array_equal(model.holds(counts), expected)


@each_model
@given(data=st.data())
def test_no_class_below_the_least_rows_holds(name: str, data: st.DataObject) -> None:
    counts = data.draw(tables(name)).counts()
    for model in TIGHTEST_FIRST[name]:
        assert not model.holds(counts)[counts.sizes < model.least_rows].any()


@each_model
@given(data=st.data())
def test_other_classes_do_not_change_a_class(name: str, data: st.DataObject) -> None:
    counts = data.draw(tables(name)).counts()
    own = counts.group == 0
    alone = dataclasses.replace(
        counts,
        sizes=counts.sizes[:1],
        group=counts.group[own],
        value=counts.value[own],
        count=counts.count[own],
    )
    for model in TIGHTEST_FIRST[name]:
        np.testing.assert_allclose(model.level(alone)[0], model.level(counts)[0], atol=1e-12)


@each_model
@given(data=st.data())
def test_what_holds_when_some_rows_are_taken_away_holds_loosened_in_the_whole(
    name: str, data: st.DataObject
) -> None:
    table = data.draw(tables(name))
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=len(table.codes), max_size=len(table.codes))))
    gone &= table.labels > 0  # the first class stays as it is
    if gone.all():
        return
    left = dataclasses.replace(table, labels=table.labels[~gone], codes=table.codes[~gone]).counts()
    for model in TIGHTEST_FIRST[name]:
        looser = model.loosened(gone.mean())
        assert looser is not None or model.compares
        if looser is not None and model.holds(left)[0]:
            assert looser.holds(table.counts())[0]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 200), classes=st.integers(1, 40))
def test_sparse_distances_agree_with_dense_ones_on_wide_columns(seed: int, size: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    counts = counts_of(
        rng.integers(0, classes, 300), (rng.random(300) ** 2 * size).astype(np.int64), classes, size
    )
    matrix = np.zeros((classes, size))
    matrix[counts.group, counts.value] = counts.count
    shown = matrix.sum(axis=1) > 0
    away = matrix[shown] / matrix[shown].sum(axis=1, keepdims=True) - counts.table
    ordered = np.abs(np.cumsum(away, axis=1)).sum(axis=1) / (size - 1)
    np.testing.assert_allclose(models.OrderedCloseness(1).level(counts)[shown], ordered, atol=1e-12)
    equal = np.abs(away).sum(axis=1) / 2
    np.testing.assert_allclose(models.EqualCloseness(1).level(counts)[shown], equal, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_stricter_relatives_admit_less(data: st.DataObject) -> None:
    counts = data.draw(tables("EnhancedLikeness")).counts()
    assert (models.BasicLikeness(1).holds(counts) | ~models.EnhancedLikeness(1).holds(counts)).all()
    assert (models.HierarchicalCloseness(0.2).holds(counts) | ~models.EqualCloseness(0.2).holds(counts)).all()
    assert (models.DistinctDiversity(2).holds(counts) | ~models.EntropyDiversity(2).holds(counts)).all()


@pytest.mark.parametrize("name", EVERY)
def test_models_are_frozen_comparable_and_documented(name: str) -> None:
    model = TIGHTEST_FIRST[name][0]
    assert model == dataclasses.replace(model)
    assert hash(model) == hash(dataclasses.replace(model))
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.name = "other"
    for section in ("Guarantees:", "References:", "Example:"):
        assert section in (type(model).__doc__ or "")


def test_names_of_models_are_all_different() -> None:
    assert len({ALL[name].name for name in EVERY}) == len(EVERY)
