from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.table import Hierarchy
from mahrem.table.hierarchies import LearntGroups, learn_hierarchies, learn_hierarchy, number_target
from mahrem.table.hierarchies._majority_targets import _dense, _sparse, majority_targets

EDUCATION = {
    ("HS-grad", "Some-college"),
    ("Assoc-acdm", "Assoc-voc"),
    ("Doctorate", "Prof-school"),
    ("Bachelors",),
    ("Masters",),
    ("10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th", "9th", "Preschool"),
}
PRINTED = Path(__file__).parent / "adult_education_shares.csv"
TABLES = st.lists(
    st.tuples(st.sampled_from([*"abcdefgh", None]), st.sampled_from(["x", "y", "z", None])),
    min_size=2,
    max_size=80,
).filter(lambda rows: len({t for _, t in rows} - {None}) > 1)


def slow_groups(rows: list[tuple[str | None, str | None]], bins: int) -> set[tuple[str, ...]]:
    """The definition, word for word: the most frequent target of each value, and the bin of its share."""
    overall = Counter(target for _, target in rows if target is not None)
    ranking = sorted(overall, key=lambda target: (-overall[target], target))
    groups: dict[tuple[str, int], list[str]] = {}
    for value in {value for value, _ in rows if value is not None}:
        counts = Counter(target for each, target in rows if each == value and target is not None) or overall
        best = min(counts, key=lambda target: (-counts[target], ranking.index(target)))
        group = best, min(counts[best] * bins // sum(counts.values()), bins - 1)
        groups.setdefault(group, []).append(value)
    return {tuple(sorted(members)) for members in groups.values()}


def partition(tree: Hierarchy, level: int) -> set[tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for row in tree.rows():
        groups.setdefault(row[level], []).append(row[0])
    return {tuple(sorted(members)) for members in groups.values()}


@pytest.mark.data
def test_education_falls_into_the_six_published_groups(benchmark_data: Path) -> None:
    adult = pl.read_csv(benchmark_data / "adult.csv", columns=["education", "income"])
    assert adult.height == 48_842
    tree = learn_hierarchy(adult["education"], adult["income"], rho=[10])
    assert tree.levels == 3
    assert partition(tree, 1) == EDUCATION
    found = majority_targets(adult["education"], number_target(adult["income"]))
    ours = dict(zip(found.values, zip(found.target, found.share, strict=True), strict=True))
    with PRINTED.open(encoding="utf-8") as file:
        printed = list(csv.DictReader(file))
    assert len(printed) == len(ours) == 16
    for row in printed:  # the print cuts shares off after four digits
        target, share = ours[row["education"]]
        assert target == (row["income"] == ">50K")
        assert 0 <= share - float(row["frequency"]) < 1e-4


def test_levels_nest_even_where_widths_do_not_divide_each_other() -> None:
    shares = [50, 58, 61, 66, 74, 79, 81, 99]
    values = [f"v{share}" for share in shares for _ in range(100)]
    target = [word for share in shares for word in ["x"] * share + ["y"] * (100 - share)]
    tree = learn_hierarchy(pl.Series("v", values), pl.Series("t", target), rho=[20, 25])
    assert tree.levels == 4
    assert partition(tree, 2) == {("v50", "v58", "v61", "v66", "v74"), ("v79", "v81", "v99")}
    assert partition(tree, 1) == {("v50", "v58"), ("v61", "v66", "v74"), ("v79",), ("v81", "v99")}


def test_a_share_on_a_line_begins_the_next_bin() -> None:
    values = pl.Series("v", ["a"] * 100 + ["b"] * 100)
    target = pl.Series("t", ["x"] * 58 + ["y"] * 42 + ["x"] * 57 + ["y"] * 43)
    assert learn_hierarchy(values, target, rho=[2]).levels == 2  # 58 % and 57 %: two groups of one value each
    shares = majority_targets(values, number_target(target))
    assert np.floor(shares.score * 50 / shares.weight).tolist() == [29, 28]


def test_rare_values_get_the_group_of_the_whole_column() -> None:
    values = pl.Series("v", ["often"] * 90 + ["other"] * 90 + ["rare"])
    target = pl.Series("t", ["x"] * 60 + ["y"] * 30 + ["x"] * 80 + ["y"] * 10 + ["y"])
    assert learn_hierarchy(values, target, rho=[25]).levels == 2  # all three differ: nothing is grouped
    assert partition(learn_hierarchy(values, target, rho=[25], minimum_count=5), 1) == {
        ("often",),
        ("other", "rare"),
    }
    assert partition(learn_hierarchy(values, target, rho=[25], smoothing=10), 1) == {
        ("often", "rare"),
        ("other",),
    }


def test_values_never_seen_get_the_group_of_the_whole_column() -> None:
    values, target = pl.Series("v", ["a", "a", "a", "b"]), pl.Series("t", ["x", "x", "x", "y"])
    tree = learn_hierarchy(values, target, rho=[50], leaves=pl.Series(["a", "b", "new"]))
    assert partition(tree, 1) == {("a", "new"), ("b",)}


def test_large_groups_have_a_number_and_no_share() -> None:
    ages = pl.Series("age", list(range(40)) * 2)
    target = pl.Series("t", ["x"] * 20 + ["y"] * 20 + ["x"] * 20 + ["y"] * 20)
    tree = learn_hierarchy(ages, target, rho=[100])
    assert tree.labels[1] == ("age L1#1", "age L1#2")


def test_the_published_settings_are_checked() -> None:
    values, target = pl.Series("v", ["a", "b"]), pl.Series("t", ["x", "y"])
    for rho in (7, 0, -5, 101, 33.3, float("nan")):
        with pytest.raises(InvalidParameter, match="rho="):
            learn_hierarchy(values, target, rho=[rho])
    with pytest.raises(InvalidParameter, match="at least one width"):
        learn_hierarchy(values, target, rho=[])
    with pytest.raises(InvalidParameter, match="smoothing"):
        learn_hierarchy(values, target, smoothing=-1)
    with pytest.raises(InvalidParameter, match="minimum_count"):
        learn_hierarchy(values, target, minimum_count=0)
    with pytest.raises(InvalidInput, match="target='t' has 1 different values"):
        learn_hierarchy(values, pl.Series("t", ["secret", None]))
    with pytest.raises(InvalidParameter, match="one value for each of the 2 rows"):
        learn_hierarchy(values, pl.Series("t", ["x", "y", "x"]))


def test_a_target_cannot_foretell_itself() -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "t": [0, 1]})
    with pytest.raises(InvalidParameter, match="it would foretell itself"):
        learn_hierarchies(frame, ["a", "t"], "t")
    with pytest.raises(ColumnNotFound):
        learn_hierarchies(frame, ["b"], "t")


