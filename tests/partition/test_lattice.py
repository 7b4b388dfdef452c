"""Full-domain methods against a slow oracle: the same loss, sound pruning, what they promise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import AtLeast
from mahrem.arrays import counting
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.models import (
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    KAnonymity,
    PrivacyModel,
    ShownPresence,
)
from mahrem.partition import METHODS, Admission, Admits, Levels, MinGen, Partition, build_method
from mahrem.partition.judging import within_patterns
from mahrem.partition.lattice import OBJECTIVES
from mahrem.partition.lattice import _lattice as lattice_module
from mahrem.partition.lattice._flash import Flash
from mahrem.partition.lattice._lattice import lattice_of
from mahrem.table import Hierarchy, Values
from mahrem.types import Mask, Offsets, Points, Rows
from slow_lattice import SlowSearch, Table, slow_classes, tables

OPTIMAL = ("incognito", "ola", "flash", "mingen")
GREEDY = ("datafly", "bottom-up", "top-down")


models = st.sampled_from(
    [
        (KAnonymity(1),),
        (KAnonymity(2),),
        (KAnonymity(4),),
        (KAnonymity(2), DistinctDiversity(2)),
        (KAnonymity(1), EntropyDiversity(1.8)),
        (KAnonymity(2), EqualCloseness(0.4)),
    ]
)
limits = st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0])
losses = st.sampled_from([name for name in OBJECTIVES if not OBJECTIVES[name].needs])


def how(partition: Partition) -> Levels:
    assert isinstance(partition.how, Levels)
    return partition.how


@settings(deadline=None, max_examples=60)
@given(tables(), models, limits, losses)
def test_all_optimal_methods_find_the_least_loss_there_is(
    table: Table, said: tuple[PrivacyModel, ...], limit: float, loss: str
) -> None:
    wanted = SlowSearch(table, said, limit, loss).best()
    for name in OPTIMAL:
        method = build_method(name, hierarchies=table.trees, suppression_limit=limit, options={"loss": loss})
        if wanted == math.inf:
            with pytest.raises(Infeasible):
                method(table.points, table.admits(*said))
        else:
            assert how(method(table.points, table.admits(*said))).loss == pytest.approx(wanted), name


@dataclass(frozen=True)
class EvenSizes:
    """A judge without any algebra: what holds below may fail above."""

    minimum: int = 1
    plain: bool = False

    def __call__(self, rows: Rows, offsets: Offsets) -> Mask:
        assert len(rows) == offsets[-1]
        return np.diff(offsets) % 2 == 0


@settings(deadline=None, max_examples=40)
@given(tables(), limits, losses)
def test_a_judge_that_promises_no_algebra_is_never_pruned_by(table: Table, limit: float, loss: str) -> None:
    found = []
    for name in OPTIMAL:
        method = build_method(name, hierarchies=table.trees, suppression_limit=limit, options={"loss": loss})
        try:
            found.append(how(method(table.points, EvenSizes())).loss)
        except Infeasible:
            found.append(math.inf)
    assert found == pytest.approx([found[-1]] * len(OPTIMAL))


@settings(deadline=None, max_examples=60)
@given(
    tables(),
    models,
    limits,
    st.sampled_from([name for name, method in METHODS.items() if method.full_domain]),
)
def test_every_class_stands_and_no_more_is_suppressed_than_allowed(
    table: Table, said: tuple[PrivacyModel, ...], limit: float, name: str
) -> None:
    method = build_method(name, hierarchies=table.trees, suppression_limit=limit)
    try:
        partition = method(table.points, table.admits(*said))
    except Infeasible:
        assert name in GREEDY or SlowSearch(table, said, limit).best() == math.inf
        return
    labels, rows = partition.labels, len(table.leaves)
    assert (labels < 0).sum() <= limit * rows + 1e-9
    assert set(labels[labels >= 0].tolist()) == set(range(partition.classes))
    assert partition.classes > 0
    classes = [np.flatnonzero(labels == label).tolist() for label in range(partition.classes)]
    assert SlowSearch(table, said).left(classes) == classes
    grouped = {frozenset(members) for members in slow_classes(table, how(partition).levels)}
    assert {frozenset(members) for members in classes} <= grouped
    assert all(len({int(labels[row]) for row in members}) == 1 for members in grouped)


@settings(deadline=None, max_examples=40)
@given(tables(), limits, losses, st.sampled_from(GREEDY))
def test_greedy_methods_lose_no_less_than_the_best(table: Table, limit: float, loss: str, name: str) -> None:
    said = (KAnonymity(2),)
    method = build_method(name, hierarchies=table.trees, suppression_limit=limit, options={"loss": loss})
    wanted = SlowSearch(table, said, limit, loss).best()
    if wanted == math.inf:
        with pytest.raises(Infeasible):
            method(table.points, table.admits(*said))
    else:
        assert how(method(table.points, table.admits(*said))).loss >= wanted - 1e-9


@settings(deadline=None, max_examples=50)
@given(tables(), st.data())
def test_classes_made_from_classes_are_those_made_from_rows(table: Table, data: st.DataObject) -> None:
    lattice = lattice_of(table.points, table.trees, with_rows=data.draw(st.booleans()))
    for _ in range(5):
        node = tuple(data.draw(st.integers(0, tree.levels - 1)) for tree in table.trees)
        grouped = lattice.classes(node)
        slow = slow_classes(table, node)
        assert grouped.sizes.tolist() == [len(members) for members in slow]
        labels = lattice.labels(grouped)
        assert [np.flatnonzero(labels == label).tolist() for label in range(len(slow))] == slow


def test_keys_wider_than_one_word_tell_rows_apart() -> None:
    rng = np.random.default_rng(0)
    tree = Hierarchy.from_rows([[str(leaf), str(leaf // 10)] for leaf in range(100)])
    leaves = rng.integers(0, 100, (500, 25))
    leaves[250:] = leaves[:250]
    leaves[250:, 24] = (leaves[250:, 24] + 1) % 100  # told apart by the last word alone
    lattice = lattice_of(leaves / 99, [tree] * 25)
    assert lattice.base.keys.shape == (500, 3)
    node = (2,) * 23 + (1, 1)
    wanted = len(np.unique(leaves[:, 23:] // 10, axis=0))
    assert len(lattice.classes(node).sizes) == wanted


@settings(deadline=None, max_examples=15)
@given(tables(), st.sampled_from([0, 200]))
def test_what_the_store_forgets_changes_nothing(table: Table, room: int) -> None:
    usual = MinGen(hierarchies=table.trees)(table.points, table.admits(KAnonymity(1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice_module, "_BYTES", room)
        patch.setattr(lattice_module, "_PLACES", 2)
        other = MinGen(hierarchies=table.trees)(table.points, table.admits(KAnonymity(1)))
    assert np.array_equal(usual.labels, other.labels)
    assert how(usual) == how(other)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(0, 2**32))
def test_regroup_is_a_plain_group_by(rows: int, words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 4, (rows, words)).astype(np.uint64)
    counts = rng.integers(1, 9, rows)
    delta = rng.integers(0, 2, 4).astype(np.uint64)
    one = np.zeros(1, np.uint64)
    lift = counting.Lift(np.zeros(1, np.int64), one, one + np.uint64(3), one, delta)
    found, sizes, into = counting.regroup(keys, counts, lift)
    lifted = keys.copy()
    lifted[:, 0] += delta[keys[:, 0]]
    assert np.array_equal(found[into], lifted)
    assert len(np.unique(found, axis=0)) == len(found)
    assert np.array_equal(sizes, np.bincount(into, weights=counts).astype(np.int64))


def test_the_general_path_gives_what_the_plain_one_gives() -> None:
    rng = np.random.default_rng(2)
    points = rng.integers(0, 9, (300, 3)) / 8
    one, other = Flash()(points, AtLeast(4)), Flash()(points, AtLeast(4, plain=False))
    assert np.array_equal(one.labels, other.labels)


def adult_like() -> tuple[Points, tuple[Hierarchy, ...], Admission]:
    rng = np.random.default_rng(5)
    tree = Hierarchy.from_rows([[str(leaf), str(leaf // 2), f"half {leaf // 4}"] for leaf in range(8)])
    points = rng.integers(0, 8, (400, 4)) / 7
    return points, (tree,) * 4, Admission(((KAnonymity(5), None),), rows=400)


def test_pruning_saves_most_of_the_checks() -> None:
    points, trees, admits = adult_like()
    all_nodes = how(MinGen(hierarchies=trees)(points, admits))
    assert all_nodes.checked == all_nodes.nodes == 256
    for name in ("incognito", "ola", "flash"):
        assert how(build_method(name, hierarchies=trees)(points, admits)).checked < 128


def test_a_method_out_of_time_gives_the_best_so_far_and_says_so() -> None:
    points, trees, admits = adult_like()
    found = how(Flash(hierarchies=trees, seconds=0.0)(points, admits))
    assert not found.finished
    assert found.levels == (3, 3, 3, 3)
    assert how(Flash(hierarchies=trees)(points, admits)).finished


def test_a_judge_that_nothing_satisfies_in_time_is_infeasible_with_the_best_reached() -> None:
    points, trees, _ = adult_like()
    with pytest.raises(Infeasible, match=r"time was over.*would suppress at least 399 of 399 rows") as caught:
        Flash(hierarchies=trees, seconds=0.0)(points[:399], EvenSizes())
    assert caught.value.reached == 1.0


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.full_domain])
def test_an_unreachable_k_says_what_can_be_reached(name: str) -> None:
    points, trees, _ = adult_like()
    admits = Admission(((KAnonymity(401), None),), rows=400)
    with pytest.raises(Infeasible, match="400") as caught:
        build_method(name, hierarchies=trees, suppression_limit=0.9)(points, admits)
    assert caught.value.reached == 400


@pytest.mark.parametrize(("name", "columns"), [("mingen", 9), ("flash", 12), ("ola", 12), ("incognito", 12)])
def test_a_lattice_that_is_too_large_is_refused_by_its_nodes(name: str, columns: int) -> None:
    points, trees, _ = adult_like()
    wide = np.repeat(points[:, :1], columns, axis=1)
    with pytest.raises(InvalidParameter, match=r"nodes=.*datafly"):
        build_method(name, hierarchies=trees[:1] * columns)(wide, AtLeast(2))


@pytest.mark.parametrize("name", GREEDY)
def test_greedy_methods_need_no_map_of_the_lattice(name: str) -> None:
    points, trees, admits = adult_like()
    wide = np.tile(points, 10)
    partition = build_method(name, hierarchies=trees * 10)(wide, admits)
    assert partition.sizes.min() >= 5


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.full_domain])
@pytest.mark.parametrize(
    "wrong", [{"loss": "beauty"}, {"seconds": -1}, {"suppression_limit": 1.5}, {"suppression_limit": -0.1}]
)
def test_settings_that_do_not_fit_are_refused(name: str, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        METHODS[name].load()(**wrong)
    points, trees, admits = adult_like()
    with pytest.raises(InvalidParameter, match="hierarchies=3"):
        METHODS[name].load()(hierarchies=trees[:3])(points, admits)


def test_missing_values_stay_apart_below_the_root_and_the_whole_table_is_searched() -> None:
    tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
    points = np.array([[0.0], [-1.0], [0.5], [-1.0], [1.0], [1.0]])
    admits = Admission(((KAnonymity(2), None),), rows=6)
    found = within_patterns(Flash(hierarchies=(tree,)), points, points < 0, admits)
    assert how(found).levels == (1,)
    assert found.labels.tolist() == [0, 1, 0, 1, 2, 2]
    lonely = np.where(np.arange(6)[:, None] == 3, 1.0, points)
    assert how(Flash(hierarchies=[tree])(lonely, admits)).levels == (2,)


def test_datafly_generalises_the_column_with_most_values() -> None:
    wide = Hierarchy.from_rows([[str(leaf), str(leaf // 4)] for leaf in range(8)])
    narrow = Hierarchy.from_rows([["f"], ["m"]])
    points = np.array([[leaf / 7, leaf % 2] for leaf in range(8)])
    found = build_method("datafly", hierarchies=(wide, narrow))(points, AtLeast(2))
    assert how(found).levels == (1, 0)
    assert found.labels.tolist() == [0, 1, 0, 1, 2, 3, 2, 3]


@pytest.mark.parametrize(
    ("said", "algebra"),
    [
        ((KAnonymity(2), DistinctDiversity(2)), (True, True)),
        ((KAnonymity(2), EntropyDiversity(2)), (True, False)),
        ((EqualCloseness(0.2),), (True, False)),
        ((KAnonymity(2), DeltaPresence(0.1, 0.5)), (True, False)),
        ((KAnonymity(2), ShownPresence(0.1, 0.5)), (False, False)),
    ],
)
def test_the_judge_declares_its_algebra(said: tuple[PrivacyModel, ...], algebra: tuple[bool, bool]) -> None:
    values = Values("d", np.zeros(3, np.int32), 1)
    admits = Admission(tuple((model, values) for model in said), rows=3)
    assert (admits.monotone, admits.growing) == algebra


def test_a_table_of_which_rows_are_hidden_is_compared_with_what_is_shown() -> None:
    values = Values("d", np.array([0, 0, 1, 1, 1, 1], np.int32), 2)
    admits = Admission(((EqualCloseness(0.1), values),), rows=6)
    rows, offsets = np.arange(4, dtype=np.int32), np.array([0, 4])
    assert not admits(rows, offsets).any()  # half and half against a third
    among: Admits = admits.among(np.arange(6) < 4)
    assert among(rows, offsets).all()


FOUR = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"], ["d", "y"]])
TWO = Hierarchy.from_rows([["p"], ["q"]])


@pytest.mark.parametrize("name", OPTIMAL)
def test_closeness_with_suppression_is_not_pruned(name: str) -> None:
    """Above a node that holds lies one that does not: merged classes drag good rows with them."""
    points = np.column_stack([np.array([3, 0, 0, 0, 0, 3, 3, 2]) / 3, [0.0, 0, 0, 0, 1, 0, 0, 0]])
    disease = Values("disease", np.array([1, 1, 0, 0, 0, 0, 1, 1], np.int32), 2)
    admits = Admission(((KAnonymity(2), None), (EqualCloseness(0.2), disease)), rows=8)
    found = METHODS[name].load()(hierarchies=(FOUR, TWO), suppression_limit=0.5)(points, admits)
    assert found.how.loss == pytest.approx(0.25)


def test_bottom_up_takes_the_step_that_saves_most_for_its_cost() -> None:
    points = np.array([[0, 0], [0, 1 / 3], [1, 2 / 3], [1, 1]])
    found = METHODS["bottom-up"].load()(hierarchies=(TWO, FOUR))(points, AtLeast(2))
    assert found.how.levels == (0, 1)


def test_top_down_takes_the_step_that_wins_most() -> None:
    """The first column could go down first, but then no other could."""
    rows = ["apn", "bqn", "bqn", "bqm", "cpn", "cpm", "dpm", "dqm"]
    points = np.array([["abcd".index(x) / 3, "pq".index(y), "mn".index(z)] for x, y, z in rows])
    found = METHODS["top-down"].load()(hierarchies=(FOUR, TWO, TWO))(points, AtLeast(2))
    assert found.how.levels == (2, 0, 0)
