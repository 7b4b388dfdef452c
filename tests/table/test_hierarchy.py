from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.table import Hierarchy, read_hierarchy

ROWS = [
    ("cold", "lung", "body", "*"),
    ("gout", "joint", "body", "*"),
    ("flu", "lung", "body", "*"),
    ("grief", "mood", "mind", "*"),
]


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Rows of a random tree: a parent for every node, level by level."""
    count = draw(st.integers(1, 12))
    columns = [[f"leaf {i}" for i in range(count)]]
    nodes = list(range(count))
    for level in range(draw(st.integers(0, 3))):
        width = max(nodes) + 1
        parents = draw(st.lists(st.integers(0, width - 1), min_size=width, max_size=width))
        nodes = [parents[node] for node in nodes]
        columns.append([f"{level}-{node}" for node in nodes])
    return list(zip(*columns, ["*"] * count, strict=True))


def test_leaves_under_a_node_are_neighbours() -> None:
    tree = Hierarchy.from_rows(ROWS)
    assert tree.labels[0] == ("cold", "flu", "gout", "grief")
    assert [count.tolist() for count in tree.leaf_counts] == [[1, 1, 1, 1], [2, 1, 1], [3, 1], [4]]


def test_the_lowest_common_node_of_pairs() -> None:
    tree = Hierarchy.from_rows(ROWS)
    level, node = tree.lowest_common(np.array([0, 0, 0, 2]), np.array([0, 1, 2, 3]))
    assert level.tolist() == [0, 1, 2, 3]
    assert [tree.labels[at][of] for at, of in zip(level, node, strict=True)] == ["cold", "lung", "body", "*"]


def test_arx_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "data_hierarchy_disease.csv"
    path.write_text(' cold ;lung;*\n"gout; old";joint;*\n\nflu;lung;*\n', encoding="utf-8-sig")
    tree = read_hierarchy(path)
    assert tree.rows() == [("cold", "lung", "*"), ("flu", "lung", "*"), ("gout; old", "joint", "*")]


def test_commas_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("cold,lung,*\r\nflu,lung,*\r\n")
    assert read_hierarchy(path).leaves == 2


def test_short_rows_repeat_their_last_label_up_to_the_root() -> None:
    tree = Hierarchy.from_rows([("a", "x", "y", "*"), ("b", "*"), ("c", "z"), ("d",)])
    assert set(tree.rows()) == {
        ("a", "x", "y", "*"),
        ("b", "b", "b", "*"),
        ("c", "z", "z", "*"),
        ("d", "d", "d", "*"),
    }


def test_a_missing_root_is_added() -> None:
    assert Hierarchy.from_rows([("a", "x"), ("b", "x"), ("c", "y")]).levels == 3
    assert Hierarchy.from_rows([("a",), ("b",)]).rows() == [("a", "*"), ("b", "*")]


def test_equal_rows_are_one_leaf() -> None:
    assert Hierarchy.from_rows([("a", "x", "*"), ("a", "x", "*")]).leaves == 1


def test_a_label_with_two_parents_is_refused_without_saying_it() -> None:
    with pytest.raises(InvalidInput, match="1 labels of level 1 have two parents at level 2") as caught:
        Hierarchy.from_rows([("a", "secret", "p", "*"), ("b", "secret", "q", "*")])
    assert "secret" not in str(caught.value)


def test_a_leaf_with_two_paths_is_refused_without_saying_it() -> None:
    with pytest.raises(InvalidInput, match="1 rows repeat a value with other ancestors") as caught:
        Hierarchy.from_rows([("secret", "p", "*"), ("secret", "q", "*")])
    assert "secret" not in str(caught.value)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("\n\n")
    with pytest.raises(InvalidInput, match="is empty"):
        read_hierarchy(path)


def test_files_that_are_not_hierarchies_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_hierarchy(tmp_path / "nowhere.csv")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InvalidInput, match="not text"):
        read_hierarchy(binary)
    broken = tmp_path / "broken.csv"
    broken.write_text('"a;b\nc;d\n')
    with pytest.raises(InvalidInput, match="not CSV"):
        read_hierarchy(broken)


def test_codes_find_leaves_and_missing_values() -> None:
    tree = Hierarchy.from_rows(ROWS)
    assert tree.codes(pl.Series(["flu", None, " cold "])).tolist() == [1, -1, 0]
    assert tree.codes(pl.Series([None, None])).tolist() == [-1, -1]


def test_values_outside_the_hierarchy_are_counted_and_not_shown() -> None:
    with pytest.raises(InvalidInput, match=r"column='d': 2 of 3 values \(1 distinct\)") as caught:
        Hierarchy.from_rows(ROWS).codes(pl.Series("d", ["secret", "flu", "secret", None]))
    assert "secret" not in str(caught.value)


def test_nothing_of_the_data_is_printed() -> None:
    assert "gout" not in repr(Hierarchy.from_rows(ROWS))


@settings(max_examples=60, deadline=None)
@given(trees())
def test_rows_make_the_same_tree_again(rows: list[tuple[str, ...]]) -> None:
    tree = Hierarchy.from_rows(rows)
    again = Hierarchy.from_rows(tree.rows())
    assert again == tree
    assert hash(again) == hash(tree)
    assert set(tree.rows()) == set(rows)


@settings(max_examples=20, deadline=None)
@given(trees())
def test_a_written_tree_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]]
) -> None:
    path = tmp_path_factory.mktemp("trees") / "tree.csv"
    tree = Hierarchy.from_rows(rows)
    tree.write(path)
    assert read_hierarchy(path) == tree


@settings(max_examples=60, deadline=None)
@given(trees(), st.data())
def test_the_common_node_is_the_lowest_and_covers_all_between(
    rows: list[tuple[str, ...]], data: st.DataObject
) -> None:
    tree = Hierarchy.from_rows(rows)
    low = data.draw(st.integers(0, tree.leaves - 1))
    high = data.draw(st.integers(low, tree.leaves - 1))
    level, node = (int(each[0]) for each in tree.lowest_common(np.array([low]), np.array([high])))
    assert (tree.nodes[level, low : high + 1] == node).all()
    assert level == 0 or tree.nodes[level - 1, low] != tree.nodes[level - 1, high]
    assert tree.leaf_counts[level][node] >= high - low + 1
