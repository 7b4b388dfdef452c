"""Mondrian: cut the widest quasi-identifier at its median while both sides may stand."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem import arrays
from mahrem.partition._partition import Admits, Cuts, Partition, least_rows
from mahrem.types import Points

__all__ = ["Mondrian", "mondrian"]


def mondrian(points: Points, admits: Admits, *, strict: bool = True, threads: int | None = None) -> Partition:
    """Sort rows into classes as small as ``admits`` allows.

    A segment is cut on its widest column at the lower median ``v``: ``<= v | > v``; if a side may not
    stand, ``< v | >= v``; then on the next-widest column. Relaxed, it is cut into halves that differ by at
    most one row; rows equal at the median go by the other columns, widest first, then by their position.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that widths compare.
        admits: Says of all candidate classes of a round at once which may stand.
        strict: Keep equal values on one side of a cut; else halve exactly.
        threads: How many; None for one per core. The result does not depend on it.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - With ``strict``, rows equal in every column share a class.
        - With ``strict``, the classes do not depend on the order of the rows.
        - Without ``strict``, a plain minimum ``k`` gives classes of ``k .. 2k-1`` rows.

    References:
        LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, 2006.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.1], [0.9], [1.0]])
        >>> mondrian(points, Admission(((KAnonymity(2), None),), rows=4)).labels
        array([0, 0, 1, 1])
    """
    minimum = least_rows(len(points), admits)
    if admits.plain:
        split = arrays.grow(points, minimum, strict=strict, threads=threads)
    else:
        split = _by_rounds(points, admits, minimum, strict=strict, threads=threads)
    cuts = Cuts(column=split.column, value=split.value, below=split.below, depth=split.depth)
    return Partition(labels=split.labels, classes=split.classes, how=cuts if strict else None)


def _by_rounds(
    points: Points, admits: Admits, minimum: int, *, strict: bool, threads: int | None
) -> arrays.Split:
    with arrays.Rounds(points, minimum, strict=strict, threads=threads) as rounds:
        while True:
            rows, offsets = rounds.propose()
            if len(rows) == 0:
                return rounds.result()
            rounds.decide(admits(rows, offsets))


@dataclass(frozen=True)
class Mondrian:
    """:func:`mondrian` as data: its settings can be printed, compared and stored."""

    strict: bool = True

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return mondrian(points, admits, strict=self.strict)
