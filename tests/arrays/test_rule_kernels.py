from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.mining import (
    apriori_sets,
    count_sets,
    cover_first,
    cover_marked,
    eclat_sets,
    first_correct,
    first_match,
    fp_growth_sets,
    pack_bits,
)

COLUMNS, VALUES = 4, 3
PLACE = np.repeat(np.arange(COLUMNS), VALUES).astype(np.int32)


@st.composite
def item_tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    """Codes with gaps and many equal rows, and classes; tables beyond one word of 64 rows, and empty ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, classes = draw(st.sampled_from([0, 1, 5, 40, 64, 65, 200])), draw(st.integers(1, 4))
    codes = rng.integers(0, draw(st.integers(1, VALUES)), (rows, COLUMNS)) + np.arange(COLUMNS) * VALUES
    codes[rng.random(codes.shape) < draw(st.sampled_from([0.0, 0.3]))] = -1
    return codes.astype(np.int32), rng.integers(0, classes, rows), classes


def rows_of(codes: np.ndarray, items: tuple[int, ...]) -> set[int]:
    """Rows that show all of the items."""
    return set(np.flatnonzero((codes[:, :, None] == np.array(items)).any(axis=1).all(axis=1)).tolist())


def slow_sets(
    codes: np.ndarray, target: np.ndarray, classes: int, minimum: int, longest: int, *, by_rule: bool
) -> dict[tuple[int, ...], list[int]]:
    found = {}
    for size in range(1, longest + 1):
        for items in combinations(range(COLUMNS * VALUES), size):
            here = target[sorted(rows_of(codes, items))]
            counts = np.bincount(here, minlength=classes).tolist()
            if (max(counts) if by_rule else sum(counts)) >= minimum:
                found[items] = counts
    return found


@settings(max_examples=25, deadline=None)
@given(item_tables(), st.integers(1, 12), st.integers(1, 3), st.booleans())
def test_all_miners_find_what_trying_every_set_finds(
    drawn: tuple[np.ndarray, np.ndarray, int],
    minimum: int,
    longest: int,
    by_rule: bool,  # noqa: FBT001 - drawn
) -> None:
    codes, target, classes = drawn
    codes, target = codes[:70].copy(), target[:70].copy()
    slow = slow_sets(codes, target, classes, minimum, longest, by_rule=by_rule)
    table = pack_bits(codes, COLUMNS * VALUES, target, classes)
    for sets, counts in (
        eclat_sets(table, PLACE, minimum, longest, by_rule=by_rule),
        apriori_sets(table, PLACE, minimum, longest, by_rule=by_rule),
        fp_growth_sets(codes, target, table, minimum, longest, by_rule=by_rule),
    ):
        listed = [tuple(item for item in row if item >= 0) for row in sets.tolist()]
        assert listed == list(slow)  # the same sets, by size and then by items
        assert counts.tolist() == list(slow.values())
        assert np.array_equal(count_sets(table, sets), counts)


@settings(max_examples=25, deadline=None)
@given(item_tables(), st.integers(1, 6), st.booleans())
def test_a_lean_search_misses_only_sets_behind_one_whose_rows_have_one_class(
    drawn: tuple[np.ndarray, np.ndarray, int],
    minimum: int,
    by_rule: bool,  # noqa: FBT001 - drawn
) -> None:
    codes, target, classes = drawn
    codes, target = codes[:40].copy(), target[:40].copy()
    slow = slow_sets(codes, target, classes, minimum, 3, by_rule=by_rule)
    pure = [set(items) for items, counts in slow.items() if max(counts) == sum(counts)]
    table = pack_bits(codes, COLUMNS * VALUES, target, classes)
    for miner in (eclat_sets, apriori_sets):
        sets, counts = miner(table, PLACE, minimum, 3, by_rule=by_rule, lean=True)
        listed = [tuple(item for item in row if item >= 0) for row in sets.tolist()]
        assert dict(zip(listed, counts.tolist(), strict=True)).items() <= slow.items()
        assert listed == sorted(listed, key=lambda items: (len(items), items))
        for items in set(slow) - set(listed):
            assert any(part < set(items) for part in pure)


def slow_cover(
    codes: np.ndarray, target: np.ndarray, classes: int, rules: list[tuple[tuple[int, ...], int]]
) -> tuple[list[bool], list[list[int]]]:
    left_over = set(range(len(codes)))
    kept, covered = [], []
    for items, label in rules:
        hit = left_over & rows_of(codes, items)
        counts = np.bincount(target[sorted(hit)], minlength=classes).tolist()
        kept.append(counts[label] > 0)
        covered.append(counts if kept[-1] else [0] * classes)
        left_over -= hit if kept[-1] else set()
    return kept, covered


@settings(max_examples=40, deadline=None)
@given(item_tables(), st.integers(0, 2**32 - 1))
def test_both_covers_keep_what_walking_down_the_rules_keeps(
    drawn: tuple[np.ndarray, np.ndarray, int], seed: int
) -> None:
    codes, target, classes = drawn
    rng = np.random.default_rng(seed)
    table = pack_bits(codes, COLUMNS * VALUES, target, classes)
    sets, _ = eclat_sets(table, PLACE, 1, 2)
    left = np.ascontiguousarray(sets[rng.permutation(len(sets))[:60]])
    right = rng.integers(0, classes, len(left)).astype(np.int32)
    rules = [
        (tuple(i for i in row if i >= 0), label)
        for row, label in zip(left.tolist(), right.tolist(), strict=True)
    ]
    kept, covered = slow_cover(codes, target, classes, rules)
    for cover in (cover_first, cover_marked):
        fast = cover(table, left, right)
        assert fast[0].tolist() == kept
        assert fast[1].tolist() == covered
    first, correct = np.full(len(codes), len(rules)), np.full(len(codes), len(rules))
    for number in reversed(range(len(rules))):
        hit = sorted(rows_of(codes, rules[number][0]))
        first[hit] = number
        correct[[row for row in hit if target[row] == rules[number][1]]] = number
    assert first_match(table, left).tolist() == first.tolist()
    assert first_correct(table, left, right).tolist() == correct.tolist()
