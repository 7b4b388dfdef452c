"""Methods that cut: Mondrian, Canon and what is built around them.

A cut is chosen by a kernel of ``arrays.cutting``; the utility-aware rounds, kept frequent values and
jittered lines wrap any method of this kind. Trees of columns come in as a forest of leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition.cutting._canon import Canon
    from mahrem.partition.cutting._forest import forest_of, leaves_of
    from mahrem.partition.cutting._inherited import InheritedMondrian
    from mahrem.partition.cutting._jittered import Jittered
    from mahrem.partition.cutting._keep_frequent import KeepFrequent
    from mahrem.partition.cutting._mondrian import Mondrian
    from mahrem.partition.cutting._utility_aware import ManagedRounds, UtilityAware, managed_round
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Canon",
    "InheritedMondrian",
    "Jittered",
    "KeepFrequent",
    "ManagedRounds",
    "Mondrian",
    "UtilityAware",
    "forest_of",
    "leaves_of",
    "managed_round",
]
