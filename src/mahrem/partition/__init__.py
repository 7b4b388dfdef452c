"""Sort rows into classes: methods that cut, halve or cluster, and the judge of what may stand.

A method is a function of points and an :class:`Admits`, and a frozen dataclass of its settings; what comes
out is a :class:`Partition`, a label for every row. Which classes may stand is not a method's business:
:class:`Admission` asks the privacy models, for all candidates at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition._admission import Admission
    from mahrem.partition._bottom_up import BottomUp, bottom_up
    from mahrem.partition._canon import Canon, canon
    from mahrem.partition._datafly import Datafly, datafly
    from mahrem.partition._entries import METHODS, Method
    from mahrem.partition._evolve import KAnonyMeansStar, k_anonymeans_star
    from mahrem.partition._flash import Flash, flash
    from mahrem.partition._incognito import Incognito, incognito
    from mahrem.partition._inherited import InheritedMondrian, inherited_mondrian
    from mahrem.partition._jittered import Jittered, jittered
    from mahrem.partition._k_anonymeans import KAnonyMeans, k_anonymeans
    from mahrem.partition._k_means import k_means
    from mahrem.partition._keep_frequent import KeepFrequent, keep_frequent
    from mahrem.partition._leftovers import merge_refused, place_leftovers
    from mahrem.partition._mdav import Mdav, MdavPlus, mdav, mdav_plus
    from mahrem.partition._methods import build_method
    from mahrem.partition._mingen import MinGen, mingen
    from mahrem.partition._mondrian import Mondrian, mondrian
    from mahrem.partition._mosaic import Mosaic, mosaic
    from mahrem.partition._ola import Ola, ola
    from mahrem.partition._ona import OnaStar, ona_star
    from mahrem.partition._partition import Admits, Cuts, Levels, Partition, Partitioner
    from mahrem.partition._strata import merge_patterns, within_patterns
    from mahrem.partition._top_down import TopDown, top_down
    from mahrem.partition._utility_aware import ManagedRounds, UtilityAware, managed_round, utility_aware
    from mahrem.partition._variable_mdav import MdavStar, VariableMdav, mdav_star, variable_mdav
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "METHODS",
    "Admission",
    "Admits",
    "BottomUp",
    "Canon",
    "Cuts",
    "Datafly",
    "Flash",
    "Incognito",
    "InheritedMondrian",
    "Jittered",
    "KAnonyMeans",
    "KAnonyMeansStar",
    "KeepFrequent",
    "Levels",
    "ManagedRounds",
    "Mdav",
    "MdavPlus",
    "MdavStar",
    "Method",
    "MinGen",
    "Mondrian",
    "Mosaic",
    "Ola",
    "OnaStar",
    "Partition",
    "Partitioner",
    "TopDown",
    "UtilityAware",
    "VariableMdav",
    "bottom_up",
    "build_method",
    "canon",
    "datafly",
    "flash",
    "incognito",
    "inherited_mondrian",
    "jittered",
    "k_anonymeans",
    "k_anonymeans_star",
    "k_means",
    "keep_frequent",
    "managed_round",
    "mdav",
    "mdav_plus",
    "mdav_star",
    "merge_patterns",
    "merge_refused",
    "mingen",
    "mondrian",
    "mosaic",
    "ola",
    "ona_star",
    "place_leftovers",
    "top_down",
    "utility_aware",
    "variable_mdav",
    "within_patterns",
]
