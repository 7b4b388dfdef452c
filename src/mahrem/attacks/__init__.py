"""The red team: attack a release before somebody else does.

An attack is a frozen dataclass of settings, called with a release (any published table) and, where it is our
own data, the original. It gives a :class:`Finding`: how often it succeeded, how often it would have without
the release, and an exact confidence interval. Findings hold figures, never a person and never a value.
"""

from mahrem.attacks._background import PopulationPriors, RuledOut
from mahrem.attacks._composition import Composition
from mahrem.attacks._downcoding import Downcoding
from mahrem.attacks._finding import Finding, not_done
from mahrem.attacks._homogeneity import Homogeneity
from mahrem.attacks._inference import Inference
from mahrem.attacks._interval import clopper_pearson
from mahrem.attacks._linkage import Linkage
from mahrem.attacks._matching import Matching, fit_of, match
from mahrem.attacks._membership import Membership
from mahrem.attacks._minimality import Minimality
from mahrem.attacks._order import Order, row_numbers
from mahrem.attacks._red_team import red_team
from mahrem.attacks._release import People, Published, read_people, read_published
from mahrem.attacks._similarity import Similarity
from mahrem.attacks._singling_out import SinglingOut
from mahrem.attacks._skewness import Skewness

__all__ = [
    "Composition",
    "Downcoding",
    "Finding",
    "Homogeneity",
    "Inference",
    "Linkage",
    "Matching",
    "Membership",
    "Minimality",
    "Order",
    "People",
    "PopulationPriors",
    "Published",
    "RuledOut",
    "Similarity",
    "SinglingOut",
    "Skewness",
    "clopper_pearson",
    "fit_of",
    "match",
    "not_done",
    "read_people",
    "read_published",
    "red_team",
    "row_numbers",
]
