"""Mondrian: cut the widest quasi-identifier at its median while both sides may stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from mahrem import check
from mahrem.arrays import cutting
from mahrem.errors import InvalidParameter
from mahrem.partition._partition import Admits, Cuts, Partition, least_rows
from mahrem.types import Points

if TYPE_CHECKING:
    from mahrem.partition.judging import ColumnCosts
    from mahrem.table import Hierarchy

CUTS = ("median", "middle", "gap")  # in the order of the kernels


@dataclass(frozen=True)
class Mondrian:
    """Sort rows into classes as small as ``admits`` allows.

    A segment is cut on its widest column at the lower median ``v``: ``<= v | > v``; if a side may not
    stand, ``< v | >= v``; then on the next-widest column. Relaxed, it is cut into halves that differ by at
    most one row; rows equal at the median go by the other columns, widest first, then by their position.

    A column with a tree is as wide as the share of the lowest node over the segment, missing values beside
    others as the whole. It is cut between children of that node only: the child with the most rows is set
    apart, if it has an eighth of them; else, or if a side may not stand, the border between children nearest
    to the median is cut. The more rows that child holds, the earlier is the column's turn: of ``n`` rows
    ``m``, its width counts ``n / (2 (n - m))`` times.

    Args:
        strict: Keep equal values on one side of a cut; else halve exactly. Columns with a tree are cut
            between children even then, as long as that is possible.
        cut: Where, with ``strict``, columns without a tree are cut first: ``median``; ``middle``: as near to
            the middle of the segment's range as leaves an eighth of its rows on both sides; ``gap``: in the
            widest gap between neighbouring values that does. If that may not stand, at the median.
            ``cells``: at the median of the column, trees or not, whose two sides lose least as published.
        hierarchies: One for each column of the points, None for those without; none at all by default.
        cells: What published cells cost, for ``cut="cells"``; by default widths, and shares of nodes.

    Raises:
        InvalidParameter: If ``cut`` is unknown or not for relaxed, or ``hierarchies`` do not fit.
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - With ``strict``, rows equal in every column share a class.
        - With ``strict``, the classes do not depend on the order of the rows.
        - Without ``strict``, a plain minimum ``k`` gives classes of ``k .. 2k-1`` rows.
        - With hierarchies or without, the result does not depend on the number of threads.

    References:
        LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, 2006.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.1], [0.9], [1.0]])
        >>> Mondrian()(points, Admission(((KAnonymity(2), None),), rows=4)).labels
        array([0, 0, 1, 1])
    """

    strict: bool = True
    cut: str = "median"
    hierarchies: tuple[Hierarchy | None, ...] = field(default=(), repr=False)
    cells: tuple[ColumnCosts, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if check.one_of((*CUTS, "cells"), cut=self.cut) != "median" and not self.strict:
            raise InvalidParameter(
                f"cut={self.cut!r} needs strict=True: relaxed, segments are halved exactly"
            )

    def __call__(self, points: Points, admits: Admits, *, threads: int | None = None) -> Partition:
        """Sort rows into classes that ``admits`` accepts; the result does not depend on ``threads``."""
        minimum = least_rows(len(points), admits)
        if self.cut == "cells":
            from mahrem.partition.cutting._cell_cuts import cut_by_cells
            from mahrem.partition.judging import plain_costs

            columns = self.cells or plain_costs(points, self.hierarchies)
            return Partition(*cut_by_cells(points, admits, minimum, columns, threads))
        trees = any(tree is not None for tree in self.hierarchies)
        branches = None
        if trees:
            from mahrem.partition.cutting._forest import forest_of

            branches = cutting.branch_out(forest_of(self.hierarchies, points.shape[1]))
        manner = _Manner(strict=self.strict, rule=CUTS.index(self.cut), branches=branches, threads=threads)
        if admits.plain:
            split = cutting.grow(points, minimum, **manner)
        else:
            split = _by_rounds(points, admits, minimum, manner)
        if not self.strict or trees:  # a child set apart from the others is no cut at a value
            return Partition(labels=split.labels, classes=split.classes)
        cuts = Cuts(column=split.column, value=split.value, below=split.below, depth=split.depth)
        return Partition(labels=split.labels, classes=split.classes, how=cuts)


class _Manner(TypedDict):
    strict: bool
    rule: int
    branches: cutting.Branches | None
    threads: int | None


def _by_rounds(points: Points, admits: Admits, minimum: int, manner: _Manner) -> cutting.Split:
    with cutting.Rounds(points, minimum, **manner) as rounds:
        while True:
            rows, offsets = rounds.propose()
            if len(rows) == 0:
                return rounds.result()
            rounds.decide(admits(rows, offsets))
