"""AIM and MST behind the ledger: trees over loops, sums over any columns, neighbours."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Ledger, assert_dp
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis import make_synthesiser
from mahrem.learning.synthesis._junction_trees import junction_tree, megabytes, projected

SIZES = (2, 3, 2, 2, 3)
SETS = st.lists(
    st.sets(st.integers(0, 4), min_size=1, max_size=3).map(lambda one: tuple(sorted(one))), max_size=7
)


@given(sets=SETS, seed=st.integers(0, 2**32 - 1), asked=st.sets(st.integers(0, 4), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_any_columns_are_summed_over_a_tree_that_holds_every_set(
    sets: list[tuple[int, ...]], seed: int, asked: set[int]
) -> None:
    tree = junction_tree(SIZES, sets)
    rng, joint = np.random.default_rng(seed), np.ones(SIZES)
    for one in sets:
        tree.home(one)  # some clique holds it
        shape = [size if place in one else 1 for place, size in enumerate(SIZES)]
        joint = joint * rng.random(shape)
    joint /= joint.sum()
    tables = []
    for clique in tree.cliques:
        away = tuple(place for place in range(5) if place not in clique.columns)
        kept = sorted(clique.columns)
        tables.append(joint.sum(axis=away).transpose([kept.index(place) for place in clique.columns]))
    wanted = tuple(sorted(asked))
    expected = joint.sum(axis=tuple(place for place in range(5) if place not in asked))
    assert projected(tree, tree.conditionals(tables), wanted) == pytest.approx(expected)


def test_the_size_of_a_model_is_that_of_its_largest_cliques() -> None:
    assert megabytes(junction_tree((4, 4, 4), [(0, 1), (1, 2), (0, 2)])) == pytest.approx(64 * 8 / 2**20)
    assert megabytes(junction_tree((4, 4, 4), [(0, 1), (1, 2)])) == pytest.approx(32 * 8 / 2**20)


NAMES = ("a", "b", "c")
COLUMNS = {name: {"categories": ["n", "y"]} for name in NAMES}


def seen_thrice(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    cells = (rng.random(rows) < 0.5)[:, None] ^ (rng.random((rows, 3)) < 0.2)
    return pl.DataFrame({name: np.where(cells[:, place], "y", "n") for place, name in enumerate(NAMES)})


@pytest.mark.parametrize(("method", "options"), [("aim", {"rounds": 2}), ("mst", {})])
def test_one_row_more_is_told_apart_by_noise_only_and_what_goes_together_is_kept(
    method: str, options: dict[str, int]
) -> None:
    pytest.importorskip("mbi")
    table = seen_thrice(4_000)
    drawn = []

    def published(rows: pl.DataFrame) -> tuple[object, ...]:
        ledger = Ledger.temporary(epsilon=3, delta=1e-6, columns=COLUMNS, rows=4_000)
        made = make_synthesiser(method, epsilon=3.0, delta=1e-6, **options).fit(rows, ledger=ledger)
        drawn.append(made.sample(4_000, seed=1))
        assert made.sample(50, seed=2, given={"a": "y"})["a"].unique().to_list() == ["y"]
        return drawn[-1], made.describe(), made.guarantee_

    evidence = assert_dp(published, table, pl.concat([table, table[:1]]))
    assert evidence.epsilon(1e-6) <= 3
    pairs = 2 if method == "mst" else 3  # a tree keeps two, a loop all
    off = sorted(_apart(table, drawn[0], pair) for pair in combinations(NAMES, 2))
    assert off[pairs - 1] < 0.05


def _apart(one: pl.DataFrame, two: pl.DataFrame, pair: tuple[str, ...]) -> float:
    shares = [
        dict(frame.select(pl.concat_str(pair)).to_series().value_counts(normalize=True).iter_rows())
        for frame in (one, two)
    ]
    return math.fsum(abs(shares[0].get(key, 0) - shares[1].get(key, 0)) for key in shares[0] | shares[1]) / 2


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="rounds"):
        make_synthesiser("aim", epsilon=1.0, delta=1e-6, rounds=1)
    with pytest.raises(InvalidParameter, match="largest"):
        make_synthesiser("aim", epsilon=1.0, delta=1e-6, largest=0)
