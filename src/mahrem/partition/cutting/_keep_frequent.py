"""The optimisation step around any partitioner: what is frequent enough as it is need not be touched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.partition._partition import Admits, Partition, Partitioner
from mahrem.partition.cutting._mondrian import Mondrian
from mahrem.types import Integers, Labels, Mask, Offsets, Points, Rows


@dataclass(frozen=True)
class KeepFrequent:
    """Let equal rows of a class stand as classes of their own where ``admits`` accepts them.

    In every class of ``partitioner`` the rows that occur often enough as they are leave it; the others stay
    together. Where the others may not stand alone, they take back the smallest group that left, and if that
    is not enough, the class remains whole. A row that left is published as it is: nothing of it is lost.

    Args:
        partitioner: Makes the classes.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - Every class lies inside one class of ``partitioner``, so that no cell grows.

    References:
        Saleh: automatic generalisation, the optimisation step (its sets E and A).

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.0], [0.1], [0.1], [0.2], [0.9]])
        >>> KeepFrequent(Mondrian())(points, Admission(((KAnonymity(2), None),), rows=6)).labels
        array([1, 1, 2, 2, 0, 0])
    """

    partitioner: Partitioner

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        coarse = self.partitioner(points, admits)
        rows, offsets = _equal_rows(points, coarse.labels)
        leaves: Mask = np.diff(offsets) >= admits.minimum
        leaves[leaves] = _judged(admits, rows, offsets, leaves)
        of_group = coarse.labels[rows[offsets[:-1]]]
        _return_where_needed(rows, offsets, of_group, leaves, admits, coarse.classes)
        group_labels = np.where(leaves, coarse.classes + np.arange(len(leaves)), of_group)
        labels = np.full(len(points), -1, np.int64)
        _, numbered = np.unique(group_labels, return_inverse=True)
        labels[rows] = np.repeat(numbered, np.diff(offsets))
        return Partition(labels=labels, classes=int(numbered.max()) + 1)


def optimised_mondrian(*, strict: bool = True) -> KeepFrequent:
    """Give Mondrian with the optimisation step."""
    return KeepFrequent(Mondrian(strict=strict))


def _equal_rows(points: Points, labels: Labels) -> tuple[Rows, Offsets]:
    """List the rows by class, equal ones side by side; gives where each group of equal rows begins."""
    kept = np.flatnonzero(labels >= 0)
    order = kept[np.lexsort([*points[kept].T, labels[kept]])]
    sorted_points, sorted_labels = points[order], labels[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (sorted_labels[1:] != sorted_labels[:-1]) | (sorted_points[1:] != sorted_points[:-1]).any(
        axis=1
    )
    return order.astype(np.int32), np.append(np.flatnonzero(new), len(order)).astype(np.int64)


def _judged(admits: Admits, rows: Rows, offsets: Offsets, asked: Mask) -> Mask:
    """Ask about some of the groups."""
    if not asked.any():
        return np.zeros(0, np.bool_)
    sizes = np.diff(offsets)
    part = rows[np.repeat(asked, sizes)]
    return admits(part, np.concatenate([[0], np.cumsum(sizes[asked])]))


def _return_where_needed(
    rows: Rows, offsets: Offsets, of_group: Integers, leaves: Mask, admits: Admits, classes: int
) -> None:
    """Take groups back, the smallest first, then all of a class, until what stays may stand."""
    refused = _refused_rests(rows, offsets, of_group, leaves, admits, classes)
    if not refused.any():
        return
    sizes = np.diff(offsets)
    waiting = np.flatnonzero(leaves & refused[of_group])
    waiting = waiting[np.lexsort((sizes[waiting], of_group[waiting]))]
    first = np.ones(len(waiting), np.bool_)
    first[1:] = of_group[waiting[1:]] != of_group[waiting[:-1]]
    leaves[waiting[first]] = False
    refused = _refused_rests(rows, offsets, of_group, leaves, admits, classes)
    leaves[refused[of_group]] = False


def _refused_rests(
    rows: Rows, offsets: Offsets, of_group: Integers, leaves: Mask, admits: Admits, classes: int
) -> Mask:
    """Say of every class whether there is a rest that may not stand without those who left."""
    stays = np.repeat(~leaves, np.diff(offsets))
    left_in = np.zeros(classes, np.bool_)
    left_in[of_group[leaves]] = True
    stays &= left_in[np.repeat(of_group, np.diff(offsets))]
    rest = rows[stays]
    owner = np.repeat(of_group, np.diff(offsets))[stays]
    refused = np.zeros(classes, np.bool_)
    if len(rest):
        begins = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        refused[owner[begins]] = ~admits(rest, np.append(begins, len(rest)).astype(np.int64))
    return refused
