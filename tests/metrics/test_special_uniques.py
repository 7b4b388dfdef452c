"""Minimal sample uniques, SUDA scores and unique column combinations against counting by hand."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mahrem.errors import InvalidParameter
from mahrem.metrics import unique_columns
from mahrem.metrics.surveys import suda

TABLES = arrays.arrays(
    np.int64, st.tuples(st.integers(1, 14), st.integers(1, 5)), elements=st.integers(-1, 3)
)


def unique_sets(table: np.ndarray) -> list[set[tuple[int, ...]]]:
    """For each row, every set of columns in which it stands alone."""
    rows, columns = table.shape
    alone: list[set[tuple[int, ...]]] = [set() for _ in range(rows)]
    for size in range(1, columns + 1):
        for subset in combinations(range(columns), size):
            seen = Counter(tuple(row[list(subset)]) for row in table)
            for number, row in enumerate(table):
                if seen[tuple(row[list(subset)])] == 1:
                    alone[number].add(subset)
    return alone


def minimal(sets: set[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [one for one in sets if not any(set(other) < set(one) for other in sets)]


@given(TABLES)
@settings(max_examples=50, deadline=None)
def test_scores_are_those_of_all_minimal_sample_uniques(table: np.ndarray) -> None:
    columns = table.shape[1]
    own = [minimal(sets) for sets in unique_sets(table)]
    found = suda(table)
    assert found.complete
    assert found.scores.tolist() == [sum(math.factorial(columns - len(one)) for one in sets) for sets in own]
    sizes = Counter(len(one) for sets in own for one in sets)
    assert found.minimal.tolist() == [sizes[size] for size in range(1, columns + 1)]
    total = found.scores.sum()
    for column in range(columns):
        parts = sum(math.factorial(columns - len(one)) for sets in own for one in sets if column in one)
        assert found.contributions[column] == pytest.approx(100 * parts / total if total else 0.0)


@given(TABLES, st.sampled_from([0.01, 0.1, 0.5]))
@settings(max_examples=40, deadline=None)
def test_dis_scores_follow_the_formula(table: np.ndarray, fraction: float) -> None:
    found = suda(table, fraction=fraction)
    times = Counter(map(tuple, table.tolist()))
    alone = sum(count == 1 for count in times.values())
    pairs = 2 * sum(count == 2 for count in times.values())
    assert found.uniques == alone == int((found.scores > 0).sum())
    if not alone:
        assert not found.dis.any()
        return
    chance = alone * fraction / (alone * fraction + pairs * (1 - fraction))
    power = 1 + (8 - table.shape[1]) / 20
    scored = found.scores[found.scores > 0]
    factor = (1 / scored**power).sum()
    wanted = 1 / (1 + (alone / chance - alone) / (scored**power * factor))
    assert found.dis[found.scores > 0] == pytest.approx(wanted)
    assert (found.dis[found.scores == 0] == 0).all()


@given(TABLES, st.randoms())
@settings(max_examples=30, deadline=None)
def test_scores_follow_their_rows(table: np.ndarray, random: object) -> None:
    order = np.random.default_rng(random.randint(0, 99)).permutation(len(table))  # type: ignore[attr-defined]
    assert suda(table[order]).scores.tolist() == suda(table).scores[order].tolist()


def test_small_sets_alone_can_be_asked_for() -> None:
    table = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]])
    found = suda(table, most=1)
    assert found.scores.tolist() == [0, 0, 0, 0, 2]
    assert found.minimal.tolist() == [1, 0, 0]


@given(TABLES, st.sampled_from([0.2, 0.5, 1.0]))
@settings(max_examples=50, deadline=None)
def test_unique_column_combinations_are_all_and_minimal(table: np.ndarray, share: float) -> None:
    alone = unique_sets(table)
    counts = Counter(one for sets in alone for one in sets)
    enough = {one for one, count in counts.items() if count >= share * len(table)}
    found = unique_columns(table, share=share)
    assert found.complete
    assert set(found.minimal) == set(minimal(enough))
    assert list(found.shares) == [counts[one] / len(table) for one in found.minimal]


def test_more_columns_than_one_number_can_hold_are_still_told_apart() -> None:
    rng = np.random.default_rng(3)
    table = rng.integers(0, 2**40, (60, 4))
    table[1::2] = table[::2]
    table[1, 3] += 1
    found = unique_columns(table, share=1 / 60)
    assert (3,) in found.minimal
    wide = np.repeat(rng.permuted(np.tile(np.arange(200), (9, 1)), axis=1).T, 2, axis=0)
    wide[0, 8] = 999
    found = suda(wide)
    assert found.uniques == 2  # the row changed, and its twin left behind
    assert found.complete


def test_a_partial_answer_says_that_it_is_one() -> None:
    table = np.random.default_rng(0).integers(0, 3, (500, 12))
    found = unique_columns(table, share=0.9, seconds=0.0)
    assert not found.complete
    assert not suda(table, seconds=0.0).complete
    assert not unique_columns(table, share=0.9, most=1).complete


def test_a_table_with_twins_has_no_key() -> None:
    found = unique_columns(np.array([[1, 2], [1, 2], [3, 4]]))
    assert found.minimal == ()
    assert found.complete
    assert found.everything == pytest.approx(1 / 3)


def test_what_is_no_matrix_or_share_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="matrix"):
        suda(np.arange(4))
    with pytest.raises(InvalidParameter, match="above 0"):
        unique_columns(np.array([[1]]), share=0.0)
    with pytest.raises(InvalidParameter, match="below 1"):
        suda(np.array([[1]]), fraction=1.0)


# What sdcMicro's tests of suda2 state (github.com/sdcTools/sdcMicro, tests/testthat/test_suda2.R): rows as
# letters for values, one a column. The last is the example of its guideline.
STATED = {
    "three rows": (["boo", "acf", "aoo"], [2, 4, 2]),
    "of the book": (
        ["ymhs", "ymhs", "ymls", "ymls", "yflu", "yfls", "yflm", "omlu"],
        [0, 0, 0, 0, 4, 2, 6, 8],
    ),
    "of the guideline": (
        ["ufie", "ufie", "ufpn", "umse", "rfsu", "umse", "ufcn", "umhu", "ufin", "ufin"],
        [0, 0, 6, 0, 12, 0, 6, 10, 0, 0],
    ),
}


@pytest.mark.parametrize("name", sorted(STATED))
def test_scores_are_those_that_sdcmicro_states(name: str) -> None:
    rows, scores = STATED[name]
    codes = np.array([[ord(letter) for letter in row] for row in rows])
    assert suda(codes).scores.tolist() == scores


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0)])
def test_contributions_are_those_that_sdcmicro_states(order: tuple[int, ...]) -> None:
    codes = np.array([[2, 0, 0], [1, 3, 6], [1, 0, 0]])[:, order]
    assert suda(codes).contributions.tolist() == [[50, 37.5, 37.5][column] for column in order]
