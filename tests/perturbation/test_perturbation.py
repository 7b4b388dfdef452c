"""What each perturbation keeps, what is measured, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import InvalidParameter, MahremError
from mahrem.metrics.perturbed import (
    eigenvalue_change,
    il1s,
    interval_share,
    linked_share,
    moment_changes,
    slope_change,
)
from mahrem.perturbation import (
    PERTURBATIONS,
    Coding,
    HouseholdSwap,
    Noise,
    Pram,
    RankSwap,
    Rounding,
    Shuffle,
    transition_matrix,
)
from mahrem.types import Floats

SEEDS = st.integers(0, 2**32)


def numbers(seed: int, rows: int = 60, columns: int = 3) -> Floats:
    rng = np.random.default_rng(seed)
    return np.round(rng.gamma(2, 10, (rows, columns)) @ (np.eye(columns) + 0.5), 2)


@given(SEEDS, st.integers(2, 300), st.floats(0.01, 2))
@settings(deadline=None, max_examples=30)
def test_a_rotation_keeps_means_and_covariances(seed: int, rows: int, share: float) -> None:
    values = numbers(seed, rows)
    changed = Noise(share=share, kind="rotation")(values, np.random.default_rng(seed))
    assert changed.mean(axis=0) == pytest.approx(values.mean(axis=0))
    assert np.cov(changed, rowvar=False) == pytest.approx(np.cov(values, rowvar=False), rel=1e-6, abs=1e-6)
    assert not np.allclose(changed, values) or rows < 3


def test_correlated_noise_keeps_covariances_in_expectation() -> None:
    values = numbers(1, 20_000)
    changed = Noise(share=0.5, kind="correlated")(values, np.random.default_rng(2))
    assert moment_changes(values, changed)[1] < 0.06  # seed 2; four standard errors are about 0.06
    plain = Noise(share=0.5)(values, np.random.default_rng(2))
    assert moment_changes(values, plain)[1] > 0.2  # independent noise adds to the variance


@given(SEEDS, st.integers(1, 120), st.floats(0, 100))
@settings(deadline=None, max_examples=40)
def test_ranks_move_no_farther_than_was_said_and_values_stay(seed: int, rows: int, percent: float) -> None:
    values = numbers(seed, rows)
    changed = RankSwap(percent=percent)(values, np.random.default_rng(seed))
    assert (np.sort(changed, axis=0) == np.sort(values, axis=0)).all()
    ladder = np.arange(rows, dtype=float)[:, None]
    moved = RankSwap(percent=percent)(ladder, np.random.default_rng(seed))
    assert np.abs(moved - ladder).max() <= rows * percent / 100


@given(SEEDS, st.integers(3, 80))
@settings(deadline=None, max_examples=30)
def test_shuffling_keeps_every_value(seed: int, rows: int) -> None:
    values = numbers(seed, rows)
    changed = Shuffle()(values[:, :2], np.random.default_rng(seed), values[:, 2:])
    assert (np.sort(changed, axis=0) == np.sort(values[:, :2], axis=0)).all()


def test_shuffling_follows_the_columns_that_stay() -> None:
    rng = np.random.default_rng(5)
    known = rng.standard_normal((4000, 1))
    own = np.exp(0.9 * known + 0.3 * rng.standard_normal((4000, 1)))
    changed = Shuffle()(own, np.random.default_rng(6), known)
    ranks = [np.argsort(np.argsort(column[:, 0])) for column in (known, own, changed)]
    before, after = (np.corrcoef(ranks[0], other)[0, 1] for other in ranks[1:])
    assert abs(before - after) < 0.03
    assert linked_share(own, changed, most=500) < 0.05


@given(SEEDS, st.floats(0, 0.45), st.floats(0.01, 0.45), st.sampled_from(["end", "mean"]))
@settings(deadline=None, max_examples=40)
def test_coding_keeps_order_and_the_middle(seed: int, top: float, bottom: float, by: str) -> None:
    values = numbers(seed, 50, 1)
    changed = Coding(top=top, bottom=bottom, by=by)(values, np.random.default_rng(0))  # type: ignore[arg-type]
    order = np.argsort(values[:, 0], kind="stable")
    assert (np.diff(changed[order, 0]) >= 0).all()
    assert (changed != values).sum() <= int(50 * top) + int(50 * bottom)
    if by == "mean":
        assert changed.mean() == pytest.approx(values.mean())


@given(SEEDS, st.floats(0.01, 50), st.booleans())
@settings(deadline=None, max_examples=40)
def test_rounded_values_are_multiples_and_near(seed: int, step: float, random: bool) -> None:  # noqa: FBT001
    values = numbers(seed)
    changed = Rounding(step=step, random=random)(values, np.random.default_rng(seed))
    assert (np.abs(changed - values) <= step * (1 if random else 0.5) * (1 + 1e-9)).all()
    assert np.abs(changed / step - np.rint(changed / step)).max() < 1e-6


@given(SEEDS, st.integers(2, 8), st.floats(0, 1))
@settings(deadline=None, max_examples=40)
def test_an_invariant_matrix_leaves_frequencies_as_they_were(seed: int, words: int, keep: float) -> None:
    counts = np.random.default_rng(seed).integers(1, 1000, words)
    matrix = Pram(keep=keep).chances(counts)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(words))
    assert (matrix >= 0).all()
    assert counts @ matrix == pytest.approx(counts, rel=1e-3, abs=0.05)


def test_words_change_as_often_as_the_matrix_says() -> None:
    codes = np.repeat([0, 1, -1], [20_000, 10_000, 5])
    matrix = transition_matrix(np.array([[0.9, 0.1], [0.3, 0.7]]))
    changed = Pram()(codes, matrix, np.random.default_rng(3))
    assert (changed[-5:] == -1).all()
    assert (changed[:20_000] == 1).mean() == pytest.approx(0.1, abs=0.01)  # seed 3; 4.7 standard errors
    assert (changed[20_000:30_000] == 0).mean() == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize(
    "matrix", [[[0.9, 0.2], [0.5, 0.5]], [[1.1, -0.1], [0.0, 1.0]], [[1.0, 0.0]], [[np.nan, 1.0], [0.0, 1.0]]]
)
def test_a_matrix_that_is_not_stochastic_is_refused(matrix: list[list[float]]) -> None:
    with pytest.raises(InvalidParameter):
        transition_matrix(np.array(matrix))


@given(SEEDS, st.integers(1, 60), st.floats(0, 1))
@settings(deadline=None, max_examples=40)
def test_households_move_whole_and_places_keep_their_kinds(seed: int, houses: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 4, houses)
    house = np.repeat(np.arange(houses), size)
    place, kind = rng.integers(0, 3, houses)[house], size[house]
    rows = HouseholdSwap(household="h", share=share)(place, house, kind, rng)
    moved = place[rows]
    assert (kind[rows] == kind).all()
    assert all(len(set(moved[house == one])) == 1 for one in range(houses))
    before, after = (
        np.unique(np.column_stack([p, kind]), axis=0, return_counts=True) for p in (place, moved)
    )
    assert (before[0] == after[0]).all()
    assert (before[1] == after[1]).all()
    first = np.unique(house, return_index=True)[1]
    assert (moved[first] != place[first]).sum() <= houses * share


def test_measures_of_an_unchanged_table_are_at_their_ends() -> None:
    values = numbers(7)
    assert linked_share(values, values) == 1
    assert interval_share(values, values) == 1
    assert il1s(values, values) == eigenvalue_change(values, values) == slope_change(values, values) == 0
    assert moment_changes(values, values) == (0, 0)
    assert linked_share(values, np.zeros_like(values)) == pytest.approx(1 / len(values))


@given(SEEDS)
@settings(deadline=None, max_examples=10)
def test_linkage_is_what_comparing_all_with_all_gives(seed: int) -> None:
    old, new = numbers(seed, 30), numbers(seed + 1, 30)
    spread = old.std(axis=0, ddof=1)
    hits = 0.0
    for row in range(30):
        far = (((old[row] - new) / spread) ** 2).sum(axis=1)
        nearest = np.flatnonzero(far <= far.min() + 1e-12)
        hits += (row in nearest) / len(nearest)
    assert linked_share(old, new) == pytest.approx(hits / 30)


def survey(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    house = np.arange(rows) // 3
    return pl.DataFrame(
        {
            "house": house,
            "region": np.array(["north", "south", "west"])[(house * 7) % 3],
            "age": rng.integers(18, 90, rows),
            "income": np.round(rng.gamma(2, 1000, rows), 2),
            "sex": rng.choice(["f", "m"], rows),
        }
    ).with_columns(pl.when(pl.arange(0, rows) % 17 != 0).then(pl.col("income")))


STEPS = {
    "noise": ("age,income", "noise:share=0.3,kind=correlated"),
    "rank-swap": ("income", "rank-swap:percent=10"),
    "shuffle": ("income", "shuffle"),
    "coding": ("income", "coding:top=0.05,by=mean"),
    "rounding": ("income", "rounding:step=100"),
    "pram": ("sex", "pram:keep=0.7"),
    "household-swap": ("region", "household-swap:household=house,similar=sex,share=0.3"),
}


@pytest.mark.parametrize("method", PERTURBATIONS)
def test_every_perturbation_is_a_step_that_says_that_k_is_not_promised(method: str, tmp_path: Path) -> None:
    table = survey()
    columns, said = STEPS[method]
    settings = {
        "quasi": ["region", "age", "sex"],
        "insensitive": ["income", "house"],
        "accept": {"*": "a test"},
    }
    release = mh.perturb(table, steps={columns: said}, seed=1, output=tmp_path / "out", **settings)
    for name in table.columns:
        same = release.table[name].equals(table[name], null_equal=True)
        assert same != (name in columns.split(",")), name
        assert release.table[name].null_count() == table[name].null_count()
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["promises_k"] is False
    assert report["promises"] == []
    assert "k is not promised" in report["warnings"][0]
    assert "seed" not in json.dumps(report)
    measured = {"record_linkage", "interval_disclosure", "il1s", "eigenvalues"}
    assert measured <= set(report["measures"]) or "changed_share" in report["measures"]
    if method == "pram":
        assert np.array(report["steps"][0]["matrix"]).sum(axis=1) == pytest.approx([1, 1])


def test_households_are_told_apart_by_a_column_that_is_not_published(tmp_path: Path) -> None:
    table = survey()
    said = {"quasi": ["region", "age", "sex"], "insensitive": ["income"], "accept": {"*": "a test"}}
    swap = "household-swap:household=house,similar=sex,share=0.3"
    hidden = mh.perturb(
        table, steps={"region": swap}, seed=1, identifier=["house"], output=tmp_path / "out", **said
    )
    shown = mh.perturb(table, steps={"region": swap}, seed=1, **{**said, "insensitive": ["income", "house"]})
    assert "house" not in hidden.table.columns
    assert hidden.table["region"].equals(shown.table["region"])
    with pytest.raises(MahremError, match="flat"):
        mh.perturb(table, steps={"region": swap.replace("house,", "flat,")}, identifier=["house"], **said)


def test_of_few_rows_nothing_is_measured() -> None:
    release = mh.perturb(
        survey(60), steps=["income=noise"], quasi=["income"], rest="drop", accept={"*": "a test"}
    )
    assert release.report["measures"] == {"too_few_rows": True}


@pytest.mark.parametrize(
    "steps",
    [
        {},
        {"sex": "noise"},
        {"income": "noise:share=-1"},
        {"income": "noise:shares=1"},
        {"income": "jumble"},
        {"income": "rounding"},
        {"income": "rounding:step=0"},
        {"income": "coding"},
        {"sex,region": "pram"},
        {"": "noise"},
        {"sex": {"method": "pram", "matrix": ((0.5, 0.6), (0.0, 1.0))}},
        {"sex": {"method": "pram", "matrix": ((1.0,),)}},
        {"age": "household-swap:household=house"},
        {"region": "household-swap"},
    ],
)
def test_steps_that_cannot_be_done_are_refused(steps: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        mh.perturb(survey(), steps=steps, rest="insensitive", quasi=["age"], accept={"*": "a test"})
