"""Objectives of full-domain searches against definitions written out row by row."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidParameter
from mahrem.models import KAnonymity
from mahrem.partition import Flash, Levels, build_method
from mahrem.partition.lattice import OBJECTIVES
from mahrem.partition.lattice._lattice import lattice_of
from mahrem.partition.lattice._objective import (
    AGGREGATES,
    JudgedNode,
    Objective,
    ObjectiveSettings,
    node_figures,
)
from mahrem.table import Hierarchy, Values
from mahrem.types import Mask
from slow_lattice import SlowSearch, Table, slow_classes, tables
from slow_objectives import SlowNode, slow_loss

names = st.sampled_from(sorted(OBJECTIVES))


@st.composite
def told(draw: st.DrawFn, name: str, heights: Sequence[int]) -> dict[str, Any]:
    """Settings that an objective takes."""
    takes = OBJECTIVES[name].takes
    said: dict[str, Any] = {}
    columns = len(heights)
    if draw(st.booleans()):
        said["weights"] = tuple(draw(st.lists(st.floats(0.1, 3), min_size=columns, max_size=columns)))
    if "factor" in takes:
        said["factor"] = draw(st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]))
    if "aggregate" in takes:
        said["aggregate"] = draw(st.sampled_from([None, *AGGREGATES]))
    if "costs" in takes:
        said["costs"] = tuple(
            tuple(sorted(draw(st.lists(st.floats(0, 9), min_size=height, max_size=height))))
            for height in heights
        )
    if "attacker_gain" in takes:
        said["attacker_gain"] = draw(st.sampled_from([0.0, 7.0, 300.0]))
        said["publisher_loss"] = draw(st.sampled_from([0.0, 500.0]))
    return said


def heights_of(table: Table) -> list[int]:
    return [tree.levels for tree in table.trees]


def judged(lattice: Any, node: tuple[int, ...], admitted: Mask) -> JudgedNode:
    grouped = lattice.classes(node)
    return JudgedNode(grouped, admitted, node_figures(grouped.sizes, admitted))


def prepared(table: Table, name: str, said: dict[str, Any]) -> tuple[Any, Objective]:
    lattice = lattice_of(table.points, table.trees)
    target = Values("disease", table.disease.astype(np.int32), 3)
    more = {"target": target} if "target" in OBJECTIVES[name].takes else {}
    return lattice, OBJECTIVES[name].load().of(lattice, ObjectiveSettings(minimum=2, **said, **more))


def by_hand(table: Table, name: str, said: dict[str, Any], node: tuple[int, ...], admitted: Mask) -> float:
    classes = slow_classes(table, node)
    kept = [rows for rows, may in zip(classes, admitted, strict=True) if may]
    rest = [rows for rows, may in zip(classes, admitted, strict=True) if not may]
    everybody = list(range(len(table.leaves)))
    slow = SlowNode(table.trees, table.leaves, node, kept, rest, everybody, table.disease.tolist())
    return slow_loss(slow, name, minimum=2, **said)


@settings(deadline=None, max_examples=120)
@given(tables(), names, st.data())
def test_the_loss_of_a_node_is_that_of_the_definition(table: Table, name: str, data: st.DataObject) -> None:
    said = data.draw(told(name, heights_of(table)))
    lattice, objective = prepared(table, name, said)
    node = tuple(data.draw(st.integers(0, tree.levels - 1)) for tree in table.trees)
    count = len(lattice.classes(node).sizes)
    admitted = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    found = objective.value(judged(lattice, node, admitted))
    assert found == pytest.approx(by_hand(table, name, said, node, admitted), rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=120)
@given(tables(), names, st.data())
def test_the_bound_of_a_node_is_below_the_loss_of_all_above(
    table: Table, name: str, data: st.DataObject
) -> None:
    said = data.draw(told(name, heights_of(table)))
    lattice, objective = prepared(table, name, said)
    low = tuple(data.draw(st.integers(0, tree.levels - 1)) for tree in table.trees)
    high = tuple(
        data.draw(st.integers(level, tree.levels - 1)) for level, tree in zip(low, table.trees, strict=True)
    )

    def figures(node: tuple[int, ...]) -> tuple[float, float]:
        count = len(lattice.classes(node).sizes)
        admitted = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
        found = judged(lattice, node, admitted)
        return objective.bound(found), objective.value(found)

    (bound, value), (bound_above, value_above) = figures(low), figures(high)
    slack = 1e-9 * max(1.0, abs(bound))
    assert bound <= value + slack
    assert bound <= bound_above + slack
    assert bound <= value_above + slack
    if objective.monotone:
        assert value <= value_above + slack
    floors = objective.floors()
    if floors is not None:
        assert floors[low] <= bound + slack
        assert floors.shape == lattice.heights


@settings(deadline=None, max_examples=120)
@given(tables(), names, st.data())
def test_refusing_more_never_loses_less_where_an_objective_says_so(
    table: Table, name: str, data: st.DataObject
) -> None:
    said = data.draw(told(name, heights_of(table)))
    lattice, objective = prepared(table, name, said)
    node = tuple(data.draw(st.integers(0, tree.levels - 1)) for tree in table.trees)
    count = len(lattice.classes(node).sizes)
    some = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    fewer = some & np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    least = objective.at_least(judged(lattice, node, some))
    for admitted in (some, fewer):
        value = objective.value(judged(lattice, node, admitted))
        assert least <= value + 1e-9 * max(1.0, abs(value) if math.isfinite(value) else 1.0)


@settings(deadline=None, max_examples=40)
@given(tables(), names, st.sampled_from([0.0, 0.2, 0.6]), st.data())
def test_flash_finds_the_least_loss_under_every_objective_and_setting(
    table: Table, name: str, limit: float, data: st.DataObject
) -> None:
    said = data.draw(told(name, heights_of(table)))
    more = {"target": table.values} if "target" in OBJECTIVES[name].takes else {}
    method = build_method(
        "flash", hierarchies=table.trees, suppression_limit=limit, options={"loss": name, **said, **more}
    )
    slow = SlowSearch(table, (KAnonymity(2),), limit, "dm")
    wanted = math.inf
    for node in slow.nodes():
        kept = slow.kept(node)
        if kept and len(table.leaves) - sum(map(len, kept)) <= slow.budget:
            classes = slow_classes(table, node)
            admitted = np.array([rows in kept for rows in classes])
            wanted = min(wanted, by_hand(table, name, said, node, admitted))
    try:
        how = method(table.points, table.admits(KAnonymity(2))).how
    except Infeasible:
        assert slow.best() == math.inf
        return
    assert isinstance(how, Levels)
    assert how.loss == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(
    tables(), st.sampled_from(["precision", "loss", "height", "nu-entropy"]), st.sampled_from([0.0, 0.2, 0.6])
)
def test_ranked_columns_are_compared_one_after_the_other(table: Table, name: str, limit: float) -> None:
    """By hand: what each column loses alone, the largest first; the least list is the best."""
    columns = range(len(table.trees))
    alone = [tuple(float(place == column) for place in columns) for column in columns]

    def ranked(node: tuple[int, ...], kept: list[list[int]]) -> list[float]:
        admitted = np.array([rows in kept for rows in slow_classes(table, node)])
        said: dict[str, Any] = {"aggregate": "sum"}
        losses = [by_hand(table, name, {**said, "weights": weights}, node, admitted) for weights in alone]
        return sorted((float(f"{loss:.9g}") for loss in losses), reverse=True)

    slow = SlowSearch(table, (KAnonymity(2),), limit, "dm")
    lists = {node: ranked(node, kept) for node in slow.nodes() if (kept := slow.kept(node))
             and len(table.leaves) - sum(map(len, kept)) <= slow.budget}  # fmt: skip
    options = {"loss": name, "aggregate": "rank"}
    method = build_method("flash", hierarchies=table.trees, suppression_limit=limit, options=options)
    if not lists:
        with pytest.raises(Infeasible):
            method(table.points, table.admits(KAnonymity(2)))
        return
    how = method(table.points, table.admits(KAnonymity(2))).how
    assert isinstance(how, Levels)
    assert lists[how.levels] == min(lists.values())


def small_table() -> Table:
    """Two trees of 4 and 5 levels: 60 nodes with a third of 3."""
    five = Hierarchy.from_rows([[str(leaf), f"h{leaf // 2}", f"q{leaf // 4}"] for leaf in range(8)])
    four = Hierarchy.from_rows([[f"z{leaf}", f"z{leaf // 3}", f"y{leaf // 6}", "all"] for leaf in range(9)])
    three = Hierarchy.from_rows([["f", "known"], ["m", "known"], ["x", "other"]])
    rng = np.random.default_rng(3)
    leaves = np.column_stack([rng.integers(0, 8, 120), rng.integers(0, 9, 120), rng.integers(0, 3, 120)])
    return Table((five, four, three), leaves, rng.integers(0, 3, 120))


@pytest.mark.parametrize("name", sorted(OBJECTIVES))
def test_every_node_of_a_lattice_loses_what_the_definition_says(name: str) -> None:
    """All nodes of one lattice, refusing classes below three rows, with factor and weights where taken."""
    table = small_table()
    nodes = list(itertools.product(*(range(tree.levels) for tree in table.trees)))
    assert len(nodes) >= 40
    several: tuple[dict[str, Any], ...] = (
        {},
        {"weights": (0.5, 1.0, 2.0)},
        {"factor": 0.3},
        {"factor": 0.8, "aggregate": "geometric"},
        {"aggregate": "rank"},
    )
    for said in several:
        if any(key not in (*OBJECTIVES[name].takes, "weights") for key in said):
            continue
        if name == "stated":
            said |= {"costs": tuple(tuple(map(float, range(height))) for height in heights_of(table))}
        lattice, objective = prepared(table, name, said)
        for node in nodes:
            admitted = lattice.classes(node).sizes >= 3
            found = objective.value(judged(lattice, node, admitted))
            assert found == pytest.approx(by_hand(table, name, said, node, admitted), rel=1e-9, abs=1e-9), (
                node
            )


def test_losses_by_hand() -> None:
    """Eight rows of one column: four and three alike, and one alone that is refused."""
    tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"], ["d", "y"]])
    leaves = np.array([[0]] * 4 + [[1]] * 3 + [[3]])
    table = Table((tree,), leaves, np.array([0, 0, 1, 1, 2, 2, 1, 0]))
    wanted = {
        "dm": 16 + 9 + 8,
        "dm*": 16 + 9 + 1,
        "aecs": 8 / 3,
        "classes": 8 / 3 / 2,
        "ncp": 1 / 8,
        "precision": 1 / 8,
        "precision*": 0,
        "height": 0,
        "loss": ((7 / 4 + 1) / 8 - 1 / 4) / (1 - 1 / 4),
        "nu-entropy": 0,
        "nu-entropy*": 0,
        "classification": (4 + 1 + 0.5) / 8,  # a tie, one of three, one refused
        "payout": 4 * 300 / 4 + 3 * 300 / 3 + 1200,
        "record-loss": 1,
        "ambiguity": 4 + 3 + 4,
        "divergence": math.log2((1 / 8) / (1 / 8 / 4)) / 8,
        "nu-entropy-scaled": 0,
        "stated": 3,
    }
    assert sorted(wanted) == sorted(OBJECTIVES)
    for name, figure in wanted.items():
        lattice, objective = prepared(table, name, {"costs": ((3.0, 4.0, 5.0),)} if name == "stated" else {})
        found = objective.value(judged(lattice, (0,), np.array([True, True, False])))
        assert found == pytest.approx(figure, abs=1e-12), name


def test_a_huge_class_does_not_overflow() -> None:
    sizes, admitted = np.array([4_000_000_000, 3]), np.array([True, False])
    node = node_figures(sizes, admitted)
    assert node.kept_squares + float(node.refused) * node.rows == pytest.approx(1.6e19 + 3 * 4_000_000_003)


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"weights": (1.0, 0.0)}, "weights"),
        ({"weights": (1.0, -2.0)}, "weights"),
        ({"loss": "dm", "factor": 0.3}, "factor is not for loss='dm'"),
        ({"loss": "dm", "aggregate": "sum"}, "aggregate"),
        ({"loss": "loss", "aggregate": "median"}, "aggregate"),
        ({"loss": "loss", "factor": 1.2}, "factor"),
        ({"loss": "classification"}, "needs a target"),
        ({"loss": "payout", "attacker_gain": -1.0}, "attacker_gain"),
        ({"loss": "payout", "publisher_benefit": 0.0}, "publisher_benefit"),
        ({"loss": "stated"}, "needs costs"),
        ({"loss": "stated", "costs": ((1.0, 0.5),)}, "must not fall"),
        ({"loss": "stated", "costs": ((-1.0, 0.5),)}, "costs"),
        ({"loss": "dm", "costs": ((1.0,),)}, "costs is not for"),
        ({"loss": "payout", "attacker": "marketer"}, "attacker"),
        ({"target": Values("d", np.zeros(3, np.int32), 1)}, "target is not for"),
    ],
)
def test_what_an_objective_does_not_take_is_refused(said: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidParameter, match=match):
        Flash(**said)


def test_weights_must_be_as_many_as_columns() -> None:
    table = small_table()
    with pytest.raises(InvalidParameter, match="one for each of the 3 columns"):
        Flash(hierarchies=table.trees, weights=(1.0, 2.0))(table.points, table.admits(KAnonymity(2)))


def test_each_objective_says_whether_it_is_monotone() -> None:
    monotone = {name for name, entry in OBJECTIVES.items() if entry.load().monotone}
    assert monotone == {"height", "precision*", "dm*", "nu-entropy*", "stated"}
