"""Which candidate classes may stand, and what they cost.

:class:`Admission` asks the privacy models for all candidates at once; strata and blocks keep apart what may
not meet, leftovers find a class for rows that none would take. Methods ask here and never judge themselves.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.partition.judging._admission import Admission as Admission
    from mahrem.partition.judging._blocks import within_blocks as within_blocks
    from mahrem.partition.judging._cell_costs import ColumnCosts as ColumnCosts
    from mahrem.partition.judging._cell_costs import class_means as class_means
    from mahrem.partition.judging._cell_costs import features as features
    from mahrem.partition.judging._cell_costs import pack_costs as pack_costs
    from mahrem.partition.judging._cell_costs import plain_costs as plain_costs
    from mahrem.partition.judging._class_promises import pack_promises as pack_promises
    from mahrem.partition.judging._leftovers import class_boxes as class_boxes
    from mahrem.partition.judging._leftovers import judge_classes as judge_classes
    from mahrem.partition.judging._leftovers import merge_refused as merge_refused
    from mahrem.partition.judging._leftovers import place_leftovers as place_leftovers
    from mahrem.partition.judging._standing import JudgedClasses as JudgedClasses
    from mahrem.partition.judging._standing import admits_together as admits_together
    from mahrem.partition.judging._standing import admitted_classes as admitted_classes
    from mahrem.partition.judging._standing import classes_left as classes_left
    from mahrem.partition.judging._standing import rows_shown as rows_shown
    from mahrem.partition.judging._standing import standing as standing
    from mahrem.partition.judging._standing import standing_classes as standing_classes
    from mahrem.partition.judging._standing import with_the_rest as with_the_rest
    from mahrem.partition.judging._strata import Within as Within
    from mahrem.partition.judging._strata import merge_patterns as merge_patterns
    from mahrem.partition.judging._strata import within_patterns as within_patterns
else:
    __getattr__, __dir__, __all__ = offered(__name__)
