"""Methods that cut: Mondrian, Canon and what is built around them.

A cut is chosen by a kernel of ``arrays.cutting``; the utility-aware rounds, kept frequent values and
jittered lines wrap any method of this kind. Trees of columns come in as a forest of leaves.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.partition.cutting._canon import Canon as Canon
    from mahrem.partition.cutting._forest import forest_of as forest_of
    from mahrem.partition.cutting._forest import leaves_of as leaves_of
    from mahrem.partition.cutting._inherited import InheritedMondrian as InheritedMondrian
    from mahrem.partition.cutting._jittered import Jittered as Jittered
    from mahrem.partition.cutting._keep_frequent import KeepFrequent as KeepFrequent
    from mahrem.partition.cutting._mondrian import Mondrian as Mondrian
    from mahrem.partition.cutting._utility_aware import ManagedRounds as ManagedRounds
    from mahrem.partition.cutting._utility_aware import UtilityAware as UtilityAware
    from mahrem.partition.cutting._utility_aware import managed_round as managed_round
else:
    __getattr__, __dir__, __all__ = offered(__name__)
