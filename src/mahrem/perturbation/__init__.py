"""Change values so that a table stays useful and its cells are no longer true: noise, swaps, PRAM, rounding.

None of them promises k. A perturbation is a frozen dataclass of its settings, called with the values of some
columns and a source of randomness; what it keeps is in its Guarantees, and what it gives away is measured.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.perturbation._coding import Coding as Coding
    from mahrem.perturbation._coding import Rounding as Rounding
    from mahrem.perturbation._entries import PERTURBATIONS as PERTURBATIONS
    from mahrem.perturbation._entries import PerturbationEntry as PerturbationEntry
    from mahrem.perturbation._households import HouseholdSwap as HouseholdSwap
    from mahrem.perturbation._noise import Noise as Noise
    from mahrem.perturbation._pram import Pram as Pram
    from mahrem.perturbation._pram import invariant_matrix as invariant_matrix
    from mahrem.perturbation._pram import transition_matrix as transition_matrix
    from mahrem.perturbation._ranks import RankSwap as RankSwap
    from mahrem.perturbation._shuffle import Shuffle as Shuffle
else:
    __getattr__, __dir__, __all__ = offered(__name__)
