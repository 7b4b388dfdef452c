"""Cuts through a table: Mondrian's splits and their kin, from one segment of rows to classes.

Segments are laid out once and split in place; trees of words and what is left over stand beside them.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.arrays.cutting._branches import Branches as Branches
    from mahrem.arrays.cutting._branches import branch_out as branch_out
    from mahrem.arrays.cutting._descend import SIDES as SIDES
    from mahrem.arrays.cutting._descend import Asked as Asked
    from mahrem.arrays.cutting._descend import CutTree as CutTree
    from mahrem.arrays.cutting._descend import Tally as Tally
    from mahrem.arrays.cutting._descend import descend as descend
    from mahrem.arrays.cutting._descend import tally as tally
    from mahrem.arrays.cutting._forest import Forest as Forest
    from mahrem.arrays.cutting._groups import class_extremes as class_extremes
    from mahrem.arrays.cutting._groups import triplets as triplets
    from mahrem.arrays.cutting._grow import grow as grow
    from mahrem.arrays.cutting._layout import Rooms as Rooms
    from mahrem.arrays.cutting._layout import Scratch as Scratch
    from mahrem.arrays.cutting._layout import Split as Split
    from mahrem.arrays.cutting._layout import fill_labels as fill_labels
    from mahrem.arrays.cutting._leftovers import group_nearest as group_nearest
    from mahrem.arrays.cutting._leftovers import join_least as join_least
    from mahrem.arrays.cutting._leftovers import merge_refused as merge_refused
    from mahrem.arrays.cutting._rounds import Rounds as Rounds
    from mahrem.arrays.cutting._rounds import list_rows as list_rows
    from mahrem.arrays.cutting._select import nth as nth
    from mahrem.arrays.cutting._select import signed as signed
    from mahrem.arrays.cutting._split import divide as divide
    from mahrem.arrays.cutting._split import move as move
else:
    __getattr__, __dir__, __all__ = offered(__name__)
