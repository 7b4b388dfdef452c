from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import AtLeast
from mahrem.arrays import cutting, tiling
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.metrics import cell_losses
from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity
from mahrem.partition import Admission, Mondrian, Partition, build_method
from mahrem.recode import Nodes
from mahrem.table import Axis, Hierarchy, Leaves, Values
from mahrem.types import Labels, Points

Trees = tuple[Hierarchy | None, ...]
BOTH = pytest.mark.parametrize("strict", [True, False])
ILLS = Hierarchy.from_rows(
    [["cold", "lung"], ["flu", "lung"], ["gout", "joint"], ["sprain", "joint"], ["burn", "skin"]]
)


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    parents = draw(st.lists(st.integers(0, 5), min_size=1, max_size=14))
    match draw(st.sampled_from(["flat", "two", "three"])):
        case "flat":
            rows = [[f"v{i}"] for i in range(len(parents))]
        case "two":
            rows = [[f"v{i}", f"p{p}"] for i, p in enumerate(parents)]
        case _:
            rows = [[f"v{i}", f"p{p}", f"g{p // 2}"] for i, p in enumerate(parents)]
    return Hierarchy.from_rows(rows)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Points, Trees, int]:
    """Rows on leaves, some far more often than others, some missing; beside columns of numbers."""
    k = draw(st.integers(1, 5))
    rows = draw(st.integers(k, 250))
    found = tuple(draw(st.lists(trees() | st.none(), min_size=1, max_size=4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.0, 0.1, 0.6]))
    columns = []
    for tree in found:
        if tree is None:
            columns.append(np.round(rng.random(rows), draw(st.integers(0, 2))))
            continue
        odds = rng.random(tree.leaves) ** draw(st.integers(0, 5)) + 1e-9
        leaves = rng.choice(tree.leaves, rows, p=odds / odds.sum())
        places = leaves / max(1, tree.leaves - 1)
        columns.append(np.where(rng.random(rows) < missing, -1.0, places))
    return np.stack(columns, axis=1), found, k


def path(tree: Hierarchy, place: float) -> tuple[tuple[int, int], ...]:
    """The nodes over a place from above the root down to the leaf; a missing value hangs beside the root."""
    if place < 0:
        return ((-1, -1), (-1, 0))
    leaf = round(place * (tree.leaves - 1))
    top_down = [(level, int(tree.nodes[level, leaf])) for level in reversed(range(tree.levels))]
    return ((-1, -1), *top_down)


def climb(tree: Hierarchy, places: list[float]) -> tuple[float, list[tuple[int, int]]]:
    """The share of the lowest node over all places, and of each place the child of that node it is under."""
    paths = [path(tree, place) for place in places]
    depth = 0
    while all(depth + 1 < len(one) and one[depth + 1] == paths[0][depth + 1] for one in paths):
        depth += 1
    level, node = paths[0][depth]
    under = tree.leaves if level < 0 else int((tree.nodes[level] == node).sum())
    if len({one[depth:] for one in paths}) == 1:
        return 0.0, []
    return under / tree.leaves, [one[depth + 1] for one in paths]


