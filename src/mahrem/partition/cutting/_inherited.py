"""Mondrian with inherited widths: the rule behind published figures, kept to reproduce them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.partition._partition import Admits, Partition, least_rows
from mahrem.types import Floats, Integers, Points


@dataclass(frozen=True)
class InheritedMondrian:
    """Sort rows into classes by the strict cuts that Canbay (2019) measured.

    Every width starts at 1, and after a cut only the width of the column that was cut is looked at again. The
    column of the widest such width is cut at its lower median, ``<= v | > v``; if a side may not stand, the
    next. :class:`~mahrem.partition.Mondrian` loses far less; this one is here to compare with print.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - Rows equal in every column share a class.

    References:
        Canbay: doctoral thesis, 2019, table 4.7.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.1], [0.9], [1.0]])
        >>> InheritedMondrian()(points, Admission(((KAnonymity(2), None),), rows=4)).labels
        array([1, 1, 0, 0])
    """

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        rows = len(points)
        minimum = least_rows(rows, admits)
        labels, classes = np.empty(rows, np.int64), 0
        waiting: list[tuple[Integers, Floats]] = [(np.arange(rows), np.ones(points.shape[1]))]
        while waiting:
            part, widths = waiting.pop()
            sides, column = _cut(points, part, widths, minimum, admits)
            for side in sides:
                inherited = widths.copy()
                inherited[column] = np.ptp(points[side, column])
                waiting.append((side, inherited))
            if not sides:
                labels[part] = classes
                classes += 1
        return Partition(labels=labels, classes=classes)


def _cut(
    points: Points, part: Integers, widths: Floats, minimum: int, admits: Admits
) -> tuple[list[Integers], int]:
    """Cut at the median of the first column, from wide to narrow, whose sides may both stand."""
    if len(part) < 2 * minimum:
        return [], -1
    for column in np.argsort(-widths, kind="stable").tolist():
        values = points[part, column]
        left = values <= np.partition(values, (len(part) - 1) // 2)[(len(part) - 1) // 2]
        count = int(np.count_nonzero(left))
        if len(part) - count < minimum:  # the left side holds at least half
            continue
        sides = [part[left], part[~left]]
        offsets = np.array([0, count, len(part)], np.int64)
        if admits.plain or admits(np.concatenate(sides).astype(np.int32), offsets).all():
            return sides, column
    return [], -1
