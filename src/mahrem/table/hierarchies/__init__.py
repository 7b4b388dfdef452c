"""Hierarchies over the values of a column: the tree, builders that say its levels, learnt and nested ones.

Outside use what is listed here: the tree, its files, its builders and what can be counted of it. It stands
above ``cells``, in whose grammar labels are written, and knows no roles, no kinds and no axes.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.table.hierarchies._builders import cut_hierarchy as cut_hierarchy
    from mahrem.table.hierarchies._builders import date_hierarchy as date_hierarchy
    from mahrem.table.hierarchies._builders import distinct_text as distinct_text
    from mahrem.table.hierarchies._builders import group_hierarchy as group_hierarchy
    from mahrem.table.hierarchies._builders import interval_hierarchy as interval_hierarchy
    from mahrem.table.hierarchies._builders import mask_hierarchy as mask_hierarchy
    from mahrem.table.hierarchies._builders import moment_leaves as moment_leaves
    from mahrem.table.hierarchies._builders import number_leaves as number_leaves
    from mahrem.table.hierarchies._builders import prefix_hierarchy as prefix_hierarchy
    from mahrem.table.hierarchies._facts import HierarchyFacts as HierarchyFacts
    from mahrem.table.hierarchies._facts import hierarchy_facts as hierarchy_facts
    from mahrem.table.hierarchies._file import read_hierarchy as read_hierarchy
    from mahrem.table.hierarchies._hierarchy import Hierarchy as Hierarchy
    from mahrem.table.hierarchies._ladders import build_tree as build_tree
    from mahrem.table.hierarchies._ladders import group_ladder as group_ladder
    from mahrem.table.hierarchies._ladders import moment_ladder as moment_ladder
    from mahrem.table.hierarchies._ladders import number_ladder as number_ladder
    from mahrem.table.hierarchies._ladders import prefix_ladder as prefix_ladder
    from mahrem.table.hierarchies._learnt import LearntGroups as LearntGroups
    from mahrem.table.hierarchies._learnt import learn_hierarchies as learn_hierarchies
    from mahrem.table.hierarchies._learnt import learn_hierarchy as learn_hierarchy
    from mahrem.table.hierarchies._majority_targets import Target as Target
    from mahrem.table.hierarchies._majority_targets import number_target as number_target
    from mahrem.table.hierarchies._nested import hierarchy_from_nested as hierarchy_from_nested
    from mahrem.table.hierarchies._nested import nested_hierarchy as nested_hierarchy
else:
    __getattr__, __dir__, __all__ = offered(__name__)
