"""Sort rows into classes: methods that cut, halve or cluster, and the judge of what may stand.

A method is a function of points and an :class:`Admits`, and a frozen dataclass of its settings; what comes
out is a :class:`Partition`, a label for every row. Which classes may stand is not a method's business:
:class:`Admission` asks the privacy models, for all candidates at once.
"""

from mahrem.partition._admission import Admission
from mahrem.partition._canon import Canon, canon
from mahrem.partition._evolve import KAnonyMeansStar, k_anonymeans_star
from mahrem.partition._inherited import InheritedMondrian, inherited_mondrian
from mahrem.partition._k_anonymeans import KAnonyMeans, k_anonymeans
from mahrem.partition._k_means import k_means
from mahrem.partition._keep_frequent import KeepFrequent, keep_frequent
from mahrem.partition._mdav import Mdav, MdavPlus, mdav, mdav_plus
from mahrem.partition._methods import METHODS, build_method
from mahrem.partition._mondrian import Mondrian, mondrian
from mahrem.partition._mosaic import Mosaic, mosaic
from mahrem.partition._ona import OnaStar, ona_star
from mahrem.partition._partition import Admits, Cuts, Partition, Partitioner
from mahrem.partition._strata import within_patterns
from mahrem.partition._utility_aware import ManagedRounds, UtilityAware, utility_aware
from mahrem.partition._variable_mdav import MdavStar, VariableMdav, mdav_star, variable_mdav

__all__ = [
    "METHODS",
    "Admission",
    "Admits",
    "Canon",
    "Cuts",
    "InheritedMondrian",
    "KAnonyMeans",
    "KAnonyMeansStar",
    "KeepFrequent",
    "ManagedRounds",
    "Mdav",
    "MdavPlus",
    "MdavStar",
    "Mondrian",
    "Mosaic",
    "OnaStar",
    "Partition",
    "Partitioner",
    "UtilityAware",
    "VariableMdav",
    "build_method",
    "canon",
    "inherited_mondrian",
    "k_anonymeans",
    "k_anonymeans_star",
    "k_means",
    "keep_frequent",
    "mdav",
    "mdav_plus",
    "mdav_star",
    "mondrian",
    "mosaic",
    "ona_star",
    "utility_aware",
    "variable_mdav",
    "within_patterns",
]