def test_numbers_words_and_missing_values_are_learnt_alike() -> None:
    target = pl.Series("t", [True, True, False, False, True])
    words = learn_hierarchy(pl.Series("v", ["1", " 1", "2", None, "3"]), target, rho=[100])
    numbers = learn_hierarchy(pl.Series("v", [1, 1, 2, None, 3]), target, rho=[100])
    floats = learn_hierarchy(pl.Series("v", [1.0, 1.0, 2.0, None, 3.0]), target, rho=[100])
    assert words == numbers == floats
    assert words.rows() == [("1", "{1, 3}", "*"), ("3", "{1, 3}", "*"), ("2", "2", "*")]


def test_a_column_without_values_has_an_empty_tree() -> None:
    nothing = pl.Series("v", [None, None], dtype=pl.String)
    assert learn_hierarchy(nothing, pl.Series(["x", "y"])).levels == 2
    learnt = learn_hierarchy(nothing, pl.Series(["x", "y"]), leaves=pl.Series(["a", "b"]))
    assert learnt.rows() == [("a", "*"), ("b", "*")]


@settings(max_examples=60, deadline=None)
@given(TABLES, st.sampled_from([1, 2, 4, 5, 10, 20]))
def test_groups_are_those_of_the_definition(rows: list[tuple[str | None, str | None]], bins: int) -> None:
    frame = pl.DataFrame(rows, schema={"v": pl.String, "t": pl.String}, orient="row")
    tree = learn_hierarchy(frame["v"], frame["t"], rho=[100 / bins])
    expected = slow_groups(rows, bins)
    if 1 < len(expected) < tree.leaves:
        assert partition(tree, 1) == expected
    else:  # a level that groups nothing, or everything, is left out
        assert tree.levels == 2
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    assert learn_hierarchy(shuffled["v"], shuffled["t"], rho=[100 / bins]) == tree


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=60),
    st.sampled_from([0.0, 0.5, 10.0]),
)
def test_counting_the_pairs_there_are_is_counting_all_pairs(
    pairs: list[tuple[int, int]], smoothing: float
) -> None:
    codes, goals = np.array(pairs).T
    added = smoothing * np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    for every, there in zip(_dense(codes, goals, 7, added), _sparse(codes, goals, 7, added), strict=True):
        assert np.array_equal(every, there)


@settings(max_examples=40, deadline=None)
@given(
    TABLES,
    st.lists(st.sampled_from([1, 2, 5, 10, 20, 25, 50, 100]), min_size=1, max_size=4),
    st.integers(1, 4),
)
def test_any_family_of_widths_makes_a_tree(
    rows: list[tuple[str | None, str | None]], rho: list[float], count: int
) -> None:
    frame = pl.DataFrame(rows, schema={"v": pl.String, "t": pl.String}, orient="row")
    learn = LearntGroups(rho=tuple(rho), smoothing=0.5, minimum_count=count)
    tree = learn_hierarchies(frame, ["v"], "t", groups=learn)["v"]
    assert Hierarchy.from_rows(tree.rows()) == tree
    assert set(tree.labels[0]) == (set(frame["v"].drop_nulls()) or {""})
