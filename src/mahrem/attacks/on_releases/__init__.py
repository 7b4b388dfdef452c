"""Attacks on published rows: who is it, what do they have, were they in?

Each is a frozen dataclass of settings, called with a release (any published table) and, where it is our own
data, the original; ``against`` tries it on a :class:`ReleaseTarget` in all its ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._background import PopulationPriors, RuledOut
    from mahrem.attacks.on_releases._company import Company
    from mahrem.attacks.on_releases._composition import Composition
    from mahrem.attacks.on_releases._downcoding import Downcoding
    from mahrem.attacks.on_releases._homogeneity import Homogeneity
    from mahrem.attacks.on_releases._inference import Inference
    from mahrem.attacks.on_releases._linkage import Linkage
    from mahrem.attacks.on_releases._membership import Membership
    from mahrem.attacks.on_releases._minimality import Minimality
    from mahrem.attacks.on_releases._order import Order, row_numbers
    from mahrem.attacks.on_releases._similarity import Similarity
    from mahrem.attacks.on_releases._singling_out import SinglingOut
    from mahrem.attacks.on_releases._skewness import Skewness
    from mahrem.attacks.on_releases._target import ReleaseTarget
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Company",
    "Composition",
    "Downcoding",
    "Homogeneity",
    "Inference",
    "Linkage",
    "Membership",
    "Minimality",
    "Order",
    "PopulationPriors",
    "ReleaseTarget",
    "RuledOut",
    "Similarity",
    "SinglingOut",
    "Skewness",
    "row_numbers",
]
