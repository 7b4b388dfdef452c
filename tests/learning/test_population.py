"""Weighted rows that stand for a model: tables are learnt as far as noise lets them, and drawn evenly."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._clique_growth import CountedTables, marginal_counts
from mahrem.learning.synthesis._clique_tree import Measured
from mahrem.learning.synthesis._population import Population, draw_rows
from mahrem.types import Floats, Integers

SIZES = (2, 3, 4)
SEEDS = st.integers(0, 2**32 - 1)


def loop(seed: int) -> tuple[Integers, dict[tuple[int, ...], Floats]]:
    """Three columns that hang together in all pairs."""
    rng = np.random.default_rng(seed)
    cause = rng.integers(0, 12, 30_000)
    rows = np.stack([(cause + (rng.random(30_000) < 0.3) * cause) % size for size in SIZES], axis=1)
    return rows, {
        pair: marginal_counts(rows, pair, SIZES).astype(np.float64) for pair in combinations(range(3), 2)
    }


def even(rows: int) -> Population:
    drawn = (np.random.default_rng(0).random((rows, 3)) * SIZES).astype(np.int64)
    return Population(SIZES, drawn, 30_000.0, {(place,): np.zeros(size) for place, size in enumerate(SIZES)})


@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_loops_are_learnt_from_any_start_and_noise_is_not(seed: int) -> None:
    _, tables = loop(seed)
    made = even(20_000)
    made.learn(Measured(pair, counts, 5.0) for pair, counts in tables.items())
    made.settle()
    for pair, counts in tables.items():
        assert np.abs(made.counts(pair) - counts).sum() / 60_000 < 0.02
    still = even(20_000)
    nothing = still.counts((0, 1))
    noise = 20_000 * np.random.default_rng(seed).uniform(-1, 1, nothing.shape)  # never far for what it is
    still.learn([Measured((0, 1), nothing + noise, 20_000.0)])
    assert np.abs(still.counts((0, 1)) - nothing).sum() / 60_000 < 0.25


def test_a_table_counted_twice_counts_with_its_noise_in_any_order_of_columns() -> None:
    made, twice = even(5_000), np.full((2, 3), 5_000.0)
    twice[0, 0] += 900
    made.learn([Measured((0, 1), twice, 30.0)])
    made.learn([Measured((1, 0), np.full((3, 2), 5_000.0), 3000.0)])
    assert abs(made.counts((0, 1))[0, 0] - 5_900 * 30_000 / 30_900) < 200


@given(seed=SEEDS, count=st.sampled_from([1, 7, 999, 1000, 4321]), zeros=st.booleans())
@settings(max_examples=20, deadline=None)
def test_as_many_rows_as_asked_for_are_drawn_and_none_of_weight_zero(
    seed: int, count: int, *, zeros: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows = (rng.random((3000, 3)) * SIZES).astype(np.int64)
    weights = rng.random(3000) * ((rows[:, 0] == 1) if zeros else 1.0)
    drawn = draw_rows(rows, weights, SIZES, count, rng)
    assert len(drawn) == count
    assert not zeros or (drawn[:, 0] == 1).all()


def test_many_rows_are_drawn_more_evenly_than_one_by_one() -> None:
    rows, _ = loop(1)
    rng, weights = np.random.default_rng(2), np.ones(len(rows))
    spread, plain = draw_rows(rows, weights, SIZES, 7_000, rng), rows[rng.integers(0, len(rows), 7_000)]

    def off(drawn: Integers) -> float:
        wanted = marginal_counts(rows, (0, 1, 2), SIZES) * 7 / 30
        return float(np.abs(marginal_counts(drawn, (0, 1, 2), SIZES) - wanted).sum())

    assert off(spread) < off(plain) / 4


def test_a_column_of_more_groups_than_a_byte_tells_apart_is_refused() -> None:
    rows = np.arange(257)[:, None]
    with pytest.raises(InvalidParameter, match="sizes=257"):
        CountedTables(rows, (257,))
    assert (CountedTables(rows[:256], (256,)).counts((0,)) == 1).all()
