"""Change values so that a table stays useful and its cells are no longer true: noise, swaps, PRAM, rounding.

None of them promises k. A perturbation is a frozen dataclass of its settings, called with the values of some
columns and a source of randomness; what it keeps is in its Guarantees, and what it gives away is measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.perturbation._coding import Coding, Rounding
    from mahrem.perturbation._entries import PERTURBATIONS, PerturbationEntry
    from mahrem.perturbation._households import HouseholdSwap
    from mahrem.perturbation._noise import Noise
    from mahrem.perturbation._pram import Pram, invariant_matrix, transition_matrix
    from mahrem.perturbation._ranks import RankSwap
    from mahrem.perturbation._shuffle import Shuffle
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "PERTURBATIONS",
    "Coding",
    "HouseholdSwap",
    "Noise",
    "PerturbationEntry",
    "Pram",
    "RankSwap",
    "Rounding",
    "Shuffle",
    "invariant_matrix",
    "transition_matrix",
]
