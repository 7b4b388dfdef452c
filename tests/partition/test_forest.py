from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.cutting._forest import covered
from mahrem.errors import InvalidParameter
from mahrem.partition.cutting._forest import forest_of, leaves_of
from mahrem.table import Hierarchy

TREE = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"], ["sprain", "joint"]])


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_what_two_leaves_cover_is_the_share_of_their_lowest_node(data: st.DataObject) -> None:
    parents = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=12))
    tree = Hierarchy.from_rows([[f"v{i}", f"p{p}", f"g{p // 2}"] for i, p in enumerate(parents)])
    forest = forest_of([None, tree], 2)
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, tree.leaves - 1)] * 2)))
    level, node = tree.lowest_common(np.array([low]), np.array([high]))
    under = int(tree.leaf_counts[level[0]][node[0]])
    scale = max(tree.leaves - 1, 1)
    assert covered(forest, 1, low / scale, high / scale) == (under / tree.leaves if under > 1 else 0.0)
    assert covered(forest, 0, 0.25, 0.75) == 0.5


def test_leaves_come_back_from_points() -> None:
    points = np.array([[0.0], [1 / 3], [2 / 3], [1.0], [-1.0]])
    assert leaves_of(points, 0, TREE).tolist() == [0, 1, 2, 3, -1]


def test_a_tree_for_another_number_of_columns_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        forest_of([TREE], 2)
