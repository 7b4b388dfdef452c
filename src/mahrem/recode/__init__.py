"""Rewrite cells: from the rows of a class to the one cell all of them show.

A recoding is a frozen dataclass of its settings, called with a column's axis, the labels of its rows and the
number of classes; it gives back one cell for each class. :func:`render` spreads them over the rows.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.recode._blocks import Blocks as Blocks
    from mahrem.recode._blocks import block_begins as block_begins
    from mahrem.recode._by_row import moment_cells as moment_cells
    from mahrem.recode._by_row import nearest_lines as nearest_lines
    from mahrem.recode._by_row import number_cells as number_cells
    from mahrem.recode._by_row import open_ends as open_ends
    from mahrem.recode._by_row import prefix_cells as prefix_cells
    from mahrem.recode._centroids import Centroids as Centroids
    from mahrem.recode._heaps import HeapCount as HeapCount
    from mahrem.recode._heaps import count_heaps as count_heaps
    from mahrem.recode._heaps import heaped as heaped
    from mahrem.recode._intervals import Intervals as Intervals
    from mahrem.recode._kept import Kept as Kept
    from mahrem.recode._moment_grid import moment_step as moment_step
    from mahrem.recode._moment_grid import nest as nest
    from mahrem.recode._moment_grid import snap_moments as snap_moments
    from mahrem.recode._nodes import Nodes as Nodes
    from mahrem.recode._number_grid import dividing_step as dividing_step
    from mahrem.recode._open_ended import OpenEnded as OpenEnded
    from mahrem.recode._prefixes import Prefixes as Prefixes
    from mahrem.recode._recoding import Form as Form
    from mahrem.recode._recoding import Recoding as Recoding
    from mahrem.recode._recoding import default_recoding as default_recoding
    from mahrem.recode._recoding import first_cells as first_cells
    from mahrem.recode._recoding import render as render
    from mahrem.recode._recoding import shown_names as shown_names
    from mahrem.recode._recoding import with_more as with_more
    from mahrem.recode._sets import Sets as Sets
    from mahrem.recode._whole import Whole as Whole
else:
    __getattr__, __dir__, __all__ = offered(__name__)
