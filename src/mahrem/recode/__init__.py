"""Rewrite cells: from the rows of a class to the one cell all of them show.

A recoding is a frozen dataclass of its settings, called with a column's axis, the labels of its rows and the
number of classes; it gives back one cell for each class. :func:`render` spreads them over the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.recode._blocks import Blocks, block_begins
    from mahrem.recode._by_row import (
        moment_cells,
        nearest_lines,
        number_cells,
        number_text,
        open_ends,
        prefix_cells,
    )
    from mahrem.recode._centroids import Centroids
    from mahrem.recode._heaps import HeapCount, count_heaps, heaped
    from mahrem.recode._intervals import Intervals
    from mahrem.recode._kept import Kept
    from mahrem.recode._moment_grid import moment_step, nest, snap_moments
    from mahrem.recode._nodes import Nodes
    from mahrem.recode._number_grid import dividing_step
    from mahrem.recode._open_ended import OpenEnded
    from mahrem.recode._prefixes import Prefixes
    from mahrem.recode._recoding import (
        Form,
        Recoding,
        default_recoding,
        first_cells,
        render,
        shown_names,
        with_more,
    )
    from mahrem.recode._sets import Sets
    from mahrem.recode._whole import Whole
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Blocks",
    "Centroids",
    "Form",
    "HeapCount",
    "Intervals",
    "Kept",
    "Nodes",
    "OpenEnded",
    "Prefixes",
    "Recoding",
    "Sets",
    "Whole",
    "block_begins",
    "count_heaps",
    "default_recoding",
    "dividing_step",
    "first_cells",
    "heaped",
    "moment_cells",
    "moment_step",
    "nearest_lines",
    "nest",
    "number_cells",
    "number_text",
    "open_ends",
    "prefix_cells",
    "render",
    "shown_names",
    "snap_moments",
    "with_more",
]
