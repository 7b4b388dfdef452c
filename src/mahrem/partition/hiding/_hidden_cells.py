"""Classes that share what they show and hide the rest: which cells to hide so that few of them are lost.

Masks, sets of columns to hide, are tried from the cheapest on. Rows that agree in what a mask keeps become a
class if it may stand. A group that is too small may borrow rows of a class with more than it needs, where
that costs less than hiding one column more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays.counting import number_equal
from mahrem.arrays.tiling import rows_by_label
from mahrem.partition._partition import Admits
from mahrem.types import Floats, Integers, Labels, Mask, Rows

Coded = NDArray[np.int32]  # (n, d * width) values of all rows, so many numbers for each

MASKS = 4096  # sets of columns that are tried; what is left then hides everything
_AGAIN = 1.2  # by how much masks get dearer before borrowing is tried again


@dataclass(frozen=True)
class HiddenMask:
    """A set of columns to hide."""

    hidden: tuple[int, ...]
    cost: float  # of one row that hides them


def masks_by_cost(prices: Sequence[float], most: int = MASKS) -> list[HiddenMask]:
    """List sets of columns, the cheapest first; hiding all of them is always the last.

    Example:
        >>> [mask.hidden for mask in masks_by_cost([1.0, 3.0])]
        [(0,), (1,), (0, 1)]
    """
    columns, masks = len(prices), list[HiddenMask]()
    for size in range(1, columns):
        chosen = [
            HiddenMask(hidden, float(sum(prices[column] for column in hidden)))
            for hidden in combinations(range(columns), size)
        ]
        if masks and len(masks) + len(chosen) > most:
            break
        masks += chosen
    masks.sort(key=lambda mask: (mask.cost, len(mask.hidden), mask.hidden))
    return [*masks, HiddenMask(tuple(range(columns)), float(sum(prices)))]


def as_codes(points: NDArray[np.float64]) -> Coded:
    """See numbers as pairs of whole numbers that are equal exactly where they are."""
    return np.ascontiguousarray(points + 0.0).view(np.int32)


@dataclass
class HiddenClasses:
    """The classes as they come about; a row with label -1 is in none yet."""

    codes: Coded = field(repr=False)
    admits: Admits = field(repr=False)
    prices: Floats
    labels: Labels = field(repr=False)
    classes: int = 0
    donors: int = 0  # the first classes, whose rows are equal, may lend

    @classmethod
    def of(cls, codes: Coded, admits: Admits, prices: Floats) -> HiddenClasses:
        """Begin with rows that are frequent enough as they are."""
        begun = cls(codes, admits, prices, np.full(len(codes), -1, np.int64))
        begun.take(HiddenMask((), 0.0))
        begun.donors = begun.classes
        return begun

    @property
    def open(self) -> Rows:
        """Rows that are in no class yet."""
        return np.flatnonzero(self.labels < 0).astype(np.int32)

    def numbered(self, rows: Rows, mask: HiddenMask) -> tuple[Integers, int]:
        """Number rows by what a mask keeps of them."""
        kept = np.ones(len(self.prices), np.bool_)
        kept[list(mask.hidden)] = False
        numbers = np.empty(len(rows), np.int64)
        width = self.codes.shape[1] // len(self.prices)
        return numbers, int(number_equal(self.codes, rows, np.repeat(kept, width), numbers))

    def covered(self, rows: Rows, mask: HiddenMask) -> int:
        """Count the rows that a mask would bring into classes of enough rows."""
        numbers, count = self.numbered(rows, mask)
        sizes = np.bincount(numbers, minlength=count)
        return int(sizes[sizes >= self.admits.minimum].sum())

    def take(self, mask: HiddenMask) -> None:
        """Make classes of open rows that agree in what a mask keeps."""
        rows = self.open
        if len(rows) < self.admits.minimum:
            return
        numbers, count = self.numbered(rows, mask)
        stands = np.bincount(numbers, minlength=count) >= self.admits.minimum
        if not self.admits.plain and stands.any():
            which = np.cumsum(stands) - 1
            asked = np.where(stands[numbers], which[numbers], -1)
            members, offsets = rows_by_label(asked, int(stands.sum()))
            stands[stands] = self.admits(rows[members], offsets)
        chosen = stands[numbers]
        self.labels[rows[chosen]] = (self.classes + np.cumsum(stands) - 1)[numbers[chosen]]
        self.classes += int(stands.sum())

    def borrow(self, mask: HiddenMask, most: float) -> None:
        """Complete groups of open rows by rows of larger classes, where a row costs ``most`` at most."""
        rows, minimum = self.open, self.admits.minimum
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=self.classes)[: self.donors]
        lenders = np.flatnonzero(sizes > minimum)
        if not len(rows) or not len(lenders) or not self.admits.plain:
            return
        first = np.full(self.donors + 1, -1, np.int32)
        shown = np.flatnonzero((self.labels >= 0) & (self.labels < self.donors)).astype(np.int32)
        first[self.labels[shown[::-1]]] = shown[::-1]
        numbers, count = self.numbered(np.concatenate([rows, first[lenders]]), mask)
        own = np.bincount(numbers[: len(rows)], minlength=count)
        best = np.full(count, -1, np.int64)  # the lender with most to spare
        by_size = np.argsort(sizes[lenders], kind="stable")
        best[numbers[len(rows) :][by_size]] = lenders[by_size]
        needed = minimum - own
        spare = np.where(best >= 0, sizes[best] - minimum, 0)
        helped = (
            (own > 0)
            & (needed > 0)
            & (needed <= spare)
            & (mask.cost * minimum <= most * np.maximum(own, 1) + 1e-9)
        )
        if not helped.any():
            return
        names = self.classes + np.cumsum(helped) - 1
        chosen = helped[numbers[: len(rows)]]
        self.labels[rows[chosen]] = names[numbers[: len(rows)][chosen]]
        self._lend(shown, best[helped], needed[helped], names[helped])
        self.classes += int(helped.sum())

    def _lend(self, shown: Rows, lenders: Integers, needed: Integers, names: Integers) -> None:
        """Give rows of classes away, the last ones first; each class lends once."""
        wanted = np.zeros(self.donors, np.int64)
        into = np.zeros(self.donors, np.int64)
        wanted[lenders], into[lenders] = needed, names
        lending = shown[wanted[self.labels[shown]] > 0]  # all others keep their rows
        order = lending[np.argsort(self.labels[lending], kind="stable")]
        owner = self.labels[order]
        ends = np.cumsum(np.bincount(owner, minlength=self.donors))
        lent = np.arange(len(order)) >= ends[owner] - wanted[owner]
        self.labels[order[lent]] = into[owner[lent]]


def hide_least(codes: Coded, admits: Admits, prices: Floats) -> HiddenClasses:
    """Sort rows into classes by what they share; a few rows may be in none at the end.

    Args:
        codes: ``(n, d * width)`` values of all rows.
        admits: Judges candidate classes.
        prices: ``(d,)`` what a hidden cell of each column costs.
    """
    grouping = HiddenClasses.of(codes, admits, prices)
    masks = masks_by_cost(prices.tolist())
    tried, last = list[HiddenMask](), 0.0
    for cost, level in groupby(masks, key=lambda mask: round(mask.cost, 9)):
        rows = grouping.open
        if not len(rows):
            break
        if cost > last * _AGAIN:
            for mask in tried:
                grouping.borrow(mask, cost)
            last, rows = cost, grouping.open
        same = list(level)
        for mask in _most_first(grouping, same, rows):
            grouping.take(mask)
        tried += same
    for mask in tried:
        grouping.borrow(mask, np.inf)
    return grouping


def _most_first(grouping: HiddenClasses, masks: list[HiddenMask], rows: Rows) -> Iterator[HiddenMask]:
    if len(masks) == 1:
        yield from masks
        return
    covered = [grouping.covered(rows, mask) for mask in masks]
    for place in np.argsort([-count for count in covered], kind="stable"):
        if covered[place]:
            yield masks[place]


def hidden_cells(codes: Coded, labels: Labels, classes: int, columns: int) -> Mask:
    """Say of every class which columns its rows do not share, ``(c, d)``."""
    width = codes.shape[1] // columns
    rows = np.arange(len(labels))
    first = np.full(classes, -1, np.int64)
    first[labels[::-1]] = rows[::-1]
    differs = np.zeros((classes, columns), np.bool_)
    for column in range(columns):
        own = codes[:, column * width : (column + 1) * width]
        unlike = (own != own[first[labels]]).any(axis=1)
        differs[labels[unlike], column] = True
    return differs
