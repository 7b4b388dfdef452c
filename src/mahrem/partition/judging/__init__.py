"""Which candidate classes may stand, and what they cost.

:class:`Admission` asks the privacy models for all candidates at once; strata and blocks keep apart what may
not meet, leftovers find a class for rows that none would take. Methods ask here and never judge themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition.judging._admission import Admission
    from mahrem.partition.judging._blocks import within_blocks
    from mahrem.partition.judging._cell_costs import (
        ColumnCosts,
        class_means,
        features,
        pack_costs,
        plain_costs,
    )
    from mahrem.partition.judging._class_promises import pack_promises
    from mahrem.partition.judging._leftovers import class_boxes, judge_classes, merge_refused, place_leftovers
    from mahrem.partition.judging._standing import (
        JudgedClasses,
        admits_together,
        admitted_classes,
        classes_left,
        rows_shown,
        standing,
        standing_classes,
        with_the_rest,
    )
    from mahrem.partition.judging._strata import Within, merge_patterns, within_patterns
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Admission",
    "ColumnCosts",
    "JudgedClasses",
    "Within",
    "admits_together",
    "admitted_classes",
    "class_boxes",
    "class_means",
    "classes_left",
    "features",
    "judge_classes",
    "merge_patterns",
    "merge_refused",
    "pack_costs",
    "pack_promises",
    "place_leftovers",
    "plain_costs",
    "rows_shown",
    "standing",
    "standing_classes",
    "with_the_rest",
    "within_blocks",
    "within_patterns",
]
