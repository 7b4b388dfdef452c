from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput, OutputFailed
from mahrem.table import Hierarchy, read_hierarchy
from mahrem.table.hierarchies import hierarchy_facts, mask_hierarchy

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


def test_cycles_are_refused_without_saying_the_labels() -> None:
    with pytest.raises(InvalidInput, match="2 labels stand in a circle") as caught:
        Hierarchy.from_rows([("a", "secret", "hidden", "*"), ("b", "hidden", "secret", "*")])
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidInput, match="in a circle"):
        Hierarchy.from_rows([("a", "x", "a", "*")])
    with pytest.raises(InvalidInput, match="in a circle"):
        Hierarchy.from_rows([("a", "*", "x", "*")])


def test_a_label_may_stand_at_two_levels_and_a_value_may_be_a_star() -> None:
    assert Hierarchy.from_rows([("a", "other", "*"), ("b", "b2", "*"), ("other", "misc", "*")]).leaves == 3
    assert Hierarchy.from_rows([("*", "stars", "*"), ("a", "letters", "*")]).leaves == 2


def test_awkward_values_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    values = [
        "a;b",
        'say "hi"',
        "a,b",
        "line\nbreak",
        "car\r\nriage",
        "lone\rreturn",
        "{x}",
        "*",
        "[1, 2]",
        "=1+1",
    ]
    tree = Hierarchy.from_rows([(value, "*") for value in values])
    tree.write(path)
    assert read_hierarchy(path) == tree
    assert path.stat().st_mode & 0o077 == 0


def test_the_mark_between_cells_is_found_outside_quotes(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text('"a;b",x,*\nc,x,*\n')
    assert read_hierarchy(path).labels[0] == ("a;b", "c")
    path.write_text("a;b,x,*\nc,x,*\n")
    assert read_hierarchy(path).labels[0] == ("a;b", "c")
    path.write_text("a,b;x;*\nc;x;*\n")
    assert read_hierarchy(path).labels[0] == ("a,b", "c")


def test_empty_cells_at_the_end_are_short_rows(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("a;x;y;*\nb;*;;\nc;z;;\n")
    assert set(read_hierarchy(path).rows()) == {
        ("a", "x", "y", "*"),
        ("b", "b", "b", "*"),
        ("c", "z", "z", "*"),
    }


def test_a_number_finds_its_leaf_however_it_is_written() -> None:
    tree = Hierarchy.from_rows([("34", "x"), ("007", "x"), ("2.5", "y")])
    assert tree.codes(pl.Series(["34.0", "+34", "2.50", None])).tolist() == [0, 0, 2, -1]
    for code in ("7", "3.4e1"):  # codes that only look like numbers
        with pytest.raises(InvalidInput, match="not in its hierarchy"):
            tree.codes(pl.Series([code]))


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputFailed, match="could not be written"):
        Hierarchy.from_rows(ROWS).write(tmp_path / "nowhere" / "tree.csv")


def test_nodes_are_published_as_labels_and_leaves_as_values() -> None:
    tree = Hierarchy.from_rows([("[1, 2]", "[1, 2]", "*"), ("3*", "{a, b}", "*"), ("4", "", "*")])
    assert tree.cells(0).to_list() == ['"[1, 2]"', '"3*"', "4"]
    assert tree.cells(1).to_list() == ['"[1, 2]"', "{a, b}", '""']
    assert tree.cells(2).to_list() == ["*"]


def test_facts_count_what_does_not_fit() -> None:
    tree = Hierarchy.from_rows(
        [
            ("17", "[18, 29]", "*"),
            ("18", "[18, 29]", "*"),
            ("x", "{y, z}", "*"),
            ("34000", "06***", "*"),
            ("5", "[4, 6[", "*"),
        ]
    )
    facts = hierarchy_facts(tree, pl.Series(["18", "18.0", "secret", "secret", None]))
    assert (facts.levels, facts.leaves, facts.nodes) == (3, 5, (5, 4, 1))
    assert (facts.misplaced, facts.rows, facts.missing) == (3, 5, 1)
    assert (facts.unknown, facts.unknown_values, facts.unused) == (2, 1, 4)
    assert not facts.holds
    assert hierarchy_facts(Hierarchy.from_rows(ROWS)).holds
    assert "secret" not in repr(facts)


def test_days_and_moments_are_compared_alike() -> None:
    rows = [
        ("2024-01-31T12:00:00", "[2024-01-01, 2024-02-01]"),
        ("2024-02-02T00:00:00", "[2024-01-01, 2024-02-01]"),
    ]
    assert hierarchy_facts(Hierarchy.from_rows(rows)).misplaced == 1


def test_a_value_that_looks_like_a_label_is_no_circle() -> None:
    tree = mask_hierarchy(pl.Series(["0**", "*", "01"]))
    assert Hierarchy.from_rows(tree.rows()) == tree
    with pytest.raises(InvalidInput, match="2 labels stand in a circle"):
        Hierarchy.from_rows([["a", "b"], ["b", "a"]])
