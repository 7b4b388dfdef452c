"""Hierarchies as nested nodes: the same tree there and back, and no value in what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.table import Hierarchy
from mahrem.table.hierarchies import hierarchy_from_nested, nested_hierarchy


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=30), st.lists(st.integers(0, 2), min_size=6, max_size=6)
)
def test_a_tree_goes_there_and_back(groups: list[int], above: list[int]) -> None:
    rows = [[f"leaf {n}", f"group {g}", f"top {above[g]}"] for n, g in enumerate(groups)]
    tree = Hierarchy.from_rows(rows)
    again = hierarchy_from_nested(nested_hierarchy(tree))
    assert {row[0]: set(row) for row in again.rows()} == {row[0]: set(row) for row in tree.rows()}


def test_branches_of_different_depth_are_levelled_at_the_top() -> None:
    root = {
        "label": "all",
        "children": [{"label": "cold"}, {"label": "joint", "children": [{"label": "gout"}]}],
    }
    assert hierarchy_from_nested(root).rows() == [("cold", "cold", "*"), ("gout", "joint", "*")]


@pytest.mark.parametrize(
    "root",
    [
        {"label": "*", "children": []},
        {"label": "*", "children": "gout"},
        {"label": "*", "children": ["gout"]},
        {"label": "*", "children": [{"label": 3}]},
        {"label": "*", "children": [{"label": " "}]},
        {"label": "*", "children": [{"label": "*"}]},
        {"label": "*", "children": [{"label": "a", "children": [{"label": "gout"}]}, {"label": "gout"}]},
    ],
)
def test_what_is_no_tree_is_refused_without_naming_a_value(root: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        hierarchy_from_nested(root)
    assert "gout" not in str(refused.value)


def test_a_chain_without_end_is_refused() -> None:
    node: dict[str, Any] = {"label": "value"}
    for number in range(200):
        node = {"label": f"node {number}", "children": [node]}
    with pytest.raises(InvalidInput, match="deeper"):
        hierarchy_from_nested({"label": "*", "children": [node]})
