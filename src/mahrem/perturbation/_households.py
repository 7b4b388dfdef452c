"""Record swapping: households that are easily found change places with similar ones elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.types import Integers


@dataclass(frozen=True, kw_only=True)
class HouseholdSwap:
    """Swap where households live: two that are alike in chosen columns, of different places.

    Args:
        household: The column that names households.
        similar: Columns in which two households must be alike, with ``+`` between them, such as the number of
            people; what they hold is compared person by person.
        share: Share of the households that change places.

    Guarantees:
        - All people of a household move together, and every place has as many households of each kind as
          before.
        - Households that are alone with their kind in their place are chosen first.

    References:
        Dalenius, Reiss: Data-swapping: a technique for disclosure control, 1982.
        Shlomo, Tudor, Groom: Data swapping for protecting census tables, 2010.
    """

    household: str
    similar: str = ""
    share: float = 0.05

    def __post_init__(self) -> None:
        check.between(0, 1, share=self.share)

    def __call__(
        self, places: Integers, households: Integers, kinds: Integers, rng: np.random.Generator
    ) -> Integers:
        """Say for each row the row whose place it takes.

        Args:
            places: ``(n,)`` where each row is, the same for a whole household.
            households: ``(n,)`` the household of each row, ``0 .. h-1``.
            kinds: ``(n,)`` rows of households that may change places have the same kind.
            rng: Draws partners.
        """
        count = int(households.max(initial=-1)) + 1
        first = np.zeros(count, np.int64)
        first[households[::-1]] = np.arange(len(households))[::-1]
        partner = _paired(places[first], kinds[first], int(count * self.share), rng)
        return np.asarray(first[partner[households]])


def _paired(places: Integers, kinds: Integers, most: int, rng: np.random.Generator) -> Integers:
    """Pair households of one kind and different places, the rarest first, until so many have moved."""
    count = len(places)
    partner = np.arange(count)
    keys = kinds.astype(np.int64) * (int(places.max(initial=0)) + 1) + places
    _, inverse, alike = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.lexsort((rng.random(count), places, kinds))
    sizes = np.bincount(kinds[order] - kinds.min(initial=0))
    sizes = sizes[sizes > 0]
    within = np.arange(count) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    half = np.repeat(sizes // 2, sizes)  # in the order of places, half of a kind away is mostly elsewhere
    first = np.flatnonzero(within < half)
    one, other = order[first], order[first + half[first]]
    apart = places[one] != places[other]
    one, other = one[apart], other[apart]
    rarity = np.minimum(alike[inverse.reshape(-1)[one]], alike[inverse.reshape(-1)[other]])
    chosen = np.argsort(rarity + rng.random(len(one)), kind="stable")[: most // 2]
    partner[one[chosen]], partner[other[chosen]] = other[chosen], one[chosen]
    return partner
