"""Sort rows into classes: methods that cut, halve or cluster, and the judge of what may stand.

A method is a function of points and an :class:`Admits`, and a frozen dataclass of its settings; what comes
out is a :class:`Partition`, a label for every row. Which classes may stand is not a method's business:
:class:`Admission` asks the privacy models, for all candidates at once.
"""

from mahrem.partition._admission import Admission
from mahrem.partition._methods import METHODS, build_method
from mahrem.partition._mondrian import Mondrian, mondrian
from mahrem.partition._partition import Admits, Cuts, Partition, Partitioner
from mahrem.partition._strata import within_patterns

__all__ = [
    "METHODS",
    "Admission",
    "Admits",
    "Cuts",
    "Mondrian",
    "Partition",
    "Partitioner",
    "build_method",
    "mondrian",
    "within_patterns",
]
