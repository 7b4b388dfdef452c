"""Hierarchies over the values of a column: the tree, builders that say its levels, learnt and nested ones.

Outside use what is listed here: the tree, its files, its builders and what can be counted of it. It stands
above ``cells``, in whose grammar labels are written, and knows no roles, no kinds and no axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.table.hierarchies._builders import (
        cut_hierarchy,
        date_hierarchy,
        distinct_text,
        group_hierarchy,
        interval_hierarchy,
        mask_hierarchy,
        moment_leaves,
        number_leaves,
        prefix_hierarchy,
    )
    from mahrem.table.hierarchies._facts import HierarchyFacts, hierarchy_facts
    from mahrem.table.hierarchies._file import read_hierarchy
    from mahrem.table.hierarchies._hierarchy import Hierarchy
    from mahrem.table.hierarchies._ladders import (
        build_tree,
        group_ladder,
        moment_ladder,
        number_ladder,
        prefix_ladder,
    )
    from mahrem.table.hierarchies._learnt import LearntGroups, learn_hierarchies, learn_hierarchy
    from mahrem.table.hierarchies._majority_targets import Target, number_target
    from mahrem.table.hierarchies._nested import hierarchy_from_nested, nested_hierarchy
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Hierarchy",
    "HierarchyFacts",
    "LearntGroups",
    "Target",
    "build_tree",
    "cut_hierarchy",
    "date_hierarchy",
    "distinct_text",
    "group_hierarchy",
    "group_ladder",
    "hierarchy_facts",
    "hierarchy_from_nested",
    "interval_hierarchy",
    "learn_hierarchies",
    "learn_hierarchy",
    "mask_hierarchy",
    "moment_ladder",
    "moment_leaves",
    "nested_hierarchy",
    "number_ladder",
    "number_leaves",
    "number_target",
    "prefix_hierarchy",
    "prefix_ladder",
    "read_hierarchy",
]
