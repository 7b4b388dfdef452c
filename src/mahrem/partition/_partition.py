"""The common currency of all methods: a label for every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mahrem.errors import Infeasible
from mahrem.types import Floats, Integers, Labels, Mask, Offsets, Points, Rows, Sizes

if TYPE_CHECKING:
    from mahrem.partition.cutting import ManagedRounds


class Admits(Protocol):
    """Says of many candidate classes at once which may stand."""

    @property
    def minimum(self) -> int:
        """No class with fewer rows can be admitted: lets a method stop early."""
        ...

    @property
    def plain(self) -> bool:
        """True when the minimum number of rows is all that counts: lets a method use its compiled kernel."""
        ...

    def __call__(self, rows: Rows, offsets: Offsets) -> Mask:
        """Judge candidates; candidate ``i`` holds ``rows[offsets[i]:offsets[i + 1]]``."""
        ...


@dataclass(frozen=True)
class Cuts:
    """A tree of cuts in the order of the classes it leaves: cut ``i`` lies between class ``i`` and ``i + 1``.

    The cut with the smallest depth between two classes is the one that told them apart.
    """

    column: Integers = field(repr=False)  # (c - 1,) column that was cut
    value: Floats = field(repr=False)  # (c - 1,) the cut on the scaled axis
    below: Mask = field(repr=False)  # (c - 1,) True: left is < value; False: left is <= value
    depth: Integers = field(repr=False)  # (c - 1,) depth of the cut in the tree, root = 0


@dataclass(frozen=True)
class Levels:
    """A node of the lattice of full-domain generalisation: all cells of a column lie at one level."""

    levels: tuple[int, ...]  # per column, 0 = the values themselves
    loss: float  # of the node, in the measure that was asked for
    checked: int  # nodes whose classes were made and judged
    nodes: int  # of the whole lattice
    finished: bool = True  # False: the time was over, this is the best found until then


@dataclass(frozen=True)
class Partition:
    """A class for every row, and how it came about (what a saved recipe needs)."""

    labels: Labels = field(repr=False)  # -1 = suppressed
    classes: int
    how: Cuts | ManagedRounds | Levels | None = field(default=None, repr=False)

    @property
    def sizes(self) -> Sizes:
        """Rows in each class."""
        kept = self.labels[self.labels >= 0]
        return np.bincount(kept, minlength=self.classes)


def least_rows(rows: int, admits: Admits) -> int:
    """Give the least rows of a class, if the table may stand as one class at all.

    Under a monotone promise nothing else could stand then, so that every method begins here.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
    """
    minimum = max(1, admits.minimum)
    if rows < minimum:
        raise Infeasible(f"rows={rows} must be at least {minimum} for one class; ask for less", reached=rows)
    if not admits(np.arange(rows, dtype=np.int32), np.array([0, rows], np.int64)).all():
        raise Infeasible(
            f"the table of rows={rows} does not keep the promise even as one class; ask for less"
        )
    return minimum


class Partitioner(Protocol):
    """A method as data: a frozen dataclass of its settings that can be called."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts.

        Args:
            points: ``(n, d)`` quasi-identifiers, scaled so that widths compare; missing values are below 0.
            admits: Says of many candidate classes at once which may stand; its ``minimum`` is the k of the
                literature.
        """
        ...
