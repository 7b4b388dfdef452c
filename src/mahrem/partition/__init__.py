"""Sort rows into classes: methods that cut, halve or cluster, and the judge of what may stand.

A method is a frozen dataclass of its settings that is called with points and an :class:`Admits`; what comes
out is a :class:`Partition`, a label for every row. Which classes may stand is not a method's business:
:class:`Admission` asks the privacy models, for all candidates at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition._choice import LIGHT, QUADRATIC_ROWS, MethodEvidence, choose_method, suits_size
    from mahrem.partition._entries import METHODS, Method, MethodName, build_method
    from mahrem.partition._partition import Admits, Levels, Partition, Partitioner
    from mahrem.partition.clustering import (
        KAnonyMeans,
        KAnonyMeansStar,
        Mdav,
        MdavPlus,
        MdavStar,
        OnaStar,
        VariableMdav,
    )
    from mahrem.partition.cutting import Canon, Jittered, KeepFrequent, Mondrian, UtilityAware
    from mahrem.partition.hiding import LocalSuppression
    from mahrem.partition.judging import Admission
    from mahrem.partition.lattice import (
        BottomUp,
        Datafly,
        Flash,
        Incognito,
        LocalRecoding,
        MinGen,
        Ola,
        TopDown,
    )
    from mahrem.partition.mosaic import Mosaic, Repaired
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "LIGHT",
    "METHODS",
    "QUADRATIC_ROWS",
    "Admission",
    "Admits",
    "BottomUp",
    "Canon",
    "Datafly",
    "Flash",
    "Incognito",
    "Jittered",
    "KAnonyMeans",
    "KAnonyMeansStar",
    "KeepFrequent",
    "Levels",
    "LocalRecoding",
    "LocalSuppression",
    "Mdav",
    "MdavPlus",
    "MdavStar",
    "Method",
    "MethodEvidence",
    "MethodName",
    "MinGen",
    "Mondrian",
    "Mosaic",
    "Ola",
    "OnaStar",
    "Partition",
    "Partitioner",
    "Repaired",
    "TopDown",
    "UtilityAware",
    "VariableMdav",
    "build_method",
    "choose_method",
    "suits_size",
]
