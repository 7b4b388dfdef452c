"""Sort rows into classes: methods that cut, halve or cluster, and the judge of what may stand.

A method is a frozen dataclass of its settings that is called with points and an :class:`Admits`; what comes
out is a :class:`Partition`, a label for every row. Which classes may stand is not a method's business:
:class:`Admission` asks the privacy models, for all candidates at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition._admission import Admission
    from mahrem.partition._blocks import within_blocks
    from mahrem.partition._bottom_up import BottomUp
    from mahrem.partition._canon import Canon
    from mahrem.partition._cell_costs import ColumnCosts
    from mahrem.partition._choice import LIGHT, QUADRATIC_ROWS, MethodEvidence, choose_method, suits_size
    from mahrem.partition._datafly import Datafly
    from mahrem.partition._entries import METHODS, Method, build_method
    from mahrem.partition._evolve import KAnonyMeansStar
    from mahrem.partition._flash import Flash
    from mahrem.partition._incognito import Incognito
    from mahrem.partition._inherited import InheritedMondrian
    from mahrem.partition._jittered import Jittered
    from mahrem.partition._k_anonymeans import KAnonyMeans
    from mahrem.partition._keep_frequent import KeepFrequent
    from mahrem.partition._key_sets import HIDDEN, KeySet, hide_for_sets
    from mahrem.partition._lattice_search import FullDomain, Search
    from mahrem.partition._leftovers import merge_refused, place_leftovers
    from mahrem.partition._local import LocalRecoding
    from mahrem.partition._local_suppression import LocalSuppression
    from mahrem.partition._mdav import Mdav, MdavPlus
    from mahrem.partition._mingen import MinGen
    from mahrem.partition._mondrian import Mondrian
    from mahrem.partition._mosaic import Mosaic
    from mahrem.partition._objective_entries import OBJECTIVES, ObjectiveEntry
    from mahrem.partition._ola import Ola
    from mahrem.partition._ona import OnaStar
    from mahrem.partition._partition import Admits, Levels, Partition, Partitioner
    from mahrem.partition._repaired import Repair, Repaired
    from mahrem.partition._standing import admitted_classes, rows_shown, standing_classes
    from mahrem.partition._strata import merge_patterns, within_patterns
    from mahrem.partition._top_down import TopDown
    from mahrem.partition._utility_aware import ManagedRounds, UtilityAware, managed_round
    from mahrem.partition._variable_mdav import MdavStar, VariableMdav
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "HIDDEN",
    "LIGHT",
    "METHODS",
    "OBJECTIVES",
    "QUADRATIC_ROWS",
    "Admission",
    "Admits",
    "BottomUp",
    "Canon",
    "ColumnCosts",
    "Datafly",
    "Flash",
    "FullDomain",
    "Incognito",
    "InheritedMondrian",
    "Jittered",
    "KAnonyMeans",
    "KAnonyMeansStar",
    "KeepFrequent",
    "KeySet",
    "Levels",
    "LocalRecoding",
    "LocalSuppression",
    "ManagedRounds",
    "Mdav",
    "MdavPlus",
    "MdavStar",
    "Method",
    "MethodEvidence",
    "MinGen",
    "Mondrian",
    "Mosaic",
    "ObjectiveEntry",
    "Ola",
    "OnaStar",
    "Partition",
    "Partitioner",
    "Repair",
    "Repaired",
    "Search",
    "TopDown",
    "UtilityAware",
    "VariableMdav",
    "admitted_classes",
    "build_method",
    "choose_method",
    "hide_for_sets",
    "managed_round",
    "merge_patterns",
    "merge_refused",
    "place_leftovers",
    "rows_shown",
    "standing_classes",
    "suits_size",
    "within_blocks",
    "within_patterns",
]
