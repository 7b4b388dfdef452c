"""Figures over cells of a table: levels of a lattice, sums, weights of people, budgets of a booster.

Each works on integer codes of cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.counting._boost import add_within_budgets
    from mahrem.arrays.counting._cell_sums import add_cells, count_cells
    from mahrem.arrays.counting._different import number_different
    from mahrem.arrays.counting._equal_rows import number_equal
    from mahrem.arrays.counting._lattice import (
        Keys,
        Lift,
        cell_penalties,
        class_figures,
        nearest_finer,
        regroup,
        values_by_class,
    )
    from mahrem.arrays.counting._population import redraw_cells, round_weights
    from mahrem.arrays.counting._thinning import ComparedClasses, possible_classes, stand_together
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "ComparedClasses",
    "Keys",
    "Lift",
    "add_cells",
    "add_within_budgets",
    "cell_penalties",
    "class_figures",
    "count_cells",
    "nearest_finer",
    "number_different",
    "number_equal",
    "possible_classes",
    "redraw_cells",
    "regroup",
    "round_weights",
    "stand_together",
    "values_by_class",
]
