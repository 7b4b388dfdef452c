"""Kernels on arrays: cuts, selection, group reductions, sketches of rows.

They are Python functions, built ahead of time into the wheel (``_kernel`` says how they come). They release
the interpreter's lock; work is spread over threads by running them on independent segments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays._anonymeans import groups_from_centres, groups_from_labels, squared_error
    from mahrem.arrays._balls import Balls, grow_balls
    from mahrem.arrays._bits import Bits, ItemMatrix, count_sets, pack_bits
    from mahrem.arrays._boost import add_within_budgets
    from mahrem.arrays._branches import Branches, branch_out
    from mahrem.arrays._cell_sums import add_cells, count_cells
    from mahrem.arrays._class_costs import RANGE, SET, TREE, CellCosts
    from mahrem.arrays._class_promises import (
        BOUNDS,
        DISTINCT,
        DIVERGENCE,
        ENTROPY,
        NODES,
        ORDERED,
        SURPLUS,
        TAIL,
        Promises,
    )
    from mahrem.arrays._class_tiles import (
        Thoroughness,
        class_costs,
        grow_under_promises,
        place_waiting,
        repair_round,
    )
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
    from mahrem.arrays._population import redraw_cells, round_weights
    from mahrem.arrays._prefix_tree import fp_growth_sets
    from mahrem.arrays._reassign import improve
    from mahrem.arrays._rounds import Rounds
    from mahrem.arrays._row_sketch import RowSketch
    from mahrem.arrays._rule_cover import cover_first, cover_marked, first_correct, first_match
    from mahrem.arrays._shuffle import shuffled
    from mahrem.arrays._siphash import hash_texts
    from mahrem.arrays._swaps import swap_rows
    from mahrem.arrays._text_sketch import NO_TEXT, SHAPES, hashes_and_shapes, least_hashes, stay
    from mahrem.arrays._threads import available_threads, in_threads
    from mahrem.arrays._vantage import Vantage
    from mahrem.arrays._variable_mdav import extended_groups
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "BOUNDS",
    "DISTINCT",
    "DIVERGENCE",
    "ENTROPY",
    "INNER",
    "NODES",
    "NO_TEXT",
    "ORDERED",
    "OUTER",
    "RANGE",
    "SET",
    "SHAPES",
    "SIDES",
    "SINGLE",
    "SURPLUS",
    "TAIL",
    "TREE",
    "Asked",
    "Balls",
    "Bits",
    "Branches",
    "CellCosts",
    "CutTree",
    "Effort",
    "Forest",
    "ItemMatrix",
    "Keys",
    "Lift",
    "Promises",
    "Rounds",
    "RowSketch",
    "Split",
    "Tally",
    "Thoroughness",
    "Trees",
    "Vantage",
    "add_cells",
    "add_within_budgets",
    "apriori_sets",
    "assign",
    "available_threads",
    "branch_out",
    "branches_of",
    "cell_penalties",
    "class_costs",
    "class_extremes",
    "class_figures",
    "class_tiles",
    "count_cells",
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
    "grow_under_promises",
    "hash_texts",
    "hashes_and_shapes",
    "improve",
    "in_threads",
    "join_least",
    "join_sets",
    "lay_mosaic",
    "least_hashes",
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
    "place_waiting",
    "plant",
    "polish",
    "redraw_cells",
    "regroup",
    "repair_round",
    "round_weights",
    "rows_by_label",
    "seated",
    "shuffled",
    "spread_centres",
    "squared_error",
    "stay",
    "swap_rows",
    "tally",
    "triplets",
]
