"""Local suppression: cells are hidden, not rows, and as few as can be found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mahrem.partition._partition import Admits, Partition, least_rows
from mahrem.partition.hiding._hidden_cells import HiddenClasses, as_codes, hidden_cells, hide_least
from mahrem.partition.judging import ColumnCosts, merge_refused
from mahrem.types import Floats, Mask, Points, Rows


@dataclass(frozen=True, kw_only=True)
class LocalSuppression:
    """Sort rows into classes that share most of their values; what a class does not share is hidden.

    Args:
        cells: What published cells cost in each column; the more, the later a column is hidden.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - Rows that may stand as they are hide nothing, unless rarer ones borrow some of them.

    References:
        Meyerson, Williams: On the complexity of optimal k-anonymity, 2004.
        Templ, Kowarik, Meindl: Statistical disclosure control for micro-data using the R package sdcMicro,
        2015; ``localSuppression`` there counts a hidden cell as equal to every value, which is weaker.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0, 0.0], [0.0, 0.0], [0.5, 0.2], [0.5, 0.7]])
        >>> LocalSuppression()(points, Admission(((KAnonymity(2), None),), rows=4)).labels
        array([0, 0, 1, 1])
    """

    whole_table: ClassVar[bool] = True  # a missing value is one that rows may share

    cells: tuple[ColumnCosts, ...] = ()

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        least_rows(len(points), admits)
        prices = np.array([column.most for column in self.cells] or np.ones(points.shape[1]), np.float64)
        grouping = hide_least(as_codes(points), admits, prices)
        labels = grouping.labels
        if grouping.classes == 0:
            labels = np.zeros(len(points), np.int64)
        elif len(grouping.open):
            _join(grouping)
        labels, classes = merge_refused(points, labels, max(grouping.classes, 1), admits)
        return Partition(labels=labels, classes=classes)


def _join(grouping: HiddenClasses) -> None:
    """Let rows that found no class join one: each the one in which least more is hidden by it."""
    while len(rows := grouping.open):
        placed = np.flatnonzero(grouping.labels >= 0)
        differs = hidden_cells(
            grouping.codes[placed], grouping.labels[placed], grouping.classes, len(grouping.prices)
        )
        cost = _joining(grouping, rows[:1], differs)
        grouping.labels[rows[0]] = int(cost.argmin())


def _joining(grouping: HiddenClasses, row: Rows, differs: Mask) -> Floats:
    """Give what hiding costs more in every class if a row joins it."""
    width = grouping.codes.shape[1] // len(grouping.prices)
    sizes = np.bincount(grouping.labels[grouping.labels >= 0], minlength=grouping.classes)
    first = np.zeros(grouping.classes, np.int64)
    placed = np.flatnonzero(grouping.labels >= 0)[::-1]
    first[grouping.labels[placed]] = placed
    unlike = (grouping.codes[first] != grouping.codes[row]).reshape(grouping.classes, -1, width).any(axis=2)
    alone = (differs | unlike) @ grouping.prices
    return np.asarray(alone + (unlike & ~differs) @ grouping.prices * sizes)
