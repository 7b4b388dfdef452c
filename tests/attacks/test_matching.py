"""Cells of every form against values, by hand and against one comparison after the other."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.matching import match, read_people, read_published
from mahrem.table import Hierarchy


def fitting(cells: list[str | None], values: list[object], tree: Hierarchy | None = None) -> list[list[bool]]:
    trees = {} if tree is None else {"q": tree}
    release = read_published(
        pl.DataFrame({"q": cells, "n": range(len(cells))}), quasi=["q"], hierarchies=trees
    )
    people = read_people(pl.DataFrame({"q": values}), release)
    matching = match(release, people)
    fits = matching.fits(matching.codes)
    for group in range(len(release.sizes)):
        assert matching.members(group).tolist() == np.flatnonzero(fits[:, group]).tolist()
    return fits[:, release.labels].T.tolist()


def test_ranges_sets_prefixes_values_and_missing_cells_are_read() -> None:
    assert fitting(["[20, 30]", "25", "{25, 31}", "[-5, 24.5]"], [20, 25, 31]) == [
        [True, True, False],
        [False, True, False],
        [False, True, True],
        [True, False, False],
    ]
    assert fitting(["061**", "34000", "{06200, }", None], ["06100", "06200", "34000", None]) == [
        [True, False, False, False],
        [False, False, True, False],
        [False, True, False, True],
        [False, False, False, True],
    ]


def test_days_and_labels_of_a_tree_are_read() -> None:
    days = [date(2024, 1, 5), date(2024, 3, 1)]
    assert fitting(["[2024-01-01, 2024-01-31]", "2024-03-01"], days) == [[True, False], [False, True]]
    tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
    assert fitting(["lung", "gout"], ["cold", "flu", "gout"], tree) == [
        [True, True, False],
        [False, False, True],
    ]


def test_rows_that_show_nothing_are_in_no_class() -> None:
    release = read_published(pl.DataFrame({"a": ["*", "*", "1"], "b": ["*", "2", "2"]}), quasi=["a", "b"])
    assert release.labels[0] == -1
    assert release.rows == 2


def test_cells_nobody_can_read_are_counted() -> None:
    shown = pl.DataFrame({"age": ["20-29", "20-29", "[30, 39]"], "sex": ["f", "f", "m"]})
    release = read_published(shown, quasi=["age", "sex"])
    people = read_people(pl.DataFrame({"age": [21, 22, 33], "sex": ["f", "f", "m"]}), release)
    assert match(release, people).unread == 2


CELLS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda ends: (min(ends), max(ends))),
    min_size=1,
    max_size=12,
)


@given(
    CELLS, st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=1, max_size=12), st.data()
)
@settings(max_examples=40, deadline=None)
def test_matching_equals_one_comparison_after_the_other(
    ranges: list[tuple[int, int]], people: list[tuple[int, str]], data: st.DataObject
) -> None:
    words = data.draw(
        st.lists(st.sampled_from(["a", "{a, b}", "*"]), min_size=len(ranges), max_size=len(ranges))
    )
    covered = {"a": "a", "{a, b}": "ab", "*": "abc"}
    shown = pl.DataFrame({"n": [f"[{low}, {high}]" for low, high in ranges], "w": words})
    release = read_published(shown, quasi=["n", "w"])
    known = read_people(pl.DataFrame({"n": [n for n, _ in people], "w": [w for _, w in people]}), release)
    matching = match(release, known)
    fits = matching.fits(matching.codes)
    for row, ((low, high), word) in enumerate(zip(ranges, words, strict=True)):
        for place, (number, letter) in enumerate(people):
            wanted = low <= number <= high and letter in covered[word]
            assert fits[place, release.labels[row]] == wanted
