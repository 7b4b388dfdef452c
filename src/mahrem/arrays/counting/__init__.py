"""Figures over cells of a table: levels of a lattice, sums, weights of people, budgets of a booster.

Each works on integer codes of cells.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.arrays.counting._boost import add_within_budgets as add_within_budgets
    from mahrem.arrays.counting._cell_sums import add_cells as add_cells
    from mahrem.arrays.counting._cell_sums import count_cells as count_cells
    from mahrem.arrays.counting._different import number_different as number_different
    from mahrem.arrays.counting._equal_rows import number_equal as number_equal
    from mahrem.arrays.counting._lattice import Keys as Keys
    from mahrem.arrays.counting._lattice import Lift as Lift
    from mahrem.arrays.counting._lattice import cell_penalties as cell_penalties
    from mahrem.arrays.counting._lattice import class_figures as class_figures
    from mahrem.arrays.counting._lattice import nearest_finer as nearest_finer
    from mahrem.arrays.counting._lattice import regroup as regroup
    from mahrem.arrays.counting._lattice import values_by_class as values_by_class
    from mahrem.arrays.counting._population import Heights as Heights
    from mahrem.arrays.counting._population import Tables as Tables
    from mahrem.arrays.counting._population import count_tables as count_tables
    from mahrem.arrays.counting._population import redraw_cells as redraw_cells
    from mahrem.arrays.counting._population import round_weights as round_weights
    from mahrem.arrays.counting._population import sweep_tables as sweep_tables
    from mahrem.arrays.counting._thinning import ComparedClasses as ComparedClasses
    from mahrem.arrays.counting._thinning import possible_classes as possible_classes
    from mahrem.arrays.counting._thinning import stand_together as stand_together
else:
    __getattr__, __dir__, __all__ = offered(__name__)
