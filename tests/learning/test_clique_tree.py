"""A tree of small tables: exact sums, fits that agree, rows drawn with rounding under control."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._clique_growth import (
    SCALE,
    CountedTables,
    Growth,
    grow_cliques,
    marginal_counts,
    whole_shares,
)
from mahrem.learning.synthesis._clique_tree import Clique, CliqueTree, Measured, fit_tree
from mahrem.learning.synthesis._coarse_groups import coarse_groups
from mahrem.learning.synthesis._tree_sampling import spread_draw, tree_sample
from mahrem.types import Floats

# a -> (a, b) -> (a, b, c), and d hangs on b
TREE = CliqueTree(
    (2, 3, 2, 4), (Clique((0,), -1), Clique((0, 1), 0), Clique((0, 1, 2), 1), Clique((1, 3), 1))
)


def whole_joint(tree: CliqueTree, potentials: list[Floats]) -> Floats:
    """Multiply everything out: the slow way."""
    joint = np.zeros(tree.sizes)
    for cell in itertools.product(*(range(size) for size in tree.sizes)):
        joint[cell] = sum(
            table[tuple(cell[column] for column in clique.columns)]
            for clique, table in zip(tree.cliques, potentials, strict=True)
        )
    joint = np.exp(joint)
    found: Floats = joint / joint.sum()
    return found


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_messages_give_the_marginals_of_the_whole_joint(seed: int) -> None:
    rng = np.random.default_rng(seed)
    potentials = [rng.normal(size=TREE.shape(place)) * 3 for place in range(4)]
    joint = whole_joint(TREE, potentials)
    for clique, found in zip(TREE.cliques, TREE.marginals(potentials), strict=True):
        out = tuple(column for column in range(4) if column not in clique.columns)
        assert np.allclose(joint.sum(axis=out), found, atol=1e-12)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_without_noise_a_fit_has_the_marginals_it_was_given(seed: int) -> None:
    rng = np.random.default_rng(seed)
    potentials = [rng.normal(size=TREE.shape(place)) for place in range(4)]
    true = TREE.marginals(potentials)
    measured = [
        Measured(clique.columns, 1e4 * table, 1.0) for clique, table in zip(TREE.cliques, true, strict=True)
    ]
    found = TREE.marginals(fit_tree(TREE, measured, 1e4, rounds=1500, close=1e-9))
    for one, two in zip(true, found, strict=True):
        assert np.abs(one - two).max() < 2e-3


def test_contradicting_counts_are_weighed_by_their_noise_and_never_negative() -> None:
    tree = CliqueTree((2,), (Clique((0,), -1),))
    exact, vague = np.array([80.0, 20.0]), np.array([150.0, -50.0])
    (found,) = tree.marginals(
        fit_tree(tree, [Measured((0,), exact, 1.0), Measured((0,), vague, 10.0)], 100.0)
    )
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert found[0] == pytest.approx((80 * 100 + 150) / 101 / 100, abs=1e-3)  # by hand: weights 100 and 1


def test_tables_that_share_columns_agree_after_a_noisy_fit() -> None:
    rng = np.random.default_rng(1)
    measured = [
        Measured(clique.columns, rng.normal(50, 30, TREE.shape(place)), 30.0)
        for place, clique in enumerate(TREE.cliques)
    ]
    found = TREE.marginals(fit_tree(TREE, measured, 500.0))
    assert np.allclose(found[1], found[2].sum(axis=2), atol=1e-12)
    assert np.allclose(found[1].sum(axis=0), found[3].sum(axis=1), atol=1e-12)


def test_a_clique_that_hangs_on_nothing_that_is_there_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="earlier clique"):
        CliqueTree((2, 2, 2), (Clique((0,), -1), Clique((1, 2), 0)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 400))
def test_every_value_occurs_as_often_as_expected_give_or_take_one(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(5), size=3)
    group = rng.integers(0, 3, rows)
    drawn = spread_draw(table, group, rng)
    for number in range(3):
        inside = drawn[group == number]
        counts = np.bincount(inside, minlength=5)
        assert np.all(np.abs(counts - len(inside) * table[number]) < 1 + 1e-6)


def test_drawn_rows_follow_the_joint_and_come_in_random_order() -> None:
    rng = np.random.default_rng(3)
    potentials = [rng.normal(size=TREE.shape(place)) for place in range(4)]
    tables = TREE.marginals(potentials)
    drawn = tree_sample(TREE, TREE.conditionals(tables), 40_000, rng)
    joint = whole_joint(TREE, potentials)
    counts = marginal_counts(drawn, (0, 1, 2, 3), TREE.sizes) / 40_000
    assert np.abs(counts - joint).sum() / 2 < 0.02  # at most 48 cells with deviations far below 1/400
    first, second = drawn[:20_000], drawn[20_000:]
    halves = [marginal_counts(half, (1, 3), TREE.sizes) for half in (first, second)]
    assert np.abs(halves[0] - halves[1]).sum() / 40_000 < 0.03


def plain_growth(codes: np.ndarray, target: int | None, width: int = 2) -> list[tuple[int, ...]]:
    sizes = tuple(int(codes[:, place].max()) + 1 for place in range(codes.shape[1]))
    shares = tuple(
        whole_shares(np.bincount(codes[:, place], minlength=size).astype(float))
        for place, size in enumerate(sizes)
    )
    growth = Growth(sizes=sizes, target=target, width=width, most=10_000, deviation=0.5, shares=shares)
    cliques, measured = grow_cliques(
        CountedTables(codes, growth.sizes),
        growth,
        lambda scores: int(np.argmax(scores)),
        lambda counts: counts,
    )
    CliqueTree(sizes, cliques)  # holds: each adds one column to an earlier clique
    assert [one.columns for one in measured] == [clique.columns for clique in cliques[1:]]
    return [clique.columns for clique in cliques]


def test_columns_that_depend_on_each_other_are_counted_together() -> None:
    rng = np.random.default_rng(5)
    first, third = rng.integers(0, 4, 4000), rng.integers(0, 4, 4000)
    codes = np.stack([first, third, (first + rng.integers(0, 2, 4000)) % 4, third], axis=1)
    pairs = {frozenset(columns) for columns in plain_growth(codes, None, width=1) if len(columns) == 2}
    assert {frozenset({1, 3}), frozenset({0, 2})} <= pairs


def test_every_clique_holds_the_target() -> None:
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 3, (500, 5))
    assert all(2 in columns for columns in plain_growth(codes, 2))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_one_row_moves_no_score_by_more_than_claimed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (int(rng.integers(1, 60)), 4))
    sizes = (3, 3, 3, 3)
    shares = tuple(whole_shares(rng.dirichlet(np.ones(3))) for _ in range(4))
    growth = Growth(sizes=sizes, target=0, width=3, most=1000, deviation=2.0, shares=shares)
    seen: list[list[list[int]]] = [[], []]
    for rows, kept in zip((codes, codes[:-1]), seen, strict=True):

        def first(scores: Sequence[int], kept: list[list[int]] = kept) -> int:
            kept.append(list(scores))
            return 0

        grow_cliques(CountedTables(rows, growth.sizes), growth, first, lambda counts: counts)
    for one, two in zip(*seen, strict=True):
        assert max(abs(a - b) for a, b in zip(one, two, strict=True)) <= 2 * SCALE


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.floats(-200, 5000), min_size=1, max_size=60),
    deviation=st.floats(0.5, 200),
    ordered=st.booleans(),
    most=st.integers(2, 20),
)
def test_groups_hold_every_cell_once_and_their_shares_add_up(
    counts: list[float], deviation: float, *, ordered: bool, most: int
) -> None:
    made = coarse_groups(np.array(counts), deviation=deviation, ordered=ordered, most=most, apart=0)
    assert sorted(set(made.group.tolist())) == list(range(made.size))
    assert np.allclose(np.bincount(made.group, weights=made.share), 1)
    assert made.weight.sum() == pytest.approx(1)
    if ordered:
        assert np.all(np.diff(made.group) >= 0)


def test_a_frequent_cell_stays_alone_and_the_rest_is_still_told_apart() -> None:
    counts = np.array([9000.0, *[50.0] * 20])
    made = coarse_groups(counts, deviation=5.0, ordered=True, most=8)
    assert (made.group == 0).sum() == 1
    assert made.size >= 5
