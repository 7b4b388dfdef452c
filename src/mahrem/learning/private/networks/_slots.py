"""Pairs and triplets by chance: in a step a record falls into one slot, so it is in one group at most.

Pairs that are formed once and for all tie people together: who joins the table takes somebody else's partner,
and one person then moves two pairs. Here every record of a batch is thrown into a slot by itself, and only
slots that hold exactly what a group needs are used. Whoever comes or goes touches one slot, so one group more
or less, and the cost is that of single records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.types import Floats, Integers

GROUPS = {"pairs": 2, "triplets": 3}
ALIKE = 0.5  # of the records of a batch look for a partner of their own class
OWN = 2 / 3  # of them are the first two of a triplet
TOGETHER = 2.0  # records a slot of a triplet should hold: then most are in a whole one
CLASSES = 2  # at least


@dataclass(frozen=True)
class Slots:
    """How the records of a batch become pairs or triplets; public numbers only.

    Half of the slots of pairs are for one class each, half for anybody. A slot of triplets has a place for
    two records of its class and a place for one of another.

    Args:
        kind: ``pairs`` or ``triplets``.
        classes: How many classes are declared.
        batch: Expected records in a batch.

    Guarantees:
        - A record more or less in a batch adds one group, takes one away, or changes nothing; no other group
          changes, wherever the others fell.
        - No record is in two groups; the first two of a triplet have one class, the third another.

    Example:
        >>> slots = Slots("pairs", classes=2, batch=4.0)
        >>> labels, chance = np.array([0, 0, 1, 1]), np.array([0.0, 0.1, 0.6, 0.7])
        >>> slots(labels, chance).tolist()  # both of class 0 in its slot, both others in a slot for anybody
        [[0, 1], [2, 3]]
    """

    kind: str
    classes: int
    batch: float

    def __post_init__(self) -> None:
        check.one_of(tuple(GROUPS), kind=self.kind)
        check.at_least(CLASSES, classes=check.whole(classes=self.classes))
        check.above_zero(batch=self.batch)

    @property
    def size(self) -> int:
        """Records in a group."""
        return GROUPS[self.kind]

    @property
    def of_a_class(self) -> int:
        """Slots for each class."""
        share = ALIKE if self.kind == "pairs" else 1 / TOGETHER
        return max(1, round(share * self.batch / self.classes))

    def __call__(self, labels: Integers, chance: Floats) -> Integers:
        """Give ``(groups, size)`` places of records.

        Args:
            labels: ``(n,)`` numbers of the classes of the records of a batch.
            chance: ``(n,)`` numbers from 0 to 1, drawn for each record by itself.
        """
        if self.kind == "pairs":
            return _filled(self._pair_slots(labels, chance), 2)[1]
        own = chance < OWN
        first, twos = _filled(np.where(own, self._own_slots(labels, chance / OWN), -1), 2)
        other, ones = _filled(np.where(own, -1, self._other_slots(labels, (chance - OWN) / (1 - OWN))), 1)
        _, here, there = np.intersect1d(first, other, assume_unique=True, return_indices=True)
        return np.hstack([twos[here], ones[there]])

    def _pair_slots(self, labels: Integers, chance: Floats) -> Integers:
        anybody = max(1, round((1 - ALIKE) * self.batch))
        mixed = self.classes * self.of_a_class + _place((chance - ALIKE) / (1 - ALIKE), anybody)
        return np.where(chance < ALIKE, self._own_slots(labels, chance / ALIKE), mixed)

    def _own_slots(self, labels: Integers, share: Floats) -> Integers:
        return labels * self.of_a_class + _place(share, self.of_a_class)

    def _other_slots(self, labels: Integers, share: Floats) -> Integers:
        place = _place(share, (self.classes - 1) * self.of_a_class)
        beyond, inside = np.divmod(place, self.of_a_class)
        return (labels + 1 + beyond) % self.classes * self.of_a_class + inside


def _place(share: Floats, count: int) -> Integers:
    return np.clip(np.floor(share * count), 0, count - 1).astype(np.int64)


def _filled(slots: Integers, wanted: int) -> tuple[Integers, Integers]:
    """Give the slots that hold exactly so many records, and the places of those; slot -1 is no slot."""
    order = np.argsort(slots, kind="stable")
    order = order[np.searchsorted(slots[order], 0) :]
    distinct, first, times = np.unique(slots[order], return_index=True, return_counts=True)
    full = times == wanted
    return distinct[full], order[first[full][:, None] + np.arange(wanted)]
