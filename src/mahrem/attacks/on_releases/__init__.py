"""Attacks on published rows: who is it, what do they have, were they in?

Each is a frozen dataclass of settings, called with a release (any published table) and, where it is our own
data, the original; ``against`` tries it on a :class:`ReleaseTarget` in all its ways.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._background import PopulationPriors as PopulationPriors
    from mahrem.attacks.on_releases._background import RuledOut as RuledOut
    from mahrem.attacks.on_releases._company import Company as Company
    from mahrem.attacks.on_releases._composition import Composition as Composition
    from mahrem.attacks.on_releases._downcoding import Downcoding as Downcoding
    from mahrem.attacks.on_releases._homogeneity import Homogeneity as Homogeneity
    from mahrem.attacks.on_releases._inference import Inference as Inference
    from mahrem.attacks.on_releases._linkage import Linkage as Linkage
    from mahrem.attacks.on_releases._membership import Membership as Membership
    from mahrem.attacks.on_releases._minimality import Minimality as Minimality
    from mahrem.attacks.on_releases._order import Order as Order
    from mahrem.attacks.on_releases._order import row_numbers as row_numbers
    from mahrem.attacks.on_releases._similarity import Similarity as Similarity
    from mahrem.attacks.on_releases._singling_out import SinglingOut as SinglingOut
    from mahrem.attacks.on_releases._skewness import Skewness as Skewness
    from mahrem.attacks.on_releases._target import ReleaseTarget as ReleaseTarget
else:
    __getattr__, __dir__, __all__ = offered(__name__)