def in_order(tree: Hierarchy, children: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Children from left to right: the missing one, then by their first leaf."""
    place = {one: -1 if one[0] < 0 else int((tree.nodes[one[0]] == one[1]).argmax()) for one in children}
    return sorted(place, key=lambda one: place[one])


def tree_cuts(children: list[tuple[int, int]], ordered: list[tuple[int, int]], k: int) -> list[list[bool]]:
    """The cuts of a column with a tree in the order they are tried: one child apart, then near the median."""
    counts, n = Counter(children), len(children)
    largest = max(ordered, key=lambda one: counts[one])
    cuts = []
    if k <= counts[largest] <= n - k and 8 * counts[largest] >= n:
        cuts.append([one == largest for one in children])
    lefts = np.cumsum([counts[one] for one in ordered])[:-1].tolist()
    borders = [(abs(2 * left - n), place) for place, left in enumerate(lefts) if k <= left <= n - k]
    if borders:
        before = set(ordered[: min(borders)[1] + 1])
        cuts.append([one in before for one in children])
    return cuts


def number_cuts(values: Points, k: int) -> list[list[bool]]:
    middle = np.sort(values)[(len(values) - 1) // 2]
    cuts = [values <= middle, values < middle]
    return [cut.tolist() for cut in cuts if k <= cut.sum() <= len(values) - k]


def by_hand(
    points: Points, found: Trees, k: int, may: Callable[[list[int]], bool] = lambda _: True
) -> Labels:
    """The strict rule once more, slowly."""
    labels, stack, classes = np.full(len(points), -1), [list(range(len(points)))], 0
    while stack:
        rows = stack.pop()
        options = []
        for column, tree in enumerate(found):
            values = points[rows, column]
            if tree is None:
                options.append((-float(np.ptp(values)), column, number_cuts(values, k)))
                continue
            share, children = climb(tree, values.tolist())
            if share > 0:
                rest = len(rows) - max(Counter(children).values())
                cuts = tree_cuts(children, in_order(tree, children), k)
                options.append((-(share * len(rows) / (2 * rest)), column, cuts))
        for worth, _, cuts in sorted(options, key=lambda option: option[:2]):
            sides = [
                [[r for r, s in zip(rows, cut, strict=True) if s == left] for left in (1, 0)] for cut in cuts
            ]
            agreed = next((pair for pair in sides if worth < 0 and may(pair[0]) and may(pair[1])), None)
            if agreed:
                stack += agreed
                break
        else:
            labels[rows] = classes
            classes += 1
    return labels


def same_classes(one: Labels, other: Labels) -> bool:
    return len(np.unique(np.stack([one, other]), axis=1).T) == len(np.unique(one)) == len(np.unique(other))


@given(tables())
@settings(max_examples=50, deadline=None)
def test_strict_gives_the_classes_of_the_slow_rule(table: tuple[Points, Trees, int]) -> None:
    points, found, k = table
    partition = Mondrian(hierarchies=found)(points, AtLeast(k))
    assert partition.sizes.min() >= k
    assert same_classes(partition.labels, by_hand(points, found, k))


@given(tables(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_any_promise_is_kept_and_refused_cuts_are_followed_by_the_next(
    table: tuple[Points, Trees, int], seed: int
) -> None:
    points, found, k = table
    codes = np.random.default_rng(seed).integers(0, 3, len(points)).astype(np.int32)
    codes[0] = (codes[-1] + 1) % 3
    if len(points) < 2:
        return
    model = (DistinctDiversity(2), Values("illness", codes, 3))
    admits = Admission(((KAnonymity(k), None), model), rows=len(points))
    partition = Mondrian(hierarchies=found)(points, admits)
    assert admits(*tiling.rows_by_label(partition.labels, partition.classes)).all()
    # what is asked for beyond k is asked of both sides of every cut, in the order of the slow rule
    assert same_classes(
        partition.labels, by_hand(points, found, admits.minimum, lambda rows: len(set(codes[rows])) >= 2)
    )


@BOTH
@given(table=tables())
@settings(max_examples=30, deadline=None)
def test_the_general_path_gives_what_the_kernel_gives(
    strict: bool,  # noqa: FBT001
    table: tuple[Points, Trees, int],
) -> None:
    points, found, k = table
    kernel = Mondrian(strict=strict, hierarchies=found)(points, AtLeast(k))
    general = Mondrian(strict=strict, hierarchies=found)(points, AtLeast(k, plain=False))
    assert (kernel.labels == general.labels).all()


@given(tables(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_strict_keeps_equal_rows_together_and_does_not_see_their_order(
    table: tuple[Points, Trees, int], seed: int
) -> None:
    points, found, k = table
    labels = Mondrian(hierarchies=found)(points, AtLeast(k)).labels
    _, same = np.unique(points, axis=0, return_inverse=True)
    assert len(np.unique(np.stack([same, labels]), axis=1).T) == same.max() + 1
    order = np.random.default_rng(seed).permutation(len(points))
    assert (Mondrian(hierarchies=found)(points[order], AtLeast(k)).labels == labels[order]).all()


@given(tables())
@settings(max_examples=40, deadline=None)
def test_relaxed_classes_hold_k_to_2k_minus_1_rows(table: tuple[Points, Trees, int]) -> None:
    points, found, k = table
    partition = Mondrian(strict=False, hierarchies=found)(points, AtLeast(k))
    assert partition.sizes.sum() == len(points)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1


@given(tables())
@settings(max_examples=30, deadline=None)
def test_every_class_shows_the_lowest_node_over_its_rows(table: tuple[Points, Trees, int]) -> None:
    points, found, k = table
    partition = Mondrian(hierarchies=found)(points, AtLeast(k))
    for column, tree in enumerate(found):
        if tree is None:
            continue
        places = points[:, column]
        leaves = np.where(places < 0, np.nan, np.rint(places * (tree.leaves - 1)))
        shown = Nodes()(Axis("ill", leaves, Leaves(tree)), partition.labels, partition.classes)
        shares = [
            climb(tree, places[partition.labels == label].tolist())[0] for label in range(partition.classes)
        ]
        assert cell_losses(shown, tree).ncp == pytest.approx(shares)


@given(tables(), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_no_tree_at_all_changes_nothing(table: tuple[Points, Trees, int], seed: int) -> None:
    points, found, k = table
    points = np.random.default_rng(seed).random(points.shape).round(1)
    plain = Mondrian()(points, AtLeast(k))
    nothing = Mondrian(hierarchies=(None,) * len(found))(points, AtLeast(k))
    assert (plain.labels == nothing.labels).all()
    assert plain.how is not None
    assert nothing.how is not None
    assert (plain.how.value == nothing.how.value).all()


@BOTH
def test_threads_do_not_change_anything(strict: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(5)
    wide = Hierarchy.from_rows([[f"{i}", f"{i // 10}_", f"{i // 100}__"] for i in range(1000)])
    points = np.stack([rng.integers(0, 1000, 60_000) / 999, rng.integers(0, 5, 60_000) / 4], axis=1)
    for admits in (AtLeast(7), AtLeast(7, plain=False)):
        settled = [
            Mondrian(strict=strict, hierarchies=(wide, ILLS))(points, admits, threads=threads).labels
            for threads in (1, 2, 3)
        ]
        assert (settled[0] == settled[1]).all()
        assert (settled[0] == settled[2]).all()


def labels_of(names: list[str], k: int, **options: bool) -> list[int]:
    leaves = np.array([ILLS.labels[0].index(name) if name else -4.0 for name in names])
    return Mondrian(hierarchies=(ILLS,), **options)(leaves[:, None] / 4, AtLeast(k)).labels.tolist()


def test_a_child_that_can_stand_is_set_apart_and_small_ones_stay_together() -> None:
    names = ["cold", "cold", "cold", "gout", "burn", "cold"]
    assert labels_of(names, 2) == [0, 0, 0, 1, 1, 0]  # gout and burn show the root, cold shows itself


def test_children_too_small_to_stand_are_cut_between_them() -> None:
    names = ["cold", "gout", "flu", "burn"]
    assert labels_of(names, 2) == [0, 1, 0, 1]


def test_missing_values_come_apart_first() -> None:
    assert labels_of(["cold", "", "flu", "", "gout", "gout"], 2) == [0, 2, 0, 2, 1, 1]


def test_a_median_within_a_child_does_not_cut_it() -> None:
    """By the numbers of leaves alone, flu would be cut from cold."""
    names = ["cold"] * 3 + ["flu"] * 3 + ["gout", "burn"]
    assert labels_of(names, 4) == [0] * 8


def test_a_column_with_many_children_and_few_rows_simply_works() -> None:
    flat = Hierarchy.from_rows([[f"{i}"] for i in range(5000)])
    points = np.random.default_rng(1).integers(0, 5000, (3000, 1)) / 4999
    partition = Mondrian(hierarchies=(flat,))(points, AtLeast(5))
    assert partition.sizes.min() >= 5
    assert partition.sizes.max() < 15
    same = np.zeros((60_000, 1))
    assert Mondrian(hierarchies=(flat,))(same, AtLeast(5)).classes == 1
    assert Mondrian(hierarchies=(flat,), strict=False)(same, AtLeast(5)).classes == 8192


def test_closeness_is_kept_too() -> None:
    rng = np.random.default_rng(2)
    points = np.stack([rng.integers(0, 5, 3000) / 4, rng.random(3000)], axis=1)
    disease = Values("disease", rng.integers(0, 4, 3000).astype(np.int32), 4)
    admits = Admission(((KAnonymity(4), None), (EqualCloseness(0.3), disease)), rows=3000)
    for strict in (True, False):
        partition = Mondrian(strict=strict, hierarchies=(ILLS, None))(points, admits)
        assert partition.classes > 20
        assert admits(*tiling.rows_by_label(partition.labels, partition.classes)).all()


def test_trees_must_fit_the_points() -> None:
    with pytest.raises(InvalidParameter, match="hierarchies=1 must be one for each of the 2 columns"):
        Mondrian(hierarchies=(ILLS,))(np.zeros((4, 2)), AtLeast(2))
    with pytest.raises(InvalidInput, match="leaves=5"):
        Mondrian(hierarchies=(ILLS,))(np.array([[0.0], [3.0]]), AtLeast(1))


def test_hierarchies_reach_mondrian_by_name() -> None:
    method = build_method("mondrian", hierarchies=(ILLS, None))
    assert method == Mondrian(hierarchies=(ILLS, None))
    assert repr(method) == "Mondrian(strict=True, cut='median')"


GROUPS = {
    "marital-status": {"Married": "Partner", "Never": "Single", "Divorced": "Single"},
    "education": {"Preschool": "None", "HS": "School", "Bachelors": "University", "Masters": "University"},
}


def adult_tree(names: list[str], groups: dict[str, str]) -> Hierarchy:
    return Hierarchy.from_rows(
        [
            [name, next((group for start, group in groups.items() if name.startswith(start)), "Other")]
            for name in names
        ]
    )


def loss(points: Points, found: Trees, partition: Partition) -> float:
    """Sum over rows of the widths of their class, nodes as cells: gcp_sum."""
    total = 0.0
    for column, tree in enumerate(found):
        low, high, _ = cutting.class_extremes(points[:, column].copy(), partition.labels, partition.classes)
        widths = high - low
        if tree is not None:
            ends = [np.rint(end * (tree.leaves - 1)).astype(np.int64) for end in (low, high)]
            level, node = tree.lowest_common(*ends)
            under = np.array([tree.leaf_counts[a][b] for a, b in zip(level, node, strict=True)])
            widths = np.where(under > 1, under / tree.leaves, 0.0)
        total += float(partition.sizes @ widths)
    return total


@pytest.mark.data
def test_trees_lower_the_loss_on_adult(benchmark_data: Path) -> None:
    with (benchmark_data / "adult_train.csv").open(encoding="utf-8") as file:
        kept = [row for row in csv.DictReader(file) if "?" not in row.values()]
    found: list[Hierarchy | None] = [None]
    age = np.array([float(row["age"]) for row in kept])
    columns = [(age - age.min()) / np.ptp(age)]
    for name, groups in GROUPS.items():
        tree = adult_tree(sorted({row[name] for row in kept}), groups)
        place = {leaf: number / (tree.leaves - 1) for number, leaf in enumerate(tree.labels[0])}
        columns.append(np.array([place[row[name]] for row in kept]))
        found.append(tree)
    points = np.stack(columns, axis=1)
    for k in (5, 50):
        with_trees = Mondrian(hierarchies=tuple(found))(points, AtLeast(k))
        without = Mondrian()(points, AtLeast(k))
        assert loss(points, tuple(found), with_trees) < 0.7 * loss(points, tuple(found), without)
