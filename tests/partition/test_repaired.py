"""Repair: promises are kept, the loss never rises, and neither order nor threads change the classes."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import AtLeast
from mahrem.arrays.growing import _steps
from mahrem.arrays.growing._cells import work_out
from mahrem.arrays.growing._costs import Workbench, open_workbench, place_records
from mahrem.arrays.growing._members import enter, keeps_whoever
from mahrem.arrays.growing._promises import NEVER, rows_missing
from mahrem.errors import InvalidParameter
from mahrem.metrics import guess_within_classes
from mahrem.models import (
    AlphaK,
    BasicLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedLikeness,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    KAnonymity,
    KLCloseness,
    OrderedCloseness,
    PrivacyModel,
    RecursiveDiversity,
    counts_of,
)
from mahrem.partition import Admission, Flash, Mondrian, Mosaic, Repaired, UtilityAware
from mahrem.partition.judging._cell_costs import ColumnCosts, plain_costs
from mahrem.partition.judging._class_promises import ColumnNeeds, pack_promises
from mahrem.partition.mosaic import Repair
from mahrem.partition.mosaic._repaired import Bench, in_their_order
from mahrem.table import Values
from mahrem.types import Labels, Points

Costs = tuple[ColumnCosts, ...]
TREE = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
MODELS: tuple[PrivacyModel, ...] = (
    DistinctDiversity(3),
    EntropyDiversity(2.2),
    RecursiveDiversity(2, 2),
    RecursiveDiversity(1.5, 3),
    AlphaK(0.5, 3),
    BasicLikeness(1),
    EnhancedLikeness(1.5),
    DeltaDisclosure(1.2),
    EqualCloseness(0.25),
    OrderedCloseness(0.2),
    HierarchicalCloseness(0.2),
    KLCloseness(0.3),
)


def missing(model: PrivacyModel, counts: list[int], table: np.ndarray) -> int:
    """What the algebra of a model says a class with these counts lacks."""
    needs = model.needs(table, TREE)
    assert needs is not None
    codes = np.repeat(np.arange(4), counts)
    least = max([0, *(int(need.amount) for need in needs if need.kind == "size")])
    rest = tuple(need for need in needs if need.kind != "size")
    promises = pack_promises(least, [ColumnNeeds(codes, table, rest)], len(codes))
    scratch = np.zeros((2, 5))
    found = [
        rows_missing(promises, one, np.array(counts), np.arange(4), 4, sum(counts), scratch)
        for one in range(len(promises.kind))
    ]
    return max([0, least - sum(counts), *found])


def holds(model: PrivacyModel, counts: list[int], table: np.ndarray) -> bool:
    """What the model itself says of it, beside a table with these shares."""
    codes = np.repeat(np.arange(4), counts)
    of_class = counts_of(np.zeros(len(codes), np.int64), codes, 1, 4, ancestors=TREE)
    return bool(model.holds(type(of_class)(**{**vars_of(of_class), "table": table}))[0])


def vars_of(counts: object) -> dict[str, object]:
    names = ("sizes", "group", "value", "count", "table", "ancestors", "held", "missing")
    return {name: getattr(counts, name) for name in names}


@pytest.mark.parametrize("model", MODELS, ids=repr)
@given(counts=st.lists(st.integers(0, 5), min_size=4, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_rows_missing_is_zero_where_a_promise_holds_and_never_more_than_it_takes(
    model: PrivacyModel, counts: list[int], seed: int
) -> None:
    counts[seed % 4] += 1
    table = np.random.default_rng(seed).dirichlet(np.full(4, 5.0))
    lacks = missing(model, counts, table)
    assert (lacks == 0) == holds(model, counts, table)
    if lacks >= NEVER:  # no rows of these values help, however many
        lacks = 5
    for more in range(1, min(lacks, 5)):
        for values in combinations_with_replacement(range(4), more):
            added = np.bincount(values, minlength=4)
            assert not holds(model, (np.array(counts) + added).tolist(), table)


def priced(kind: str, rng: np.random.Generator) -> ColumnCosts:
    """What cells cost in a column whose values lie at tenths: widths, a grid, runs of words, sets, trees."""
    places = np.arange(11) / 10
    if kind == "width":
        return ColumnCosts("range", np.empty(0))
    if kind == "grid":
        return ColumnCosts("range", places, low=np.floor(places * 4) / 4, high=np.ceil(places * 4) / 4)
    if kind == "run":
        return ColumnCosts("range", places, most=0.8, jump=0.1, low=places, high=places)
    if kind == "set":
        return ColumnCosts("set", places, price=np.array([0.0, 0.0, *(np.arange(2, 14) / 12)]))
    dearer = np.concatenate([[0.0], rng.integers(1, 5, 10) / 4])  # the node over a value and the one before
    return ColumnCosts("tree", places, price=dearer, alone=np.full(11, rng.integers(0, 2) / 10))


def cost_of(values: Points, column: ColumnCosts) -> float:
    """What the cell of a class costs in one column, the slow way."""
    numbers, absent = np.round(values[values >= 0] * 10).astype(int), bool((values < 0).any())
    if column.kind == "set":
        assert column.price is not None
        return float(column.price[len(set(numbers.tolist())) + absent])
    if absent:
        return column.most if len(numbers) else 0.0
    if column.kind == "tree":
        assert column.price is not None
        assert column.alone is not None
        between = column.price[numbers.min() + 1 : numbers.max() + 1]
        return float(max([column.alone[numbers.min()], *between]))
    if column.low is None or column.high is None:
        return float(np.ptp(values))
    width = float(column.high[numbers].max() - column.low[numbers].min())
    return min(column.most, width + (column.jump if width > 0 else 0.0))


@st.composite
def judged(draw: st.DrawFn, most: int = 200) -> tuple[Points, Admission, Costs]:
    """A table of mixed columns, what is promised about it, and what its cells cost."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, k = draw(st.integers(20, most)), draw(st.integers(2, 5))
    kinds = draw(st.lists(st.sampled_from(["width", "grid", "run", "set", "tree"]), min_size=1, max_size=3))
    points = np.round(rng.random((rows, len(kinds))), 1)
    for place, kind in enumerate(kinds):
        if kind == "width":
            points[:, place] = rng.random(rows)
        elif draw(st.booleans()):
            points[rng.random(rows) < 0.1, place] = -1.0
    costs = tuple(priced(kind, rng) for kind in kinds)
    values = Values("s", rng.integers(0, 4, rows).astype(np.int32), 4, ancestors=TREE)
    other = Values("o", (rng.random(rows) ** 2 * 3).astype(np.int32), 3, missing=draw(st.booleans()))
    promises: list[tuple[PrivacyModel, Values | None]] = [(KAnonymity(k), None)]
    promises += [(model, values) for model in draw(st.lists(st.sampled_from(MODELS), max_size=2))]
    if draw(st.booleans()):
        promises.append((DistinctDiversity(2), other))
    people = draw(st.sampled_from([None, rows, rows // 3]))
    subjects = None if people is None else rng.integers(0, people, rows).astype(np.int32)
    return points, Admission(tuple(promises), rows, subjects=subjects), costs


def loss(points: Points, labels: Labels, costs: Costs = ()) -> float:
    """What the cells of all classes cost; their widths if nothing else is given."""
    costs = costs or plain_costs(points)
    groups = [points[labels == group] for group in range(int(labels.max()) + 1)]
    return sum(
        len(group) * sum(cost_of(values, column) for values, column in zip(group.T, costs, strict=True))
        for group in groups
    )


def accepted(admits: Admission, labels: Labels) -> bool:
    order = np.argsort(labels, kind="stable").astype(np.int32)[(labels < 0).sum() :]
    ends = np.cumsum(np.bincount(labels[labels >= 0]))
    return bool(admits(order, np.concatenate([[0], ends])).all())


@given(judged(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_repair_keeps_every_promise_and_never_loses_more_than_its_start(
    table: tuple[Points, Admission, Costs],
    blind: bool,  # noqa: FBT001 - drawn
) -> None:
    points, admits, costs = table
    whole = np.arange(len(points), dtype=np.int32)
    if not admits(whole, np.array([0, len(points)])).all():
        return
    start = Mondrian()(points, admits)
    repaired = Repaired(Mondrian(), Repair(blind=blind), cells=costs)
    for method in (repaired, Mosaic(blind=blind, cells=costs)):
        found = method(points, admits)
        assert sorted(set(found.labels.tolist())) == list(range(found.classes))
        assert accepted(admits, found.labels)
        assert loss(points, found.labels, costs) <= loss(points, start.labels, costs) + 1e-9
        for _, values in admits.promises if blind else ():
            if values is not None:
                before, after = (
                    guess_within_classes(points, one.labels, values.codes).gain for one in (start, found)
                )
                assert after <= before + 0.01 + 1e-9


@given(st.integers(0, 2**32 - 1), st.sampled_from(MODELS), st.integers(3, 6))
@settings(max_examples=12, deadline=None)
def test_blind_members_are_guessed_little_better_than_at_first(
    seed: int, model: PrivacyModel, k: int
) -> None:
    """Values that follow the first column: a model of the table tells much."""
    rng = np.random.default_rng(seed)
    points = rng.random((300, 2))
    codes = np.clip(points[:, 0] * 3 + rng.normal(0, 0.7, 300), 0, 3).astype(np.int32)
    admits = Admission(((KAnonymity(k), None), (model, Values("s", codes, 4, ancestors=TREE))), 300)
    if not admits(np.arange(300, dtype=np.int32), np.array([0, 300])).all():
        return
    for start, method in (
        (Mondrian(), Mosaic(blind=True)),
        (Mondrian(), Mosaic(blind=True, objective="sse")),
        (UtilityAware(Mondrian()), Repaired(UtilityAware(Mondrian()), Repair(blind=True))),
    ):
        before, after = (
            guess_within_classes(points, one(points, admits).labels, codes).gain for one in (start, method)
        )
        assert after <= before + 0.01 + 1e-9


@pytest.mark.parametrize("seed", [0, 5, 27, 28, 42])
def test_blind_classes_above_any_tile_give_no_more_away_than_mondrians(seed: int) -> None:
    """At a least size above 2,048 equal rows may be cut apart, as strict cuts of Mondrian never do."""
    rng, rows = np.random.default_rng(seed), 9_000
    steps = int(rng.integers(2, 8))
    points = np.column_stack(
        [rng.integers(0, steps, rows) / (steps - 1), rng.random(rows) ** rng.choice([1, 2, 4])]
    )
    points = np.ascontiguousarray(points[:, : rng.integers(1, 3)])
    told = points[:, -1] * rng.choice([1, 3])
    noise = rng.normal(0, rng.choice([0.05, 0.3]), rows)
    codes = (told + noise > np.quantile(told, rng.choice([0.3, 0.5, 0.8, 0.9]))).astype(np.int32)
    admits = Admission(((KAnonymity(2_100), None), (DistinctDiversity(2), Values("s", codes, 2))), rows)
    before, after = (
        guess_within_classes(points, method(points, admits).labels, codes).gain
        for method in (Mondrian(), Mosaic(blind=True))
    )
    assert after <= before + 0.01 + 1e-9


@pytest.mark.parametrize("seconds", [None, 0.0])
def test_blind_rounds_of_which_nothing_is_taken_come_to_an_end(
    monkeypatch: pytest.MonkeyPatch, seconds: float | None
) -> None:
    rng, turns = np.random.default_rng(2), []
    points, codes = rng.random((300, 2)), rng.integers(0, 2, 300).astype(np.int32)
    admits = Admission(((KAnonymity(3), None), (DistinctDiversity(2), Values("s", codes, 2))), 300)
    bench, start = Bench(points, admits, plain_costs(points)), Mondrian()(points, admits)

    def turned_down(old: Labels, new: Labels, turn: int, bounds: object) -> tuple[Labels, int]:
        del new, bounds
        turns.append(turn)
        return old, int(old.max()) + 1

    monkeypatch.setattr(bench, "_taken", turned_down)
    bounds = bench.bounds(start.labels)
    found, _ = bench.repaired(start.labels, start.classes, Repair(blind=True, seconds=seconds), bounds)
    assert (found == in_their_order(start.labels, start.classes)).all()
    assert turns == ([1] if seconds == 0 else [1, 2, 3, 4])


def test_what_a_round_may_not_change_as_a_whole_it_changes_in_part() -> None:
    rng = np.random.default_rng(11)
    points = rng.random((600, 3))
    codes = (points[:, 0] + rng.normal(0, 0.3, 600) > 0.8).astype(np.int32)
    admits = Admission(((KAnonymity(5), None), (DistinctDiversity(2), Values("s", codes, 2))), 600)
    bench, start = Bench(points, admits, plain_costs(points)), Mondrian()(points, admits)
    other, _ = bench.repaired(start.labels, start.classes, Repair(blind=True, rounds=1, tile=30))
    old, new = sorted((start.labels, other), key=lambda labels: float(bench.bounds(labels)[0]))
    between = 0.2 * bench.bounds(old) + 0.8 * bench.bounds(new) - 0.01
    assert bench.within(old, between)
    assert not bench.within(new, between)
    found, classes = bench._taken(old, new, 1, between)
    assert bench.within(found, between)
    before, after = (
        {tuple(np.flatnonzero(labels == group)) for group in range(labels.max() + 1)} for labels in (old, new)
    )
    taken = {tuple(np.flatnonzero(found == group)) for group in range(classes)}
    assert taken <= before | after
    assert taken - before
    assert taken - after


@given(judged(), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_neither_the_order_of_rows_nor_threads_change_the_classes(
    table: tuple[Points, Admission, Costs], random: object
) -> None:
    points, admits, costs = table
    whole = np.arange(len(points), dtype=np.int32)
    if not admits(whole, np.array([0, len(points)])).all():
        return
    moved = whole.copy()
    random.shuffle(moved)  # type: ignore[attr-defined]
    promises = tuple(
        (
            model,
            values
            if values is None
            else Values(values.name, values.codes[moved], values.size, values.ancestors, values.missing),
        )
        for model, values in admits.promises
    )
    subjects = None if admits.subjects is None else admits.subjects[moved]
    other = Admission(promises, len(points), subjects=subjects)
    for method in (
        Mosaic(cells=costs),
        Mosaic(cells=costs, blind=True),
        Repaired(Mondrian(), Repair(blind=True), cells=costs),
    ):
        once, again = method(points, admits, threads=1), method(points[moved], other, threads=3)
        lost = loss(points, once.labels, costs)
        assert lost == pytest.approx(loss(points[moved], again.labels, costs), abs=1e-9)
        assert sorted(once.sizes.tolist()) == sorted(again.sizes.tolist())


def test_a_model_that_is_only_asked_is_kept() -> None:
    rng = np.random.default_rng(1)
    points = rng.random((400, 2))
    admits = AtLeast(4, plain=False)
    start, found = Mondrian()(points, admits), Repaired(Mondrian())(points, admits)
    assert found.sizes.min() >= 4
    assert loss(points, found.labels) < 0.95 * loss(points, start.labels)


def test_classes_that_need_other_values_are_grown_and_not_merged() -> None:
    """Values follow the first column: half of all classes by size alone would show one value."""
    rng = np.random.default_rng(2)
    points = rng.random((2_000, 2))
    values = Values("s", (points[:, 0] + rng.normal(0, 0.2, 2_000) > 0.6).astype(np.int32), 2)
    admits = Admission(((KAnonymity(5), None), (EqualCloseness(0.2), values)), 2_000)
    mosaic, mondrian = (method(points, admits) for method in (Mosaic(), Mondrian()))
    assert loss(points, mosaic.labels) < 0.75 * loss(points, mondrian.labels)
    blind = Mosaic(blind=True)(points, admits)
    assert loss(points, mosaic.labels) < loss(points, blind.labels) < loss(points, mondrian.labels)


def laid_out(bench: Bench, labels: Labels, room: int) -> Workbench:
    """All rows as one tile, in their classes."""
    tile = open_workbench(bench.costs, bench.promises, len(labels), room)
    place_records(tile, bench.costs, bench.promises, np.arange(len(labels), dtype=np.int32), room)
    for record, group in enumerate(labels.tolist()):
        enter(tile, bench.promises, record, group)
    for group in range(room):
        work_out(tile, bench.costs, group)
    return tile


@given(st.integers(0, 2**32 - 1), st.sampled_from(MODELS))
@settings(max_examples=20, deadline=None)
def test_whether_a_record_may_go_does_not_depend_on_who_has_which_value(
    seed: int, model: PrivacyModel
) -> None:
    """Blind, an answer is about a class: values dealt anew among its members change none."""
    rng = np.random.default_rng(seed)
    points, labels = rng.random((24, 2)), np.repeat(np.arange(4), 6)
    codes = rng.integers(0, 4, 24).astype(np.int32)
    answers = []
    for _ in range(2):
        values = Values("s", codes, 4, ancestors=TREE)
        admits = Admission(((KAnonymity(3), None), (model, values)), 24)
        bench = Bench(points, admits, plain_costs(points))
        tile = laid_out(bench, labels, 4)
        answers.append(
            [
                keeps_whoever(tile, bench.promises, group, gone, come)
                for group in range(4)
                for gone in (-1, 6 * group, 6 * group + 5)
                for come in (-1, *(6 * other for other in range(4) if other != group))
            ]
        )
        codes = np.concatenate([rng.permutation(codes[labels == group]) for group in range(4)])
    assert answers[0] == answers[1]


@given(judged(most=50), st.booleans())
@settings(max_examples=40, deadline=None)
def test_after_every_kind_of_step_promises_hold_and_the_books_are_right(
    table: tuple[Points, Admission, Costs],
    blind: bool,  # noqa: FBT001 - drawn
) -> None:
    points, admits, cells = table
    rows = np.arange(len(points), dtype=np.int32)
    bench = Bench(points, admits, cells)
    if not bench.certain or not admits(rows, np.array([0, len(points)])).all():
        return
    start = Mondrian()(points, admits)
    costs, promises, room = bench.costs, bench.promises, start.classes + 2
    before = loss(points, start.labels, cells)
    tile = laid_out(bench, start.labels, room)
    steps = (
        lambda: _steps._move(tile, costs, promises, len(rows), room, blind, 1),
        lambda: _steps._swap(tile, costs, promises, len(rows), blind, 1),
        lambda: _steps._spawn(tile, costs, promises, len(rows), room, blind, 1),
        lambda: _steps._reform(tile, costs, promises, len(rows), room, 2.0, blind, 1),
    )
    for step in steps * 2:
        changed = step()
        labels = np.unique(tile.label, return_inverse=True)[1]
        now = loss(points, labels, cells)
        assert accepted(admits, labels)
        assert now < before if changed else now == pytest.approx(before, abs=1e-9)
        assert (tile.size[:room] * tile.width[:room]).sum() == pytest.approx(now, abs=1e-9)
        before = now


def test_a_swap_that_only_one_side_gains_by_is_found_from_either_side() -> None:
    """No record of the first class makes it narrower by leaving; the last one of the second does."""
    places = np.array([0, 0, 0.2, 1, 1, 0.1, 0.15, 0.12, 0.18, 0.9])[:, None]
    labels = np.repeat([0, 1], 5)
    for order in (np.arange(10), np.arange(10)[::-1]):
        bench = Bench(places[order], AtLeast(5), plain_costs(places))
        found = bench.repaired(labels[order], 2, Repair(reach=0))
        assert bench.total(*found) == pytest.approx(5 * 1.0 + 5 * 0.1)


@given(judged())
@settings(max_examples=40, deadline=None)
def test_a_row_without_a_class_joins_the_cheapest_that_keeps_its_promises(
    table: tuple[Points, Admission, Costs],
) -> None:
    points, admits, costs = table
    if not admits(np.arange(len(points), dtype=np.int32), np.array([0, len(points)])).all():
        return
    bench, start = Bench(points, admits, costs), Mondrian()(points, admits)
    for row in range(min(len(points), 5)):
        labels = start.labels.copy()
        labels[row] = -1
        if not bench.certain or not accepted(admits, labels):
            continue
        found, classes = bench.placed(labels, start.classes)
        choices = [np.where(labels < 0, group, labels) for group in range(start.classes)]
        kept = [loss(points, one, costs) for one in choices if accepted(admits, one)]
        assert classes == start.classes
        assert loss(points, found, costs) == pytest.approx(min(kept), abs=1e-9)


def test_rows_that_fit_nowhere_in_their_tile_go_where_they_fit() -> None:
    """Half of the tiles have too many of one value; what they cannot hold others can."""
    rng = np.random.default_rng(4)
    points = rng.random((6_000, 2))
    values = Values("s", (rng.random(6_000) < 0.05 + 0.5 * (points[:, 0] > 0.6)).astype(np.int32), 2)
    admits = Admission(((KAnonymity(5), None), (EqualCloseness(0.2), values)), 6_000)
    grown = Mosaic(rounds=0)(points, admits)
    assert accepted(admits, grown.labels)
    assert grown.sizes.max() < 100  # they made classes of hundreds when they were merged


def test_a_table_of_which_no_part_keeps_the_promise_stays_whole() -> None:
    values = Values("s", np.repeat([0, 1], [10, 11]).astype(np.int32), 2)
    admits = Admission(((KAnonymity(2), None), (EqualCloseness(0.0), values)), 21)
    for blind in (False, True):
        assert Mosaic(blind=blind)(np.random.default_rng(5).random((21, 2)), admits).classes == 1


def test_repair_ends_when_its_time_is_up() -> None:
    rng = np.random.default_rng(3)
    points = rng.random((3_000, 3))
    bench = Bench(points, AtLeast(5), plain_costs(points))
    start = Mondrian()(points, AtLeast(5))
    short = bench.repaired(start.labels, start.classes, Repair(seconds=0))
    assert bench.total(*short) == bench.total(*bench.repaired(start.labels, start.classes, Repair(rounds=1)))


def test_methods_that_lift_whole_columns_are_not_repaired() -> None:
    with pytest.raises(InvalidParameter, match="lifts columns"):
        Repaired(Flash())(np.zeros((4, 1)), AtLeast(2))
    with pytest.raises(InvalidParameter, match="rounds"):
        Repair(rounds=-1)


def test_a_large_table_is_repaired_as_long_as_some_rounds_together_gain() -> None:
    rng = np.random.default_rng(6)
    points = rng.random((5_100, 2))
    bench = Bench(points, Admission(((KAnonymity(5), None),), rows=5_100), plain_costs(points))
    plan = bench._plan(Repair(), 5_100)
    assert (plan.rounds, plan.tile, plan.window) == (32, 128, 4)
    falls = [100.0, 99.99, 99.98, 99.97]  # too little each, but nothing is said of fewer than four rounds
    assert not plan.slow(falls)
    assert plan.slow([*falls, 99.96])
    assert not plan.slow([*falls, 99.90])


@pytest.mark.parametrize(("model", "rounds"), [(DistinctDiversity(2), 16), (EqualCloseness(0.3), 8)])
def test_costlier_promises_get_fewer_rounds(model: PrivacyModel, rounds: int) -> None:
    rng = np.random.default_rng(7)
    points, values = rng.random((5_100, 1)), Values("value", rng.integers(0, 3, 5_100).astype(np.int32), 3)
    judge = Admission(((KAnonymity(5), None), (model, values)), rows=5_100)
    assert Bench(points, judge, plain_costs(points))._plan(Repair(), 5_100).rounds == rounds
    assert Bench(points, judge, plain_costs(points))._plan(Repair(rounds=2), 5_100).rounds == 2


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 14), st.integers(0, 2)),
        min_size=30,
        max_size=60,
    ),
    names=st.permutations(range(15)),
)
def test_what_people_are_numbered_by_has_no_say(
    rows: list[tuple[int, int, int, int]], names: list[int]
) -> None:
    """From disk people are numbered by hashes, in memory by their names: the classes must be the same."""
    age, size, person, value = np.array(rows).T
    points = np.column_stack([age / 4, size / 2])
    codes = Values("ill", value.astype(np.int32), 3)
    made = []
    for called in (person, np.array(names)[person]):
        promises = ((KAnonymity(3), None), (DistinctDiversity(2), codes))
        admits = Admission(promises, rows=len(rows), subjects=called.astype(np.int32))
        if not admits(np.arange(len(rows), dtype=np.int32), np.array([0, len(rows)])).all():
            return
        made.append([method(points, admits).labels.tolist() for method in (Mosaic(), Repaired(Mondrian()))])
    assert made[0] == made[1]
