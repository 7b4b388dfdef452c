"""Compiled kernels on arrays: cuts, selection, group reductions.

Kernels are cached and release the interpreter's lock; work is spread over threads by running them on
independent segments. The modules are loaded when a name is first used, so that importing a room above
does not load Numba. Numba's cache looks at one file at a time: after editing a kernel, empty the cache.
``python -m mahrem.arrays`` fills it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mahrem.arrays._anonymeans import groups_from_centres, groups_from_labels, squared_error
    from mahrem.arrays._balls import Balls, grow_balls
    from mahrem.arrays._bits import Bits, ItemMatrix, count_sets, pack_bits
    from mahrem.arrays._branches import Branches, branch_out
    from mahrem.arrays._descend import SIDES, Asked, CutTree, Tally, descend, tally
    from mahrem.arrays._forest import Forest
    from mahrem.arrays._groups import class_extremes, triplets
    from mahrem.arrays._grow import grow
    from mahrem.arrays._itemsets import apriori_sets, eclat_sets, join_sets, outdone_sets
    from mahrem.arrays._lattice import Keys, Lift, cell_penalties, class_figures, nearest_finer, regroup
    from mahrem.arrays._layout import Split
    from mahrem.arrays._leftovers import group_nearest, join_least, merge_refused
    from mahrem.arrays._lloyd import assign, lloyd, spread_centres
    from mahrem.arrays._mdav import mdav_groups, mdav_plus_groups
    from mahrem.arrays._merge import INNER, OUTER, SINGLE
    from mahrem.arrays._mosaic_merge import merge_in_tiles
    from mahrem.arrays._mosaic_tiles import Effort, class_tiles, lay_mosaic
    from mahrem.arrays._mosaic_trees import Trees, branches_of, plant, seated
    from mahrem.arrays._normals import normals_first, rows_by_label
    from mahrem.arrays._outliers import local_outlier_factors
    from mahrem.arrays._polish import polish
    from mahrem.arrays._prefix_tree import fp_growth_sets
    from mahrem.arrays._reassign import improve
    from mahrem.arrays._rounds import Rounds
    from mahrem.arrays._rule_cover import cover_first, cover_marked, first_correct, first_match
    from mahrem.arrays._shuffle import shuffled
    from mahrem.arrays._siphash import hash_texts
    from mahrem.arrays._swaps import swap_rows
    from mahrem.arrays._threads import available_threads, in_threads
    from mahrem.arrays._vantage import Vantage
    from mahrem.arrays._variable_mdav import extended_groups

__all__ = [
    "INNER",
    "OUTER",
    "SIDES",
    "SINGLE",
    "Asked",
    "Balls",
    "Bits",
    "Branches",
    "CutTree",
    "Effort",
    "Forest",
    "ItemMatrix",
    "Keys",
    "Lift",
    "Rounds",
    "Split",
    "Tally",
    "Trees",
    "Vantage",
    "apriori_sets",
    "assign",
    "available_threads",
    "branch_out",
    "branches_of",
    "cell_penalties",
    "class_extremes",
    "class_figures",
    "class_tiles",
    "count_sets",
    "cover_first",
    "cover_marked",
    "descend",
    "eclat_sets",
    "extended_groups",
    "first_correct",
    "first_match",
    "fp_growth_sets",
    "group_nearest",
    "groups_from_centres",
    "groups_from_labels",
    "grow",
    "grow_balls",
    "hash_texts",
    "improve",
    "in_threads",
    "join_least",
    "join_sets",
    "lay_mosaic",
    "lloyd",
    "local_outlier_factors",
    "mdav_groups",
    "mdav_plus_groups",
    "merge_in_tiles",
    "merge_refused",
    "nearest_finer",
    "normals_first",
    "outdone_sets",
    "pack_bits",
    "plant",
    "polish",
    "regroup",
    "rows_by_label",
    "seated",
    "shuffled",
    "spread_centres",
    "squared_error",
    "swap_rows",
    "tally",
    "triplets",
]

_HOMES = {
    "Asked": "_descend",
    "Balls": "_balls",
    "Bits": "_bits",
    "Branches": "_branches",
    "CutTree": "_descend",
    "Effort": "_mosaic_tiles",
    "Forest": "_forest",
    "INNER": "_merge",
    "ItemMatrix": "_bits",
    "Keys": "_lattice",
    "Lift": "_lattice",
    "OUTER": "_merge",
    "Rounds": "_rounds",
    "SIDES": "_descend",
    "SINGLE": "_merge",
    "Split": "_layout",
    "Tally": "_descend",
    "Trees": "_mosaic_trees",
    "Vantage": "_vantage",
    "apriori_sets": "_itemsets",
    "assign": "_lloyd",
    "available_threads": "_threads",
    "branch_out": "_branches",
    "branches_of": "_mosaic_trees",
    "cell_penalties": "_lattice",
    "class_extremes": "_groups",
    "class_figures": "_lattice",
    "class_tiles": "_mosaic_tiles",
    "count_sets": "_bits",
    "cover_first": "_rule_cover",
    "cover_marked": "_rule_cover",
    "descend": "_descend",
    "eclat_sets": "_itemsets",
    "extended_groups": "_variable_mdav",
    "first_correct": "_rule_cover",
    "first_match": "_rule_cover",
    "fp_growth_sets": "_prefix_tree",
    "group_nearest": "_leftovers",
    "groups_from_centres": "_anonymeans",
    "groups_from_labels": "_anonymeans",
    "grow": "_grow",
    "grow_balls": "_balls",
    "improve": "_reassign",
    "in_threads": "_threads",
    "join_least": "_leftovers",
    "join_sets": "_itemsets",
    "lay_mosaic": "_mosaic_tiles",
    "lloyd": "_lloyd",
    "local_outlier_factors": "_outliers",
    "mdav_groups": "_mdav",
    "mdav_plus_groups": "_mdav",
    "merge_in_tiles": "_mosaic_merge",
    "merge_refused": "_leftovers",
    "nearest_finer": "_lattice",
    "normals_first": "_normals",
    "outdone_sets": "_itemsets",
    "pack_bits": "_bits",
    "plant": "_mosaic_trees",
    "polish": "_polish",
    "regroup": "_lattice",
    "rows_by_label": "_normals",
    "seated": "_mosaic_trees",
    "shuffled": "_shuffle",
    "hash_texts": "_siphash",
    "spread_centres": "_lloyd",
    "squared_error": "_anonymeans",
    "swap_rows": "_swaps",
    "tally": "_descend",
    "triplets": "_groups",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
